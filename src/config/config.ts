import type { Context, Given, SettingValues } from '../cli/inputs.ts'
import { Failure, isFailure, usage } from '../errors.ts'
import type { World } from '../host/host.ts'
import { fromProject } from './project-file.ts'
import type { Found, Source } from './source.ts'
import { fromProfile, openStore, type Store } from './store.ts'
import { attemptLimit, type Name, type Setting, settingTable, type Value } from './setting-definitions.ts'
import { findToken } from './token.ts'

const fromFlags = (given: Given): Source => ({
  find(name) {
    const { flag }: Setting<unknown> = settingTable[name]
    const value = flag === undefined ? undefined : given.get(flag)?.[0]
    return value === undefined ? undefined : { value, origin: flag ?? '' }
  },
})

const fromEnvironment = ({ env }: World): Source => ({
  find(name) {
    const origin = settingTable[name].env.find(variable => (env[variable] ?? '') !== '')
    return origin === undefined ? undefined : { value: env[origin] ?? '', origin }
  },
})

const fromDefaults: Source = {
  find(name) {
    const { fallback }: Setting<unknown> = settingTable[name]
    return fallback === undefined ? undefined : { value: fallback, origin: 'default' }
  },
}

/** A source that is asked once for each setting. */
function remembered(source: Source): Source {
  const answers = new Map<Name, ReturnType<Source['find']>>()
  return {
    find(name) {
      if (!answers.has(name)) answers.set(name, source.find(name))
      return answers.get(name)
    },
  }
}

/** The settings of one run: each value is looked for when it is first asked for. */
export interface Settings {
  readonly store: Store
  /** The value as it was found, and where; undefined when nothing gives it. */
  find(name: Name): Promise<Found | undefined>
  /** The value, read. A usage failure names where a bad one came from. */
  read<N extends Name>(name: N): Promise<Value<N> | undefined>
  /** The value; a usage failure that says how to give it when nothing does. */
  need<N extends Name>(name: N): Promise<Value<N>>
  /** The value only if a flag or the environment gives it. */
  told<N extends Name>(name: N): Promise<Value<N> | undefined>
  /** The same settings under other words: for one of several pull requests. */
  under(given: Given): Settings
  /** What was found so far, and where. */
  used(): ReadonlyMap<Name, Found>
}

/** What the settings are for: a change is not guessed for where a read may be. */
export interface Purpose {
  readonly changes: boolean
  /** Changes the stored settings. */
  readonly changesSettings: boolean
  /** Says on standard error what was chosen for a person. */
  say(text: string): Promise<void>
}

/** A source whose code is loaded when it is asked for the first time. */
function lazy(names: readonly Name[], load: () => Promise<Source>): Source {
  let loading: Promise<Source> | undefined
  return {
    async find(name) {
      if (!names.includes(name)) return undefined
      loading ??= load()
      return (await loading).find(name)
    },
  }
}

/** What a CI job or a checkout may tell: for anything else they are not even loaded. */
const tellable: readonly Name[] = ['repo', 'targetBranch', 'pr', 'sha', 'testRun', 'forkedRun']

/** Settles where values come from: flag › environment › project file › profile › CI › git › default (CLI.md section 3). */
export function settle(given: Given, world: World, purpose: Purpose): Settings {
  const store = openStore(world)
  const used = new Map<Name, Found>()
  const nearer = [
    fromProject(world),
    // What is about to be changed is not read: a bad value could not be mended otherwise, nor a new profile made.
    ...(purpose.changesSettings ? [] : [remembered(fromProfile(store, () => settings.need('profile')))]),
    lazy(tellable, async () => (await import('./ci.ts')).fromCi(world, hasToken)),
  ]
  const hasToken = async () => {
    const found = findToken(world.env, await settings.need('baseUrl'), store)
    return found.then(() => true).catch(error => !isFailure(error) || error.kind !== 'auth')
  }
  const far = (words: Given) => [
    ...nearer,
    remembered(
      lazy(tellable, async () => {
        const { fromGit } = await import('./git.ts')
        // A branch or a pull request of the checkout's remote says something of its own repository only.
        const repo = async () => {
          for (const source of [fromFlags(words), fromEnvironment(world), ...nearer]) {
            const found = await source.find('repo')
            if (found !== undefined) return parse('repo', found)
          }
          return undefined
        }
        return fromGit(world, { ...purpose, repo })
      }),
    ),
  ]
  const settings = under(given)
  return settings

  function under(words: Given): Settings {
    const near = [fromFlags(words), fromEnvironment(world)]
    const all = [...near, ...far(words), fromDefaults]
    const search = async (sources: readonly Source[], name: Name): Promise<Found | undefined> => {
      for (const source of sources) {
        const found = await source.find(name)
        if (found === undefined) continue
        used.set(name, found)
        return found
      }
      return undefined
    }
    const read = async <N extends Name>(sources: readonly Source[], name: N) => {
      const found = await search(name === 'profile' ? [...near, fromDefaults] : sources, name)
      return found === undefined ? undefined : parse(name, found)
    }
    return {
      store,
      find: name => search(all, name),
      read: name => read(all, name),
      told: name => read(near, name),
      async need(name) {
        const value = await read(all, name)
        if (value !== undefined) return value
        const { noun = name, hint }: Setting<unknown> = settingTable[name]
        const trouble = store.trouble()
        throw usage(`No ${noun} was given.`, trouble === undefined ? hint : `${hint}\n${trouble.message}`)
      },
      under,
      used: () => used,
    }
  }
}

function parse<N extends Name>(name: N, { value, origin, place, fix }: Found): Value<N> {
  try {
    return settingTable[name].parse(value) as Value<N>
  } catch (error) {
    if (!isFailure(error)) throw error
    const where = place === undefined ? origin : `${origin}: ${place}`
    const hint = [error.details.hint, fix].filter(line => line !== undefined).join('\n')
    throw new Failure(error.kind, `${where}: ${error.message}`, {
      ...error.details,
      ...(hint === '' ? {} : { hint }),
    })
  }
}

/** Where a field that reads runs: its world, and what is told on standard error. */
interface Reading extends Pick<Context, 'during'> {
  readonly world: World
  readonly voice: { note(text: string): Promise<void> }
}

/** What a field may ask while it reads: these settings, the moment, and the inputs. */
export const contextOf = (settings: Settings, { world, voice, during }: Reading): Context => ({
  setting: name => settings.read(name) as Promise<SettingValues[typeof name] | undefined>,
  need: name => settings.need(name) as Promise<SettingValues[typeof name]>,
  told: name => settings.told(name) as Promise<SettingValues[typeof name] | undefined>,
  now: world.clock.now(),
  open: path => opened(path, world, settings, voice.note),
  during,
})

/** The bytes of a file or of standard input; what cannot be read is a usage failure that names it. */
async function* opened(
  path: string,
  { files, input, interrupted }: World,
  settings: Settings,
  say: (text: string) => Promise<void>,
): AsyncIterable<Uint8Array> {
  if (path === '')
    throw usage('The name of a file to read must not be empty.', 'Name a file, or - for standard input.')
  try {
    if (path === '-' && input.terminal)
      await say('Reading what you type; Ctrl-D on a line of its own ends it.')
    if (path === '-') yield* input.read()
    else yield* files.stream(path, (await settings.read('timeout')) ?? attemptLimit, interrupted)
  } catch (error) {
    if (isFailure(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw usage(
      `${path === '-' ? 'standard input' : path} cannot be read: ${why}.`,
      'Check its name, and that it is a file.',
    )
  }
}
