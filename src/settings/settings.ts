import type { Context, Given, SettingValues } from '../contract/field.ts'
import { duration, integer, oneOf, repository, text } from '../contract/words.ts'
import { Failure, isFailure, usage } from '../failure.ts'
import type { World } from '../world/world.ts'
import { baseAddress } from './address.ts'

/** A value as it was found, and where. */
export interface Found {
  readonly value: string
  readonly origin: string
}

/** One setting: the flag and the variables that give it, and how it is read. */
interface Setting<T> {
  readonly flag?: string
  readonly env: readonly string[]
  readonly fallback?: string
  readonly summary: string
  /** What to do when nothing gives it. */
  readonly hint?: string
  parse(word: string): T
}

const setting = <T>(one: Setting<T>): Setting<T> => one

export const formats = ['table', 'json', 'ndjson', 'csv', 'markdown'] as const
export type Format = (typeof formats)[number]

/** Every setting (CLI.md section 3). */
export const settingTable = {
  repo: setting({
    flag: '--repo',
    env: ['MERGEQ_REPO'],
    summary: 'Repository, as [host/]owner/name',
    hint: 'Give --repo owner/name or set MERGEQ_REPO.',
    parse: repository,
  }),
  targetBranch: setting({
    flag: '--target-branch',
    env: ['MERGEQ_TARGET_BRANCH'],
    summary: 'Branch that the queue merges into',
    hint: 'Give --target-branch <branch> or set MERGEQ_TARGET_BRANCH.',
    parse: text('target branch'),
  }),
  org: setting({
    flag: '--org',
    env: ['MERGEQ_ORG', 'TRUNK_ORG_URL_SLUG'],
    summary: 'Slug of the organization (failing tests)',
    hint: 'Give --org <slug> or set MERGEQ_ORG; it is the acme of app.trunk.io/acme.',
    parse: text('organization slug'),
  }),
  pr: setting({
    env: ['MERGEQ_PR'],
    summary: 'Pull request, where none is typed',
    hint: 'Name it (123, #123 or its address) or set MERGEQ_PR.',
    parse: text('pull request'),
  }),
  sha: setting({
    flag: '--sha',
    env: ['MERGEQ_SHA'],
    summary: 'Head commit of the pull request (targets)',
    hint: 'Give --sha <sha> or set MERGEQ_SHA; --no-sha sends none.',
    parse: text('head commit'),
  }),
  testRun: setting({
    env: [],
    summary: 'Test run, where none is typed',
    hint: 'Name a test run or its branch, or give --pr <n>.',
    parse: text('test run'),
  }),
  baseUrl: setting({
    flag: '--base-url',
    env: ['MERGEQ_BASE_URL'],
    fallback: 'https://api.trunk.io/v1',
    summary: 'Base address of the service',
    parse: baseAddress,
  }),
  output: setting({
    flag: '--output',
    env: ['MERGEQ_OUTPUT'],
    fallback: 'table',
    summary: `Format: ${formats.join(', ')}`,
    parse: oneOf(formats),
  }),
  profile: setting({
    flag: '--profile',
    env: ['MERGEQ_PROFILE'],
    fallback: 'default',
    summary: 'Profile of the stored settings',
    parse: text('profile'),
  }),
  timeout: setting({
    flag: '--timeout',
    env: ['MERGEQ_TIMEOUT'],
    summary: 'Limit of an attempt (default 30s, 60s for a change); in a wait, of the whole wait',
    parse: duration,
  }),
  retries: setting({
    flag: '--retries',
    env: ['MERGEQ_RETRIES'],
    fallback: '3',
    summary: 'How often a request may be repeated; 0 is one request',
    parse: integer(0, 100),
  }),
  color: setting({
    flag: '--color',
    env: ['MERGEQ_COLOR'],
    fallback: 'auto',
    summary: 'Colour: auto, always or never',
    parse: oneOf(['auto', 'always', 'never']),
  }),
  caFile: setting({
    flag: '--ca-file',
    env: [],
    summary: 'A file of further certificate authorities (PEM)',
    parse: text('file name'),
  }),
}

export type Name = keyof typeof settingTable
type Value<N extends Name> = ReturnType<(typeof settingTable)[N]['parse']>

/** Where values are looked for; the first that has one wins. */
interface Source {
  find(name: Name): Found | undefined | Promise<Found | undefined>
}

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

/** The settings of one run: each value is looked for when it is first asked for. */
export interface Settings {
  /** The value as it was found, and where; undefined when nothing gives it. */
  find(name: Name): Promise<Found | undefined>
  /** The value, read. A usage failure names where a bad one came from. */
  read<N extends Name>(name: N): Promise<Value<N> | undefined>
  /** The value; a usage failure that says how to give it when nothing does. */
  need<N extends Name>(name: N): Promise<Value<N>>
  /** The value only if a flag or the environment gives it. */
  told<N extends Name>(name: N): Promise<Value<N> | undefined>
}

/** Settles where values come from: flag › environment › default (CLI.md section 3). */
export function settle(given: Given, world: World): Settings {
  const near = [fromFlags(given), fromEnvironment(world)]
  const all = [...near, fromDefaults]
  const search = async (sources: readonly Source[], name: Name): Promise<Found | undefined> => {
    for (const source of sources) {
      const found = await source.find(name)
      if (found !== undefined) return found
    }
    return undefined
  }
  const read = async <N extends Name>(sources: readonly Source[], name: N) => {
    const found = await search(sources, name)
    return found === undefined ? undefined : parse(name, found)
  }
  return {
    find: name => search(all, name),
    read: name => read(all, name),
    told: name => read(near, name),
    async need(name) {
      const value = await read(all, name)
      if (value !== undefined) return value
      const { summary, hint }: Setting<unknown> = settingTable[name]
      throw usage(`No ${(summary.split(',')[0] ?? '').split(' (')[0]?.toLowerCase()} was given.`, hint)
    },
  }
}

function parse<N extends Name>(name: N, { value, origin }: Found): Value<N> {
  try {
    return settingTable[name].parse(value) as Value<N>
  } catch (error) {
    if (!isFailure(error)) throw error
    throw new Failure(error.kind, `${origin}: ${error.message}`, error.details)
  }
}

/** What a field may ask while it reads: these settings, the moment, and the inputs. */
export const contextOf = (settings: Settings, world: World): Context => ({
  setting: name => settings.read(name) as Promise<SettingValues[typeof name] | undefined>,
  need: name => settings.need(name) as Promise<SettingValues[typeof name]>,
  told: name => settings.told(name) as Promise<SettingValues[typeof name] | undefined>,
  now: world.clock.now(),
  open: path => (path === '-' ? world.input.read() : world.files.stream(path)),
})
