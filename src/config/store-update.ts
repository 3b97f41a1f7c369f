import { isMergeqError, MergeqError, usageError } from '../base/errors.ts'
import { isObject, type JsonObject, stringifyJson } from '../base/json.ts'
import type { Host } from '../host/host.ts'
import { maxStoreSize } from '../values/limits.ts'
import { openFile, parentDirectory, type Store, sectionOf, storeFile, valueNamesOf } from './store.ts'

interface StoreOwner {
  readonly host: Host
  readonly settings: { readonly store: Store }
}

const formatDocument = (document: JsonObject): string => `${stringifyJson(document, true)}\n`

/** The age after which the lock of a process that died is broken, and the longest time to wait for one, in milliseconds. */
const [staleAge, lockTimeout] = [5_000, 15_000]

/** Runs `work` while no other process changes the settings. Throws an output error when the lock stays held. */
async function withLock(
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

/**
 * Changes the stored settings: under a lock, the new document is written to a file of mode 0600 beside the
 * old file, read back, compared, and renamed over the old file. After any error the old file is unchanged
 * (docs/reference/network.md, "Files"). Members that `change` does not touch are kept, unknown ones too. An
 * unreadable file is never overwritten. Throws a usage error without a directory for settings, and an output
 * error when the file cannot be written.
 */
export async function updateStore(
  { host, settings }: StoreOwner,
  change: (before: JsonObject) => JsonObject,
): Promise<void> {
  const path = storeFile({ settings })
  try {
    await host.files.createDirectory(parentDirectory(path))
    const target = await host.files.resolveLink(path)
    // An unreadable file is refused first: no lock is created beside a device.
    await openFile(host, target, path)
    await withLock(target, host, async () => {
      const document = change((await openFile(host, target, path))?.store ?? {})
      if (formatDocument(document).length > maxStoreSize)
        throw usageError(
          'The settings file would become too large.',
          'Nothing was changed. Remove settings that are not needed with config unset.',
        )
      await host.files.replaceSettings(target, document, formatDocument)
    })
  } catch (error) {
    if (isMergeqError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `The settings file ${path} could not be written: ${reason}.`, {
      hint: 'Nothing was changed. Check the directory and the free disk space, or set MERGEQ_CONFIG_DIR to another directory.',
    })
  }
}

/** Replaces the stored values of a profile with the result of `change`. One with a name is gone without a value. */
export const updateProfile = (
  owner: StoreOwner,
  name: string,
  change: (values: JsonObject) => JsonObject,
): Promise<void> =>
  updateStore(owner, document => {
    const profiles = sectionOf(document, 'profiles')
    const { [name]: before, ...others } = profiles
    const values = change(isObject(before) ? before : {})
    const hasTokens = Object.keys(sectionOf(values, 'tokens')).length > 0
    const isKept = name === 'default' || hasTokens || valueNamesOf(values).length > 0
    return { ...document, profiles: isKept ? { ...profiles, [name]: values } : others }
  })

/** Replaces the tokens of a profile with the result of `change`, and sets values of a profile with a name. */
export function updateTokens(
  owner: StoreOwner,
  profile: string,
  change: (tokens: JsonObject) => JsonObject,
  values: JsonObject = {},
): Promise<void> {
  const changeIn = (section: JsonObject) => ({ ...section, tokens: change(sectionOf(section, 'tokens')) })
  return profile === 'default'
    ? updateStore(owner, changeIn)
    : updateProfile(owner, profile, section => ({ ...changeIn(section), ...values }))
}
