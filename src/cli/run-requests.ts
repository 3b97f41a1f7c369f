import { type CallResult, callOperation } from '../api/call.ts'
import { type Operation, operationName } from '../api/operation.ts'
import type { Params } from '../api/param.ts'
import { createReceipt } from '../api/receipt.ts'
import { resourceOfRequest } from '../api/request.ts'
import { type Resource, resourceOfParams } from '../api/resource.ts'
import { exitCodeOf, extendError, type MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { rawText, singleRecord } from '../output/printer.ts'
import { receiptView, table, type View } from '../output/view.ts'
import { createBodySink } from './body-sink.ts'
import {
  type CommandRequest,
  operationOf,
  type RequestCommand,
  type RunOptions,
  type RunResult,
} from './command.ts'
import { mapConcurrent, maxConcurrent } from './concurrency.ts'
import type { CommandContext } from './context.ts'
import { reportResults } from './report-results.ts'
import { streamPages } from './stream-pages.ts'

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
  const pages = first && (await operation.pagination?.(first.values, context.host.clock.now()))
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
    const { openPage } = await import('./open-page.ts')
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
