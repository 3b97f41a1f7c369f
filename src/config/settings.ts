import { isMergeqError, MergeqError, usageError } from '../base/errors.ts'
import { memoize } from '../base/scheduling.ts'
import type { Host, ServiceHost } from '../host/host.ts'
import type { Logger } from '../output/logger.ts'
import type { OutputFormat } from '../output/output-formats.ts'
import { readRepository } from '../values/repository.ts'
import { type CommandLine, shellWord } from '../values/suggested-command.ts'
import { branchName } from '../values/text.ts'
import type { Checkout } from './checkout.ts'
import { suggestCommandLine } from './command-line.ts'
import { projectFileSource } from './project-file.ts'
import {
  type ResolvedValue,
  type SettingKey,
  type SettingSource,
  type SettingValue,
  settingDefinition,
  settingDefinitions,
} from './setting-definitions.ts'
import type { RuleContext } from './source-rules.ts'
import { type Source, type SourceName, sources } from './sources.ts'
import { openStore, profileSource, type Store } from './store.ts'
import { findTokenSource, tokenInEnvironment } from './token.ts'

/**
 * The parsed command line: the typed values of each argument and option, by its name (`pr`, `--priority`).
 * An option without a value holds `true`; arguments and options that were not typed are absent. With
 * `--exec`, `--` has the words after it.
 */
export type ParsedArgs = ReadonlyMap<string, readonly string[]>

/** The inputs of operations that a setting can give (docs/reference/cli.md, "Settings"). */
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

const plainBranch = /^(?!HEAD$)\w[\w-]*$/

const nothing: SettingSource = { find: () => undefined }

/** A source that is asked once for each setting. */
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
  /** Whether the command changes data. */
  readonly changes: boolean
  /**
   * Returns why the stored settings cannot be read, to warn of it. Throws it where they may decide which service gets
   * a request: unless option or variable give the base URL and the token, and where a profile was asked for.
   *
   * @param needsToken false where nothing is sent
   */
  checkStore(needsToken?: boolean): Promise<MergeqError | undefined>
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
  /** Throws a usage error for the value of an option that is no branch, as for that of `--target-branch`. */
  checkBranch(option: string, value: string): Promise<void>
  /** Whether something else than the checkout gives a value, so that it is no guess. */
  isNamed(name: SettingKey): Promise<boolean>
  /** What the CI job says, whatever other sources say; nothing where only what the caller gives counts. */
  readonly ciJob: SettingSource
  /** Returns the hosts of the repositories that settings, CI job and checkout name: that of the settings first. */
  knownHosts(): Promise<readonly string[]>
  /** Opens the checkout; undefined where only what the caller gives counts. */
  openCheckout(): Promise<Checkout | undefined>
  /** Returns the same settings with other arguments, for a single pull request of several. */
  withArgs(given: ParsedArgs | SettingSource): Config
  /** Returns the same settings for a change, where only the arguments say whether the command is one. */
  forChange(): Config
  /** Returns the branch of project file or git, where the CI job gave another one. */
  findOtherBranch(branch: string): Promise<string | undefined>
  /** Returns the values that were looked up so far, as `-v` prints them, with their origins. */
  used(): ReadonlyMap<SettingKey, ResolvedValue>
  /** Returns a command line to suggest; the settings that were looked up so far need no option. */
  readonly commandLine: CommandLine
}

/**
 * What a command does with the settings, other than to use them: a command that changes them does not read them first,
 * one that creates a profile accepts a new name, one for which they are optional warns of a file that cannot be read,
 * and wrong ones must not keep a command from running for which only options and defaults count.
 */
export type SettingsUse = 'changed' | 'profile created' | 'optional' | 'not needed'

/** A read may guess between repositories, a change may not. */
interface ResolveOptions {
  readonly changes: boolean
  /** Whether the command passes or fails by what it reads: it reads what the CI job is about. False by default. */
  readonly checks?: boolean
  readonly use?: SettingsUse | undefined
  nameOf(name: string): string
  notify(text: string): Promise<void>
}

