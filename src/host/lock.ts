import { lock } from 'proper-lockfile'

/** How often a lock that is held gives a sign of life, in milliseconds. */
const signOfLife = 2_000

/** `Host.lock`: the lock is a directory, whose time is the sign of life. */
export async function lockPath(path: string, stale: number): Promise<(() => Promise<void>) | undefined> {
  try {
    return await lock(path, {
      realpath: false,
      stale,
      update: signOfLife,
      // proper-lockfile would also retry errors that stay, such as those of a read-only directory.
      retries: 0,
      onCompromised: () => undefined,
    })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOCKED') return undefined
    throw error
  }
}
