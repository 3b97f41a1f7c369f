import type { CallResult } from '../api/call.ts'
import { createReceipt, type Operation, type Params, type Resource } from '../api/operation.ts'
import { resourceOfParams, resourceOfRequest } from '../api/request.ts'
import { joinList } from '../domain/format.ts'
import { exitCodeOf, extendError, MergeqError, mostSevere, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import { type Result, rawText, receiptColumns, singleRecord } from '../output/view.ts'
import { createAdvice } from './advice.ts'
import type { Cli } from './cli.ts'
import type { Presentation, RequestCommand, RequestResult, SentRequest } from './command.ts'
import { openPage } from './common-inputs.ts'

/** The values of a request, by the names of params and options. */
type Values = Readonly<Record<string, unknown>>

/** Whether the first result that is not a success ends the command. */
export const stopsOnError = (command: RequestCommand<never>, { args }: Cli): boolean =>
  command.stopsOnError === true || args.has('--stop-on-error')

/** Returns the name of what one of several requests is about, as it is typed. */
export const nameOf = ({ pr, testId, ticket }: Resource): string | undefined =>
  pr === undefined ? testId && `${testId} ${ticket}` : `#${pr}`

/** Returns the error of one of several requests, with the name of what it is about in the message. */
export const withResource = (failure: MergeqError, name: string | undefined): MergeqError =>
  name === undefined || failure.kind === 'interrupted' || failure.message.includes(name)
    ? failure
    : extendError(failure, {}, failure.message.replace(/\.?$/, ` (${name}).`))

/**
 * Prints requests as they were sent, and then their errors. Returns the most severe exit code. With
 * --stop-on-error, the first that is not a success ends the work.
 */
export async function printResults<V extends Values>(
  command: RequestCommand<V>,
  requests: readonly ServiceRequest<V>[],
  sent: AsyncIterable<SentRequest<V>> | Iterable<SentRequest<V>>,
  context: Cli,
): Promise<number> {
  const results: RequestResult[] = []
  for await (const one of sent) {
    const { request, result, failure } = one
    if (failure !== undefined) await printFailure(request, failure, context)
    const code =
      failure?.exit ?? (result === undefined ? 0 : await printResult(command, one, result, context))
    results.push({ code, failure })
    if (stopsOnError(command, context) && code !== 0) break
  }
  await context.printer.end()
  const [first] = requests
  return first === undefined ? 0 : reportResults(first.operation, requests, results, context)
}

/** A change that was sent and failed has a receipt; `api --include` prints the response. */
async function printFailure(
  request: ServiceRequest,
  failure: MergeqError,
  { printer, options }: Cli,
): Promise<void> {
  const { delivery, rawResponse } = failure.details
  const { operation } = request
  const resource = resourceOfRequest(operation, request.values, request)
  if (rawResponse !== undefined && options.fields.length === 0) await printer.add(rawText(rawResponse))
  else if (delivery !== undefined)
    await printer.add(receipt(createReceipt(operation.route, resource, delivery, failure), ''))
}

const receipt = (record: JsonObject, sentence: string): Result => ({
  ...singleRecord(record),
  columns: receiptColumns,
  rows: [{ message: sentence, ...record }],
  screen: () => ({ sentence }),
})

/** Prints a response, or opens its page. Returns the exit code. */
async function printResult<V extends Values>(
  command: RequestCommand<V>,
  { request, isOnly, before }: SentRequest<V>,
  { response, resource, params, delivery }: CallResult<Params>,
  context: Cli,
): Promise<number> {
  const { operation } = request
  const values = { ...request.values, ...params }
  const showsSheet = isOnly && !context.args.has('--output')
  const details = { before, overrides: request.overrides, showsSheet, context }
  const shown = command.present?.(response, values, details) ?? {}
  if (values.web === true && shown.page !== undefined) {
    await openPage(shown.page, context)
    return exitCodeOf(shown.exit ?? 'ok')
  }
  if (values.web === true) await context.logger.warn('The response contains no page URL.')
  await context.printer.add(
    response.document === undefined
      ? receipt(createReceipt(operation.route, resource, delivery), shown.sentence ?? '')
      : {
          records: response.records,
          document: records => response.document?.(records) ?? null,
          ...(response.rawBody === undefined ? {} : { raw: response.rawBody }),
          ...resultOf(shown),
        },
  )
  return exitCodeOf(shown.exit ?? 'ok')
}

/** Returns what a result shows: its sentence replaces everything else on a screen. */
export const resultOf = ({ columns, rows, screen, sentence }: Presentation) => ({
  ...(columns === undefined ? { columns: [], rows: [] } : { columns, ...(rows && { rows }) }),
  ...(sentence === undefined ? screen && { screen } : { screen: () => ({ sentence }) }),
})

/**
 * Logs the errors of several requests; the error of a signal only once. If some requests were not finished, a
 * summary of all requests comes first (docs/reference/cli.md, "Guarantees"). Returns the most severe exit
 * code.
 */
export async function reportResults(
  operation: Operation,
  requests: readonly ServiceRequest[],
  results: readonly RequestResult[],
  context: Cli,
): Promise<number> {
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const interruptions = failures.filter(({ kind }) => kind === 'interrupted')
  const { aborted, reason } = context.host.interrupted
  const isUnfinished = results.length < requests.length || interruptions.length > 0
  const errors = failures.filter(({ kind }) => kind !== 'interrupted')
  const codes = results.map(({ code }) => code)
  if (isUnfinished && requests.length > 1) await warnUnfinished(operation, requests, results, context)
  if (interruptions.length > 0 || (aborted && isUnfinished)) {
    const interruption =
      (await interruptionOf(operation, requests, results, context)) ??
      interruptions[0] ??
      toMergeqError(reason)
    errors.push(interruption)
    codes.push(interruption.exit)
  }
  await reportErrors(errors, context)
  return mostSevere(codes)
}

/** How far a request had come when the command ended. */
type Progress = 'Done' | 'Failed' | 'In progress' | 'Not sent'

/**
 * A request that a signal interrupted was in flight if it had been sent: always for a read; a change, if the
 * error has a delivery.
 */
function progressOf({ recovery }: Operation, result: RequestResult | undefined): Progress {
  if (result === undefined) return 'Not sent'
  if (result.failure?.kind !== 'interrupted') return result.failure === undefined ? 'Done' : 'Failed'
  const wasSent = recovery === undefined || result.failure.details.delivery !== undefined
  return wasSent ? 'In progress' : 'Not sent'
}

async function warnUnfinished(
  operation: Operation,
  requests: readonly ServiceRequest[],
  results: readonly RequestResult[],
  { logger }: Cli,
): Promise<void> {
  const order: readonly Progress[] = ['Done', 'Failed', 'In progress', 'Not sent']
  const summary = order.flatMap(progress => {
    const numbers = requests
      .filter((_, index) => progressOf(operation, results[index]) === progress)
      .map(({ values }) => nameOf(resourceOfParams(values)) ?? '?')
    return numbers.length === 0 ? [] : [`${progress}: ${joinList(numbers)}.`]
  })
  await logger.warn(`Stopped early. ${summary.join(' ')}`)
}

/** Returns the error about the requests that were in flight when a signal arrived; undefined without any. */
async function interruptionOf(
  operation: Operation,
  requests: readonly ServiceRequest[],
  results: readonly RequestResult[],
  { host, settings }: Cli,
): Promise<MergeqError | undefined> {
  const isInFlight = (_: unknown, index: number) => progressOf(operation, results[index]) === 'In progress'
  const [first] = results.filter(isInFlight)
  const inFlight = requests.filter(isInFlight)
  if (operation.recovery === undefined || inFlight.length < 2) return first?.failure
  const { interruptedChangeError } = await import('../api/recovery.ts')
  return interruptedChangeError(
    new MergeqError('interrupted', toMergeqError(host.interrupted.reason).message, {
      exit: first?.code ?? 1,
    }),
    operation,
    inFlight.map(request => resourceOfRequest(operation, request.values, request)),
    createAdvice(settings.commandLine),
  )
}

/**
 * Logs each error once, with the most severe errors last (docs/reference/cli.md, "Several pull requests").
 */
export async function reportErrors(
  all: readonly MergeqError[],
  { logger }: Pick<Cli, 'logger'>,
): Promise<void> {
  const failures = all.filter(
    ({ message }, index) => all.findIndex(other => other.message === message) === index,
  )
  const worst = mostSevere(failures.map(({ exit }) => exit))
  for (const failure of failures) if (failure.exit !== worst) await logger.error(failure)
  for (const failure of failures) if (failure.exit === worst) await logger.error(failure)
}
