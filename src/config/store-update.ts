import Conf from 'conf'
import { lock } from 'proper-lockfile'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { JsonObject } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { configFile } from './directory.ts'
import { maxStoreSize, readDocument } from './store.ts'

/** A lock that was left behind by a process that died is broken after so many milliseconds. */
const staleLock = 5_000
const patience = 15_000

const lockOf = (path: string): string => `${path}.lock`

/**
 * Whether a lock is dated in the future and stays so: whoever holds one dates it anew every few seconds. The library
 * breaks only old ones, so this one would be respected until its date has passed.
 */
function openFutureWatch(path: string, { clock, files }: Host): () => Promise<boolean> {
  let seen: { readonly modifiedAt: number; readonly since: number } | undefined
  return async () => {
    const { modifiedAt = 0 } = (await files.access(lockOf(path))) ?? {}
    const now = clock.now()
    if (modifiedAt <= now + staleLock) return false
    if (seen?.modifiedAt !== modifiedAt) seen = { modifiedAt, since: now }
    return now - seen.since >= staleLock
  }
}

/** Takes the lock; only one that somebody holds is waited for. */
async function take(path: string, host: Host): Promise<() => Promise<void>> {
  const { clock, files, random } = host
  const isFromFuture = openFutureWatch(path, host)
  for (const until = clock.now() + patience; ; )
    try {
      return await lock(path, {
        realpath: false,
        stale: staleLock,
        retries: 0,
        onCompromised: () => undefined,
      })
    } catch (error) {
      const held = error instanceof Error && 'code' in error && error.code === 'ELOCKED'
      if (!held) throw error
      if (clock.now() > until)
        throw new MergeqError(
          'output',
          `the settings in ${path} are locked: another mergeq is changing them.`,
          {
            hint: `Nothing was changed. Try again; if no other mergeq is running, remove the lock ${lockOf(path)}.`,
          },
        )
      if (await isFromFuture()) await files.removeFolder(lockOf(path))
      await clock.sleep(25 + random() * 25)
    }
}

const folderOf = (path: string): string => path.replace(/[\\/][^\\/]*$/, '')
const nameOf = (path: string): string => path.slice(folderOf(path).length + 1)

/**
 * Changes the stored settings: under a lock, into a new file of mode 0600 beside the old one, read back and compared,
 * then renamed over it. Whatever fails, the old file stays byte for byte (WIRE.md section 4). What `change` leaves
 * alone survives, known or not. A file that cannot be read is never overwritten.
 */
export async function updateStore(host: Host, change: (before: JsonObject) => JsonObject): Promise<void> {
  const path = configFile(host)
  if (path === undefined)
    throw usageError(
      'There is no folder to store settings in.',
      'Set HOME, or MERGEQ_CONFIG_DIR to an absolute path.',
    )
  try {
    await host.files.makeFolder(folderOf(path))
    const target = await host.files.follow(path)
    const release = await take(target, host)
    try {
      await replace(target, change(await readDocument(host, target, path)), host)
    } finally {
      await release().catch(() => undefined)
    }
  } catch (error) {
    if (isMergeqError(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `the settings in ${path} could not be written: ${why}.`, {
      hint: 'Nothing was changed. Check the folder and the space on its disk, or name another in MERGEQ_CONFIG_DIR.',
    })
  }
}

async function replace(target: string, document: JsonObject, { files }: Host): Promise<void> {
  const folder = folderOf(target)
  await sweepFolder(target, files)
  const text = `${stringifyJson(document, true)}\n`
  if (text.length > maxStoreSize) throw usageError('The settings would become too large to be read again.')
  const name = `${nameOf(target)}.${crypto.randomUUID()}`
  const fresh = `${folder}/${name}.new`
  try {
    const file = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: name,
      fileExtension: 'new',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
    })
    file.store = { ...document }
    // A full disk may leave the file cut without an error.
    if ((await files.read(fresh)) !== text)
      throw new Error('what was written does not read back (is the disk full?)')
    await files.rename(fresh, target)
  } finally {
    await files.remove(fresh)
  }
}

/** Removes what was left behind by a process that died: under the lock nobody else writes. */
async function sweepFolder(target: string, files: Host['files']): Promise<void> {
  for (const name of await files.list(folderOf(target)))
    if (name.startsWith(`${nameOf(target)}.`) && /\.new(?:\.tmp-\w+)?$/.test(name))
      await files.remove(`${folderOf(target)}/${name}`)
}

/** Removes what a writer that died left behind, which may hold a token. Where nothing is, nothing is made. */
export async function removeTemporaryFiles(host: Host): Promise<void> {
  const path = configFile(host)
  if (path === undefined || !(await host.files.exists(folderOf(path)))) return
  const target = await host.files.follow(path)
  const release = await take(target, host)
  try {
    await sweepFolder(target, host.files)
  } finally {
    await release().catch(() => undefined)
  }
}
