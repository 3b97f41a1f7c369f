import { yieldToEventLoop } from '../api/yield-to-event-loop.ts'
import type { ParsedArgs } from '../config/args.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { type Config, type ResolveOptions, resolveSettings } from '../config/config.ts'
import { isJsonFormat } from '../domain/output-formats.ts'
import type { Host } from '../host/host.ts'
import { createLogger, type Logger } from '../output/logger.ts'
import { createPrinter, type Printer } from '../output/printer.ts'
import { shouldColor } from '../output/styled-text.ts'
import { type CommandClient, createCommandClient } from './command-client.ts'
import type { RecordFields } from './fields/record-fields.ts'
import { type GlobalOptions, readGlobalOptions } from './global-options.ts'

/**
 * How results look: a `screen` for a person, with signs, times and the next steps; `rows` without anything
 * around them; or `json`.
 */
export type Presentation = 'screen' | 'rows' | 'json'

/** What a command uses while it runs. */
export interface CommandContext {
  readonly host: Host
  readonly args: ParsedArgs
  readonly settings: Config
  readonly options: GlobalOptions
  readonly presentation: Presentation
  readonly logger: Logger
  readonly printer: Printer
  readonly secrets: SecretOutput
  /** Returns the client for the service, which is created on the first call. */
  client(): CommandClient
  /** Closes the connections of the client, if there is one. */
  close(): Promise<void>
}

/** Hides secrets in everything that is written, except by `writeUnredacted`. */
export interface SecretOutput {
  /** Hides a text in everything that is written from now on. */
  hide(secret: string): void
  /** Returns a text without secrets, for a text that is then cut: a part of a secret would not be found. */
  redact(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Writes to standard output without hiding secrets, for `auth token`. */
  writeUnredacted(text: string): Promise<void>
}

/** What the context must know: whether the command changes something, and the fields of its records. */
export interface CommandPurpose extends Omit<ResolveOptions, 'notify'> {
  /** Undefined for a command whose fields are not known in advance. */
  readonly fields: RecordFields | undefined
}

/** Creates the context of a command. */
export async function createContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  { fields, ...purpose }: CommandPurpose,
): Promise<CommandContext> {
  const settings = resolveSettings(args, host, { ...purpose, notify: text => logger.info(text) })
  const options = await readGlobalOptions(args, settings)
  const { env, out, err, clock } = host
  const { quiet, verbose, format, color } = options
  const isDrawn = format === 'table' && (out.terminal || options.isOutputTyped)
  const isJson = isJsonFormat(format)
  const presentation = isJson ? 'json' : isDrawn && options.fields.length === 0 ? 'screen' : 'rows'
  const hasSpinner =
    err.terminal && err.canRedraw === true && !quiet && !isContinuousIntegration(env) && env.TERM !== 'dumb'
  const logger = createLogger(err, {
    quiet,
    verbose,
    json: isJson,
    color: shouldColor({ color, env, terminal: err.terminal }),
    screen: hasSpinner ? err : undefined,
  })
  const storeError = settings.store.readError()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const writer = { write: out.write, pause: () => yieldToEventLoop(host) }
  const printerOptions = {
    ...options,
    isDrawn,
    terminal: out.terminal,
    columns: out.columns,
    color: shouldColor({ color, env, terminal: out.terminal }),
    now: clock.now(),
    redact: secrets.redact,
    hasLinks: async () => (await out.hasLinks?.()) ?? false,
  }
  const printer =
    options.fields.length === 0
      ? createPrinter(writer, { ...printerOptions, selection: undefined })
      : (await import('./fields/create-selecting-printer.ts')).createSelectingPrinter(
          writer,
          printerOptions,
          { typed: options.fields, fields },
        )
  const shared = { host, settings, options, presentation, logger, secrets } as const
  let client: CommandClient | undefined
  return {
    ...shared,
    args,
    printer,
    client() {
      client ??= createCommandClient(shared)
      return client
    },
    close: async () => client?.close(),
  }
}
