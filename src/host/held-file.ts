import { statSync } from 'node:fs'

/** The errors with which Windows refuses to change a file that another program has open. */
const heldErrors = ['EBUSY', 'EPERM', 'EACCES']

/** How long a change of a file is repeated, in milliseconds: virus scanners and editors hold it briefly. */
const retryTime = 2_000
const retryInterval = 50

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

const isReadOnly = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0o200) & 0o200) === 0

/**
 * Changes a file. On Windows a change is repeated for two seconds while another program holds the file. Then
 * it throws an error that says so; for a read-only file it throws at once.
 */
export async function changeFile<T>(
  path: string,
  change: () => T,
  platform: string = process.platform,
  sleep = wait,
): Promise<T> {
  for (let waited = 0; ; waited += retryInterval)
    try {
      return change()
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (platform !== 'win32' || !heldErrors.includes(code)) throw error
      if (isReadOnly(path)) throw new Error(`${path} is read-only`)
      if (waited >= retryTime) throw new Error(`${path} is in use by another program (${code})`)
      await sleep(retryInterval)
    }
}
