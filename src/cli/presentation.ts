import type { CallResult } from '../api/call.ts'
import { type BodyOverride, createReceipt, type Params } from '../api/operation.ts'
import { resourceOf } from '../api/request.ts'
import type { DecodedResponse } from '../api/response.ts'
import { exitCodeOf, type MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import { type Result, rawText, receiptColumns, singleRecord } from '../output/view.ts'
import type { Cli } from './cli.ts'
import type { Outcome } from './each.ts'
import { openPage } from './open-page.ts'

/** The values of a request, by the names of params and of inputs that replace them. */
export type RequestValues = Readonly<Record<string, unknown>>

/** How a response is shown. A change without columns has a receipt. */
export interface Presentation extends Partial<Pick<Result, 'columns' | 'rows' | 'screen'>> {
  /** What replaces the screen, and is the message of a receipt. */
  readonly sentence?: string
  /** The web page of the result, which --web opens. */
  readonly page?: string
  /** The kind of exit code that the result requires, if it is not `ok`. */
  readonly exit?: 'ok' | 'failed' | 'cancelled' | 'pending'
}

/** What a presentation is made from. */
export interface Received<V> {
  readonly response: DecodedResponse
  /** The values that were sent. */
  readonly values: V
  /** What `--set` replaced in the body. */
  readonly overrides: readonly BodyOverride[]
  /** What `before` returned. */
  readonly before?: JsonObject | undefined
  /** Whether a screen is a sheet of the result and not a row: it is the only one, and `-o table` was not typed. */
  readonly showsSheet: boolean
}

export interface PresentOptions<V> {
  /** Returns how a response is shown, other than as the JSON of the service. */
  present?(received: Received<V>): Presentation
  /** Whether the page of the result is opened instead of printing the result. */
  readonly web?: boolean
}

/** A response, and what was there before. */
export interface Called {
  readonly called: CallResult<Params>
  readonly before?: JsonObject | undefined
}

type PrintOptions<V> = PresentOptions<V> & Pick<Received<V>, 'showsSheet'>

/** Prints what became of a request. Returns the exit code of a result. */
export async function printOutcome<V extends RequestValues>(
  cli: Cli,
  { item, result, failure }: Outcome<ServiceRequest<V>, Called>,
  options: PrintOptions<V>,
): Promise<number | undefined> {
  if (failure !== undefined) await printFailure(cli, item, failure)
  return result && printResponse(cli, item, result, options)
}

/** A change that was sent and failed has a receipt; `api --include` prints the response. */
async function printFailure(
  { printer, options }: Cli,
  request: ServiceRequest,
  failure: MergeqError,
): Promise<void> {
  const { delivery, rawResponse } = failure.details
  const { operation } = request
  const resource = resourceOf(request.values)
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
export async function printResponse<V extends RequestValues>(
  cli: Cli,
  request: ServiceRequest<V>,
  { called, before }: Called,
  { present, web, showsSheet }: PrintOptions<V>,
): Promise<number> {
  const { response, resource, params, delivery } = called
  const { operation, overrides } = request
  const values = { ...request.values, ...params }
  const shown = present?.({ response, values, overrides, before, showsSheet }) ?? {}
  if (web && shown.page !== undefined) {
    await openPage(shown.page, cli)
    return exitCodeOf(shown.exit ?? 'ok')
  }
  if (web) await cli.logger.warn('The response contains no page URL.')
  await cli.printer.add(
    response.document === undefined
      ? receipt(createReceipt(operation.route, resource, delivery), shown.sentence ?? '')
      : responseResult(response, shown),
  )
  return exitCodeOf(shown.exit ?? 'ok')
}

/** Returns what a response prints in every format. */
export const responseResult = (response: DecodedResponse, shown: Presentation): Result => ({
  records: response.records,
  document: records => response.document?.(records) ?? null,
  ...(response.rawBody === undefined ? {} : { raw: response.rawBody }),
  ...shownResult(shown),
})

/** Returns what a result shows: its sentence replaces everything else on a screen. */
export const shownResult = ({ columns, rows, screen, sentence }: Presentation) => ({
  ...(columns === undefined ? { columns: [], rows: [] } : { columns, ...(rows && { rows }) }),
  ...(sentence === undefined ? screen && { screen } : { screen: () => ({ sentence }) }),
})
