import { resourceOfRequest } from '../api/request.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { mapConcurrent, maxConcurrent } from '../domain/map-concurrent.ts'
import { type MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { callMethod } from '../methods/call.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import type { Cli } from './cli.ts'
import type {
  Command,
  CommandGroup,
  RequestCommand,
  RunContext,
  SendOneOptions,
  SentRequest,
} from './command.ts'
import { createContext, type Program } from './context.ts'
import { printDryRun } from './dry-run.ts'
import { optionInputs } from './inputs.ts'
import { nameOf, printResults, stopsOnError, withResource } from './report.ts'
import { readInputs, readRequests } from './requests.ts'
import { streamPages } from './stream-pages.ts'

/** Runs a command and returns its exit code. Rejects with the error that ended the command. */
export async function runCommand(
  command: Command,
  args: ParsedArgs,
  program: Program,
  groups: readonly CommandGroup[],
): Promise<number> {
  const context = await createContext(command, args, program)
  try {
    if (command.run === undefined) {
      const requests = await readRequests(command, context)
      return await (context.options.dryRun
        ? printDryRun(requests, context)
        : runRequests(command, requests, context))
    }
    const values = await readInputs(optionInputs(command.options ?? {}), args, context)
    command.check?.(values, context)
    const requests = () => readRequests(command, context, args, values)
    const runContext: RunContext<Values> = {
      ...context,
      requests,
      async request() {
        const [request] = await requests()
        if (request === undefined) throw new Error(`mergeq ${command.command} has no request`)
        return request
      },
      send: (requests, atOnce) => runRequests(command, requests, context, atOnce),
      sendOne: (request, options) => sendOne(command, request, context, options),
      report: sent => printResults(command, [sent.request], [sent], context),
      runCommandLine: program.runCommandLine,
      groups,
    }
    const { operation } = command
    if (context.options.dryRun && command.dryRun !== undefined)
      return await command.dryRun(values, runContext)
    if (context.options.dryRun && operation !== undefined) return await printDryRun(await requests(), context)
    return await command.run(values, runContext)
  } finally {
    // Closing takes 1.5 ms, and the end of the process closes the connections, too.
    setImmediate(context.close)
  }
}

/**
 * Sends every request, `atOnce` at a time, and prints the responses in the order of the requests, or all pages
 * of a list. An error stops the rest only with --stop-on-error, a signal always: then requests in flight are
 * finished, and no further request is begun. Returns the exit code.
 */
export async function runRequests<V extends Values>(
  command: RequestCommand<V>,
  requests: readonly ServiceRequest<V>[],
  context: Cli,
  atOnce = maxConcurrent,
): Promise<number> {
  const [first] = requests
  if (first === undefined) {
    await context.logger.info(`${command.command}: nothing to do.`)
    return 0
  }
  const list = first.operation.list?.(first.values, context.startedAt, context.client().nameOf)
  if (list !== undefined) return streamPages(command, first, list, context)
  const isOnly = requests.length === 1
  const send = async (request: ServiceRequest<V>): Promise<SentRequest<V>> => {
    const before = await readBefore(command, request, context)
    return { ...(await sendOne(command, request, context, { isOnly })), before }
  }
  const width = stopsOnError(command, context) ? 1 : atOnce
  const sent = mapConcurrent(requests, width, send, () => !context.host.interrupted.aborted)
  return printResults(command, requests, sent, context)
}

/** The values of a request, by the names of params and options. */
type Values = Readonly<Record<string, unknown>>

/** Sends a request and returns its response or its error; a person is told more about a rejection. */
export async function sendOne<V extends Values>(
  command: RequestCommand<V>,
  request: ServiceRequest<V>,
  context: Cli,
  { isOnly = true, limits = {} }: SendOneOptions = {},
): Promise<SentRequest<V>> {
  const { operation, values, overrides } = request
  try {
    const result = await callMethod(context.client(), operation, values, { overrides, limits })
    return { request, isOnly, result }
  } catch (error) {
    const failure = await explainRejection(command, request, toMergeqError(error), context)
    const name = nameOf(resourceOfRequest(operation, values, request))
    return { request, isOnly, failure: isOnly ? failure : withResource(failure, name) }
  }
}

/** Returns the record that a change replaces, where a person at a terminal sees what changed. */
async function readBefore<V extends Values>(
  command: RequestCommand<V>,
  { values }: ServiceRequest<V>,
  context: Cli,
): Promise<JsonObject | undefined> {
  if (command.readBefore === undefined || context.results !== 'screen' || context.options.retries === 0)
    return undefined
  try {
    return await command.readBefore(values, context)
  } catch {
    context.host.interrupted.throwIfAborted()
    return undefined
  }
}

async function explainRejection<V extends Values>(
  command: RequestCommand<V>,
  { values, overrides }: ServiceRequest<V>,
  failure: MergeqError,
  context: Cli,
): Promise<MergeqError> {
  const { host, options } = context
  const isRejected = failure.details.delivery === 'not-applied' && options.retries > 0
  if (command.explainRejection === undefined || !isRejected || overrides.length > 0) return failure
  if (!host.err.terminal || !options.format.isForPeople) return failure
  return command.explainRejection(failure, values, context).catch(() => {
    host.interrupted.throwIfAborted()
    return failure
  })
}
