import { isChange } from '../api/operation.ts'
import { createServiceClient, requireWritable, type ServiceClient } from '../api/service-client.ts'
import { createServiceTime } from '../api/service-time.ts'
import { startWaitTime, type WaitTime } from '../api/wait-time.ts'
import { isMergeqError, type MergeqError, usageError, withName } from '../base/errors.ts'
import { createAdvice } from '../command/advice.ts'
import { checkBranches, checkEmptyWords, checkEnough, checkExclusive } from '../command/check-inputs.ts'
import type { Cli, Command, CommandClient, GlobalOptions, RegisteredCommand } from '../command/command.ts'
import { fieldsOf } from '../command/fields.ts'
import { flagName, type InputContext, readInputs } from '../command/inputs.ts'
import { explainNotFound } from '../command/send.ts'
import { withAddedFields } from '../command/set-option.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { type Config, type ParsedArgs, resolveSettings } from '../config/settings.ts'
import { createTokenReader } from '../config/token.ts'
import type { Host } from '../host/host.ts'
import { createLogger, type Logger } from '../output/logger.ts'
import { findFormat, printsData } from '../output/output-formats.ts'
import { createPrinter, type Printer, type PrinterOptions } from '../output/printer.ts'
import type { SpinnerText } from '../output/spinner.ts'
import { shouldColor, textStyles } from '../output/styled-text.ts'
import { parseDuration } from '../values/time.ts'
import { flagFormat } from './parse.ts'

type Program = Pick<Cli, 'host' | 'secrets' | 'runCommandLine'>

export async function runCommand(
  command: RegisteredCommand,
  args: ParsedArgs,
  program: Program,
): Promise<number> {
  let cli = await createContext(command, args, program)
  try {
    // A change is refused before the command reads anything or asks.
    if (sendsChange(command) && !cli.options.dryRun) await requireWritable(cli.client())
    checkEmptyWords(command, args)
    checkExclusive(command, args)
    await checkBranches(command, args, cli.settings)
    const context: InputContext = {
      ...cli,
      operation: command.operation,
      async currentPullRequest(typed) {
        const { readCurrentPullRequest } = await import('../command/current-pull-request.ts')
        return readCurrentPullRequest(cli, command.operation, typed)
      },
    }
    const added = await command.set?.read(args, context)
    const values = await readInputs(command.inputs, args, context)
    checkEnough(command, values, added)
    cli = withAddedFields(cli, added)
    return await command.run(values, cli)
  } catch (error) {
    throw isMergeqError(error) ? await explainNotFound(cli, error) : error
  } finally {
    // Closing takes 1.5 ms, and the end of the process closes the connections, too.
    setImmediate(cli.close)
  }
}

/** Whether a command sends a change; what `api` sends is known only when it runs. */
const sendsChange = ({ operations }: RegisteredCommand): boolean =>
  operations !== 'any' && operations.some(isChange)

/** Whether a command passes or fails by what it reads, as a job of CI does. */
const isCheck = ({ exits = [] }: Command): boolean =>
  exits.includes('check-failed') || exits.includes('differs')

/** Creates the context of a command. Throws a usage error for global options that are wrong. */
async function createContext(
  command: RegisteredCommand,
  args: ParsedArgs,
  { host: unlimitedHost, secrets, runCommandLine }: Program,
): Promise<Cli> {
  const time = startCommandTime(command, args, unlimitedHost)
  const isLimited = time !== undefined || args.has('--timeout')
  const host = isLimited
    ? (await import('./limit-host.ts')).limitHost(unlimitedHost, time, args)
    : unlimitedHost
  // A remark about the settings can come before the format of messages is known.
  const remarks: string[] = []
  let log = async (text: string) => {
    remarks.push(text)
  }
  const settings = resolveSettings(args, host, {
    changes: sendsChange(command),
    checks: isCheck(command),
    use: command.settings,
    nameOf: flagName,
    notify: text => log(text),
  })
  const storeError = await readStoreError(command, args, settings)
  const options = await readGlobalOptions(args, settings, time)
  const serviceTime = createServiceTime(host)
  const isDrawn = options.format.name === 'table' && (host.out.terminal || args.has('--output'))
  const drawn = host.out.terminal ? 'screen' : 'page'
  const rowsOrDrawn = isDrawn && options.fields.length === 0 ? drawn : 'rows'
  const results = printsData(options.format) ? 'json' : rowsOrDrawn
  const messages = host.err.terminal && !isContinuousIntegration(host.env) ? 'person' : 'log'
  const logger = createCommandLogger(host, options, messages)
  log = logger.infoOnce
  for (const remark of remarks) await logger.infoOnce(remark)
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const printer = createCommandPrinter(host, options, logger, {
    isDrawn,
    selection:
      options.fields.length === 0
        ? undefined
        : (await import('../command/select-fields.ts')).selectFields(options.fields, fieldsOf(command, args)),
    now: serviceTime.startedAt,
    redact: secrets.redact,
  })
  const shared = { host, settings, options, results, messages, logger, secrets, serviceTime, time } as const
  const rateLimit = command.isImpatient === true ? undefined : { isOutlasted: false }
  const repeatsSilence = time !== undefined || args.has('--retries')
  let client: CommandClient | undefined
  return {
    ...shared,
    command: command.name,
    args,
    printer,
    runCommandLine,
    client() {
      client ??= createCommandClient({ ...shared, rateLimit, repeatsSilence })
      return client
    },
    close: async () => client?.close(),
  }
}

