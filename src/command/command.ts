import type { AddedFields } from '../api/added-fields.ts'
import type { Operation } from '../api/operation.ts'
import type { ServiceClient } from '../api/service-client.ts'
import type { ServiceTime } from '../api/service-time.ts'
import type { WaitTime } from '../api/wait-time.ts'
import type { ErrorKind } from '../base/errors.ts'
import type { Config, ParsedArgs, SettingsUse } from '../config/settings.ts'
import type { Token } from '../config/token.ts'
import type { Environment, Host } from '../host/host.ts'
import type { Logger } from '../output/logger.ts'
import type { OutputFormat } from '../output/output-formats.ts'
import type { Printer } from '../output/printer.ts'
import type { Redactor } from '../output/redactor.ts'
import type { OutputDoc, Prints } from './fields.ts'
import type { Habit } from './habits.ts'
import {
  type Definition,
  type Input,
  type Inputs,
  type Options,
  type OptionValues,
  optionInputs,
} from './inputs.ts'

/** A command: what help, completion and the parser need, and the function that runs it. */
export interface Command<X extends Options = Options> {
  /** The command as it is typed: `pr submit`. */
  readonly name: string
  readonly summary: string
  /** Command lines that work. A line that exits with another code than 0 ends with `# exits with 8 if ...`. */
  readonly examples: readonly string[]
  /** The main operation, from which help, the fields of receipts and exit codes follow. */
  readonly operation?: Operation
  /** The other operations that it sends, in the order of its work; `any` is one that the user names. */
  readonly alsoSends?: readonly Operation[] | 'any'
  /** The options and arguments, in the order of help. */
  readonly options?: X
  /** The option `--set`: what a person adds to the requests of an operation, which the client sends. */
  readonly set?: Input<AddedFields>
  /** What it prints, where that is not what its operation returns; one text for every format is enough. */
  readonly prints?: string | Prints
  /** The kinds of exit code in addition to those of every command and of its operations. */
  readonly exits?: readonly ErrorKind[]
  /** Whether it destroys something: a misspelt command is never corrected to it. */
  readonly destructive?: boolean
  /** Returns the limit of all that the command does; undefined where `--timeout` limits each request. */
  readonly timeLimit?: (args: ParsedArgs) => TimeLimit | undefined
  /** Whether its requests do not wait for what a 429 to another one asks for. */
  readonly isImpatient?: boolean
  /** Whether a failed request is a part of the result instead of the end of the command. */
  readonly toleratesErrors?: boolean
  /** Whether it ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  readonly settings?: SettingsUse
  /** Runs the command, and returns its exit code. `values` are those of `options`. */
  run(values: OptionValues<X>, cli: Cli): Promise<number>
}

/** The limit of all that a command does: its deadline, which every request, program, input and prompt has. */
export interface TimeLimit {
  /** The option that sets it; by default `--timeout`. */
  readonly option?: string
  /** Without it, there is no limit but that of the option. */
  readonly default?: string
  /** Whether the option can only lower it. */
  readonly isMaximum?: boolean
}

/** Defines a command; the values of `run` are typed from its options. */
export function command<const X extends Options = Record<never, never>>(definition: Command<X>): Command
export function command(definition: Command): Command {
  return definition
}

/** A command as help, completion and the parser need it. */
export interface RegisteredCommand extends Command {
  /** The command as it is typed: `pr submit`. */
  readonly command: string
  /** Another word for the last one of the command. */
  readonly alias?: string | undefined
  readonly definitions: readonly Definition[]
  readonly inputs: Inputs
  readonly operations: readonly Operation[] | 'any'
  /** What it prints. */
  readonly output: OutputDoc
}

/** Where a command is: its code is loaded when a command line has its words. */
export interface CommandFile {
  /** The word of the command after that of its group: `submit`; empty if the group itself is the command. */
  readonly name: string
  /** Another word for it. */
  readonly alias?: string
  load(): Promise<{ readonly definition: Command }>
  /** What people type who know it by another name. */
  habits?(): Promise<{ readonly habits: readonly Habit[] }>
}

/** The commands that share their first word. */
export interface CommandGroup {
  /** The first word of the commands: `pr`, or `doctor`. */
  readonly name: string
  readonly summary: string
  /** Whether the word alone is a command: `mergeq doctor`. Otherwise, the word alone prints help. */
  readonly isCommand?: boolean
  /** In the order in which help lists them. */
  readonly commands: readonly CommandFile[]
}

/** Loads the code of all commands of the groups; a run needs only one of them. */
export const loadCommands = (groups: readonly CommandGroup[]): Promise<readonly RegisteredCommand[]> =>
  Promise.all(groups.flatMap(({ commands }) => commands.map(loadCommand)))

