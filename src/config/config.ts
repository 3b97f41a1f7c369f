import { attemptLimit } from '../domain/limits.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { ParsedArgs } from './args.ts'
import type { SettingValues } from './input-settings.ts'
import type { ParseContext } from './parse-context.ts'
import { projectFileSource } from './project-file.ts'
import {
  type SettingDefinition,
  type SettingKey,
  type SettingValue,
  settingDefinitions,
} from './setting-definitions.ts'
import type { ResolvedValue, SettingSource } from './source.ts'
import { openStore, profileSource, type Store } from './store.ts'
import { findToken } from './token.ts'

const fromFlags = (args: ParsedArgs): SettingSource => ({
  find(name) {
    const { flag }: SettingDefinition<unknown> = settingDefinitions[name]
    const value = flag === undefined ? undefined : args.get(flag)?.[0]
    return value === undefined ? undefined : { value, origin: flag ?? '' }
  },
})

const fromEnvironment = ({ env }: Host): SettingSource => ({
  find(name) {
    const origin = settingDefinitions[name].env.find(variable => (env[variable] ?? '') !== '')
    return origin === undefined ? undefined : { value: env[origin] ?? '', origin }
  },
})

const fromDefaults: SettingSource = {
  find(name) {
    const { defaultValue }: SettingDefinition<unknown> = settingDefinitions[name]
    return defaultValue === undefined ? undefined : { value: defaultValue, origin: 'default' }
  },
}

/** A source that is asked once for each setting. */
function memoized(source: SettingSource): SettingSource {
  const answers = new Map<SettingKey, ReturnType<SettingSource['find']>>()
  return {
    find(name) {
      if (!answers.has(name)) answers.set(name, source.find(name))
      return answers.get(name)
    },
  }
}

/** The settings of one run: each value is looked for when it is first asked for. */
export interface Config {
  readonly store: Store
  /** The value as it was found, and where; undefined when nothing gives it. */
  find(name: SettingKey): Promise<ResolvedValue | undefined>
  /** The value, read. A usage failure names where a bad one came from. */
  read<N extends SettingKey>(name: N): Promise<SettingValue<N> | undefined>
  /** The value; a usage failure that says how to give it when nothing does. */
  require<N extends SettingKey>(name: N): Promise<SettingValue<N>>
  /** The value only if a flag or the environment gives it. */
  explicit<N extends SettingKey>(name: N): Promise<SettingValue<N> | undefined>
  /** The same settings under other words: for one of several pull requests. */
  withArgs(args: ParsedArgs): Config
  /** What was found so far, and where. */
  used(): ReadonlyMap<SettingKey, ResolvedValue>
}

/** What the settings are for: a change is not guessed for where a read may be. */
export interface ResolveOptions {
  readonly changes: boolean
  /** Changes the stored settings. */
  readonly changesSettings: boolean
  /** Says on standard error what was chosen for a person. */
  notify(text: string): Promise<void>
}

/** A source whose code is loaded when it is asked for the first time. */
function lazy(names: readonly SettingKey[], load: () => Promise<SettingSource>): SettingSource {
  let loading: Promise<SettingSource> | undefined
  return {
    async find(name) {
      if (!names.includes(name)) return undefined
      loading ??= load()
      return (await loading).find(name)
    },
  }
}

/** What a CI job or a checkout may tell: for anything else they are not even loaded. */
const discoverableSettings: readonly SettingKey[] = [
  'repo',
  'targetBranch',
  'pr',
  'sha',
  'testRun',
  'forkedRun',
]