/** The settings that a CI job or a checkout can give; for other settings their modules are not loaded. */
const discoverableSettings = ['repo', 'targetBranch', 'pr', 'sha', 'testRun', 'forkedRun'] as const

type DiscoverableSetting = (typeof discoverableSettings)[number]

const isDiscoverable = (name: SettingKey): boolean => discoverableSettings.some(key => key === name)

const discovered = (load: () => Promise<SettingSource>): SettingSource =>
  memoized({ find: async name => (isDiscoverable(name) ? (await load()).find(name) : undefined) })

/** The values that were looked up so far. */
interface FoundValues {
  readonly used: Map<SettingKey, ResolvedValue>
  /** Those that no option gave, unparsed. */
  readonly configured: Map<SettingKey, string>
}

/**
 * Returns the settings of a command or of a call of the library. The first source with a value wins: what the
 * caller gives, environment, project file, profile, CI job, git, default (docs/reference/cli.md, "Settings").
 */
export function resolveSettings(
  given: ParsedArgs | SettingSource,
  host: ServiceHost,
  options: ResolveOptions,
  found: FoundValues = { used: new Map(), configured: new Map() },
): Config {
  const { changes, checks = false, use, notify, nameOf } = options
  const needsSettings = use !== 'not needed'
  const isLibrary = 'find' in given
  const store = openStore(host)
  const projectFile = memoized(projectFileSource(host, notify))
  // A command that changes settings does not read the profile: it must be able to correct an invalid value and to
  // create a profile.
  const profile =
    use === 'changed'
      ? nothing
      : memoized(profileSource(store, () => settings.require('profile'), use === 'profile created'))
  const openCiJob = memoize(async () => (await import('./ci-job.ts')).openCiJob(context))
  const ciJob = discovered(openCiJob)
  const ofCommand = {
    host,
    changes,
    checks,
    notify,
    nameOf,
    give: (name: 'repo' | 'targetBranch', value: string) =>
      isLibrary
        ? `${name}: '${value}'`
        : `${name === 'repo' ? '-R' : '-b'}${value.startsWith('-') ? '' : ' '}${shellWord(value)}`,
    hintOf(name: SettingKey) {
      const { hint, commandHint } = settingDefinition(name)
      return joinLines(hint?.(nameOf), isLibrary ? undefined : commandHint?.(settings.commandLine))
    },
    hasToken: () =>
      findTokenSource(host, settings)
        .then(() => true)
        .catch(error => !isMergeqError(error) || error.kind !== 'auth'),
    profile,
    ciJob: openCiJob,
  }
  const [settings, context] = createConfig(given)
  return settings

  function createConfig(given: ParsedArgs | SettingSource): readonly [Config, RuleContext] {
    const openCheckout = memoize(async () => (await import('./checkout.ts')).openCheckout(context))
    const context: RuleContext = {
      ...ofCommand,
      checkout: openCheckout,
      repo: () => read(allSources, 'repo'),
      namedRepo: () => read(namedSources, 'repo'),
    }
    const finders: Readonly<Record<SourceName, SettingSource>> = {
      option: fromCaller(given),
      environment: fromEnvironment(host),
      'project file': projectFile,
      profile,
      'CI job': ciJob,
      git: discovered(openCheckout),
      default: fromDefaults,
    }
    const allSources = sources.filter(({ name }) => needsSettings || name === 'option' || name === 'default')
    const explicitSources = allSources.filter(({ name }) => name === 'option' || name === 'environment')
    // What the checkout alone gives nobody has named.
    const namedSources = allSources.filter(({ name }) => name !== 'git' && name !== 'default')
    const search = async (among: readonly Source[], name: SettingKey): Promise<ResolvedValue | undefined> => {
      for (const source of among) {
        const first = await finders[source.name].find(name)
        // A plain word, and what a program gives to the library, need no rule.
        const isPlain = plainBranch.test(first?.value ?? '')
        const isGiven = source.name === 'option' && isLibrary
        const named = source.rules?.[name]
        const rule = named === 'typedBranch' && (isPlain || isGiven) ? undefined : named
        const accepted =
          first && rule ? await (await import('./source-rules.ts'))[rule](first, context) : first
        if (accepted === undefined) continue
        const resolved =
          name === 'targetBranch' ? { ...accepted, value: branchName(accepted.value) } : accepted
        const { summarize = text => text } = settingDefinition(name)
        found.used.set(name, { ...resolved, value: summarize(resolved.value) })
        if (source.name !== 'option') found.configured.set(name, resolved.value)
        return resolved
      }
      return undefined
    }
    const read = async <N extends SettingKey>(among: readonly Source[], name: N) => {
      const resolved = await search(among, name)
      return resolved === undefined ? undefined : parseSetting(name, resolved)
    }
    const config: Config = {
      store,
      changes,
      async checkStore(needsToken = true) {
        if (!needsSettings) return undefined
        // What the machine demands of every user cannot be left out by an option.
        await store.readMachine()
        const error = await store.readError()
        if (error === undefined) return undefined
        const isProfileGiven = (await search(explicitSources, 'profile')) !== undefined
        const baseUrl = await read(explicitSources, 'baseUrl')
        if (isProfileGiven || baseUrl === undefined) throw error
        const { origin } = new URL(baseUrl)
        if (needsToken && (await tokenInEnvironment(host, config, origin)) === undefined) throw error
        return error
      },
      find: name => search(allSources, name),
      read: name => read(allSources, name),
      readFrom: (among, name) =>
        read(among === 'option' ? explicitSources.slice(0, 1) : explicitSources, name),
      async require(name) {
        const value = await read(allSources, name)
        if (value !== undefined) return value
        if (!needsSettings) throw notGivenError(name)
        const { noun = name } = settingDefinition(name)
        const checkout = isDiscoverable(name) ? await openCheckout() : undefined
        const failure = await checkout?.explainFailure()
        const remote = name === 'targetBranch' ? await checkout?.remoteName() : undefined
        throw usageError(
          `No ${noun} was given.${failure === undefined ? '' : ` git failed: ${failure}.`}`,
          joinLines(
            context.hintOf(name),
            remote &&
              `To store the default branch of the remote in git, run: git remote set-head ${shellWord(remote)} -a`,
            (await store.readError())?.message,
          ),
        )
      },
      async checkBranch(option, value) {
        if (plainBranch.test(value)) return
        const { typedBranch } = await import('./source-rules.ts')
        const give = (_: string, meant: string) => `${option} ${shellWord(meant)}`
        await typedBranch({ value, origin: option }, { ...context, give })
      },
      isNamed: async name => (await search(namedSources, name)) !== undefined,
      ciJob: needsSettings ? ciJob : nothing,
      async knownHosts() {
        const named = await Promise.allSettled([
          search(allSources, 'repo'),
          ...[projectFile, profile, ciJob].map(async source => source.find('repo')),
          openCheckout().then(checkout => checkout.listRepositories()),
        ])
        const found = named.flatMap(each => (each.status === 'fulfilled' ? (each.value ?? []) : []))
        return [...new Set(found.flatMap(({ value }) => readRepository(value)?.host ?? []))]
      },
      openCheckout: async () => (needsSettings ? openCheckout() : undefined),
      withArgs: given => createConfig(given)[0],
      async findOtherBranch(branch) {
        const base = await (await openCiJob()).findBase()
        if (base?.value !== branch || (await search(explicitSources, 'targetBranch')) !== undefined)
          return undefined
        const others = [await projectFile.find('targetBranch'), await finders.git.find('targetBranch')]
        return others
          .map(found => found && branchName(found.value))
          .find(other => other !== undefined && other !== branch)
      },
      forChange: () => resolveSettings(given, host, { ...options, changes: true }, found),
      used: () => found.used,
      commandLine: (...suggestion) =>
        suggestCommandLine('find' in given ? new Map() : given, found.configured, ...suggestion),
    }
    return [config, context]
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
