import type { Host } from '../host/host.ts'

interface LockOptions {
  /** The age after which the lock of a process that died is broken, in milliseconds. */
  readonly stale: number
  /** The longest time to wait for the lock, in milliseconds. */
  readonly timeout: number
  /** Called once, when another process holds the lock. */
  wait?(): Promise<void>
}

/**
 * Locks a file. Resolves to what releases it, or to undefined when another process holds the lock all the time. Throws
 * what keeps the lock from being made.
 */
export async function acquireLock(
  path: string,
  { stale, timeout, wait }: LockOptions,
  { clock, interrupted, lock, random }: Pick<Host, 'clock' | 'interrupted' | 'lock' | 'random'>,
): Promise<(() => Promise<void>) | undefined> {
  const deadline = clock.monotonic() + timeout
  for (let isFirst = true; ; isFirst = false) {
    const release = await lock(path, stale)
    if (release !== undefined || clock.monotonic() > deadline) return release
    if (isFirst) await wait?.()
    await clock.sleep(25 + random() * 25, interrupted)
  }
}
