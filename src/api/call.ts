import type { CommandContext } from '../cli/context.ts'
import type { Inputs, InputValues } from '../cli/inputs.ts'
import { buildRequest, type Invocation } from '../cli/invocation.ts'
import { createBodySink } from '../cli/pass-through.ts'
import { attemptLimit, changeLimit } from '../config/setting-definitions.ts'
import { MergeqError, toMergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/client.ts'
import type { BodySink } from '../http/pass-through.ts'
import type { Json } from '../json.ts'
import { type DecodedResponse, isWebPage, notJsonError, type ResponseBody } from './decode.ts'
import { errorFromResponse } from './error-response.ts'
import { interruptedChangeError } from './interrupted-change.ts'
import type { Operation } from './operation.ts'
import { isComplete, isOk, type ReadResponse, readResponse } from './read-response.ts'
import type { Delivery, ResourceRef } from './receipt.ts'
import type { Request } from './request.ts'
import { previewRequest } from './request-preview.ts'
import { recoverWrite } from './write-recovery.ts'

/** An answer that was read, the values that were really sent for it, and what is known of the delivery. */
export interface CallResult<F extends Inputs> {
  readonly reply: DecodedResponse
  /** What the body that was sent concerns. */
  readonly concerns: ResourceRef
  readonly values: InputValues<F>
  readonly delivery: Delivery
  /** The moment of the answer by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/**
 * request → response → reply. Everything but a 2xx that can be read is a failure. A change that got no clear answer is
 * settled by reading back. `more` is laid over the body. `isPrinted`: the answer is all that is printed, so a long one that
 * is printed untouched may be printed while it comes.
 */
export async function callOperation<F extends Inputs>(
  row: Operation<Operation['route'], F>,
  run: Invocation<F>,
  context: CommandContext,
  more: Readonly<Record<string, Json>> = {},
  isPrinted = false,
): Promise<CallResult<F>> {
  const { request, values } = await buildRequest(row, run, context, more)
  const token = request.credential === 'token' ? await context.token() : undefined
  let sentAt = context.host.clock.now()
  const begin = () => {
    sentAt = context.host.clock.now()
  }
  /** What ended the sending; where a signal did, what was under way. */
  const stopped = (error: unknown): MergeqError => {
    const failure = toMergeqError(error)
    const { sentState, delivery } = failure.details
    const isInFlight = failure.kind === 'interrupted' && request.isChange && sentState === 'ambiguous'
    return isInFlight && delivery === undefined
      ? interruptedChangeError(failure, row, [request.concerns])
      : failure
  }
  try {
    const isUntouched = isPrinted && row.effect === false && row.narrow?.(values) === undefined
    const sink = isUntouched ? createBodySink(row.decoder, request, context) : undefined
    const answer = await send(request, token?.value, context, begin, sink)
    if (answer.passedOn !== undefined) {
      const reply = { records: [], bytes: answer.bytes, isPassedOn: true }
      return { reply, concerns: request.concerns, values, delivery: 'confirmed', date: dateOf(answer) }
    }
    const reply = decodeResponse(row, request, answer, values, token?.source)
    return { reply, concerns: request.concerns, values, delivery: 'confirmed', date: dateOf(answer) }
  } catch (error) {
    const failure = stopped(error)
    if (failure.kind === 'interrupted') throw failure
    const change = row.effect
    const instead = failure.details.status === 413 ? row.fallback?.(values, 'service') : undefined
    if (instead !== undefined) {
      await context.logger.warn(instead.warning)
      return callOperation(row, { ...run, values: instead.values }, context, more)
    }
    if (change === false || failure.details.sentState !== 'ambiguous') throw failure
    const { options } = context
    const once = { ...context, options: { ...options, retries: 0 } }
    // A reading that fails by chance must not hide what the others tell.
    const twice = { ...context, options: { ...options, retries: Math.min(options.retries, 1) } }
    const settled = await recoverWrite(
      {
        recovery: change,
        request,
        sentAt,
        failure,
        replay: async () =>
          decodeResponse(row, request, await send(request, token?.value, once), values, token?.source),
        readBack: back => callOperation(back, { values: { ...request.concerns }, overrides: [] }, twice),
      },
      context,
    ).catch(error => {
      const { kind, message, exit, details } = toMergeqError(error)
      throw kind === 'interrupted'
        ? stopped(new MergeqError(kind, message, { ...details, exit, sentState: 'ambiguous' }))
        : error
    })
    return { ...settled, concerns: request.concerns, values, date: undefined }
  }
}

function dateOf({ headers }: ResponseBody): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** An answer, and how many attempts it took. */
type ReceivedResponse = ResponseBody & Pick<HttpResponse, 'passedOn'> & { readonly attempts: number }

/** One request over the line, told with -v. */
async function send(
  request: Request,
  token: string | undefined,
  context: CommandContext,
  begin: () => void = () => undefined,
  sink?: BodySink,
): Promise<ReceivedResponse> {
  const { options, logger, host, limits } = context
  const usual = options.timeout ?? (request.isChange ? changeLimit : attemptLimit)
  const line = await context.httpClient()
  const started = host.clock.now()
  if (options.verbose) await logger.debug(describeSent(request, context))
  let answer: ReadResponse | undefined
  const reading = { interrupted: host.interrupted, secrets: context.secrets }
  const manner = {
    token,
    limit: () => limits?.timeout(usual) ?? usual,
    retries: limits?.retries?.(options.retries, usual) ?? options.retries,
    onAttempt: begin,
    sink,
    async isComplete(response: HttpResponse) {
      answer = await readResponse(response, request, reading)
      return isComplete(answer, request)
    },
  }
  const sending = () => line.send(request, manner)
  const { operation, url } = request
  const progress = context.progress === undefined ? '' : `, ${context.progress}`
  const response = await context.withSpinner(() => `${operation} at ${new URL(url).host}${progress}`, sending)
  await logger.debug(`< ${response.status} after ${host.clock.now() - started} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await context.noteSandbox()
  // What was opened to see whether it is whole is not opened twice.
  const received =
    answer?.came === response.bytes
      ? answer
      : await readResponse(response, request, reading).catch(error => {
          throw whileReading(toMergeqError(error))
        })
  if (received.text.includes('\uFFFD') && !isUtf8(response.bytes))
    await context.warnOnce(
      `${request.operation}: the answer is not all UTF-8; what could not be read is shown as \uFFFD.`,
    )
  return { ...received, attempts: response.attempts }
}

/** A failure after the whole answer came; where a signal ended the reading, what was asked for may have been done. */
const whileReading = (failure: MergeqError): MergeqError =>
  failure.kind === 'interrupted'
    ? new MergeqError('interrupted', failure.message, {
        ...failure.details,
        exit: failure.exit,
        sentState: 'ambiguous',
      })
    : failure

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes) !== undefined
  } catch {
    return false
  }
}

const maxShownBody = 2_048

/** A request as -v tells it: the token redacted, a long body cut. */
function describeSent(request: Request, { secrets }: CommandContext): string {
  const { method, url, headers, body } = previewRequest(request)
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...lines, ...(body === undefined ? [] : [truncate(secrets.redact(body))])]
    .map(line => `> ${line}`)
    .join('\n')
}

const truncate = (body: string): string =>
  body.length > maxShownBody ? `${body.slice(0, maxShownBody)}… (${body.length} characters)` : body

/** response → reply; a status outside 2xx, or a body that is no answer, is a failure. */
function decodeResponse<F extends Inputs>(
  row: Operation<Operation['route'], F>,
  request: Request,
  answer: ReceivedResponse,
  values: InputValues<F>,
  token: string | undefined,
): DecodedResponse {
  const { operation, isChange, concerns } = request
  const { host, pathname: path } = new URL(request.url)
  const { attempts } = answer
  if (!isOk(answer)) {
    const failure = errorFromResponse(answer, {
      ...concerns,
      operation,
      host,
      path,
      changes: isChange,
      token,
    })
    throw new MergeqError(failure.kind, failure.message, { ...failure.details, attempts })
  }
  try {
    // A change may answer with anything, but not with a page from something else or with half a document.
    const cut = isChange && /^\s*[[{]/.test(answer.text) && answer.document === undefined
    if (isChange && (cut || isWebPage(answer.text))) throw notJsonError(answer)
    const reply = row.decoder.read(answer)
    return row.narrow?.(values)?.(reply) ?? reply
  } catch (error) {
    const { kind, message, details } = toMergeqError(error)
    throw new MergeqError(kind, `${operation}: ${host}: ${message}`, {
      ...details,
      attempts,
      operation,
      sentState: 'ambiguous',
    })
  }
}
