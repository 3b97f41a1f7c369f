import { attemptLimit, changeLimit } from '../domain/limits.ts'
import { formats } from '../domain/output-formats.ts'

import { integerParser, parseByteSize } from '../domain/values/numbers.ts'
import { parsePullRequest } from '../domain/values/pull-request.ts'
import { parseRepository } from '../domain/values/repository.ts'
import { choiceParser, textParser } from '../domain/values/text.ts'
import { parseDuration } from '../domain/values/time.ts'
import { parseBaseUrl } from './base-url.ts'
import { settingFlags } from './input-settings.ts'

/** The definition of a setting: its option, its environment variables, and the parser of its value. */
export interface SettingDefinition<T> {
  /** The option, such as `--repo`; undefined for a setting without an option. */
  readonly flag?: string
  /** The names of the environment variables; the first variable that is not empty wins. */
  readonly env: readonly string[]
  readonly defaultValue?: string
  readonly summary: string
  /** The noun for the setting in sentences. */
  readonly noun?: string
  /** How to set the value, for the error when no source has one. */
  readonly hint?: string
  /** Parses the value. Throws a usage error for an invalid value. */
  parse(text: string): T
}

/** Returns the reference of a pull request unchanged. Throws a usage error for an invalid one. */
function checkPullRequest(text: string): string {
  parsePullRequest(text)
  return text
}

const setting = <T>(definition: SettingDefinition<T>): SettingDefinition<T> => definition

/** Every setting (CLI.md section 3). */
export const settingDefinitions = {
  repo: setting({
    noun: 'repository',
    flag: settingFlags.repo,
    env: ['MERGEQ_REPO'],
    summary: 'Repository, as [host/]owner/name',
    hint: 'No flag, variable, project file, profile, CI job or git remote named one. Give --repo owner/name or set MERGEQ_REPO.',
    parse: parseRepository,
  }),
  targetBranch: setting({
    noun: 'target branch',
    flag: settingFlags.targetBranch,
    env: ['MERGEQ_TARGET_BRANCH'],
    summary: 'Branch that the queue merges into',
    hint: 'No flag, variable, project file, profile, CI job or origin/HEAD named one. Give --target-branch <branch> or set MERGEQ_TARGET_BRANCH.',
    parse: textParser('target branch'),
  }),
  org: setting({
    noun: 'organization slug',
    flag: settingFlags.org,
    env: ['MERGEQ_ORG', 'TRUNK_ORG_URL_SLUG'],
    summary: 'Slug of the organization (failing tests)',
    hint: 'Give --org <slug> or set MERGEQ_ORG; it is the acme of app.trunk.io/acme.',
    parse: textParser('organization slug'),
  }),
  pr: setting({
    noun: 'pull request',
    env: ['MERGEQ_PR'],
    summary: 'Pull request, where none is typed',
    hint: 'Neither MERGEQ_PR, the CI job nor a pull request of the current commit (git) named one. Name it: 123, #123 or its address.',
    parse: checkPullRequest,
  }),
  sha: setting({
    noun: 'head commit',
    flag: settingFlags.sha,
    env: ['MERGEQ_SHA'],
    summary: 'Head commit of the pull request (targets)',
    hint: 'Give --sha <sha> or set MERGEQ_SHA; --no-sha sends none.',
    parse: textParser('head commit'),
  }),
  testRun: setting({
    noun: 'test run',
    env: [],
    summary: 'Test run, where none is typed',
    hint: 'Name a test run or its branch, or give --pr <n>.',
    parse: textParser('test run'),
  }),
  forkedRun: setting({
    flag: settingFlags.forkedRun,
    env: [],
    summary: 'GitHub run id of a pull request from a fork, where there is no token',
    parse: textParser('run id'),
  }),
  baseUrl: setting({
    flag: '--base-url',
    env: ['MERGEQ_BASE_URL'],
    defaultValue: 'https://api.trunk.io/v1',
    summary: 'Base address of the service',
    parse: parseBaseUrl,
  }),
  output: setting({
    flag: '--output',
    env: ['MERGEQ_OUTPUT'],
    defaultValue: 'table',
    summary: `Format: ${formats.join(', ')}`,
    parse: choiceParser(formats),
  }),
  profile: setting({
    flag: '--profile',
    env: ['MERGEQ_PROFILE'],
    defaultValue: 'default',
    summary: 'Profile of the stored settings',
    parse: textParser('profile'),
  }),
  timeout: setting({
    flag: '--timeout',
    env: ['MERGEQ_TIMEOUT'],
    summary: `Limit of an attempt (default ${attemptLimit / 1_000}s, ${changeLimit / 1_000}s for a change); typed for a wait, of the whole wait`,
    parse: parseDuration,
  }),
  retries: setting({
    flag: '--retries',
    env: ['MERGEQ_RETRIES'],
    defaultValue: '3',
    summary: 'How often a request may be repeated; 0 is one request',
    parse: integerParser(0, 100),
  }),
  color: setting({
    flag: '--color',
    env: ['MERGEQ_COLOR'],
    defaultValue: 'auto',
    summary: 'Colour: auto, always or never',
    parse: choiceParser(['auto', 'always', 'never']),
  }),
  maxAnswer: setting({
    flag: '--max-answer',
    env: [],
    summary:
      'Largest answer to read, such as 128MiB (default 8MiB; 64MiB for lists of tests, metrics and api)',
    parse: parseByteSize,
  }),
  caFile: setting({
    flag: '--ca-file',
    env: [],
    summary: 'A file of further certificate authorities (PEM)',
    parse: textParser('file name'),
  }),
}

/** The name of a setting. */
export type SettingKey = keyof typeof settingDefinitions
/** The parsed value of a setting. */
export type SettingValue<N extends SettingKey> = ReturnType<(typeof settingDefinitions)[N]['parse']>

/** Matches the options whose settings a profile can store. */
const storableFlag = /^--(?!sha$|forked-run$|profile$|ca-file$|max-answer$)/

/**
 * Returns the key of a setting in a profile, which is the name of its option; undefined for a setting that
 * cannot be stored.
 */
export function configKeyOf(name: SettingKey): string | undefined {
  const { flag }: SettingDefinition<unknown> = settingDefinitions[name]
  return flag !== undefined && storableFlag.test(flag) ? flag.slice(2) : undefined
}

/** The settings that can be stored, by their keys. */
export const configKeys: ReadonlyMap<string, SettingKey> = new Map(
  (Object.keys(settingDefinitions) as SettingKey[]).flatMap(name => {
    const key = configKeyOf(name)
    return key === undefined ? [] : [[key, name] as const]
  }),
)
