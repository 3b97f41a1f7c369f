import { usageError } from '../base/errors.ts'
import { isLoopback, parseUrl } from '../base/url.ts'
import type { Environment } from '../host/host.ts'
import { formats } from '../output/output-formats.ts'
import { parseCommit } from '../values/commit.ts'
import { attemptLimit, changeLimit } from '../values/limits.ts'
import { parseLogin } from '../values/login.ts'
import { parsePullRequest } from '../values/pull-request.ts'
import { parseRepository } from '../values/repository.ts'
import type { CommandLine } from '../values/suggested-command.ts'
import { branchParser, choiceParser, textParser } from '../values/text.ts'
import { parseTimeLimit } from '../values/time.ts'
import { integerParser } from '../values/types.ts'

/**
 * Parses a base address: absolute, https (http for loopback only), without user name, query and fragment.
 * Returns it without a slash at its end. Throws a usage error that never repeats a user name or password.
 */
export function parseBaseUrl(text: string): string {
  const url = parseUrl(text)
  const invalid = (reason: string) =>
    usageError(`The base URL ${reason}.`, 'For example: https://api.trunk.io/v1')
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalid('must be an absolute https URL')
  if (url.username !== '' || url.password !== '') throw invalid('must not contain a user name or password')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text))
    throw invalid('must not contain a query or fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw invalid(`must use https: http is allowed only for this machine, not for ${url.host}`)
  return url.href.replace(/\/+$/, '')
}

interface SettingDefinition<T> {
  /** The option, such as `--repo`; undefined for a setting without an option. */
  readonly flag?: string
  /** The key of the setting in a profile; undefined for a setting that cannot be stored. */
  readonly key?: string
  /** The names of the environment variables; the first variable that is not empty wins. */
  readonly env: readonly string[]
  /** The text that replaces the value where no source gives one. */
  readonly default?: string
  readonly defaultText?: string
  readonly summary: string
  readonly choices?: readonly string[]
  /** The smallest and the largest value: `0 to 100`. */
  readonly range?: string
  readonly noun?: string
  /** How to set the value, for the error when no source has one; `nameOf` names an option as the caller writes it. */
  hint?(nameOf: (name: string) => string): string
  commandHint?(commandLine: CommandLine): string
  /** Returns what `-v` prints of a value; the whole value by default. */
  summarize?(value: string): string
  parse(text: string): T
}

function parseFormat(text: string): (typeof formats)[number] {
  if (/^ya?ml$/i.test(text))
    throw usageError(
      `'${text}' is not valid; must be one of: ${formats.join(', ')}.`,
      'queue export prints the settings of a queue as YAML.',
    )
  return choiceParser(formats)(text)
}

const setting = <T>(definition: SettingDefinition<T>): SettingDefinition<T> => definition

const colorModes = ['auto', 'always', 'never'] as const

/** For somebody who has no repository or no token yet. */
export const tryHint = 'To try mergeq without a service, run: mergeq sandbox tour'

