import { resourceOfRequest } from '../api/request.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { isDryRunEnd, type MergeqError, toMergeqError } from '../errors.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import { call, printOutcome, type Received, type RequestValues, runRequests } from './calls.ts'
import type { Cli } from './cli.ts'
import type { AnyCommand, Command } from './command.ts'
import { createContext, type Program } from './context.ts'
import type { OldCommand, RequestCommand, RunContext, SendOneOptions, SentRequest } from './define-command.ts'
import { printDryRun } from './dry-run.ts'
import { optionInputs } from './inputs.ts'
import { runList } from './lists.ts'
import { nameOf, reportResults, withResource } from './report.ts'
import { inputContext, readInputs, readRequests } from './requests.ts'

/** Runs a command and returns its exit code. Rejects with the error that ended the command. */
export async function runCommand(command: AnyCommand, args: ParsedArgs, program: Program): Promise<number> {
  const cli = await createContext('name' in command ? command : contextOf(command), args, program)
  try {
    return 'name' in command ? await run(command, cli) : await runOld(command, cli)
  } catch (error) {
    if (isDryRunEnd(toMergeqError(error))) return 0
    throw error
  } finally {
    // Closing takes 1.5 ms, and the end of the process closes the connections, too.
    setImmediate(cli.close)
  }
}

async function run({ options = {}, run }: Command, cli: Cli): Promise<number> {
  return run(await readInputs(optionInputs(options), cli.args, inputContext(cli)), cli)
}

const contextOf = (command: OldCommand) => ({
  ...command,
  name: command.command,
  ...(command.changesSettings === true
    ? { settings: 'changed' as const }
    : command.needsSettings === false
      ? { settings: 'not needed' as const }
      : {}),
})

async function runOld(command: OldCommand, cli: Cli): Promise<number> {
  if (command.run === undefined) {
    const requests = await readRequests(command, cli)
    return runOldRequests(command, requests, cli)
  }
  const values = await readInputs(optionInputs(command.options ?? {}), cli.args, inputContext(cli))
  command.check?.(values, cli)
  const requests = () => readRequests(command, cli, cli.args, values)
  const runContext: RunContext<RequestValues> = {
    ...cli,
    requests,
    async request() {
      const [request] = await requests()
      if (request === undefined) throw new Error(`mergeq ${command.command} has no request`)
      return request
    },
    send: (requests, atOnce) => runOldRequests(command, requests, cli, atOnce),
    sendOne: (request, options) => sendOne(command, request, cli, options),
    report: sent => reportSent(command, sent, cli),
  }
  if (cli.options.dryRun && command.dryRun !== undefined) return command.dryRun(values, runContext)
  if (cli.options.dryRun && command.operation !== undefined) return printDryRun(await requests(), cli)
  return command.run(values, runContext)
}

function runOldRequests<V extends RequestValues>(
  command: RequestCommand<V>,
  requests: readonly ServiceRequest<V>[],
  cli: Cli,
  atOnce?: number,
): Promise<number> {
  const [first] = requests
  const options = requestsOptions(command, cli)
  if (first?.operation.list === undefined)
    return runRequests(cli, requests, { ...options, web: first?.values.web === true, atOnce })
  return runList(cli, first, {
    present: options.present,
    ending: end => command.listEnding?.(end, first.values, cli),
  })
}

const requestsOptions = <V extends RequestValues>(command: RequestCommand<V>, cli: Cli) => ({
  present: ({ response, values, ...details }: Received<V>) =>
    command.present?.(response, values, { ...details, context: cli }) ?? {},
  before: async (values: V) => command.readBefore?.(values, cli),
  explain: (failure: MergeqError, request: ServiceRequest<V>) =>
    explainRejection(command, request, failure, cli),
  ...(command.stopsOnError === true ? { stopOnError: true } : {}),
})

/** Sends a request and returns its response or its error; a person is told more about a rejection. */
export async function sendOne<V extends RequestValues>(
  command: RequestCommand<V>,
  request: ServiceRequest<V>,
  cli: Cli,
  { isOnly = true, limits = {} }: SendOneOptions = {},
): Promise<SentRequest<V>> {
  const { operation, values } = request
  try {
    return { request, isOnly, result: await call(cli, request, { limits }) }
  } catch (error) {
    const failure = await explainRejection(command, request, toMergeqError(error), cli)
    const name = nameOf(resourceOfRequest(operation, values, request))
    return { request, isOnly, failure: isOnly ? failure : withResource(failure, name) }
  }
}

async function reportSent<V extends RequestValues>(
  command: RequestCommand<V>,
  { request, isOnly, result, failure, before }: SentRequest<V>,
  cli: Cli,
): Promise<number> {
  const outcome = {
    item: request,
    ...(result === undefined ? {} : { result: { called: result, before } }),
    ...(failure === undefined ? {} : { failure }),
    code: failure?.exit ?? 0,
  }
  const options = {
    ...requestsOptions(command, cli),
    web: request.values.web === true,
    showsSheet: isOnly && !cli.args.has('--output'),
  }
  const code = (await printOutcome(cli, outcome, options)) ?? outcome.code
  await cli.printer.end()
  return reportResults(request.operation, [request], [{ code, failure }], cli)
}

async function explainRejection<V extends RequestValues>(
  command: RequestCommand<V>,
  { values, overrides }: ServiceRequest<V>,
  failure: MergeqError,
  { host, options, ...others }: Cli,
): Promise<MergeqError> {
  const isRejected = failure.details.delivery === 'not-applied' && options.retries > 0
  if (command.explainRejection === undefined || !isRejected || overrides.length > 0) return failure
  if (!host.err.terminal || !options.format.isForPeople) return failure
  return command.explainRejection(failure, values, { host, options, ...others }).catch(() => {
    host.interrupted.throwIfAborted()
    return failure
  })
}
