import type { ServiceClient } from '../api/service-client.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import type { Token } from '../config/token-text.ts'
import type { OutputFormat } from '../domain/output-formats.ts'
import type { WaitTime } from '../domain/wait-time.ts'
import type { Environment, Host } from '../host/host.ts'
import type { Logger } from '../output/logger.ts'
import type { Printer } from '../output/printer.ts'
import type { Redactor } from '../output/redactor.ts'

/**
 * How results look:
 * - `screen`: drawn for a person who watches standard output, on a terminal
 * - `page`: drawn in the same way, but nobody watches: `-o table` on a pipe
 * - `rows`: only rows, without anything around them: a table on a pipe, another format of rows, and selected fields
 * - `json`: a JSON document, or a record on each line
 */
type Results = 'screen' | 'page' | 'rows' | 'json'

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
  readonly results: Results
  readonly messages: Messages
  readonly logger: Logger
  readonly printer: Printer
  readonly secrets: SecretOutput
  /** When the command began: one time for everything that a range such as `--since 24h` is used for. */
  readonly startedAt: number
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

/** Whether more is read than a command needs, to tell a person more: not with `--retries 0`, and not in a dry run. */
export const readsMore = ({ options }: Pick<Cli, 'options'>): boolean =>
  options.retries > 0 && !options.dryRun
