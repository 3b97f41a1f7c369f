import Conf from 'conf'
import { lock } from 'proper-lockfile'
import type { JsonObject } from '../contract/json.ts'
import { Failure, isFailure, usage } from '../failure.ts'
import type { World } from '../world/world.ts'
import { configFile } from './folder.ts'
import { documentIn, largestFile } from './store.ts'

/** A lock that was left behind by a process that died is broken after so many milliseconds. */
const staleLock = 5_000
const patience = { retries: 400, factor: 1, minTimeout: 25, maxTimeout: 100, randomize: true }

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
    const release = await lock(path, {
      realpath: false,
      stale: staleLock,
      retries: patience,
      onCompromised: () => undefined,
    })
    try {
      await replace(target, change(documentIn(await world.files.read(target, largestFile), path)), world)
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
  // Under the lock nobody else writes: what is here was left behind by a process that died.
  for (const name of await files.list(folder))
    if (name.startsWith(`${nameOf(target)}.`) && name.endsWith('.new'))
      await files.remove(`${folder}/${name}`)
  const name = `${nameOf(target)}.${crypto.randomUUID()}`
  const fresh = `${folder}/${name}.new`
  try {
    const file = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: name,
      fileExtension: 'new',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize: value => `${JSON.stringify(value, null, 2)}\n`,
    })
    file.store = { ...document }
    // A full disk may leave the file cut without an error.
    if ((await files.read(fresh)) !== `${JSON.stringify(document, null, 2)}\n`)
      throw new Error('what was written does not read back (is the disk full?)')
    await files.rename(fresh, target)
  } finally {
    await files.remove(fresh)
  }
}