function createCommandLogger(
  { env, err }: Host,
  { quiet, verbose, color, format }: GlobalOptions,
  messages: Cli['messages'],
): Logger {
  const hasColor = shouldColor({ color, env, terminal: err.terminal })
  const hasSpinner = messages === 'person' && !quiet && env.TERM !== 'dumb'
  const loadSpinner = async () => {
    const { startSpinner } = await import('../output/spinner.ts')
    return (text: SpinnerText) => startSpinner(err, text, hasColor)
  }
  return createLogger(err, {
    quiet,
    verbose,
    json: printsData(format),
    stack: env.MERGEQ_DEBUG === '1',
    color: hasColor,
    styles: textStyles,
    loadSpinner: hasSpinner ? loadSpinner : undefined,
  })
}

/** Creates the printer of a command, which stops at a signal and writes nothing beside the spinner. */
function createCommandPrinter(
  { env, out, interrupted }: Host,
  options: GlobalOptions,
  logger: Logger,
  own: Pick<PrinterOptions, 'isDrawn' | 'selection' | 'now' | 'redact'>,
): Printer {
  const writer = {
    write(output: string | Uint8Array) {
      logger.clearSpinner()
      return out.write(output)
    },
    async pause() {
      await new Promise(setImmediate)
      interrupted.throwIfAborted()
    },
  }
  return createPrinter(writer, {
    ...options,
    ...own,
    terminal: out.terminal,
    columns: out.columns,
    color: shouldColor({ color: options.color, env, terminal: out.terminal }),
    hasLinks: async () => (await out.hasLinks?.()) ?? false,
  })
}

/** Returns why the stored settings cannot be read; throws it where they may change where a request goes. */
async function readStoreError(
  { settings: use }: Command,
  args: ParsedArgs,
  settings: Config,
): Promise<MergeqError | undefined> {
  if (use === 'changed' || use === 'not needed') return undefined
  return use === 'optional' ? settings.store.readError() : settings.checkStore(!args.has('--dry-run'))
}

async function readGlobalOptions(
  args: ParsedArgs,
  settings: Config,
  time: WaitTime | undefined,
): Promise<GlobalOptions> {
  const typed = flagFormat(args)
  if (args.has('--json') && args.has('--output') && args.get('--output')?.[0]?.toLowerCase() !== typed)
    throw usageError('--json and --output cannot be used together.', 'Use only one of them.')
  const fields = args
    .get('--fields')?.[0]
    ?.split(',')
    .map(field => field.trim())
  if (fields?.includes(''))
    throw usageError('--fields contains an empty name.', 'Separate the names by single commas.')
  return {
    format: findFormat(args.has('--json') ? typed : await settings.require('output')),
    fields: fields ?? [],
    dryRun: args.has('--dry-run'),
    quiet: args.has('--quiet'),
    verbose: args.has('--verbose'),
    color: await settings.require('color'),
    noInput: args.has('--no-input'),
    stopOnError: args.has('--stop-on-error'),
    retries: await settings.require('retries'),
    timeout: (await attemptSettings(args, settings, time).read('timeout')) || undefined,
  }
}

/** Starts the time of the whole command; undefined where `--timeout` limits each request. */
function startCommandTime(
  { timeLimit }: Command,
  args: ParsedArgs,
  { clock }: Pick<Host, 'clock'>,
): WaitTime | undefined {
  const limit = timeLimit?.(args)
  if (limit === undefined) return undefined
  const { option = '--timeout', default: usual, isMaximum = false } = limit
  const [given] = args.get(option) ?? []
  const typed = given === undefined ? undefined : withName(option, () => parseDuration(given))
  const most = usual === undefined ? undefined : parseDuration(usual)
  // 0 is no limit.
  const chosen = isMaximum && most !== undefined ? Math.min(typed || most, most) : (typed ?? most)
  return chosen === undefined ? undefined : startWaitTime(chosen, clock)
}

/** The settings that limit an attempt: `--timeout` is not one of them where it limits the whole command. */
function attemptSettings(args: ParsedArgs, settings: Config, time: WaitTime | undefined): Config {
  if (time === undefined) return settings
  const others = new Map(args)
  others.delete('--timeout')
  return settings.withArgs(others)
}

interface ClientParts
  extends Pick<Cli, 'host' | 'settings' | 'serviceTime' | 'logger' | 'secrets'>,
    Partial<Pick<ServiceClient, 'messages' | 'rateLimit' | 'repeatsSilence'>> {
  readonly options: Pick<GlobalOptions, 'retries' | 'timeout' | 'verbose' | 'dryRun'>
  readonly time?: WaitTime | undefined
  readonly tokenTime?: number
}

export function createCommandClient(parts: ClientParts): CommandClient {
  const readToken = createTokenReader(parts.host, parts.settings, {
    hide: parts.secrets.hide,
    warn: parts.logger.warn,
    time: parts.tokenTime,
  })
  return createServiceClient({
    ...parts,
    nameOf: flagName,
    advice: createAdvice(parts.settings.commandLine),
    maxRetries: parts.options.retries,
    isDryRun: parts.options.dryRun,
    async token(after) {
      const token = await readToken(after)
      if (parts.messages === 'person' && token.source === 'MERGEQ_TOKEN')
        await (await import('./default-address.ts')).announceDefaultAddress(parts.settings, parts.logger)
      return token
    },
  })
}
