import type { CallResult } from '../api/call.ts'
import { callOperation } from '../api/call.ts'
import { createReceipt, type Params } from '../api/operation.ts'
import { resourceOf } from '../api/request.ts'
import type { ServiceRequest } from '../api/resolve.ts'
import type { RequestLimits } from '../api/service-client.ts'
import { type ErrorKind, exitCodeOf, failureOrThrow, isNotFound, type MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { type Result, rawText, receiptColumns, singleRecord } from '../output/view.ts'
import type { Cli } from './cli.ts'
import { readsMore } from './context.ts'
import { each } from './each.ts'
import { openPage } from './open-page.ts'

type Values = ServiceRequest['values']

/** A response, and the values that were sent: those of the request, or of its fallback. */
export interface Sent<V extends Values = Values> extends CallResult<Params> {
  readonly request: ServiceRequest<V>
  readonly values: V
}

/** Sends a request, and prints nothing. The error of a missing queue says which queue was probably meant. */
export async function call<V extends Values>(
  cli: Cli,
  request: ServiceRequest<V>,
  limits: RequestLimits = {},
): Promise<Sent<V>> {
  const { operation, values, overrides } = request
  try {
    const result = await callOperation(cli.client(), operation, values, {
      overrides,
      limits,
    })
    return { ...result, request, values: { ...values, ...result.params } }
  } catch (error) {
    throw await explainNotFound(cli, request, failureOrThrow(error))
  }
}

/** Returns the error of a request; that of a missing queue says which queue was probably meant. */
export async function explainNotFound(
  cli: Cli,
  request: ServiceRequest,
  failure: MergeqError,
): Promise<MergeqError> {
  if (failure.kind !== 'not-found' || !isNotFound(failure) || !readsMore(cli)) return failure
  const { explainMissingQueue } = await import('./missing-queue.ts')
  return explainMissingQueue(cli, request, failure)
}

/** Throws the error that `explain` returns for one that was caught; if `explain` throws, the original one. */
export const explained =
  (cli: Cli, explain: (failure: MergeqError) => Promise<MergeqError>) =>
  async (error: unknown): Promise<never> => {
    const failure = failureOrThrow(error)
    throw await explain(failure).catch(() => {
      cli.host.interrupted.throwIfAborted()
      return failure
    })
  }

/** Reads what only a person at a terminal is told; undefined for anyone else, and where it cannot be read. */
export async function forPerson<T>(cli: Cli, read: () => Promise<T>): Promise<T | undefined> {
  if (cli.results !== 'screen' || !readsMore(cli)) return undefined
  try {
    return await read()
  } catch {
    cli.host.interrupted.throwIfAborted()
    return undefined
  }
}

/** What one of several requests prints. */
export interface Shown extends Result {
  /** The web page that is opened in its place. */
  readonly opens?: string | undefined
  /** The kind of exit code that it requires, if it is not `ok`. */
  readonly exit?: ErrorKind | undefined
}

/** Returns the page that --web opens; warns if there is none. */
export async function webPage(cli: Cli, page: string | undefined): Promise<string | undefined> {
  if (page === undefined) await cli.logger.warn('The response contains no page URL.')
  return page
}

/** Whether a single result is drawn as a sheet, and not as a row. */
export const isSheet = (requests: readonly unknown[], { args }: Cli): boolean =>
  requests.length === 1 && !args.has('--output')

/** Does the work of several requests at a time, and prints in their order. Returns the most severe exit code. */
export async function forEach<V extends Values>(
  cli: Cli,
  requests: readonly ServiceRequest<V>[],
  work: (request: ServiceRequest<V>) => Promise<Shown>,
  options: { readonly atOnce?: number; readonly stopOnError?: boolean } = {},
): Promise<number> {
  const { report } = await each(cli, requests, work, {
    ...options,
    async print({ item, result, failure }) {
      if (failure !== undefined) await printFailure(cli, item, failure)
      if (result === undefined) return undefined
      if (result.opens === undefined) await cli.printer.add(result)
      else await openPage(result.opens, cli)
      return exitCodeOf(result.exit ?? 'ok')
    },
  })
  await cli.printer.end()
  return report()
}

/** A change that was sent and failed has a receipt; `api --include` prints the response. */
async function printFailure(
  { printer, options }: Cli,
  request: ServiceRequest,
  failure: MergeqError,
): Promise<void> {
  const { delivery, rawResponse } = failure.details
  if (rawResponse !== undefined && options.fields.length === 0) await printer.add(rawText(rawResponse))
  else if (delivery !== undefined)
    await printer.add(
      receipt(createReceipt(request.operation.route, resourceOf(request.values), delivery, failure), ''),
    )
}

const receipt = (record: JsonObject, sentence: string): Result => ({
  ...singleRecord(record),
  columns: receiptColumns,
  rows: [{ message: sentence, ...record }],
  screen: () => ({ sentence }),
})

/** The document of a response with what a person sees, or a receipt where the service responds with nothing. */
export const show = (
  { response, request, resource, delivery, wasQueued }: Sent,
  shown: string | Partial<Pick<Result, 'columns' | 'rows' | 'screen'>> = {},
): Result => {
  const sentence = typeof shown === 'string' ? shown : undefined
  if (response.document === undefined)
    return receipt(
      createReceipt(request.operation.route, resource, delivery, undefined, wasQueued),
      sentence ?? '',
    )
  return {
    records: response.records,
    document: records => response.document?.(records) ?? null,
    ...(response.rawBody === undefined ? {} : { raw: response.rawBody }),
    columns: [],
    ...(typeof shown === 'string' ? { rows: [], screen: () => ({ sentence: shown }) } : shown),
    ...(typeof shown !== 'string' && shown.columns === undefined ? { rows: [] } : {}),
  }
}
