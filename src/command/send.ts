import { type CallOptions, type CallResult, callOperation, readIfFound } from '../api/call.ts'
import { isChange, type Operation } from '../api/operation.ts'
import type { Params, ParamValues } from '../api/params.ts'
import { createReceipt } from '../api/receipts.ts'
import type { Resource } from '../api/resource.ts'
import { type ErrorKind, exitCodeOf, failureOrThrow, isNotFound, type MergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { type Result, rawText, receiptColumns, singleRecord } from '../output/view.ts'
import { type Cli, readsMore } from './command.ts'
import type { Printed } from './dry-run.ts'
import { each } from './each.ts'

/** Sends a request that a command is about; prints it in a dry run. */
export async function send<P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
  options: Pick<CallOptions, 'head'> = {},
): Promise<CallResult<P> | Printed> {
  if (!cli.options.dryRun)
    return callOperation(cli.client(), operation, values, options).catch(explainingNotFound(cli))
  const { printRequests } = await import('./dry-run.ts')
  await printRequests(cli, operation, [values])
  return 'printed'
}

/** Reads what a command needs, and prints nothing. */
export async function read<P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> {
  if (isChange(operation)) throw new Error(`${operation.route} is a change`)
  return callOperation(cli.client(), operation, values, options).catch(explainingNotFound(cli))
}

/** Sends a change, and prints nothing; not in a dry run. */
export const sendChange = <P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> =>
  callOperation(cli.client(), operation, values, options).catch(explainingNotFound(cli))

/** Throws the error of a request; that of a missing queue says which queue was probably meant. */
const explainingNotFound =
  (cli: Cli) =>
  async (error: unknown): Promise<never> => {
    throw await explainNotFound(cli, failureOrThrow(error))
  }

/** Returns an error; that of a missing queue, thrown by a read or a command, says which one was probably meant. */
export async function explainNotFound(cli: Cli, failure: MergeqError): Promise<MergeqError> {
  const { kind, details } = failure
  if (kind !== 'not-found' || !isNotFound(failure) || details.isExplained || !readsMore(cli)) return failure
  const { explainMissingQueue } = await import('./missing-queue.ts')
  return explainMissingQueue(cli, failure)
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

/** Returns what only a person at a terminal is told; undefined for anyone else, and where it cannot be read. */
export async function forPerson<T>(cli: Cli, work: () => Promise<T>): Promise<T | undefined> {
  if (cli.results !== 'screen' || !readsMore(cli)) return undefined
  try {
    return await work()
  } catch {
    cli.host.interrupted.throwIfAborted()
    return undefined
  }
}

/** Reads a record once that only a person at a terminal is told of; undefined for anyone else, and without one. */
export const readForPerson = <P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
): Promise<JsonObject | undefined> =>
  forPerson(cli, () => readIfFound(cli.client(), operation, values, { limits: { maxRetries: 0 } }))

/** What one of several requests prints. */
interface PrintedItem extends Result {
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

interface ForEachOptions<T> {
  /** Returns what is printed of something that the service does not know, beside the error. */
  unknown?(item: T): Result | undefined
  readonly atOnce?: number
  readonly stopOnError?: boolean
}

/**
 * Does the work of several requests of an operation at a time, and prints in their order. Returns the most severe exit
 * code.
 *
 * @param items the values of each request, or what it is about
 */
export async function forEach<T extends Resource>(
  cli: Cli,
  operation: Operation,
  items: readonly T[],
  work: (item: T) => Promise<PrintedItem | Printed>,
  { unknown, ...options }: ForEachOptions<T> = {},
): Promise<number> {
  const { report } = await each(cli, operation, items, work, {
    ...options,
    resource: item => item,
    async print({ item, result, failure }) {
      if (failure !== undefined) await printFailure(cli, operation, item, failure)
      const missing = failure?.kind === 'not-found' ? unknown?.(item) : undefined
      if (missing !== undefined) await cli.printer.add(missing)
      if (result === undefined || result === 'printed') return undefined
      if (result.opens === undefined) await cli.printer.add(result)
      else await (await import('./open-page.ts')).openPage(result.opens, cli)
      return exitCodeOf(result.exit ?? 'ok')
    },
  })
  await cli.printer.end()
  return report()
}

/** Does the work of one request, and prints its result, or its receipt if it failed. Returns the exit code. */
export const forOne = <T extends Resource>(
  cli: Cli,
  operation: Operation,
  values: T,
  work: () => Promise<PrintedItem | Printed>,
): Promise<number> => forEach(cli, operation, [values], work)

/** A change that was sent and failed has a receipt; `api --include` prints the response. */
async function printFailure(
  { printer, options }: Cli,
  operation: Operation,
  resource: Resource,
  failure: MergeqError,
): Promise<void> {
  const { delivery, rawResponse } = failure.details
  if (rawResponse !== undefined && options.fields.length === 0) await printer.add(rawText(rawResponse))
  else if (delivery !== undefined)
    await printer.add(receipt(createReceipt(operation, resource, delivery, failure), ''))
}

const receipt = (record: JsonObject, sentence: string): Result => ({
  ...singleRecord(record),
  columns: receiptColumns,
  rows: [{ message: sentence, ...record }],
  screen: () => ({ sentence }),
})

interface ShownParts extends Partial<Pick<Result, 'columns' | 'rows' | 'screen'>> {
  /** What the receipt says. */
  readonly sentence?: string
}

/** The document of a response with what a person sees, or a receipt where the service responds with nothing. */
export function show(sent: CallResult, shown?: string | ShownParts): Result
export function show(sent: CallResult | Printed, shown?: string | ShownParts): Result | Printed
export function show(sent: CallResult | Printed, shown: string | ShownParts = {}): Result | Printed {
  const { sentence = '', ...parts }: ShownParts =
    typeof shown === 'string' ? { sentence: shown, screen: () => ({ sentence: shown }) } : shown
  if (sent === 'printed') return sent
  const { response, operation, params, delivery, wasQueued } = sent
  if (response.document === undefined)
    return receipt(createReceipt(operation, params, delivery, undefined, wasQueued), sentence)
  return {
    records: response.records,
    document: records => response.document?.(records) ?? null,
    ...(response.rawBody === undefined ? {} : { raw: response.rawBody }),
    columns: [],
    ...parts,
    ...(parts.columns === undefined ? { rows: [] } : {}),
  }
}
