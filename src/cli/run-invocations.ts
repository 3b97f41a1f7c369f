import { type CallResult, callOperation } from '../api/call.ts'
import { type Operation, operationName } from '../api/operation.ts'
import type { Params } from '../api/param.ts'
import { createReceipt } from '../api/receipt.ts'
import { resourceOfRequest } from '../api/request.ts'
import { type Resource, resourceOfParams } from '../api/resource.ts'
import type { RequestLimits } from '../api/service-client.ts'
import { exitCodeOf, extendError, type MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { rawText, singleRecord } from '../output/printer.ts'
import { receiptView, type View } from '../output/view.ts'
import { createBodySink } from './body-sink.ts'
import type { OperationRequest } from './command.ts'
import { mapConcurrent, maxConcurrent } from './concurrency.ts'
import type { CommandContext } from './context.ts'
import type { Invocation } from './invocation.ts'
import { type RunResult, reportResults } from './report-results.ts'
import { streamPages } from './stream-pages.ts'

export async function runInvocations(
  command: OperationRequest,
  invocations: readonly Invocation[],
  context: CommandContext,
  options: RunOptions = {},
): Promise<number> {
  const { operation } = command
  const [first] = invocations
  if (first === undefined) await context.logger.info(`${command.command}: nothing to do.`)
  const pages = first && (await operation.pagination?.(first.values))
  if (first !== undefined && pages !== undefined) return streamPages(command, first, pages, context)
  const results = await executeAll(command, invocations, context, options)
  return reportResults(operation, invocations, results, context)
}

export interface RunOptions {
  /** Whether responses and receipts are not printed, because the command prints another result. */
  readonly isSilent?: boolean
  readonly limits?: RequestLimits
  beforeSend?(invocation: Invocation): Promise<void>
  beforePrint?(): Promise<void>
  explainError?(failure: MergeqError): Promise<MergeqError>
}

type PrintResult = () => Promise<RunResult>

/**
 * Sends every request, several at a time, and prints the results in the order of the invocations. Errors are
 * returned, not logged. An error stops the rest only with --stop-on-error, a signal always: then requests in
 * flight are finished, and no further request is begun.
 */
export async function executeAll(
  command: OperationRequest,
  invocations: readonly Invocation[],
  context: CommandContext,
  options: RunOptions = {},
): Promise<readonly RunResult[]> {
  const stopsOnError = context.args.has('--stop-on-error')
  const width = stopsOnError || command.isOrdered === true ? 1 : maxConcurrent
  const { interrupted } = context.host
  const isAmongSeveral = invocations.length > 1
  const work = (invocation: Invocation) => execute(command, invocation, context, options, isAmongSeveral)
  const results: RunResult[] = []
  for await (const print of mapConcurrent(invocations, width, work, () => !interrupted.aborted)) {
    const result = await print()
    results.push(result)
    if (stopsOnError && result.code !== 0) break
  }
  if (!options.isSilent) await context.printer.end()
  return results
}

/**
 * Sends a request; the returned function prints its result. A change that was sent and failed has a receipt.
 */
async function execute(
  command: OperationRequest,
  invocation: Invocation,
  context: CommandContext,
  { isSilent = false, limits = {}, beforeSend, beforePrint, explainError }: RunOptions,
  isAmongSeveral: boolean,
): Promise<PrintResult> {
  const { printer, options } = context
  const { operation } = command
  try {
    await beforeSend?.(invocation)
    const before = isSilent ? undefined : await readBefore(command, invocation, context)
    const { response, params, resource, delivery } = await callOperation(
      context.client(),
      operation,
      invocation.values,
      {
        overrides: invocation.overrides,
        limits,
        ...(isAmongSeveral
          ? {}
          : { createSink: (decoder, request) => createBodySink(decoder, request, context) }),
      },
    )
    await beforePrint?.()
    const values = { ...invocation.values, ...params }
    return async () => ({
      code: isSilent
        ? 0
        : await printResponse(
            command,
            { values, overrides: invocation.overrides },
            { response, resource, delivery, before },
            context,
          ),
    })
  } catch (error) {
    const original = toMergeqError(error)
    const explained =
      (await explainError?.(original)) ??
      (await explainRejectionToPerson(original, command, invocation, context))
    const isOwn = isAmongSeveral && explained.kind !== 'interrupted'
    const resource = resourceOfRequest(operation, invocation.values, invocation)
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

async function readBefore(
  command: OperationRequest,
  { values }: Invocation,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const { host, options } = context
  if (command.readBefore === undefined || !host.out.terminal || options.retries === 0) return undefined
  if (options.format !== 'table' || options.fields.length > 0) return undefined
  try {
    return await command.readBefore(values, context)
  } catch {
    host.interrupted.throwIfAborted()
    return undefined
  }
}

async function explainRejectionToPerson(
  failure: MergeqError,
  { explainRejection }: OperationRequest,
  { values, overrides }: Invocation,
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
  { operation, view: createView }: OperationRequest,
  { values, overrides }: Invocation,
  { response, resource, delivery, before }: PrintedCall,
  context: CommandContext,
): Promise<number> {
  const { printer, options, host } = context
  if (response.isStreamed === true) return 0
  const { batches } = response
  if (batches !== undefined && (options.format !== 'table' || options.fields.length > 0)) {
    await printer.printAll(untilAborted(batches(), host.interrupted), records =>
      createView({ records, bytes: response.bytes }, values),
    )
    return 0
  }
  const namedView = createView(response, values, before, overrides)
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

const withoutNames = (
  { heading, sentence, terminalView, singleView, ...view }: View,
  { route }: Operation,
): View => ({
  ...view,
  ...(sentence === undefined ? {} : { sentence: `The service accepted ${operationName(route)}.` }),
})

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
