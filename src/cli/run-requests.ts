import { type CallResult, callOperation } from '../api/call.ts'
import { createReceipt, type Operation, operationName, type Params, type Resource } from '../api/operation.ts'
import { resourceOfParams, resourceOfRequest } from '../api/request.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import { joinList } from '../domain/format.ts'
import { exitCodeOf, extendError, MergeqError, mostSevere, toMergeqError, withPeriod } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { rawText, singleRecord } from '../output/printer.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import { receiptView, table, type View } from '../output/view.ts'
import {
  type CommandRequest,
  operationOf,
  type RequestCommand,
  type RunOptions,
  type RunResult,
} from './command.ts'
import type { CommandContext } from './context.ts'
import { createBodySink, streamPages } from './stream-pages.ts'

/**
 * Sends a request of an operation for each request and prints the responses, or all pages of a list.
 * Returns the exit code.
 */
export async function runRequests<V extends Values>(
  command: RequestCommand<V>,
  requests: readonly CommandRequest<V>[],
  context: CommandContext,
  options: RunOptions<V> = {},
): Promise<number> {
  const operation = operationOf(command)
  const [first] = requests
  if (first === undefined) await context.logger.info(`${command.command}: nothing to do.`)
  const pages = first && operation.pagination?.(first.values, context.startedAt)
  if (first !== undefined && pages !== undefined) return streamPages(command, first, pages, context)
  const results = await executeAll(command, requests, context, options)
  return reportResults(operation, requests, results, context)
}

/** The values of a request, by the names of params and options. */
type Values = Readonly<Record<string, unknown>>

type PrintResult = () => Promise<RunResult>

/**
 * Sends every request, several at a time, and prints the results in the order of the requests. Errors are
 * returned, not logged. An error stops the rest only with --stop-on-error, a signal always: then requests in
 * flight are finished, and no further request is begun.
 */
export async function executeAll<V extends Values>(
  command: RequestCommand<V>,
  requests: readonly CommandRequest<V>[],
  context: CommandContext,
  options: RunOptions<V> = {},
): Promise<readonly RunResult[]> {
  const stopsOnError = context.args.has('--stop-on-error')
  const width = stopsOnError || command.isOrdered === true ? 1 : maxConcurrent
  const { interrupted } = context.host
  const isAmongSeveral = requests.length > 1
  const work = (request: CommandRequest<V>) => execute(command, request, context, options, isAmongSeveral)
  const results: RunResult[] = []
  for await (const print of mapConcurrent(requests, width, work, () => !interrupted.aborted)) {
    const result = await print()
    results.push(result)
    if (stopsOnError && result.code !== 0) break
  }
  if (!options.isSilent) await context.printer.end()
  return results
}

/**
 * Sends a request now; the returned function prints its result. A change that was sent and failed has a
 * receipt.
 */
async function execute<V extends Values>(
  command: RequestCommand<V>,
  request: CommandRequest<V>,
  context: CommandContext,
  { isSilent = false, limits = {}, beforeSend, beforePrint, explainError }: RunOptions<V>,
  isAmongSeveral: boolean,
): Promise<PrintResult> {
  const { printer, options } = context
  const operation = operationOf(command)
  try {
    await beforeSend?.(request)
    const before = isSilent ? undefined : await readBefore(command, request, context)
    const { response, params, resource, delivery } = await callOperation(
      context.client(),
      operation,
      request.values,
      {
        overrides: request.overrides,
        limits,
        ...(isAmongSeveral ? {} : { createSink: (decoder, sent) => createBodySink(decoder, sent, context) }),
      },
    )
    await beforePrint?.()
    const values = { ...request.values, ...params }
    return async () => ({
      code: isSilent
        ? 0
        : await printResponse(
            command,
            { values, overrides: request.overrides },
            { response, resource, delivery, before },
            context,
          ),
    })
  } catch (error) {
    const original = toMergeqError(error)
    const explained =
      (await explainError?.(original)) ??
      (await explainRejectionToPerson(original, command, request, context))
    const isOwn = isAmongSeveral && explained.kind !== 'interrupted'
    const resource = resourceOfRequest(operation, request.values, request)
    const failure = isOwn ? withPullRequest(explained, resource) : explained
    return async () => {
      const { delivery, rawResponse } = failure.details
      if (rawResponse !== undefined && !isSilent && options.fields.length === 0)
        await printer.print(rawText(rawResponse))
      else if (delivery !== undefined && !isSilent)
        await printer.print(receipt(createReceipt(operation.route, resource, delivery, failure), ''))
      return { code: failure.exit, failure }
    }
  }
}

/** Returns the record that a change replaces, where a person at a terminal sees what changed. */
async function readBefore(
  command: RequestCommand,
  { values }: CommandRequest,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const { host, options, presentation } = context
  if (command.readBefore === undefined || options.retries === 0) return undefined
  if (presentation !== 'screen' || !host.out.terminal) return undefined
  try {
    return await command.readBefore(values, context)
  } catch {
    host.interrupted.throwIfAborted()
    return undefined
  }
}

