import Conf from 'conf'
import { lock } from 'proper-lockfile'
import type { JsonObject } from '../json.ts'
import { Failure, isFailure, usage } from '../errors.ts'
import { encode } from '../output/json-text.ts'
import type { World } from '../host/host.ts'
import { configFile } from './directory.ts'
import { largestFile, readDocument } from './store.ts'

/** A lock that was left behind by a process that died is broken after so many milliseconds. */
const staleLock = 5_000
const patience = 15_000

const lockOf = (path: string): string => `${path}.lock`

/**
 * Whether a lock is dated in the future and stays so: whoever holds one dates it anew every few seconds. The library
 * breaks only old ones, so this one would be respected until its date has passed.
 */
function openFutureWatch(path: string, { clock, files }: World): () => Promise<boolean> {
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
async function take(path: string, world: World): Promise<() => Promise<void>> {
  const { clock, files, random } = world
  const isFromFuture = openFutureWatch(path, world)
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
        throw new Failure('output', `the settings in ${path} are locked: another mergeq is changing them.`, {
          hint: `Nothing was changed. Try again; if no other mergeq is running, remove the lock ${lockOf(path)}.`,
        })
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
export async function changeStore(world: World, change: (before: JsonObject) => JsonObject): Promise<void> {
  const path = configFile(world)
  if (path === undefined)
    throw usage(
      'There is no folder to store settings in.',
      'Set HOME, or MERGEQ_CONFIG_DIR to an absolute path.',
    )
  try {
    await world.files.makeFolder(folderOf(path))
    const target = await world.files.follow(path)
    const release = await take(target, world)
    try {
      await replace(target, change(await readDocument(world, target, path)), world)
    } finally {
      await release().catch(() => undefined)
    }
  } catch (error) {
    if (isFailure(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new Failure('output', `the settings in ${path} could not be written: ${why}.`, {
      hint: 'Nothing was changed. Check the folder and the space on its disk, or name another in MERGEQ_CONFIG_DIR.',
    })
  }
}

async function replace(target: string, document: JsonObject, { files }: World): Promise<void> {
  const folder = folderOf(target)
  await sweepFolder(target, files)
  const text = `${encode(document, true)}\n`
  if (text.length > largestFile) throw usage('The settings would become too large to be read again.')
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
async function sweepFolder(target: string, files: World['files']): Promise<void> {
  for (const name of await files.list(folderOf(target)))
    if (name.startsWith(`${nameOf(target)}.`) && /\.new(?:\.tmp-\w+)?$/.test(name))
      await files.remove(`${folderOf(target)}/${name}`)
}

/** Removes what a writer that died left behind, which may hold a token. Where nothing is, nothing is made. */
export async function sweep(world: World): Promise<void> {
  const path = configFile(world)
  if (path === undefined || !(await world.files.exists(folderOf(path)))) return
  const target = await world.files.follow(path)
  const release = await take(target, world)
  try {
    await sweepFolder(target, world.files)
  } finally {
    await release().catch(() => undefined)
  }
}
