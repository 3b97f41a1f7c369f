import { flagOf } from '../cli/inputs.ts'
import { answerSize, duration, integer, oneOf, pullRequest, repository, text } from '../domain/values/parsers.ts'
import { baseAddress } from './base-url.ts'

/** One setting: the flag and the variables that give it, and how it is read. */
export interface Setting<T> {
  readonly flag?: string
  readonly env: readonly string[]
  readonly fallback?: string
  readonly summary: string
  /** What it is called in a sentence. */
  readonly noun?: string
  /** What to do when nothing gives it. */
  readonly hint?: string
  parse(word: string): T
}

/** Takes a pull request as it was written, once it can be read as one. */
function pullRequestWord(word: string): string {
  pullRequest(word)
  return word
}

const setting = <T>(one: Setting<T>): Setting<T> => one

export const formats = ['table', 'json', 'ndjson', 'csv', 'markdown'] as const
export type Format = (typeof formats)[number]

/** Time limit of each attempt of a read, in milliseconds, where `timeout` is not set (WIRE.md section 3). */
export const attemptLimit = 30_000
/** Time limit of each attempt of a change, in milliseconds, where `timeout` is not set (WIRE.md section 3). */
export const changeLimit = 60_000

/** Every setting (CLI.md section 3). */
export const settingTable = {
  repo: setting({
    noun: 'repository',
    flag: flagOf.repo,
    env: ['MERGEQ_REPO'],
    summary: 'Repository, as [host/]owner/name',
    hint: 'No flag, variable, project file, profile, CI job or git remote named one. Give --repo owner/name or set MERGEQ_REPO.',
    parse: repository,
  }),
  targetBranch: setting({
    noun: 'target branch',
    flag: flagOf.targetBranch,
    env: ['MERGEQ_TARGET_BRANCH'],
    summary: 'Branch that the queue merges into',
    hint: 'No flag, variable, project file, profile, CI job or origin/HEAD named one. Give --target-branch <branch> or set MERGEQ_TARGET_BRANCH.',
    parse: text('target branch'),
  }),
  org: setting({
    noun: 'organization slug',
    flag: flagOf.org,
    env: ['MERGEQ_ORG', 'TRUNK_ORG_URL_SLUG'],
    summary: 'Slug of the organization (failing tests)',
    hint: 'Give --org <slug> or set MERGEQ_ORG; it is the acme of app.trunk.io/acme.',
    parse: text('organization slug'),
  }),
  pr: setting({
    noun: 'pull request',
    env: ['MERGEQ_PR'],
    summary: 'Pull request, where none is typed',
    hint: 'Neither MERGEQ_PR, the CI job nor a pull request of the current commit (git) named one. Name it: 123, #123 or its address.',
    parse: pullRequestWord,
  }),
  sha: setting({
    noun: 'head commit',
    flag: flagOf.sha,
    env: ['MERGEQ_SHA'],
    summary: 'Head commit of the pull request (targets)',
    hint: 'Give --sha <sha> or set MERGEQ_SHA; --no-sha sends none.',
    parse: text('head commit'),
  }),
  testRun: setting({
    noun: 'test run',
    env: [],
    summary: 'Test run, where none is typed',
    hint: 'Name a test run or its branch, or give --pr <n>.',
    parse: text('test run'),
  }),
  forkedRun: setting({
    flag: flagOf.forkedRun,
    env: [],
    summary: 'GitHub run id of a pull request from a fork, where there is no token',
    parse: text('run id'),
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
    summary: `Limit of an attempt (default ${attemptLimit / 1_000}s, ${changeLimit / 1_000}s for a change); typed for a wait, of the whole wait`,
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
  maxAnswer: setting({
    flag: '--max-answer',
    env: [],
    summary:
      'Largest answer to read, such as 128MiB (default 8MiB; 64MiB for lists of tests, metrics and api)',
    parse: answerSize,
  }),
  caFile: setting({
    flag: '--ca-file',
    env: [],
    summary: 'A file of further certificate authorities (PEM)',
    parse: text('file name'),
  }),
}

export type Name = keyof typeof settingTable
/** The value of a setting once it is read. */
export type Value<N extends Name> = ReturnType<(typeof settingTable)[N]['parse']>

const keyPattern = /^--(?!sha$|forked-run$|profile$|ca-file$|max-answer$)/

/** The key under which a profile stores a setting: its flag's name. Undefined for what cannot be stored. */
export function keyOf(name: Name): string | undefined {
  const { flag }: Setting<unknown> = settingTable[name]
  return flag !== undefined && keyPattern.test(flag) ? flag.slice(2) : undefined
}

/** Every setting that can be stored, by its key. */
export const storable: ReadonlyMap<string, Name> = new Map(
  (Object.keys(settingTable) as Name[]).flatMap(name => {
    const key = keyOf(name)
    return key === undefined ? [] : [[key, name] as const]
  }),
)
