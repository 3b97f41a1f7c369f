import { type MergeqError, toMergeqError, usageError, withName } from '../base/errors.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import type { ServiceHost, SettingsFile } from '../host/host.ts'
import { maxStoreSize } from '../values/limits.ts'
import { hintWithSuggestion } from '../values/similar-name.ts'
import { shellWord } from '../values/suggested-command.ts'
import { isUtf16 } from '../values/text.ts'
import {
  configKeys,
  isSwitchedOff,
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  settingDefinition,
} from './setting-definitions.ts'

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

/** Returns the path of the stored settings. Throws a usage error when there is no directory for them. */
export function storeFile({ settings }: { readonly settings: { readonly store: Store } }): string {
  const { path } = settings.store
  if (path !== undefined) return path
  throw usageError(
    'There is no configuration directory.',
    'Set HOME, or set MERGEQ_CONFIG_DIR to an absolute path.',
  )
}

export const restrictCommand = ({ path = '' }: Store): string => `chmod 600 ${shellWord(path)}`

/** Returns the stored settings. The file is read once, on demand, and never created or changed. */
export function openStore(host: ServiceHost): Store {
  const path = configFile(host)
  let isModeTaken = false
  const readFile = memoize(async () => (path === undefined ? undefined : openFile(host, path, path)))
  const read = memoize(async () => membersOf(await readFile()))
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
      if (isModeTaken || host.runtime.platform === 'win32') return undefined
      isModeTaken = true
      const { mode = 0 } = (await readFile()) ?? {}
      return (mode & 0o044) === 0 ? undefined : formatMode(mode)
    },
  }
}

/** Throws a usage error for a file that others than root can change, or with a token in it. */
async function readMachineFile(host: ServiceHost): Promise<MachineSettings | undefined> {
  const { env, files, machineFile: path } = host
  if (isSwitchedOff(env, 'MERGEQ_MACHINE_CONFIG', 'the settings of the machine') || path === undefined)
    return undefined
  const refuse = (problem: string, fix: string) =>
    usageError(
      `The settings of this machine (${path}) are refused: ${problem}.`,
      `${fix}\nTo run a command without them, set MERGEQ_MACHINE_CONFIG=off.`,
    )
  const file = await files.openSettings(path, maxStoreSize, parseDocument).catch(error => {
    throw refuse(error instanceof Error ? error.message : String(error), 'Fix the file.')
  })
  if (file === undefined) return undefined
  const { owner, mode } = file
  const restrict = `To let only root change them, run: sudo chown root ${path} && sudo chmod 644 ${path}`
  if (owner !== 0) throw refuse(`the file belongs to the user ${owner}, not to root`, restrict)
  if ((mode & 0o022) !== 0)
    throw refuse(`others than root can change the file (mode ${formatMode(mode)})`, restrict)
  const document = membersOf(file)
  const owners = [file.store, ...Object.values(profilesIn(document))]
  if (owners.some(each => isObject(each) && Object.hasOwn(each, 'tokens')))
    throw refuse('they contain tokens', 'Remove "tokens" from the file. For a token, use "token-command".')
  return { path, document }
}

/** Returns what mergeq uses of a settings file; nothing when there is none. */
const membersOf = (file: SettingsFile | undefined): JsonObject => ({
  profiles: file?.get('profiles') ?? {},
  tokens: file?.get('tokens') ?? {},
})

const formatMode = (mode: number): string => mode.toString(8).padStart(3, '0')

/** Opens the settings file, if there is one; `target` is the file behind the link `path`. */
export async function openFile(
  host: ServiceHost,
  target: string,
  path: string,
): Promise<SettingsFile | undefined> {
  try {
    return await host.files.openSettings(target, maxStoreSize, parseDocument)
  } catch (error) {
    throw usageError(
      `The settings file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      'Fix the file, or move it away to start with empty settings: mergeq never overwrites a file that it cannot read. Or set MERGEQ_CONFIG_DIR to another directory.\nTo run a command without it, set MERGEQ_BASE_URL and MERGEQ_TOKEN.',
    )
  }
}

export const sectionOf = (document: JsonObject, name: string): JsonObject => {
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

/** A person may have written a number without quotes, and a command as an array. */
function storedText(stored: Json | undefined): string | undefined {
  if (typeof stored === 'number' || Array.isArray(stored)) return JSON.stringify(stored)
  return typeof stored === 'string' ? stored : undefined
}

/** Returns a value of a profile, of the user before that of the machine; its place is `timeout in /home/ann/.config/...`. */
export async function findStored(
  store: Store,
  profile: string,
  key: string,
  creates = false,
): Promise<(ResolvedValue & { readonly place: string }) | undefined> {
  if (!creates) requireName(profile, await profileNames(store))
  const find = (document: JsonObject | undefined) => storedText(ownProfile(document, profile)[key])
  const own = find(await store.read())
  const flag = profile === 'default' ? '' : ` --profile ${shellWord(profile)}`
  if (own !== undefined)
    return {
      value: own,
      origin: `profile ${profile}`,
      place: `${key} in ${store.path}`,
      fix: `Change it with config set, or remove it.\nTo remove it, run: mergeq config unset ${key}${flag}`,
    }
  const machine = await store.readMachine()
  const value = find(machine?.document)
  if (value === undefined) return undefined
  return {
    value,
    origin: 'machine',
    place: `${key} in ${machine?.path}`,
    fix: 'Ask the administrator of this machine, or store another value with config set.',
  }
}

export async function storedTokens(store: Store, profile: string): Promise<JsonObject> {
  requireName(profile, await profileNames(store))
  const document = await store.read()
  return sectionOf(profile === 'default' ? document : ownProfile(document, profile), 'tokens')
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
    const stored = await findStored(store, await profile(), key, createsProfile).catch(async error => {
      if (name === 'baseUrl' || (await store.readError()) === undefined) throw error
      return undefined
    })
    if (stored !== undefined) withName(stored.place, () => requireStorable(name, stored.value))
    return stored
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
