import type { Given, Word } from './inputs.ts'
import { usage } from '../errors.ts'
import type { Settings } from '../config/config.ts'
import { type Format, formats, settingTable } from '../config/setting-definitions.ts'

/** The flags of every command (CLI.md section 2). */
export const globalWords: readonly Word[] = [
  { spell: '-R, --repo <[host/]owner/name>', summary: settingTable.repo.summary },
  { spell: '-b, --target-branch <branch>', summary: settingTable.targetBranch.summary },
  { spell: '--org <slug>', summary: settingTable.org.summary },
  { spell: '--base-url <url>', summary: settingTable.baseUrl.summary },
  { spell: '--profile <name>', summary: settingTable.profile.summary },
  { spell: '-o, --output <format>', summary: settingTable.output.summary, choices: formats },
  { spell: '--json', summary: 'Short for --output json' },
  { spell: '--fields <a,b.c>', summary: 'Print only these fields' },
  { spell: '--dry-run', summary: 'Print what would be sent or changed, and do nothing' },
  { spell: '--timeout <duration>', summary: settingTable.timeout.summary },
  { spell: '--retries <n>', summary: settingTable.retries.summary },
  { spell: '--max-answer <size>', summary: settingTable.maxAnswer.summary },
  { spell: '--ca-file <pem>', summary: settingTable.caFile.summary, file: true },
  { spell: '-q, --quiet', summary: 'Say nothing on standard error but warnings and errors' },
  { spell: '-v, --verbose', summary: 'Tell requests, timing, and where each setting came from' },
  { spell: '--color <when>', summary: settingTable.color.summary, choices: ['auto', 'always', 'never'] },
  { spell: '--no-input', summary: 'Never ask; what would be asked is an error' },
]

/** What the global flags and their variables ask for. */
export interface Options {
  readonly format: Format
  /** Whether the table was asked for aloud. */
  readonly drawn: boolean
  readonly fields: readonly string[]
  readonly dryRun: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly color: 'auto' | 'always' | 'never'
  readonly noInput: boolean
  readonly retries: number
  /** Limit of an attempt in milliseconds, where one was given. */
  readonly timeout: number | undefined
  /** The largest answer that is read, in bytes after decompression, where one was given. */
  readonly maxAnswer: number | undefined
}

/** Reads the global flags. */
export async function readOptions(given: Given, settings: Settings): Promise<Options> {
  if (given.has('--json') && given.has('--output') && given.get('--output')?.[0] !== 'json')
    throw usage('--json and --output contradict each other.', 'Leave one of them out.')
  const fields = given
    .get('--fields')?.[0]
    ?.split(',')
    .map(field => field.trim())
  if (fields?.includes(''))
    throw usage('--fields holds an empty name.', 'For example --fields state,prTitle.')
  return {
    format: given.has('--json') ? 'json' : await settings.need('output'),
    drawn: given.has('--output'),
    fields: fields ?? [],
    dryRun: given.has('--dry-run'),
    quiet: given.has('--quiet'),
    verbose: given.has('--verbose'),
    color: await settings.need('color'),
    noInput: given.has('--no-input'),
    retries: await settings.need('retries'),
    timeout: await settings.read('timeout'),
    maxAnswer: await settings.read('maxAnswer'),
  }
}

/** Whether errors are to be JSON, as far as it can be told before anything else is read. */
export const wantsJsonErrors = (given: Given, output: string | undefined): boolean =>
  given.has('--json') || /^(nd)?json$/i.test(given.get('--output')?.[0] ?? output ?? '')
