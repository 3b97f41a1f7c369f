import Conf from 'conf'
import { MergeqError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { acquireLock } from './lock.ts'

/** Runs `work` while no other process changes the settings. Throws an output error when the lock stays held. */
export async function withLock(path: string, host: Host, work: () => Promise<void>): Promise<void> {
  const release = await acquireLock(path, { stale: 5_000, timeout: 15_000 }, host)
  if (release === undefined)
    throw new MergeqError('output', `The settings file ${path} is locked by another mergeq process.`, {
      hint: `Nothing was changed. Try again. If no other mergeq is running, remove the lock ${path}.lock.`,
    })
  try {
    await work()
  } finally {
    await release().catch(() => undefined)
  }
}

/** Replaces a file atomically, under its lock. After any error the old file is unchanged. */
export async function replaceLocked(
  directory: string,
  fileName: string,
  text: string,
  { files }: Host,
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
