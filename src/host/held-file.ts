import { statSync } from 'node:fs'

/** The errors with which Windows refuses to change a file that another program has open. */
const heldErrors = ['EBUSY', 'EPERM', 'EACCES']

/** How long a change is repeated, in milliseconds: virus scanners and editors hold it briefly. */
const retryTime = 2_000
const retryInterval = 50

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const isReadOnly = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0o200) & 0o200) === 0

/**
 * Changes a file. On Windows a change is repeated for two seconds while another program holds the file. Then
 * it throws an error with the code EBUSY that says so; for a read-only file it throws at once.
 */
export const changeFile = <T>(path: string, change: () => T, platform?: string, sleep?: typeof wait) =>
  repeatWhileHeld(path, change, heldErrors, platform, sleep)

/** Reads a file. On Windows this is repeated like a change while another program does not share the file. */
export const readHeldFile = <T>(path: string, read: () => T, platform?: string, sleep?: typeof wait) =>
  repeatWhileHeld(path, read, ['EBUSY'], platform, sleep)

async function repeatWhileHeld<T>(
  path: string,
  action: () => T,
  errors: readonly string[],
  platform: string = process.platform,
  sleep = wait,
): Promise<T> {
  for (let waited = 0; ; waited += retryInterval)
    try {
      return action()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (platform !== 'win32' || !errors.includes(code)) throw error
      if (errors === heldErrors && isReadOnly(path)) throw new Error(`${path} is read-only`)
      if (waited >= retryTime)
        throw Object.assign(new Error(`${path} is in use by another program (${code})`), { code: 'EBUSY' })
      await sleep(retryInterval)
    }
}
