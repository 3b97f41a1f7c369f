import { isMergeqError, MergeqError, toMergeqError, usageError, withName } from '../base/errors.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import type { Host, ServiceHost, SettingsFile } from '../host/host.ts'
import { maxStoreSize } from '../values/limits.ts'
import { hintWithSuggestion } from '../values/similar-name.ts'
import { shellWord } from '../values/suggested-command.ts'
import { isUtf16 } from '../values/text.ts'
import { configKeys, type SettingKey, type SettingSource, settingDefinition } from './setting-definitions.ts'

export function joinPath(directory: string, name: string, platform: string): string {
  const separator = platform === 'win32' ? '\\' : '/'
  return /[\\/]$/.test(directory) ? `${directory}${name}` : `${directory}${separator}${name}`
}

/** Returns the directory of a file or directory; `/` at the root. */
export const parentDirectory = (path: string): string => path.replace(/[\\/][^\\/]*$/, '') || '/'

/**
 * The stored settings: `profiles` by name, and unknown members. `tokens` by origin are members of the document for
 * the profile `default`, and of each other profile.
 */
export interface Store {
  readonly path: string | undefined
  /** Returns the document, an empty one without a file; throws a usage error for one that cannot be read. */
  read(): Promise<JsonObject>
  /** Returns the settings of this machine; nothing if there are none. Throws a usage error for wrong ones. */
  readMachine(): Promise<MachineSettings | undefined>
  readError(): Promise<MergeqError | undefined>
  /** Returns the mode of the file, such as `644`, if other users can read it; only once, so that it is said once. */
  takeSharedMode(): Promise<string | undefined>
}

/** The settings that an administrator made for all users of a machine, without tokens. */
interface MachineSettings {
  readonly path: string
  readonly document: JsonObject
}

/** Returns the document of a settings file. Throws an error that says what is wrong. */
function parseDocument(text: string): JsonObject {
  if (isUtf16(text)) throw new Error('it is encoded as UTF-16, not UTF-8')
  const document = parseJson(text)
  if (document === undefined) throw new Error(text.trim() === '' ? 'it is empty' : 'it contains invalid JSON')
  if (!isObject(document)) throw new Error('it must contain a JSON object')
  requireForm(document)
  return document
}

/** Throws for a member that another form would hide: without its base URL, a token would go to the default one. */
function requireForm(document: JsonObject): void {
  const { profiles = {} } = document
  if (!isObject(profiles)) throw new Error('profiles must be a JSON object')
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile)) throw new Error(`the profile ${name} must be a JSON object`)
    for (const key of configKeys.keys()) {
      const value = Object.hasOwn(profile, key) ? profile[key] : ''
      const isList = key === 'token-command' && Array.isArray(value)
      if (typeof value !== 'string' && typeof value !== 'number' && !isList)
        throw new Error(`${key} of the profile ${name} must be a string`)
    }
  }
}

function requireStorePath(path: string | undefined): string {
  if (path !== undefined) return path
  throw usageError(
    'There is no configuration directory.',
    'Set HOME, or set MERGEQ_CONFIG_DIR to an absolute path.',
  )
}

/** Returns the path of the stored settings. Throws a usage error when there is no directory for them. */
export const storeFile = ({ settings }: { readonly settings: { readonly store: Store } }): string =>
  requireStorePath(settings.store.path)

export const restrictCommand = ({ path = '' }: Store): string => `chmod 600 ${shellWord(path)}`

/** Returns the stored settings. The file is read once, on demand, and never created or changed. */
export function openStore(host: ServiceHost): Store {
  const path = configFile(host)
  let reading: Promise<JsonObject> | undefined
  let isModeTaken = false
  const read = () => {
    reading ??= path === undefined ? Promise.resolve({}) : readMembers(host, path)
    return reading
  }
  const readMachine = memoize(() => readMachineFile(host))
  return {
    path,
    read,
    readMachine,
    readError: () =>
      read()
        .then(readMachine)
        .then(() => undefined, toMergeqError),
    async takeSharedMode() {
      // Windows has no such modes.
      if (isModeTaken || path === undefined || host.runtime.platform === 'win32') return undefined
      isModeTaken = true
      const mode = (await host.files.mode(path)) ?? 0
      return (mode & 0o044) === 0 ? undefined : mode.toString(8).padStart(3, '0')
    },
  }
}

