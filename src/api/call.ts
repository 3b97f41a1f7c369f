import { attemptLimit, changeLimit, maxBodySize } from '../domain/limits.ts'
import { MergeqError, toMergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/http-client.ts'
import type { BodySink } from '../http/pass-through.ts'
import type { Json } from '../json.ts'
import type { BodyOverride } from './body-overrides.ts'
import {
  type DecodedResponse,
  isWebPage,
  notJsonError,
  type ResponseBody,
  type ResponseDecoder,
} from './decode.ts'
import { errorFromResponse } from './error-response.ts'
import { interruptedChangeError } from './interrupted-change.ts'
import type { Operation } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import { isComplete, isOk, type ReadResponse, readResponse } from './read-response.ts'
import type { Delivery, ResourceRef } from './receipt.ts'
import { bodyTooLargeError, createRequest, type Request } from './request.ts'
import { previewRequest } from './request-preview.ts'
import type { ServiceClient } from './service-client.ts'
import { recoverWrite } from './write-recovery.ts'

/** Options of a call. */
export interface CallOptions {
  /** Values that replace values of the body. */
  readonly overrides?: readonly BodyOverride[]
  /** Members of the body that name the next page. */
  readonly pageQuery?: Readonly<Record<string, Json>>
  /**
   * Where the answer is written while it arrives; undefined, or a function that returns undefined, reads it
   * whole.
   */
  createSink?(decoder: ResponseDecoder, request: Request): BodySink | undefined
}

/** The answer to a call, the params that were really sent, and what is known of the delivery. */
export interface CallResult<P extends Params> {
  readonly reply: DecodedResponse
  /** What the request concerns, according to its body. */
  readonly concerns: ResourceRef
  readonly params: ParamValues<P>
  readonly delivery: Delivery
  /** The time of the answer by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/** Creates the request of a call; the operation's fallback replaces params that make the body too large. */
export async function buildRequest<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  { overrides = [], pageQuery = {} }: CallOptions = {},
): Promise<{ readonly request: Request; readonly params: ParamValues<P> }> {
  const requestOptions = {
    baseUrl: await client.settings.require('baseUrl'),
    userAgent: `mergeq/${client.host.runtime.version}`,
    overrides,
    maxAnswer: client.options.maxAnswer,
    pageQuery,
  }
  const request = createRequest(operation, params, requestOptions)
  await logOrigins(client)
  const bytes = request.body?.bytes ?? 0
  if (bytes <= maxBodySize) return { request, params }
  const instead = operation.fallback?.(params, 'limit')
  if (instead === undefined) throw bodyTooLargeError(request.operation, bytes)
  await client.logger.warn(instead.warning)
  return { request: createRequest(operation, instead.params, requestOptions), params: instead.params }
}

/** How many settings were logged, for each map of used settings. */
const loggedOrigins = new WeakMap<object, number>()

/** Logs in verbose mode where the settings came from, each setting once. */
async function logOrigins({ options, settings, logger }: ServiceClient): Promise<void> {
  if (!options.verbose) return
  const used = settings.used()
  const news = [...used].slice(loggedOrigins.get(used) ?? 0)
  loggedOrigins.set(used, used.size)
  for (const [name, { value, origin }] of news) await logger.debug(`${name}: ${value} (${origin})`)
}

/**
 * Calls an operation. Throws an error for everything but a 2xx that can be decoded. The outcome of a change
 * without a clear answer is found out by reading back (WIRE.md section 2).
 */
export async function callOperation<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  given: ParamValues<P>,
  callOptions: CallOptions = {},
): Promise<CallResult<P>> {
  const { request, params } = await buildRequest(client, operation, given, callOptions)
  const token = request.credential === 'token' ? await client.token() : undefined
  let sentAt = client.host.clock.now()
  const onAttempt = () => {
    sentAt = client.host.clock.now()
  }
  /** The error that ended the call; after a signal it names the change that was under way. */
  const withInterruptedChange = (error: unknown): MergeqError => {
    const failure = toMergeqError(error)
    const { sentState, delivery } = failure.details
    const isInFlight = failure.kind === 'interrupted' && request.isChange && sentState === 'ambiguous'
    return isInFlight && delivery === undefined
      ? interruptedChangeError(failure, operation, [request.concerns])
      : failure
  }
  const result = { concerns: request.concerns, params }
  try {
    const isUnchanged = operation.effect === false && operation.narrow?.(params) === undefined
    const sink = isUnchanged ? callOptions.createSink?.(operation.decoder, request) : undefined
    const answer = await send(client, request, token?.value, onAttempt, sink)
    const reply =
      answer.passedOn === undefined
        ? decodeResponse(operation, request, answer, params, token?.source)
        : { records: [], bytes: answer.bytes, isPassedOn: true }
    return { ...result, reply, delivery: 'confirmed', date: dateOf(answer) }
  } catch (error) {
    const failure = withInterruptedChange(error)
    if (failure.kind === 'interrupted') throw failure
    const recovery = operation.effect
    const instead = failure.details.status === 413 ? operation.fallback?.(params, 'service') : undefined
    if (instead !== undefined) {
      await client.logger.warn(instead.warning)
      const { overrides = [], pageQuery = {} } = callOptions
      return callOperation(client, operation, instead.params, { overrides, pageQuery })
    }
    if (recovery === false || failure.details.sentState !== 'ambiguous') throw failure
    const { options } = client
    const withoutRetries = { ...client, options: { ...options, retries: 0 } }
    // A reading that fails by chance must not hide what the other readings say.
    const withOneRetry = { ...client, options: { ...options, retries: Math.min(options.retries, 1) } }
    const recovered = await recoverWrite(
      {
        recovery,
        request,
        sentAt,
        failure,
        replay: async () => {
          const answer = await send(withoutRetries, request, token?.value)
          return decodeResponse(operation, request, answer, params, token?.source)
        },
        readBack: ({ operation: readOperation, params: names }) => {
          const concerned = Object.entries(request.concerns).filter(([name]) => names.includes(name))
          return callOperation(withOneRetry, readOperation, Object.fromEntries(concerned))
        },
      },
      client,
    ).catch(error => {
      const { kind, message, exit, details } = toMergeqError(error)
      throw kind === 'interrupted'
        ? withInterruptedChange(new MergeqError(kind, message, { ...details, exit, sentState: 'ambiguous' }))
        : error
    })
    return { ...result, ...recovered, date: undefined }
  }
}