/** Settles where values come from: flag › environment › project file › profile › CI › git › default (CLI.md section 3). */
export function resolveSettings(args: ParsedArgs, host: Host, purpose: ResolveOptions): Config {
  const store = openStore(host)
  const used = new Map<SettingKey, ResolvedValue>()
  const nearer = [
    projectFileSource(host),
    // What is about to be changed is not read: a bad value could not be mended otherwise, nor a new profile made.
    ...(purpose.changesSettings ? [] : [memoized(profileSource(store, () => settings.require('profile')))]),
    lazy(discoverableSettings, async () => (await import('./ci.ts')).ciSource(host, hasToken)),
  ]
  const hasToken = async () => {
    const found = findToken(host.env, await settings.require('baseUrl'), store)
    return found.then(() => true).catch(error => !isMergeqError(error) || error.kind !== 'auth')
  }
  const far = (words: ParsedArgs) => [
    ...nearer,
    memoized(
      lazy(discoverableSettings, async () => {
        const { gitSource } = await import('./git.ts')
        // A branch or a pull request of the checkout's remote says something of its own repository only.
        const repo = async () => {
          for (const source of [fromFlags(words), fromEnvironment(host), ...nearer]) {
            const found = await source.find('repo')
            if (found !== undefined) return parse('repo', found)
          }
          return undefined
        }
        return gitSource(host, { ...purpose, repo })
      }),
    ),
  ]
  const settings = under(args)
  return settings

  function under(words: ParsedArgs): Config {
    const near = [fromFlags(words), fromEnvironment(host)]
    const all = [...near, ...far(words), fromDefaults]
    const search = async (
      sources: readonly SettingSource[],
      name: SettingKey,
    ): Promise<ResolvedValue | undefined> => {
      for (const source of sources) {
        const found = await source.find(name)
        if (found === undefined) continue
        used.set(name, found)
        return found
      }
      return undefined
    }
    const read = async <N extends SettingKey>(sources: readonly SettingSource[], name: N) => {
      const found = await search(name === 'profile' ? [...near, fromDefaults] : sources, name)
      return found === undefined ? undefined : parse(name, found)
    }
    return {
      store,
      find: name => search(all, name),
      read: name => read(all, name),
      explicit: name => read(near, name),
      async require(name) {
        const value = await read(all, name)
        if (value !== undefined) return value
        const { noun = name, hint }: SettingDefinition<unknown> = settingDefinitions[name]
        const trouble = store.trouble()
        throw usageError(
          `No ${noun} was given.`,
          trouble === undefined ? hint : `${hint}\n${trouble.message}`,
        )
      },
      withArgs: under,
      used: () => used,
    }
  }
}

function parse<N extends SettingKey>(name: N, { value, origin, place, fix }: ResolvedValue): SettingValue<N> {
  try {
    return settingDefinitions[name].parse(value) as SettingValue<N>
  } catch (error) {
    if (!isMergeqError(error)) throw error
    const where = place === undefined ? origin : `${origin}: ${place}`
    const hint = [error.details.hint, fix].filter(line => line !== undefined).join('\n')
    throw new MergeqError(error.kind, `${where}: ${error.message}`, {
      ...error.details,
      ...(hint === '' ? {} : { hint }),
    })
  }
}

/** Where a field that reads runs: its world, and what is told on standard error. */
interface ParseIo extends Pick<ParseContext, 'withSpinner'> {
  readonly host: Host
  readonly logger: { info(text: string): Promise<void> }
}

/** What a field may ask while it reads: these settings, the moment, and the inputs. */
export const parseContext = (settings: Config, { host, logger, withSpinner }: ParseIo): ParseContext => ({
  setting: name => settings.read(name) as Promise<SettingValues[typeof name] | undefined>,
  require: name => settings.require(name) as Promise<SettingValues[typeof name]>,
  explicit: name => settings.explicit(name) as Promise<SettingValues[typeof name] | undefined>,
  now: host.clock.now(),
  open: path => openInput(path, host, settings, logger.info),
  withSpinner,
})

/** The bytes of a file or of standard input; what cannot be read is a usage failure that names it. */
async function* openInput(
  path: string,
  { files, input, interrupted }: Host,
  settings: Config,
  say: (text: string) => Promise<void>,
): AsyncIterable<Uint8Array> {
  if (path === '')
    throw usageError('The name of a file to read must not be empty.', 'Name a file, or - for standard input.')
  try {
    if (path === '-' && input.terminal)
      await say('Reading what you type; Ctrl-D on a line of its own ends it.')
    if (path === '-') yield* input.read()
    else yield* files.stream(path, (await settings.read('timeout')) ?? attemptLimit, interrupted)
  } catch (error) {
    if (isMergeqError(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw usageError(
      `${path === '-' ? 'standard input' : path} cannot be read: ${why}.`,
      'Check its name, and that it is a file.',
    )
  }
}