async function explainRejectionToPerson(
  failure: MergeqError,
  { explainRejection }: RequestCommand,
  { values, overrides }: CommandRequest,
  context: CommandContext,
): Promise<MergeqError> {
  const { host, options } = context
  const isRejected = failure.details.delivery === 'not-applied' && options.retries > 0
  if (explainRejection === undefined || !isRejected || overrides.length > 0) return failure
  if (!host.err.terminal || options.format !== 'table') return failure
  return explainRejection(failure, values, context).catch(() => {
    host.interrupted.throwIfAborted()
    return failure
  })
}

interface PrintedCall extends Pick<CallResult<Params>, 'response' | 'resource' | 'delivery'> {
  readonly before: JsonObject | undefined
}

async function printResponse(
  command: RequestCommand,
  { values, overrides }: CommandRequest,
  { response, resource, delivery, before }: PrintedCall,
  context: CommandContext,
): Promise<number> {
  const { printer, options, host } = context
  const { view: createView = () => table([], []) } = command
  const operation = operationOf(command)
  if (response.isStreamed === true) return 0
  const { batches } = response
  if (batches !== undefined && (options.format !== 'table' || options.fields.length > 0)) {
    await printer.printAll(untilAborted(batches(), host.interrupted), records =>
      createView({ records, bytes: response.bytes }, values, { overrides, context }),
    )
    return 0
  }
  const namedView = createView(response, values, { before, overrides, context })
  const { page = '' } = namedView
  if (values.web === true && page === '') await context.logger.warn('The response contains no page URL.')
  else if (values.web === true) {
    await openPage(page, context)
    return exitCodeOf(namedView.exit ?? 'ok')
  }
  const view = isNamed(resourceOfParams(values), resource) ? namedView : withoutNames(namedView, operation)
  if (response.document === undefined)
    await printer.print(receipt(createReceipt(operation.route, resource, delivery), view.sentence ?? ''))
  else
    await printer.print({
      // A response in batches is printed as rows only: its records are not created.
      records: batches === undefined ? response.records : [],
      document: records => response.document?.(records) ?? null,
      ...(response.rawBody === undefined ? {} : { rawBody: response.rawBody }),
      view: () => view,
    })
  return exitCodeOf(view.exit ?? 'ok')
}

/** Whether the body that was sent names everything that its params name: `--set` may have replaced it. */
const isNamed = ({ repo, targetBranch, pr, targets }: Resource, resource: Resource): boolean =>
  (repo === undefined || resource.repo !== undefined) &&
  (targetBranch === undefined || resource.targetBranch !== undefined) &&
  (pr === undefined || resource.pr !== undefined) &&
  targets === resource.targets

/** The view where the params do not say what the request was about. */
const withoutNames = (
  { heading, sentence, terminalView, singleView, ...view }: View,
  { route }: Operation,
): View => ({
  ...view,
  ...(sentence === undefined ? {} : { sentence: `The service accepted ${operationName(route)}.` }),
})

/** The items of a list until a signal arrives; then throws the reason of the interruption. */
function* untilAborted<T>(list: Iterable<T>, interrupted: AbortSignal): Generator<T> {
  for (const item of list) {
    interrupted.throwIfAborted()
    yield item
  }
}

const receipt = (record: JsonObject, sentence: string) =>
  singleRecord(record, () => receiptView(record, sentence))

function withPullRequest(failure: MergeqError, { pr }: Resource): MergeqError {
  if (pr === undefined || failure.message.includes(`#${pr}`)) return failure
  return extendError(failure, {}, failure.message.replace(/\.?$/, ` (#${pr}).`))
}

/** How many pull requests are processed at a time (docs/reference/cli.md, "Several pull requests"). */
export const maxConcurrent = 4

/** Processes `width` items at a time, and yields the results in their order until `mayStart` is false. */
export async function* mapConcurrent<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
  mayStart = () => true,
): AsyncGenerator<R> {
  const started: Promise<R>[] = []
  for (let index = 0; ; index++) {
    if (mayStart())
      for (const item of items.slice(started.length, index + width)) {
        const result = work(item)
        // It may reject before its turn: the rejection is handled where the result is awaited.
        result.catch(() => undefined)
        started.push(result)
      }
    const next = started[index]
    if (next === undefined) return
    yield await next
  }
}

/**
 * Opens a page in the browser of this machine and says so on standard error. Throws an `output` error that
 * shows the URL if no browser can be started, or if the URL is not one of the web.
 */
