import Conf from 'conf'
import { lock } from 'proper-lockfile'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import { type JsonObject, stringifyJson } from '../json.ts'
import { parentDirectory } from './file-paths.ts'
import { configFile, maxStoreSize, readDocument, requireStorePath } from './store.ts'

/** The age after which the lock of a process that died is broken, in milliseconds. */
const staleLock = 5_000
/** The longest time to wait for the lock, in milliseconds. */
const lockTimeout = 15_000

const lockPath = (path: string): string => `${path}.lock`

/**
 * Returns a check whether a lock has a date in the future that does not change: the owner of a lock updates
 * its date every few seconds. proper-lockfile breaks old locks only, and would respect such a lock until
 * its date has passed.
 */
function createFutureLockCheck(path: string, { clock, files }: Host): () => Promise<boolean> {
  let lastSeen: { readonly modifiedAt: number; readonly since: number } | undefined
  return async () => {
    const { modifiedAt = 0 } = (await files.access(lockPath(path))) ?? {}
    const now = clock.now()
    if (modifiedAt <= now + staleLock) return false
    if (lastSeen?.modifiedAt !== modifiedAt) lastSeen = { modifiedAt, since: now }
    return now - lastSeen.since >= staleLock
  }
}

/**
 * Acquires the lock and returns the function that releases it. Waits only while another process holds the
 * lock. Throws an output error when the lock stays held.
 */
async function acquireLock(path: string, host: Host): Promise<() => Promise<void>> {
  const { clock, files, random } = host
  const isFromFuture = createFutureLockCheck(path, host)
  for (const deadline = clock.now() + lockTimeout; ; )
    try {
      return await lock(path, {
        realpath: false,
        stale: staleLock,
        retries: 0,
        onCompromised: () => undefined,
      })
    } catch (error) {
      const isLocked = error instanceof Error && 'code' in error && error.code === 'ELOCKED'
      if (!isLocked) throw error
      if (clock.now() > deadline)
        throw new MergeqError('output', `The settings file ${path} is locked by another mergeq process.`, {
          hint: `Nothing was changed. Try again. If no other mergeq is running, remove the lock ${lockPath(path)}.`,
        })
      if (await isFromFuture()) await files.removeDirectory(lockPath(path))
      await clock.sleep(25 + random() * 25)
    }
}

const fileName = (path: string): string => path.replace(/^.*[\\/]/s, '')

/** Runs `work` while no other process changes the settings. */
async function withLock<T>(path: string, host: Host, work: () => Promise<T>): Promise<T> {
  const release = await acquireLock(path, host)
  try {
    return await work()
  } finally {
    await release().catch(() => undefined)
  }
}

/**
 * Changes the stored settings: under a lock, the new document is written to a file of mode 0600 beside the
 * old file, read back, compared, and renamed over the old file. After any error the old file is unchanged
 * (docs/reference/network.md, "Files"). Members that `change` does not touch are kept, unknown ones too. An
 * unreadable file is never overwritten. Throws a usage error without a directory for settings, and an output
 * error when the file cannot be written.
 */
export async function updateStore(host: Host, change: (before: JsonObject) => JsonObject): Promise<void> {
  const path = requireStorePath(configFile(host))
  try {
    await host.files.createDirectory(parentDirectory(path))
    const target = await host.files.resolveLink(path)
    await withLock(target, host, async () => {
      await rejectHeldFile(target, host)
      await replaceFile(target, change(await readDocument(host, target, path)), host)
    })
  } catch (error) {
    if (isMergeqError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `The settings file ${path} could not be written: ${reason}.`, {
      hint: 'Nothing was changed. Check the directory and the free disk space, or set MERGEQ_CONFIG_DIR to another directory.',
    })
  }
}

/** Rejects when another program does not share the file. `readDocument` names all other problems. */
const rejectHeldFile = (target: string, { files }: Host) =>
  files.read(target, maxStoreSize).catch(error => {
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') throw error
  })

async function replaceFile(target: string, document: JsonObject, { files }: Host): Promise<void> {
  const directory = parentDirectory(target)
  await removeStaleFiles(target, files)
  const text = `${stringifyJson(document, true)}\n`
  if (text.length > maxStoreSize)
    throw usageError(
      'The settings file would become too large.',
      'Nothing was changed. Remove settings that are not needed: mergeq config unset <key>',
    )
  const name = `${fileName(target)}.${crypto.randomUUID()}`
  const temporaryFile = `${directory}/${name}.new`
  try {
    const file = new Conf<Record<string, unknown>>({
      cwd: directory,
      configName: name,
      fileExtension: 'new',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
    })
    file.store = { ...document }
    // A full disk may truncate the file without an error.
    if ((await files.read(temporaryFile)) !== text)
      throw new Error('the written file has different content (is the disk full?)')
    await files.rename(temporaryFile, target)
  } finally {
    await files.remove(temporaryFile)
  }
}

/** Removes temporary files of a process that died; the lock keeps other processes from writing them. */
async function removeStaleFiles(target: string, files: Host['files']): Promise<void> {
  for (const name of await files.list(parentDirectory(target)))
    if (name.startsWith(`${fileName(target)}.`) && /\.new(?:\.tmp-\w+)?$/.test(name))
      await files.remove(`${parentDirectory(target)}/${name}`)
}

/**
 * Removes temporary files of a process that died, which may contain a token. Creates nothing where nothing
 * is stored.
 */
export async function removeTemporaryFiles(host: Host): Promise<void> {
  const path = configFile(host)
  if (path === undefined || !(await host.files.exists(parentDirectory(path)))) return
  const target = await host.files.resolveLink(path)
  await withLock(target, host, () => removeStaleFiles(target, host.files))
}
