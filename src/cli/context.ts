import type { ParsedArgs } from '../config/args.ts'
import { isLoopback } from '../config/base-url.ts'
import { type Config, type ResolveOptions, resolveSettings } from '../config/config.ts'
import { isContinuousIntegration } from '../config/continuous-integration.ts'
import type { ParseContext } from '../config/parse-context.ts'
import { findToken, refuseForeignAddress, type Token } from '../config/token.ts'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { HttpClient } from '../http/client.ts'
import { shouldColor } from '../output/color.ts'
import { createLogger, type Logger } from '../output/logger.ts'
import { createPrinter, type Printer, type PrinterOptions } from '../output/printer.ts'
import { withSpinner } from '../output/progress.ts'
import { type GlobalOptions, readGlobalOptions } from './global-options.ts'

/** What one command works with while it runs. */
export interface CommandContext {
  readonly host: Host
  readonly args: ParsedArgs
  readonly settings: Config
  readonly options: GlobalOptions
  readonly logger: Logger
  readonly printer: Printer
  /** How far long work has come, for whoever waits. */
  readonly progress?: string
  /** What bounds each request besides the options; asked anew whenever a request begins. */
  readonly limits?: RequestLimits
  /**
   * Shows on a terminal, outside CI and unless -q was typed, what is being waited for until the work is done; of work
   * side by side, what began first.
   */
  withSpinner: ParseContext['withSpinner']
  /** The token for the base address; found when it is first asked for, and hidden in all output from then on. */
  token(): Promise<Token>
  readonly secrets: SecretOutput
  /** The line to the service, opened when it is first needed: loading it is most of what a request costs. */
  httpClient(): Promise<HttpClient>
  /** Says once that the answers come from a sandbox (CLI.md section 4.14). */
  noteSandbox(): Promise<void>
  /** Warns of something once in a run, however often it happens. */
  warnOnce(text: string): Promise<void>
  close(): Promise<void>
}

/** Limits that depend on the moment: they are functions, so that copying a context does not freeze them. */
export interface RequestLimits {
  /** Milliseconds that an attempt may take if it begins now; `usual` is its limit otherwise. */
  timeout(usual: number): number
  /** How often a request may be repeated if it begins now, at most `usual`; `timeout` is the limit of its attempts. */
  retries?(usual: number, timeout: number): number
}

/** What every command says once when its answers come from a sandbox. */
export const sandboxNote = 'mergeq: this is a sandbox; nothing here is real.'

/** What must not be seen, and the one way around that. */
export interface SecretOutput {
  /** Hides a text in everything that is written from now on. */
  hide(secret: string): void
  /** A text without what is hidden: for one that is to be cut, which must not leave a part of it. */
  redact(text: string): string
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Writes to standard output without hiding anything: for `auth token` alone. */
  reveal(text: string): Promise<void>
}

/** Sets a desk for one command. */
export async function createContext(
  args: ParsedArgs,
  host: Host,
  secrets: SecretOutput,
  purpose: Omit<ResolveOptions, 'notify'>,
): Promise<CommandContext> {
  const settings = resolveSettings(args, host, { ...purpose, notify: text => logger.info(text) })
  const options = await readGlobalOptions(args, settings)
  const { color, format } = options
  const logger = createLogger(host.err, { ...options, json: format === 'json' || format === 'ndjson' })
  const trouble = settings.store.readError()
  if (trouble !== undefined) await logger.warn(`${trouble.message} Going on without them.`)
  let token: Promise<Token> | undefined
  let line: Promise<HttpClient> | undefined
  let saidSandbox = false
  const said = new Set<string>()
  let isShowing = false
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
      const isShown =
        terminal &&
        canRedraw &&
        !options.quiet &&
        !isContinuousIntegration(host.env) &&
        host.env.TERM !== 'dumb'
      if (isShowing || !isShown) return work()
      isShowing = true
      try {
        return await withSpinner(host.err, shouldColor({ color, env: host.env, terminal }), text, work)
      } finally {
        isShowing = false
      }
    },
    secrets,
    token() {
      token ??= settings.require('baseUrl').then(async baseUrl => {
        const found = await findToken(host.env, baseUrl, settings.store)
        secrets.hide(found.value)
        refuseForeignAddress(found, await settings.find('baseUrl'))
        return found
      })
      return token
    },
    httpClient() {
      line ??= connect(settings, options, logger, host)
      return line
    },
    async noteSandbox() {
      if (saidSandbox) return
      saidSandbox = true
      await logger.info(sandboxNote)
    },
    async warnOnce(text) {
      if (said.has(text)) return
      said.add(text)
      await logger.warn(text)
    },
    async close() {
      // A line that could not be opened was told when it was asked for.
      await line?.then(
        opened => opened.close(),
        () => undefined,
      )
    },
  }
}

/** Lets the event loop turn once, so that a signal is heard; rejects with its failure when one came. */
export async function takeTurn({ interrupted }: Pick<Host, 'interrupted'>): Promise<void> {
  await new Promise(setImmediate)
  interrupted.throwIfAborted()
}

/** How answers look here. */
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

/** Whether a person is there to answer: never without a terminal, in CI, or with --no-input (CLI.md section 4.11). */
export const canPrompt = ({ options, host }: Pick<CommandContext, 'options' | 'host'>): boolean =>
  host.input.terminal && !options.noInput && !isContinuousIntegration(host.env)

/** The same desk without its answer: for a step of something that gives another one. */
export const withoutOutput = (context: CommandContext): CommandContext => ({
  ...context,
  printer: createPrinter({ write: async () => undefined }, printerOptions(context)),
})

/** How often requests may be repeated in one run (WIRE.md section 3). */
const maxRepeatsPerRun = 10

async function connect(
  settings: Config,
  { timeout }: GlobalOptions,
  logger: Logger,
  host: Host,
): Promise<HttpClient> {
  const caFile = await settings.read('caFile')
  const authorities = caFile === undefined ? [] : await readAuthorities(caFile, host)
  const { createHttpClient } = await import('../http/client.ts')
  if (host.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await logger.warn('NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing here: certificates are checked.')
  const limit = timeout ?? Number.POSITIVE_INFINITY
  return createHttpClient({
    ...host,
    budget: maxRepeatsPerRun,
    limit,
    authorities,
    isLoopback,
    notify: text => logger.info(text),
  })
}

/** The authorities of --ca-file, and those of NODE_EXTRA_CA_CERTS, which an authority of our own would displace. */
async function readAuthorities(caFile: string, { env, files }: Host): Promise<readonly string[]> {
  const own = await files.read(caFile).catch((error: Error) => {
    throw usageError(
      `--ca-file: ${caFile} cannot be read: ${error.message}.`,
      'Name a file of certificates in PEM.',
    )
  })
  if (own === undefined)
    throw usageError(`--ca-file: there is no file ${caFile}.`, 'Name a file of certificates in PEM.')
  const others = await files.read(env.NODE_EXTRA_CA_CERTS || '/dev/null').catch(() => undefined)
  return others === undefined || others === '' ? [own] : [own, others]
}
