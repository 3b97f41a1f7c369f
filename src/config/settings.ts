import { memoize } from '../domain/memoize.ts'
import type { CheckoutLookup } from '../domain/missing-pull-request.ts'
import type { OutputFormat } from '../domain/output-formats.ts'
import type { CommandLine } from '../domain/suggested-command.ts'
import { requireUtf8 } from '../domain/values/text.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Host, ServiceHost } from '../host/host.ts'
import { isObject, type JsonObject, parseJson } from '../json.ts'
import type { Logger } from '../output/logger.ts'
import type { Checkout } from './checkout.ts'
import { createCommandLine } from './command-line.ts'
import {
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  type SettingValue,
  settingDefinition,
  settingDefinitions,
} from './setting-definitions.ts'
import { joinPath, openStore, parentDirectory, profileSource, type Store } from './store.ts'
import { findToken } from './token.ts'

/**
 * The parsed command line: the typed values of each argument and option, by its name (`pr`, `--priority`).
 * An option without a value holds `true`; arguments and options that were not typed are absent. With
 * `--exec`, `--` has the words after it.
 */
export type ParsedArgs = ReadonlyMap<string, readonly string[]>

/**
 * The inputs of operations that need not be typed, because a setting can give each of them
 * (docs/reference/cli.md, "Settings").
 */
export type SettingName = 'org' | DiscoverableSetting

/** What an input may use while it reads its value. */
export interface ParseContext {
  readonly settings: Config
  readonly host: Host
  readonly options: { readonly format: OutputFormat }
  readonly logger: Pick<Logger, 'info' | 'withSpinner'>
}

/** The settings that the caller gives: as arguments of a command line, or by their names. */
const fromCaller = (given: ParsedArgs | SettingSource): SettingSource =>
  'find' in given
    ? given
    : {
        find(name) {
          const { flag } = settingDefinition(name)
          const value = flag === undefined ? undefined : given.get(flag)?.[0]
          return value === undefined ? undefined : { value, origin: flag ?? '' }
        },
      }

/** The settings that environment variables give; the origin of each is the variable. */
export const fromEnvironment = ({ env }: ServiceHost): SettingSource => ({
  find(name) {
    const origin = settingDefinition(name).env.find(variable => (env[variable] ?? '') !== '')
    return origin === undefined ? undefined : { value: env[origin] ?? '', origin }
  },
})

const fromDefaults: SettingSource = {
  find(name) {
    const { default: value } = settingDefinition(name)
    return value === undefined ? undefined : { value, origin: 'default' }
  },
}

function memoized(source: SettingSource): SettingSource {
  const cache = new Map<SettingKey, ReturnType<SettingSource['find']>>()
  return {
    find(name) {
      if (!cache.has(name)) cache.set(name, source.find(name))
      return cache.get(name)
    },
  }
}

/** The settings of a command; each is looked up when it is first needed. */
export interface Config {
  readonly store: Store
  /** Returns the unparsed value and its origin, or undefined when no source has one. */
  find(name: SettingKey): Promise<ResolvedValue | undefined>
  /** Returns the parsed value. Throws a usage error that names the origin of an invalid value. */
  read<N extends SettingKey>(name: N): Promise<SettingValue<N> | undefined>
  /** Returns the parsed value. Throws a usage error that says how to set it when no source has one. */
  require<N extends SettingKey>(name: N): Promise<SettingValue<N>>
  /** Returns the parsed value only if an option, or an option or an environment variable, gives it. */
  readFrom<N extends SettingKey>(
    sources: 'option' | 'option-or-environment',
    name: N,
  ): Promise<SettingValue<N> | undefined>
  /** Returns what the checkout says about its pull request, after `read('pr')` found none. */
  lookUpCheckout(): Promise<CheckoutLookup>
  /** What the CI job says, whatever other sources say; nothing where only what the caller gives counts. */
  readonly ciJob: SettingSource
  /** The commits of the checkout; undefined where only what the caller gives counts. */
  readonly checkout: Checkout | undefined
  /** Returns the same settings with other arguments, for a single pull request of several. */
  withArgs(given: ParsedArgs | SettingSource): Config
  /** Returns the values that were looked up so far, with their origins. */
  used(): ReadonlyMap<SettingKey, ResolvedValue>
  /** Returns a command line to suggest; the settings that were looked up so far need no option. */
  readonly commandLine: CommandLine
}