function dateOf({ headers }: ResponseBody): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

/** An answer, and the number of attempts. */
type ReceivedResponse = ResponseBody & Pick<HttpResponse, 'passedOn'> & { readonly attempts: number }

/** Sends a request; logs it in verbose mode. */
async function send(
  client: ServiceClient,
  request: Request,
  token: string | undefined,
  onAttempt: () => void = () => undefined,
  sink?: BodySink,
): Promise<ReceivedResponse> {
  const { options, logger, host, limits } = client
  const usual = options.timeout ?? (request.isChange ? changeLimit : attemptLimit)
  const httpClient = await client.httpClient()
  const started = host.clock.now()
  if (options.verbose) await logger.debug(describeRequest(request, client))
  let answer: ReadResponse | undefined
  const reading = { interrupted: host.interrupted, secrets: client.secrets }
  const sendOptions = {
    token,
    limit: () => limits?.timeout(usual) ?? usual,
    retries: limits?.retries?.(options.retries, usual) ?? options.retries,
    onAttempt,
    sink,
    async isComplete(response: HttpResponse) {
      answer = await readResponse(response, request, reading)
      return isComplete(answer, request)
    },
  }
  const sending = () => httpClient.send(request, sendOptions)
  const { operation, url } = request
  const progress = client.progress === undefined ? '' : `, ${client.progress}`
  const response = await client.withSpinner(() => `${operation} at ${new URL(url).host}${progress}`, sending)
  await logger.debug(`< ${response.status} after ${host.clock.now() - started} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await client.noteSandbox()
  // The check for completeness has read the last answer already.
  const received =
    answer?.came === response.bytes
      ? answer
      : await readResponse(response, request, reading).catch(error => {
          throw whileReading(toMergeqError(error))
        })
  if (received.text.includes('\uFFFD') && !isUtf8(response.bytes))
    await client.warnOnce(
      `${request.operation}: the answer is not all UTF-8; what could not be read is shown as \uFFFD.`,
    )
  return { ...received, attempts: response.attempts }
}

/**
 * An error after the whole answer arrived; when a signal ended the reading, the change may have been made.
 */
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

/** A request as verbose mode logs it: with the token redacted and a long body cut. */
function describeRequest(request: Request, { secrets }: ServiceClient): string {
  const { method, url, headers, body } = previewRequest(request)
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...lines, ...(body === undefined ? [] : [truncate(secrets.redact(body))])]
    .map(line => `> ${line}`)
    .join('\n')
}

const truncate = (body: string): string =>
  body.length > maxShownBody ? `${body.slice(0, maxShownBody)}… (${body.length} characters)` : body

/** Decodes an answer. Throws an error for a status outside 2xx, and for a body that cannot be decoded. */
function decodeResponse<P extends Params>(
  { decoder, narrow }: Operation<P>,
  request: Request,
  answer: ReceivedResponse,
  params: ParamValues<P>,
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
    // A change may have any answer, but not a web page or a part of a document.
    const cut = isChange && /^\s*[[{]/.test(answer.text) && answer.document === undefined
    if (isChange && (cut || isWebPage(answer.text))) throw notJsonError(answer)
    const reply = decoder.read(answer)
    return narrow?.(params)?.(reply) ?? reply
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