async function readMachineFile(host: ServiceHost): Promise<MachineSettings | undefined> {
  const { env, files, machineFile: path } = host
  if (!env.MERGEQ_MACHINE_CONFIG && (path === undefined || !(await files.exists(path)))) return undefined
  return (await import('./machine-settings.ts')).readMachineSettings(host, parseDocument)
}

/** Returns what mergeq uses of the settings file; nothing when there is no file. Throws the error of `openFile`. */
async function readMembers(host: ServiceHost, path: string): Promise<JsonObject> {
  const file = await openFile(host, path, path)
  return { profiles: file?.get('profiles') ?? {}, tokens: file?.get('tokens') ?? {} }
}

/** Returns the whole document of the settings file, an empty one when there is no file. Throws the error of `openFile`. */
const readDocument = async (host: ServiceHost, target: string, path: string): Promise<JsonObject> =>
  (await openFile(host, target, path))?.store ?? {}

/** Opens the settings file, if there is one; `target` is the file behind the link `path`. */
async function openFile(host: ServiceHost, target: string, path: string): Promise<SettingsFile | undefined> {
  try {
    return await host.files.openSettings(target, maxStoreSize, parseDocument)
  } catch (error) {
    throw usageError(
      `The settings file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      'Fix the file, or move it away to start with empty settings: mergeq never overwrites a file that it cannot read. Or set MERGEQ_CONFIG_DIR to another directory.\nTo run a command without it, set MERGEQ_BASE_URL and MERGEQ_TOKEN.',
    )
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
  const { formatDocument, replaceLocked, withLock } = await import('./store-update.ts')
  try {
    await host.files.createDirectory(parentDirectory(path))
    const target = await host.files.resolveLink(path)
    // An unreadable file is refused first: no lock is created beside a device.
    await readDocument(host, target, path)
    await withLock(target, host, async () => {
      const document = change(await readDocument(host, target, path))
      if (formatDocument(document).length > maxStoreSize)
        throw usageError(
          'The settings file would become too large.',
          'Nothing was changed. Remove settings that are not needed with config unset.',
        )
      await replaceLocked(parentDirectory(target), target.replace(/^.*[\\/]/s, ''), document, host)
    })
  } catch (error) {
    if (isMergeqError(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `The settings file ${path} could not be written: ${reason}.`, {
      hint: 'Nothing was changed. Check the directory and the free disk space, or set MERGEQ_CONFIG_DIR to another directory.',
    })
  }
}

const sectionOf = (document: JsonObject, name: string): JsonObject => {
  const section = Object.hasOwn(document, name) ? document[name] : undefined
  return isObject(section) ? section : {}
}

const profilesIn = (document: JsonObject | undefined): JsonObject => sectionOf(document ?? {}, 'profiles')

/** Returns the values of a profile of the user; none where there is no such profile. */
export const ownProfile = (document: JsonObject | undefined, name: string): JsonObject =>
  sectionOf(profilesIn(document), name)

export async function profileNames(store: Store): Promise<readonly string[]> {
  const documents = [await store.read(), (await store.readMachine())?.document]
  return [...new Set(documents.flatMap(document => Object.keys(profilesIn(document))))]
}

/** Throws a usage error for an unknown profile; the profile `default` need not exist. */
function requireName(name: string, names: readonly string[]): void {
  if (name !== 'default' && !names.includes(name))
    throw usageError(
      `Profile not found: ${name}.`,
      hintWithSuggestion(name, names, 'To create it, use config set with --profile.'),
    )
}

/** Returns the values of a profile of the user; throws a usage error for an unknown one, but for `default`. */
export function profileIn(document: JsonObject, name: string): JsonObject {
  const profiles = profilesIn(document)
  requireName(name, Object.keys(profiles))
  return sectionOf(profiles, name)
}

/** Throws a usage error for a relative path, which would name another file in each working directory. */
export function requireStorable(name: SettingKey, value: string): void {
  if (name === 'caFile' && !isAbsolute(value))
    throw usageError(`'${value}' is a relative path.`, 'In the settings file, use an absolute path.')
}

/** Returns the names of the values of a profile, without its tokens. */
export const valueNamesOf = (profile: JsonObject): readonly string[] =>
  Object.keys(profile).filter(key => key !== 'tokens')

/** Replaces the stored values of a profile with the result of `change`. One with a name is gone without a value. */
export const updateProfile = (
  host: Host,
  name: string,
  change: (values: JsonObject) => JsonObject,
): Promise<void> =>
  updateStore(host, document => {
    const profiles = sectionOf(document, 'profiles')
    const { [name]: before, ...others } = profiles
    const values = change(isObject(before) ? before : {})
    const hasTokens = Object.keys(sectionOf(values, 'tokens')).length > 0
    const isKept = name === 'default' || hasTokens || valueNamesOf(values).length > 0
    return { ...document, profiles: isKept ? { ...profiles, [name]: values } : others }
  })

/** A value of a profile as it is stored, and where, for messages: `timeout in /home/ann/.config/mergeq/config.json`. */
interface StoredValue {
  readonly value: string
  readonly place: string
  /** Whether an administrator set it for all users of the machine. */
  readonly isOfMachine: boolean
}

/** A person may have written a number without quotes, and a command as an array. */
function storedText(stored: Json | undefined): string | undefined {
  if (typeof stored === 'number' || Array.isArray(stored)) return JSON.stringify(stored)
  return typeof stored === 'string' ? stored : undefined
}

/** Returns a value of a profile, of the user before that of the machine. */
export async function findStored(
  store: Store,
  profile: string,
  key: string,
  creates = false,
): Promise<StoredValue | undefined> {
  if (!creates) requireName(profile, await profileNames(store))
  const find = (document: JsonObject | undefined) => storedText(sectionOf(profilesIn(document), profile)[key])
  const own = find(await store.read())
  if (own !== undefined) return { value: own, place: `${key} in ${store.path}`, isOfMachine: false }
  const machine = await store.readMachine()
  const value = find(machine?.document)
  return value === undefined ? undefined : { value, place: `${key} in ${machine?.path}`, isOfMachine: true }
}

export async function storedTokens(store: Store, profile: string): Promise<JsonObject> {
  requireName(profile, await profileNames(store))
  const document = await store.read()
  return sectionOf(profile === 'default' ? document : sectionOf(profilesIn(document), profile), 'tokens')
}

/** Replaces the tokens of a profile with the result of `change`, and sets values of a profile with a name. */
export function updateTokens(
  host: Host,
  profile: string,
  change: (tokens: JsonObject) => JsonObject,
  values: JsonObject = {},
): Promise<void> {
  const changeIn = (owner: JsonObject) => ({ ...owner, tokens: change(sectionOf(owner, 'tokens')) })
  return profile === 'default'
    ? updateStore(host, changeIn)
    : updateProfile(host, profile, owner => ({ ...changeIn(owner), ...values }))
}

/**
 * Returns the selected profile as a source. An unreadable file has no values here, which the command warns of; but it
 * may have the base URL: for that, the error is thrown.
 */
export const profileSource = (
  store: Store,
  profile: () => Promise<string>,
  createsProfile: boolean,
): SettingSource => ({
  async find(name) {
    const { key } = settingDefinition(name)
    if (key === undefined) return undefined
    const profileName = await profile()
    const stored = await findStored(store, profileName, key, createsProfile).catch(async error => {
      if (name === 'baseUrl' || (await store.readError()) === undefined) throw error
      return undefined
    })
    if (stored === undefined) return undefined
    const { value, place, isOfMachine } = stored
    withName(place, () => requireStorable(name, value))
    const flag = profileName === 'default' ? '' : ` --profile ${shellWord(profileName)}`
    if (isOfMachine)
      return {
        value,
        origin: 'machine',
        place,
        fix: 'Ask the administrator of this machine, or store another value with config set.',
      }
    return {
      value,
      origin: `profile ${profileName}`,
      place,
      fix: `Change it with config set, or remove it.\nTo remove it, run: mergeq config unset ${key}${flag}`,
    }
  },
})

/** Whether a path is absolute, on any platform. */
export const isAbsolute = (path: string | undefined): path is string =>
  path !== undefined && (path.startsWith('/') || /^[A-Za-z]:[\\/]|^\\\\/.test(path))

/** Returns the path of the settings file; undefined where the variables name no absolute directory. */
function configFile({ env, runtime: { platform } }: ServiceHost): string | undefined {
  const { HOME, LOCALAPPDATA, MERGEQ_CONFIG_DIR, XDG_CONFIG_HOME } = env
  const [base, folder] = MERGEQ_CONFIG_DIR
    ? [MERGEQ_CONFIG_DIR, '']
    : platform === 'win32'
      ? [LOCALAPPDATA, '\\mergeq']
      : isAbsolute(XDG_CONFIG_HOME)
        ? [XDG_CONFIG_HOME, '/mergeq']
        : [HOME, platform === 'darwin' ? '/Library/Preferences/mergeq' : '/.config/mergeq']
  return isAbsolute(base) ? joinPath(`${base}${folder}`, 'config.json', platform) : undefined
}
