import type { ParsedArgs } from '../config/args.ts'
import type { Config } from '../config/config.ts'
import { type SettingKey, settingDefinition } from '../config/setting-definitions.ts'
import { type Format, isJsonFormat } from '../domain/output-formats.ts'
import { usageError } from '../errors.ts'
import type { OptionDefinition } from './inputs.ts'

function describeSetting(
  name: SettingKey,
): Pick<OptionDefinition, 'summary' | 'choices' | 'default' | 'defaultText'> {
  const { summary, choices, default: value, defaultText } = settingDefinition(name)
  return {
    summary,
    ...(choices === undefined ? {} : { choices }),
    ...(value === undefined ? {} : { default: value }),
    ...(defaultText === undefined ? {} : { defaultText }),
  }
}

export const queueOptionNames: readonly string[] = ['--repo', '--target-branch', '--base-url', '--profile']

/** The options that every command accepts (docs/reference/cli.md, "Global options"). */
export const globalOptions: readonly OptionDefinition[] = [
  {
    name: '--repo',
    short: '-R',
    value: '[host/]owner/name',
    ...describeSetting('repo'),
    values: 'repositories',
  },
  {
    name: '--target-branch',
    short: '-b',
    value: 'branch',
    ...describeSetting('targetBranch'),
    values: 'queues',
  },
  { name: '--org', value: 'slug', ...describeSetting('org') },
  { name: '--base-url', value: 'url', ...describeSetting('baseUrl') },
  { name: '--profile', value: 'name', ...describeSetting('profile'), values: 'profiles' },
  { name: '--output', short: '-o', value: 'format', ...describeSetting('output') },
  { name: '--json', summary: 'Same as --output json' },
  { name: '--fields', value: 'a,b.c', summary: 'Print only these fields' },
  { name: '--dry-run', summary: 'Show what would be sent or changed without doing it' },
  { name: '--timeout', value: 'duration', ...describeSetting('timeout') },
  { name: '--retries', value: 'n', ...describeSetting('retries') },
  { name: '--ca-file', value: 'pem', ...describeSetting('caFile'), file: true },
  { name: '--quiet', short: '-q', summary: 'Print only warnings and errors on standard error' },
  { name: '--verbose', short: '-v', summary: 'Print requests, timing and the source of each setting' },
  { name: '--color', value: 'when', ...describeSetting('color') },
  { name: '--no-input', summary: 'Never prompt; fail instead' },
]

export interface GlobalOptions {
  readonly format: Format
  /** Whether `--output` was typed: `-o table` then draws the table for people on a pipe, too. */
  readonly isOutputTyped: boolean
  readonly fields: readonly string[]
  readonly dryRun: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly color: 'auto' | 'always' | 'never'
  readonly noInput: boolean
  readonly retries: number
  /** Time limit of one attempt in milliseconds; undefined means the default of the operation. */
  readonly timeout: number | undefined
}

/** Throws a usage error when options contradict each other or a value is invalid. */
export async function readGlobalOptions(args: ParsedArgs, settings: Config): Promise<GlobalOptions> {
  if (args.has('--json') && args.has('--output') && args.get('--output')?.[0] !== 'json')
    throw usageError('--json and --output cannot be used together.', 'Use only one of them.')
  const fields = args
    .get('--fields')?.[0]
    ?.split(',')
    .map(field => field.trim())
  if (fields?.includes(''))
    throw usageError('--fields contains an empty name.', 'Separate the names by single commas.')
  return {
    format: args.has('--json') ? 'json' : await settings.require('output'),
    isOutputTyped: args.has('--output'),
    fields: fields ?? [],
    dryRun: args.has('--dry-run'),
    quiet: args.has('--quiet'),
    verbose: args.has('--verbose'),
    color: await settings.require('color'),
    noInput: args.has('--no-input'),
    retries: await settings.require('retries'),
    timeout: (await settings.read('timeout')) || undefined,
  }
}

/**
 * Whether errors are printed as JSON. This depends only on `args` and `output`, the value of
 * MERGEQ_OUTPUT, so that errors in the settings can be reported too.
 */
export const wantsJsonErrors = (args: ParsedArgs, output: string | undefined): boolean =>
  args.has('--json') || isJsonFormat((args.get('--output')?.[0] ?? output ?? '').toLowerCase())