export async function loadCommand({ load, alias }: CommandFile): Promise<RegisteredCommand> {
  // A file that every command loads.
  const [{ definition }, { outputOf }] = await Promise.all([load(), import('./fields.ts')])
  const { name, operation, alsoSends = [], options = {}, set } = definition
  const operations =
    alsoSends === 'any' ? 'any' : [...(operation === undefined ? [] : [operation]), ...alsoSends]
  const inputs = optionInputs(options)
  return {
    ...definition,
    command: name,
    alias,
    summary: summaryOf(definition),
    inputs,
    definitions: lastSet([...Object.values(inputs), set ?? []].flat().flatMap(input => input.definitions)),
    operations,
    output: outputOf(definition),
  }
}

const summaryOf = ({ summary, operation }: Pick<Command, 'summary' | 'operation'>): string =>
  operation?.isHostedOnly === true ? `${summary} (not in the API document)` : summary

/** Help lists `--set` behind the options that a command has of its own. */
function lastSet(definitions: readonly Definition[]): readonly Definition[] {
  const isSet = ({ name }: Definition) => name === '--set'
  return [...definitions.filter(definition => !isSet(definition)), ...definitions.filter(isSet)]
}

/**
 * How results look:
 * - `screen`: drawn for a person who watches standard output, on a terminal
 * - `page`: drawn in the same way, but nobody watches: `-o table` on a pipe
 * - `rows`: only rows, without anything around them: a table on a pipe, another format of rows, and selected fields
 * - `json`: a JSON document, or a record on each line
 */
type ResultStyle = 'screen' | 'page' | 'rows' | 'json'

/** Who reads standard error: a `person` on a terminal, or nobody but a `log`, such as that of a CI job. */
type Messages = 'person' | 'log'

/** What a command uses while it runs. */
export interface Cli {
  /** The command as it is typed: `pr submit`. */
  readonly command: string
  readonly host: Host
  readonly args: ParsedArgs
  readonly settings: Config
  readonly options: GlobalOptions
  readonly results: ResultStyle
  readonly messages: Messages
  readonly logger: Logger
  readonly printer: Printer
  readonly secrets: SecretOutput
  readonly serviceTime: ServiceTime
  /** The time of the whole command, where `--timeout` limits that. */
  readonly time: WaitTime | undefined
  /** Returns the client for the service, which is created on the first call. */
  client(): CommandClient
  /** Closes the connections of the client, if there is one. */
  close(): Promise<void>
  /** Runs another command line in this process. */
  readonly runCommandLine: CommandRunner
}

/** Hides secrets in everything that is written, except by `writeUnredacted`. */
export interface SecretOutput extends Redactor {
  /** Writes to standard output without hiding secrets, for `auth token`. */
  writeUnredacted(text: string): Promise<void>
}

/** Runs a whole command line in this process, as if it had been typed, and returns its exit code. */
export type CommandRunner = (
  argv: readonly string[],
  env: Environment,
  output: Readonly<Record<'out' | 'err', (text: string | Uint8Array) => Promise<void>>>,
) => Promise<number>

export interface GlobalOptions {
  readonly format: OutputFormat
  readonly fields: readonly string[]
  readonly dryRun: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly color: 'auto' | 'always' | 'never'
  readonly noInput: boolean
  /** Whether the first failure ends a command of several pull requests. */
  readonly stopOnError: boolean
  readonly retries: number
  /** Time limit of one attempt in milliseconds; undefined means the default of the operation. */
  readonly timeout: number | undefined
}

export interface CommandClient extends ServiceClient {
  /** The token for the base address; found on the first call, and redacted in all output from then on. */
  token(after?: number): Promise<Token>
  close(): Promise<void>
}

/** Whether results are drawn, for a person or as a page. */
export const drawsResults = ({ results }: Pick<Cli, 'results'>): boolean =>
  results === 'screen' || results === 'page'

/** Returns the user of the settings, whose pull requests are marked where results are drawn. */
export const userOf = async (cli: Pick<Cli, 'results' | 'settings'>): Promise<string | undefined> =>
  drawsResults(cli) ? cli.settings.read('user') : undefined

/** Whether more is read than a command needs, to tell a person more: not with `--retries 0`, and not in a dry run. */
export const readsMore = ({ options }: Pick<Cli, 'options'>): boolean =>
  options.retries > 0 && !options.dryRun

/** Returns the time of a wait, which is that of the whole command. */
export function timeOfWait({ time }: Pick<Cli, 'time'>): WaitTime {
  if (time === undefined) throw new Error('the command has no time limit')
  return time
}