/** A read may guess between repositories, a change may not. */
export interface ResolveOptions {
  readonly changes: boolean
  readonly changesSettings: boolean
  /** Whether the selected profile may be one that does not exist yet. False by default. */
  readonly createsProfile?: boolean
  /** False where only what the caller gives counts, else the defaults. True by default. */
  readonly needsSettings?: boolean
  /** Returns the name of a setting as the caller writes it: `--repo`, or `repo` in the library. */
  nameOf(name: string): string
  /** Reports a choice that was made for the user. */
  notify(text: string): Promise<void>
}

/** The settings that a CI job or a checkout can give; for other settings their modules are not loaded. */
const discoverableSettings = ['repo', 'targetBranch', 'pr', 'sha', 'testRun', 'forkedRun'] as const

type DiscoverableSetting = (typeof discoverableSettings)[number]

function discovered(load: () => Promise<SettingSource>): SettingSource {
  const names: readonly SettingKey[] = discoverableSettings
  const source = memoize(load)
  return memoized({ find: async name => (names.includes(name) ? (await source()).find(name) : undefined) })
}

const loadDiscovery = () => import('./discovery.ts')

/**
 * Returns the settings of a command or of a call of the library. The first source with a value wins: what the
 * caller gives, environment, project file, profile, CI job, git, default (docs/reference/cli.md, "Settings").
 */
export function resolveSettings(
  given: ParsedArgs | SettingSource,
  host: ServiceHost,
  options: ResolveOptions,
): Config {
  const store = openStore(host)
  const used = new Map<SettingKey, ResolvedValue>()
  const configured = new Map<SettingKey, string>()
  const hasToken = async () => {
    const token = findToken(host, settings)
    return token.then(() => true).catch(error => !isMergeqError(error) || error.kind !== 'auth')
  }
  const { needsSettings = true, createsProfile = false } = options
  const hintOf = (name: SettingKey) => {
    const { hint, commandHint } = settingDefinition(name)
    return joinLines(hint?.(options.nameOf), 'find' in given ? undefined : commandHint)
  }
  const ciJob = discovered(async () => (await loadDiscovery()).ciSource(host, { hasToken, hintOf }))
  const configuredSources = [
    projectFileSource(host),
    // A command that changes settings does not read the profile: it must be able to correct an invalid
    // value and to create a profile.
    ...(options.changesSettings
      ? []
      : [memoized(profileSource(store, () => settings.require('profile'), createsProfile))]),
    ciJob,
  ]
  const loadCheckout = memoize(async () => (await import('./checkout.ts')).openCheckout(host))
  const checkout: Checkout = {
    readHead: async () => (await loadCheckout()).readHead(),
    findCommit: async digits => (await loadCheckout()).findCommit(digits),
    findHead: async pullRequest => (await loadCheckout()).findHead(pullRequest),
  }
  const settings = createConfig(given)
  return settings

  function createConfig(given: ParsedArgs | SettingSource): Config {
    const caller = fromCaller(given)
    const explicitSources = needsSettings ? [caller, fromEnvironment(host)] : [caller]
    const search = async (sources: readonly SettingSource[], name: SettingKey) => {
      for (const source of sources) {
        const resolved = await source.find(name)
        if (resolved === undefined) continue
        used.set(name, resolved)
        if (source !== caller) configured.set(name, resolved.value)
        return resolved
      }
      return undefined
    }
    const git = memoize(async () => {
      const { gitSource } = await loadDiscovery()
      // A branch or pull request of a remote belongs to the repository of that remote only.
      const repo = () => read([...explicitSources, ...configuredSources], 'repo')
      return gitSource(host, { ...options, repo })
    })
    const foundSources = needsSettings ? [...configuredSources, discovered(git)] : []
    const allSources = [...explicitSources, ...foundSources, fromDefaults]
    const read = async <N extends SettingKey>(sources: readonly SettingSource[], name: N) => {
      const resolved = await search(name === 'profile' ? [...explicitSources, fromDefaults] : sources, name)
      return resolved === undefined ? undefined : parseSetting(name, resolved)
    }
    return {
      store,
      find: name => search(allSources, name),
      read: name => read(allSources, name),
      readFrom: (sources, name) => read(sources === 'option' ? [caller] : explicitSources, name),
      async require(name) {
        const value = await read(allSources, name)
        if (value !== undefined) return value
        if (!needsSettings) throw notGivenError(name)
        const { noun = name } = settingDefinition(name)
        throw usageError(`No ${noun} was given.`, joinLines(hintOf(name), store.readError()?.message))
      },
      lookUpCheckout: async () => (await git()).lookUpCheckout(),
      ciJob: needsSettings ? ciJob : { find: () => undefined },
      checkout: needsSettings ? checkout : undefined,
      withArgs: createConfig,
      used: () => used,
      commandLine: createCommandLine({ typed: 'find' in given ? new Map() : given, configured }),
    }
  }
}