/** Every setting (docs/reference/cli.md, "Settings"). */
export const settingDefinitions = {
  repo: setting({
    noun: 'repository',
    flag: '--repo',
    key: 'repo',
    env: ['MERGEQ_REPO'],
    summary: 'Repository, as [host/]owner/name',
    hint: nameOf =>
      `Use ${nameOf('repo')} owner/name or set MERGEQ_REPO. The project file, the profile, the CI job and git do not provide a repository.`,
    commandHint: () => tryHint,
    parse: parseRepository,
  }),
  targetBranch: setting({
    noun: 'target branch',
    flag: '--target-branch',
    key: 'target-branch',
    env: ['MERGEQ_TARGET_BRANCH'],
    summary: 'Branch that the queue merges into',
    hint: nameOf =>
      `Use ${nameOf('targetBranch')} <branch> or set MERGEQ_TARGET_BRANCH. The project file, the profile, the CI job and git do not provide a target branch.`,
    commandHint: commandLine =>
      `To list the queues, run: ${commandLine(['queue', 'list'], { repo: null, targetBranch: null })}`,
    parse: branchParser('target branch'),
  }),
  org: setting({
    noun: 'organization slug',
    flag: '--org',
    key: 'org',
    env: ['MERGEQ_ORG', 'TRUNK_ORG_URL_SLUG'],
    summary: 'Organization slug, for commands about tests',
    hint: nameOf => `Use ${nameOf('org')} <slug> or set MERGEQ_ORG. For app.trunk.io/acme, the slug is acme.`,
    parse: textParser('organization slug'),
  }),
  pr: setting({
    noun: 'pull request',
    env: ['MERGEQ_PR'],
    summary: 'Pull request, if none is given as an argument',
    parse(text) {
      parsePullRequest(text)
      return text
    },
  }),
  sha: setting({
    noun: 'head commit',
    flag: '--sha',
    env: ['MERGEQ_SHA'],
    summary: 'Head commit that the impacted targets belong to',
    hint: nameOf => `Use ${nameOf('sha')} <sha> or set MERGEQ_SHA.`,
    commandHint: () => 'To send no commit, use --no-sha.',
    parse: parseCommit,
  }),
  testRun: setting({
    noun: 'test run',
    env: [],
    summary: 'Test run, if none is given as an argument',
    hint: nameOf => `Specify a test run ID or its branch, or use ${nameOf('pr')} <n>.`,
    parse: textParser('test run'),
  }),
  forkedRun: setting({
    flag: '--forked-run',
    env: [],
    summary: 'GitHub run ID to send instead of a token, for pull requests from forks',
    parse: textParser('run ID'),
  }),
  baseUrl: setting({
    flag: '--base-url',
    key: 'base-url',
    env: ['MERGEQ_BASE_URL'],
    default: 'https://api.trunk.io/v1',
    summary: 'Base URL of the service',
    parse: parseBaseUrl,
  }),
  output: setting({
    flag: '--output',
    key: 'output',
    env: ['MERGEQ_OUTPUT'],
    default: 'table',
    summary: `Output format: ${formats.join(', ')}`,
    choices: formats,
    parse: parseFormat,
  }),
  profile: setting({
    flag: '--profile',
    env: ['MERGEQ_PROFILE'],
    default: 'default',
    summary: 'Profile of stored settings to use',
    parse: textParser('profile'),
  }),
  timeout: setting({
    flag: '--timeout',
    key: 'timeout',
    env: ['MERGEQ_TIMEOUT'],
    defaultText: `${attemptLimit / 1_000}s, ${changeLimit / 1_000}s for changes, 60m for waits`,
    summary: 'Time limit for each request, or for the whole wait',
    parse: parseTimeLimit,
  }),
  retries: setting({
    flag: '--retries',
    key: 'retries',
    env: ['MERGEQ_RETRIES'],
    default: '3',
    summary: 'Maximum retries; 0 disables them',
    range: '0 to 100',
    parse: integerParser(0, 100),
  }),
  color: setting({
    flag: '--color',
    key: 'color',
    env: ['MERGEQ_COLOR'],
    default: 'auto',
    summary: 'Color output: auto, always, never',
    choices: colorModes,
    parse: choiceParser(colorModes),
  }),
  caFile: setting({
    flag: '--ca-file',
    key: 'ca-file',
    env: ['MERGEQ_CA_FILE'],
    summary: 'File with additional certificate authorities (PEM)',
    parse: textParser('file name'),
  }),
  user: setting({
    key: 'user',
    env: [],
    summary: 'Your login: for --author @me, and to mark your pull requests',
    parse: parseLogin,
  }),
  tokenCommand: setting({
    key: 'token-command',
    env: ['MERGEQ_TOKEN_COMMAND'],
    summary: 'Program that prints the API token, with its arguments',
    // An argument may be a secret.
    summarize: value => /[^\s["]+/.exec(value)?.[0] ?? '',
    // What runs it reads its words.
    parse: text => text,
  }),
}

export type SettingKey = keyof typeof settingDefinitions
export type SettingValue<N extends SettingKey> = ReturnType<(typeof settingDefinitions)[N]['parse']>

export const settingDefinition = (name: SettingKey): SettingDefinition<unknown> => settingDefinitions[name]

/** The settings that can be stored, by their keys. */
export const configKeys: ReadonlyMap<string, SettingKey> = new Map(
  (Object.keys(settingDefinitions) as SettingKey[]).flatMap(name => {
    const { key } = settingDefinition(name)
    return key === undefined ? [] : [[key, name] as const]
  }),
)

export interface ResolvedValue {
  readonly value: string
  /** The source of the value, for messages: an option, a variable, a file, a profile, the CI job or git. */
  readonly origin: string
  /** Where the source holds the value, for messages: its key, and its file unless `origin` is the file. */
  readonly place?: string
  /** How to fix an invalid value, unless the message about it says so. */
  readonly fix?: string
  /** Of a pull request that nobody named: how the checkout gives it, such as `branch fix-cart`. */
  readonly guess?: string
  /** Of a pull request that the checkout gives: how many commits of the current branch it does not have. */
  readonly unpushed?: number
}

/** Returns a text or a whole number as a value; undefined when it is empty or anything else. */
export const toResolvedValue = (value: unknown, origin: string): ResolvedValue | undefined => {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && text !== '' ? { value: text, origin } : undefined
}

/** Whether a variable switches a source off. Throws a usage error for any other value than `off`. */
export function isSwitchedOff(env: Environment, name: string, source: string): boolean {
  const value = env[name] ?? ''
  if (value !== '' && value.toLowerCase() !== 'off')
    throw usageError(
      `${name}: '${value}' is not valid; must be off.`,
      `To ignore ${source}, set ${name}=off.`,
    )
  return value !== ''
}

/** A source of settings; the first source that has a value wins. */
export interface SettingSource {
  find(name: SettingKey): ResolvedValue | undefined | Promise<ResolvedValue | undefined>
}