export async function openPage(url: string, { host, logger, options }: CommandContext): Promise<void> {
  const shown = sanitizeLine(url)
  if (!/^https?:\/\//.test(url)) throw new MergeqError('output', `${shown} is not the URL of a web page.`)
  if (options.dryRun) return logger.info(`Would open ${shown} in your browser.`)
  try {
    await host.openUrl(url)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new MergeqError('output', `The browser could not be started: ${sanitizeLine(reason)}.`, {
      hint: `Open this page in a browser: ${shown}`,
    })
  }
  await logger.info(`Opened ${shown} in your browser.`)
}

/**
 * Logs each error once, with the most severe errors last (docs/reference/cli.md, "Several pull requests").
 */
export async function reportErrors(
  originals: readonly MergeqError[],
  context: Pick<CommandContext, 'logger' | 'client' | 'settings' | 'options'>,
): Promise<void> {
  const { logger } = context
  const failures: MergeqError[] = []
  for (const original of originals)
    failures.push(original.kind === 'unavailable' ? await explainOutage(original, context) : original)
  const worst = mostSevere(failures.map(({ exit }) => exit))
  const unique = failures.filter(
    ({ message }, index) => failures.findIndex(other => other.message === message) === index,
  )
  for (const failure of unique) if (failure.exit !== worst) await logger.error(failure)
  for (const failure of unique) if (failure.exit === worst) await logger.error(failure)
}

const wasInterrupted = ({ failure }: RunResult): boolean => failure?.kind === 'interrupted'

/**
 * Whether a request that a signal interrupted had been sent: always for a read; for a change, if the error
 * has a delivery.
 */
const wasInFlight = ({ recovery }: Operation, result: RunResult): boolean =>
  wasInterrupted(result) && (recovery === undefined || result.failure?.details.delivery !== undefined)

/** How far a request had come when the command ended, in the words of the summary. */
const progressNames = ['Done', 'Failed', 'In progress', 'Not started'] as const
type Progress = (typeof progressNames)[number]

function progressOf(operation: Operation, result: RunResult | undefined): Progress {
  if (result === undefined) return 'Not started'
  if (wasInterrupted(result)) return wasInFlight(operation, result) ? 'In progress' : 'Not started'
  return result.failure === undefined ? 'Done' : 'Failed'
}

/**
 * Logs the errors of several requests; the error of a signal only once. If some requests were not finished, a
 * summary of all requests comes first (docs/reference/cli.md, "Guarantees"). Returns the most severe exit
 * code.
 */
export async function reportResults(
  operation: Operation,
  requests: readonly CommandRequest[],
  results: readonly RunResult[],
  context: CommandContext,
): Promise<number> {
  const interruptions = results.filter(wasInterrupted)
  const isUnfinished = results.length < requests.length || interruptions.length > 0
  const endingIn = (progress: Progress) =>
    requests.filter((_, index) => progressOf(operation, results[index]) === progress)
  if (isUnfinished && requests.length > 1) {
    const summary = progressNames.flatMap(name => {
      const numbers = endingIn(name).map(({ values }) => `#${resourceOfParams(values).pr ?? '?'}`)
      return numbers.length === 0 ? [] : [`${name}: ${joinList(numbers)}.`]
    })
    await context.logger.warn(`Stopped early. ${summary.join(' ')}`)
  }
  const { interrupted } = context.host
  const inFlight = endingIn('In progress')
  const [first] = interruptions.flatMap(({ failure }) => failure ?? [])
  const hasSeveralChanges = first !== undefined && operation.recovery !== undefined && inFlight.length > 1
  const interruption = hasSeveralChanges
    ? (await import('../api/recovery.ts')).interruptedChangeError(
        new MergeqError('interrupted', toMergeqError(interrupted.reason).message, { exit: first.exit }),
        operation,
        inFlight.map(request => resourceOfRequest(operation, request.values, request)),
        context.settings.commandLine,
      )
    : (interruptions.find(result => wasInFlight(operation, result))?.failure ??
      interruptions[0]?.failure ??
      (interrupted.aborted && isUnfinished ? toMergeqError(interrupted.reason) : undefined))
  const failures = results.flatMap(result =>
    result.failure === undefined || wasInterrupted(result) ? [] : [result.failure],
  )
  await reportErrors(interruption === undefined ? failures : [...failures, interruption], context)
  return mostSevere([...results.map(({ code }) => code), interruption?.exit ?? 0])
}

type OutageContext = Pick<CommandContext, 'client' | 'settings' | 'options'>

/** The sentence about an outage for each context, so that the service is asked once. */
const sentences = new WeakMap<object, Promise<string | undefined>>()

async function readOutage({ client, settings, options }: OutageContext): Promise<string | undefined> {
  const { baseUrl } = settingDefinitions
  if (options.retries === 0 || (await settings.read('baseUrl')) !== baseUrl.default) return undefined
  const { readServiceStatus } = await import('../api/extra-reads.ts')
  const status = await readServiceStatus(client())
  return status.kind === 'outage' ? `The service reports an outage: ${withPeriod(status.text)}` : undefined
}

/**
 * Returns an error of kind `unavailable` with what the service itself says about an outage; without a report,
 * the same error (docs/reference/network.md, "Status of the service").
 */
export async function explainOutage(failure: MergeqError, context: OutageContext): Promise<MergeqError> {
  const sentence = sentences.get(context) ?? readOutage(context)
  sentences.set(context, sentence)
  const outage = await sentence
  return outage === undefined ? failure : extendError(failure, {}, `${withPeriod(failure.message)} ${outage}`)
}
