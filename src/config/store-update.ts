import Conf from 'conf'
import { lock } from 'proper-lockfile'
import { MergeqError } from '../errors.ts'
import type { ServiceHost } from '../host/host.ts'

/** The age after which the lock of a process that died is broken, in milliseconds. */
const staleLock = 5_000
/** The longest time to wait for the lock, in milliseconds. */
const lockTimeout = 15_000

/**
 * Runs `work` while no other process changes the settings. Waits only while another process holds the lock.
 * Throws an output error when the lock stays held.
 */
export async function withLock(path: string, host: ServiceHost, work: () => Promise<void>): Promise<void> {
  const release = await acquireLock(path, host)
  try {
    await work()
  } finally {
    await release().catch(() => undefined)
  }
}

async function acquireLock(path: string, { clock, random }: ServiceHost): Promise<() => Promise<void>> {
  for (const deadline = clock.monotonic() + lockTimeout; ; )
    try {
      return await lock(path, {
        realpath: false,
        stale: staleLock,
        // proper-lockfile would also retry errors that stay, such as those of a read-only directory.
        retries: 0,
        onCompromised: () => undefined,
      })
    } catch (error) {
      const isLocked = error instanceof Error && 'code' in error && error.code === 'ELOCKED'
      if (!isLocked) throw error
      if (clock.monotonic() > deadline)
        throw new MergeqError('output', `The settings file ${path} is locked by another mergeq process.`, {
          hint: `Nothing was changed. Try again. If no other mergeq is running, remove the lock ${path}.lock.`,
        })
      await clock.sleep(25 + random() * 25)
    }
}

/** Replaces a file atomically, under its lock. After any error the old file is unchanged. */
export async function replaceLocked(
  directory: string,
  fileName: string,
  text: string,
  { files }: ServiceHost,
): Promise<void> {
  const prefix = `${fileName}.`
  // Removes the files of a process that died, which may contain a token.
  for (const name of (await files.list(directory)) ?? [])
    if (name.startsWith(prefix) && /\.new(?:\.tmp-\w+)?$/.test(name))
      await files.remove(`${directory}/${name}`)
  const name = `${prefix}${crypto.randomUUID()}`
  const temporaryFile = `${directory}/${name}.new`
  try {
    const file = new Conf({
      cwd: directory,
      configName: name,
      fileExtension: 'new',
      configFileMode: 0o600,
      serialize: () => text,
    })
    file.store = {}
    // A full disk may truncate the file without an error.
    if ((await files.read(temporaryFile)) !== text)
      throw new Error('the written file has different content (is the disk full?)')
    await files.rename(temporaryFile, `${directory}/${fileName}`)
  } finally {
    await files.remove(temporaryFile)
  }
}
