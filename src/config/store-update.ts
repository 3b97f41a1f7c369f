import { MergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { stringifyJson } from '../base/json.ts'
import type { Host } from '../host/host.ts'

/** Returns a document as the settings file has it. */
export const formatDocument = (document: JsonObject): string => `${stringifyJson(document, true)}\n`

/** The age after which the lock of a process that died is broken, and the longest time to wait for one, in milliseconds. */
const [staleAge, lockTimeout] = [5_000, 15_000]

/** Runs `work` while no other process changes the settings. Throws an output error when the lock stays held. */
export async function withLock(
  path: string,
  { clock, interrupted, lock, random }: Host,
  work: () => Promise<void>,
): Promise<void> {
  const deadline = clock.monotonic() + lockTimeout
  let release = await lock(path, staleAge)
  while (release === undefined && clock.monotonic() <= deadline) {
    await clock.sleep(25 + random() * 25, interrupted)
    release = await lock(path, staleAge)
  }
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

/** Replaces a file by one that conf stores beside it (docs/decisions/0012-conf-in-a-file-of-its-own.md). */
export async function replaceLocked(
  directory: string,
  fileName: string,
  document: JsonObject,
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
    await files.writeSettings(temporaryFile, document, formatDocument)
    // A full disk may truncate the file without an error.
    if ((await files.read(temporaryFile)) !== formatDocument(document))
      throw new Error('the written file has different content (is the disk full?)')
    await files.rename(temporaryFile, `${directory}/${fileName}`)
  } finally {
    await files.remove(temporaryFile)
  }
}
