import { openHttpClient } from '../api/open-http-client.ts'
import { type RequestLimits, sandboxNote } from '../api/service-client.ts'
import { takeTurn } from '../api/take-turn.ts'
import { findToken, refuseForeignAddress, type Token } from '../config/api-token.ts'
import type { ParsedArgs } from '../config/args.ts'
import { isLoopback } from '../config/base-url.ts'
import { type Config, type ResolveOptions, resolveSettings } from '../config/config.ts'
import { isContinuousIntegration } from '../config/continuous-integration.ts'
import type { ParseContext } from '../config/parse-context.ts'
import { isJsonFormat } from '../domain/output-formats.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/http-client.ts'
import { shouldColor } from '../output/color.ts'
import { createLogger, type Logger } from '../output/logger.ts'
import { createPrinter, type Printer, type PrinterOptions } from '../output/printer.ts'
import { withSpinner } from '../output/progress.ts'
import { type GlobalOptions, readGlobalOptions } from './global-options.ts'

/** What a command uses while it runs; `callOperation` takes it as its client. */
export interface CommandContext {
  readonly host: Host
  readonly args: ParsedArgs
  readonly settings: Config
  readonly options: GlobalOptions
  readonly logger: Logger
  readonly printer: Printer
  /** How far a longer task has come: part of the spinner's text. */
  readonly progress?: string
  /** Limits of each request besides the options; evaluated when a request begins. */
  readonly limits?: RequestLimits
  /**
   * Shows a spinner with a text until the work is done: on a terminal, outside CI and without --quiet. Of
   * several tasks at a time, the first has the spinner.
   */
  withSpinner: ParseContext['withSpinner']
  /** The token for the base address; found on the first call, and redacted in all output from then on. */
  token(): Promise<Token>
  readonly secrets: SecretOutput
  /**
   * The HTTP client, loaded on the first call: loading it is the largest part of a request's start-up time.
   */
  httpClient(): Promise<HttpClient>
  /** Tells the user once that the answers come from a sandbox (CLI.md section 4.14). */
  noteSandbox(): Promise<void>
  /** Logs a warning, at most once for the same text. */
  warnOnce(text: string): Promise<void>
  close(): Promise<void>
}

/** Redacts secrets in all output; `reveal` is the only exception. */
export interface SecretOutput {
  /** Redacts a text in everything that is written from now on. */
  hide(secret: string): void
  /** A text without the secrets: for a text that is cut, which could leave a part of a secret. */
  redact(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Writes to standard output without redaction: only for `auth token`. */
  reveal(text: string): Promise<void>
}

/** Creates the context of a command. */
export async function createContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  purpose: Omit<ResolveOptions, 'notify'>,
): Promise<CommandContext> {
  const settings = resolveSettings(args, host, { ...purpose, notify: text => logger.info(text) })
  const options = await readGlobalOptions(args, settings)
  const { color, format } = options
  const logger = createLogger(host.err, { ...options, json: isJsonFormat(format) })
  const storeError = settings.store.readError()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Going on without them.`)
  let token: Promise<Token> | undefined
  let client: Promise<HttpClient> | undefined
  let isSandboxNoted = false
  const warnings = new Set<string>()
  let hasSpinner = false
  return {
    host,
    args,
    settings,
    options,
    logger,
    printer: createPrinter(
      { write: host.out.write, pause: () => takeTurn(host) },
      printerOptions({ options, host }),
    ),
    async withSpinner(text, work) {
      const { terminal, canRedraw = false } = host.err
      const showsSpinner =
        terminal &&
        canRedraw &&
        !options.quiet &&
        !isContinuousIntegration(host.env) &&
        host.env.TERM !== 'dumb'
      if (hasSpinner || !showsSpinner) return work()
      hasSpinner = true
      try {
        return await withSpinner(host.err, shouldColor({ color, env: host.env, terminal }), text, work)
      } finally {
        hasSpinner = false
      }
    },
    secrets,
    token() {
      token ??= settings.require('baseUrl').then(async baseUrl => {
        const token = await findToken(host.env, baseUrl, settings.store)
        secrets.hide(token.value)
        refuseForeignAddress(token, await settings.find('baseUrl'))
        return token
      })
      return token
    },
    httpClient() {
      client ??= settings.read('caFile').then(caFile =>
        openHttpClient(host, logger, {
          caFile: caFile === undefined ? undefined : { path: caFile, option: '--ca-file' },
          timeout: options.timeout,
          isLoopback,
        }),
      )
      return client
    },
    async noteSandbox() {
      if (isSandboxNoted) return
      isSandboxNoted = true
      await logger.info(sandboxNote)
    },
    async warnOnce(text) {
      if (warnings.has(text)) return
      warnings.add(text)
      await logger.warn(text)
    },
    async close() {
      // A client that could not be created was reported by httpClient().
      await client?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

/** How the printer formats answers. */
const printerOptions = ({
  options,
  host: { out, env, clock },
}: Pick<CommandContext, 'options' | 'host'>): PrinterOptions => ({
  ...options,
  terminal: out.terminal,
  columns: out.columns,
  color: shouldColor({ color: options.color, env, terminal: out.terminal }),
  now: clock.now(),
})

/**
 * Whether the user can be asked: not without a terminal, in CI, or with --no-input (CLI.md section 4.11).
 */
export const canPrompt = ({ options, host }: Pick<CommandContext, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

/**
 * The same context with a printer that prints nothing: for a step of a command that prints another result.
 */
export const withoutOutput = (context: CommandContext): CommandContext => ({
  ...context,
  printer: createPrinter({ write: async () => undefined }, printerOptions(context)),
})