/** Returns the error for a value that the caller did not give, where nothing else gives it. */
export const notGivenError = (name: string): MergeqError =>
  usageError(`${name} is required.`, `Give ${name}: it is not looked up anywhere.`)

const joinLines = (...lines: readonly (string | undefined)[]): string =>
  lines.filter(line => line !== undefined && line !== '').join('\n')

function parseSetting<N extends SettingKey>(
  name: N,
  { value, origin, place, fix }: ResolvedValue,
): SettingValue<N> {
  try {
    return settingDefinitions[name].parse(value) as SettingValue<N>
  } catch (error) {
    if (!isMergeqError(error)) throw error
    const where = place === undefined ? origin : `${origin}: ${place}`
    const hint = joinLines(error.details.hint, fix)
    throw new MergeqError(error.kind, `${where}: ${error.message}`, {
      ...error.details,
      ...(hint === '' ? {} : { hint }),
    })
  }
}

const fileName = '.mergeq.json'
const maxFileSize = 64 * 1024

/**
 * The settings that a project file may contain: whoever can write to a repository must not be able to send
 * a token elsewhere.
 */
const allowedSettings: readonly SettingKey[] = ['repo', 'targetBranch', 'org', 'output']

/**
 * Returns the nearest file with one of the names, from a directory up to the root of the git checkout. Outside a
 * checkout only directories up to `top` count.
 */
export async function findFileAbove(
  directory: string,
  top: string,
  names: readonly string[],
  { files, runtime: { platform } }: ServiceHost,
): Promise<string | undefined> {
  let nearest: { readonly path: string; readonly isBelowTop: boolean } | undefined
  let isBelowTop = true
  for (let folder = directory; ; folder = parentDirectory(folder)) {
    for (const name of names) {
      const path = joinPath(folder, name, platform)
      if (nearest === undefined && (await files.exists(path))) nearest = { path, isBelowTop }
    }
    if (await files.exists(joinPath(folder, '.git', platform))) return nearest?.path
    if (folder === top) isBelowTop = false
    if (parentDirectory(folder) === folder || !/[\\/]/.test(folder)) break
  }
  return nearest?.isBelowTop === true ? nearest.path : undefined
}

function parseProjectFile(path: string, text: string): JsonObject {
  const document = parseJson(text)
  if (!isObject(document)) {
    const problem = document === undefined ? 'contains invalid JSON' : 'must contain a JSON object'
    throw usageError(`${path} ${problem}.`, 'For example: {"repo":"acme/web","targetBranch":"main"}')
  }
  for (const [key, value] of Object.entries(document)) {
    if (!allowedSettings.some(name => name === key))
      throw usageError(
        `${path} contains ${key}, which a project file must not set.`,
        `A project file may set only ${allowedSettings.join(', ')}. A base URL or a token in a repository could send your token elsewhere.`,
      )
    if (typeof value !== 'string') throw usageError(`${path}: ${key} must be a string.`)
  }
  return document
}

/**
 * Returns the project file as a source (docs/reference/cli.md, "Project file"). Its `find` throws a usage
 * error for an invalid file and for settings that a project file may not contain.
 */
function projectFileSource(host: ServiceHost): SettingSource {
  const readFile = memoize(async () => {
    const { cwd } = host
    const path = cwd === undefined ? undefined : await findFileAbove(cwd, cwd, [fileName], host)
    if (path === undefined) return undefined
    const text = await host.files.read(path, maxFileSize).catch(error => {
      throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
    })
    return { path, document: parseProjectFile(path, requireUtf8(text ?? '', path)) }
  })
  return {
    async find(name) {
      if (!allowedSettings.includes(name)) return undefined
      const file = await readFile()
      const value = file?.document[name]
      return file === undefined || typeof value !== 'string'
        ? undefined
        : { value, origin: file.path, place: name }
    },
  }
}
