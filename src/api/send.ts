import { extendError, MergeqError, toMergeqError } from '../base/errors.ts'
import { type JsonScan, maxJsonDepth, parseScannedJson, scanJson } from '../base/json.ts'
import { isLoopback } from '../base/url.ts'
import type { Sending } from '../http/http-client.ts'
import type { HttpResponse } from '../http/messages.ts'
import { formatAge, formatDuration, formatInteger } from '../values/format.ts'
import { attemptLimit, changeLimit } from '../values/limits.ts'
import { decodeUtf8 } from '../values/text.ts'
import { maxJsonSize, maxRecords, maxValues } from './limits.ts'
import { previewRequest, type Request } from './request.ts'
import { type DecodedResponse, isWebPage, notObjectError, type ResponseBody } from './response.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

/** Every command outside `sandbox shell` prints this note once (docs/reference/cli.md, "Sandbox notice"). */
export const sandboxNote = 'mergeq: this is a sandbox; nothing here is real.'

export interface ExchangeOptions {
  readonly limits?: RequestLimits | undefined
  /** How far a longer task has come: part of the spinner's text. */
  readonly progress?: string | undefined
  /** The token to send; by default that of the client. */
  readonly token?: Token | undefined
  /** Reads whether the queue of the request exists; undefined where that cannot be found out. */
  readonly hasQueue?: (() => Promise<boolean | undefined>) | undefined
}

type Token = Awaited<ReturnType<ServiceClient['token']>>

/** The decoded response and its times, in milliseconds since 1970. */
export interface Exchange {
  readonly response: DecodedResponse
  /** When the service responded, by its own clock. */
  readonly date: number | undefined
  /** When the request was last sent, by the local clock. */
  readonly sentAt: number
  /** How much faster than usual the time of a sandbox passes; undefined for any other service. */
  readonly sandboxSpeed: number | undefined
}

/** Sends a request with the token. Throws an error for a status outside 2xx, and for a body that cannot be decoded. */
export async function exchange(
  client: ServiceClient,
  request: Request,
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const token = options.token ?? (request.credential === 'token' ? await client.token() : undefined)
  if (client.time?.mayBegin() === false) throw timeIsOver(client)
  const httpClient = await client.httpClient()
  const attempts = observeAttempts(client, request, options)
  if (client.options.verbose) await client.logger.debug(describeRequest(request, client))
  const { maxResponseSize = request.maxResponseSize } = options.limits ?? {}
  const stopSpinner = client.logger.startSpinner(attempts.describe)
  const received = await httpClient
    .send({ ...request, maxResponseSize }, { ...attempts.options, token: token?.value })
    .finally(stopSpinner)
  client.serviceTime.observe(received.headers.get('date'), received.sentAt)
  await logStatus(client, request, received, attempts.startedAt)
  const response = await attempts.read(received)
  await logBody(client, response)
  const other = options.token === undefined ? await renewToken(client, request, token, response) : undefined
  if (other !== undefined) return exchange(client, request, { ...options, token: other })
  return decode(client, request, response, { token, hasQueue: options.hasQueue })
}

/** Returns what the HTTP client asks for each attempt, and how the attempts come along. */
function observeAttempts(
  client: ServiceClient,
  request: Request,
  { limits = {}, progress }: ExchangeOptions,
) {
  const { options, logger, time } = client
  const { clock } = client.host
  const defaultTimeout = request.isChange ? changeLimit : attemptLimit
  const maxRetries = limits.maxRetries ?? client.maxRetries
  const startedAt = clock.monotonic()
  let attempt = { number: 0, startedAt, limit: defaultTimeout }
  let checkedResponse: ReadResponse | undefined
  const suffix = progress === undefined ? '' : `, ${progress}`
  const retryText = () => {
    // Repeats after a 429 may be more.
    if (attempt.number <= 1 || attempt.number > maxRetries + 1) return ''
    const elapsed = formatAge(clock.monotonic() - attempt.startedAt)
    return `, attempt ${attempt.number} of ${maxRetries + 1}, ${elapsed} of ${formatDuration(attempt.limit)}`
  }
  return {
    startedAt,
    options: {
      maxRetries,
      remaining: () => time?.left() ?? Number.POSITIVE_INFINITY,
      beginAttempt() {
        const usual = limits.timeout?.(defaultTimeout) ?? (options.timeout || defaultTimeout)
        const limit = time?.limitAttempt(usual) ?? usual
        attempt = { number: attempt.number + 1, startedAt: clock.monotonic(), limit }
        logger.endProgress()
        return limit
      },
      async isComplete(response: HttpResponse) {
        checkedResponse = await readResponse(response, request, client)
        const { text, document } = checkedResponse
        const { expects } = request.called.decoder
        return isWebPage(text) || expects !== 'json' || text.trim() === '' || document !== undefined
      },
    },
    describe: () => `Waiting for ${new URL(request.url).host}${suffix}${retryText()}`,
    /** Reads the last response, unless the check for completeness has read it already. */
    async read(response: HttpResponse & Sending): Promise<ReadResponse & Sending> {
      if (checkedResponse?.receivedBytes === response.bytes) return { ...response, ...checkedResponse }
      return readResponse(response, request, client).catch(error => {
        throw afterResponse(toMergeqError(error), response.sentAt)
      })
    },
  }
}

/** Logs the status, and says once that the service is a sandbox. */
async function logStatus(
  { host, logger }: ServiceClient,
  request: Request,
  { status, headers }: HttpResponse,
  startedAt: number,
): Promise<void> {
  await logger.debug(`< ${status} after ${Math.round(host.clock.monotonic() - startedAt)} ms`)
  // `sandbox shell` has said it for all commands.
  const isAnnounced = host.env.MERGEQ_SANDBOX_SHELL === '1' && isLoopback(new URL(request.url).hostname)
  if (headers.has('x-mergeq-sandbox') && !isAnnounced) await logger.infoOnce(sandboxNote)
}

/** Logs the body of an error, and warns of characters that are not UTF-8. */
async function logBody({ options, logger }: ServiceClient, response: ReadResponse): Promise<void> {
  if (options.verbose && !isOk(response)) await logger.debug(describeErrorBody(response))
  if (response.text.includes('\uFFFD') && decodeUtf8(response.receivedBytes) === undefined)
    await logger.warnOnce('The response is not valid UTF-8; invalid characters are shown as \uFFFD.')
}

/**
 * Looks the token up again that was rejected in a wait, or in the library, and returns another one for a read. A change
 * is not sent again: whoever recovers it counts how often it was sent.
 */
async function renewToken(
  client: ServiceClient,
  { isChange }: Request,
  token: Token | undefined,
  { status, sentAt }: ReadResponse & Sending,
): Promise<Token | undefined> {
  const renews = client.time !== undefined || client.renewsToken === true
  if (status !== 401 || token === undefined || !renews) return undefined
  if (!isChange) {
    const other = await client.token(sentAt)
    return other.value === token.value ? undefined : other
  }
  await client.token(sentAt).catch(() => undefined)
  return undefined
}

/** Throws an error for a status outside 2xx, and for a body that cannot be decoded. */
async function decode(
  client: ServiceClient,
  request: Request,
  response: ReadResponse & Sending,
  { token, hasQueue }: Pick<ExchangeOptions, 'token' | 'hasQueue'>,
): Promise<Exchange> {
  const { attempts, sentAt } = response
  const { called, operation } = request
  if (!isOk(response)) {
    const { errorFromResponse, isRouteMissing, otherKeyPrefix } = await import('./error-response.ts')
    const failure = errorFromResponse({
      response,
      request,
      token: token?.source,
      isOtherKey: token?.value.startsWith(otherKeyPrefix),
      client,
      hasQueue: response.status === 404 && isRouteMissing(response) ? await hasQueue?.() : undefined,
    })
    const rawResponse = called.decoder.readError?.(response)
    throw extendError(failure, { attempts, sentAt, ...(rawResponse === undefined ? {} : { rawResponse }) })
  }
  try {
    // A change may have any response, but not a web page or a part of a document.
    const isCut = /^\s*[[{]/.test(response.text) && response.document === undefined
    if (request.isChange && (isCut || isWebPage(response.text))) throw notObjectError(response)
    const decoded = called.decoder.read(response)
    called.checkResponse?.(decoded, request.resource)
    const date = Date.parse(response.headers.get('date') ?? '')
    return {
      response: decoded,
      date: Number.isNaN(date) ? undefined : date,
      sentAt,
      sandboxSpeed: speedOfSandbox(response.headers),
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const { host } = new URL(request.url)
    const details = { attempts, sentAt, host, operation, sentState: 'ambiguous' } as const
    throw extendError(failure, details, `Invalid response from ${host}: ${failure.message}`)
  }
}

/** Returns the speed that a sandbox states (docs/reference/sandbox.md, "Safety"). */
function speedOfSandbox(headers: HttpResponse['headers']): number | undefined {
  const speed = Number(headers.get('x-mergeq-sandbox-speed') ?? 1)
  return headers.has('x-mergeq-sandbox') && speed > 0 ? speed : undefined
}

/** The error of a request that would begin after the time limit of the whole command. */
const timeIsOver = ({ nameOf }: Pick<ServiceClient, 'nameOf'>): MergeqError =>
  new MergeqError('timed-out', `The time limit of the wait was reached (${nameOf('timeout')}).`, {
    sentState: 'not-sent',
  })

/** If a signal interrupted the reading of a response, the change may have been made. */
const afterResponse = (failure: MergeqError, sentAt: number): MergeqError =>
  extendError(failure, failure.kind === 'interrupted' ? { sentAt, sentState: 'ambiguous' } : { sentAt })

const maxShownBody = 2_048

function describeRequest(request: Request, { secrets }: ServiceClient): string {
  const { method, url, headers, body } = previewRequest(request)
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...lines, ...(body === undefined ? [] : [truncate(secrets.redact(body))])]
    .map(line => `> ${line}`)
    .join('\n')
}

const describeErrorBody = ({ text, bytes }: ResponseBody): string => {
  const body = isWebPage(text) ? `(web page, ${bytes.length} bytes)` : truncate(text.trimStart())
  return body.replace(/^/gm, '< ')
}

const truncate = (body: string): string =>
  body.length > maxShownBody ? `${body.slice(0, maxShownBody)}… (${body.length} characters)` : body

const isOk = ({ status }: Pick<HttpResponse, 'status'>): boolean => status >= 200 && status <= 299

/** A larger response, in bytes, is read in steps, between which a signal is noticed, and its values are counted. */
const largeResponseSize = 1024 * 1024

type ReadResponse = ResponseBody & { readonly receivedBytes: Uint8Array }

/**
 * Reads a body as text and, where it is JSON, as a document. A 2xx that would take too much memory to parse
 * throws a `bad-answer` error, any other is not parsed. Secrets are redacted here, because the text may later
 * be cut, unescaped or written to a file.
 */
async function readResponse<R extends HttpResponse>(
  response: R,
  { called, operation, url }: Request,
  { host: { interrupted }, secrets }: ServiceClient,
): Promise<R & ReadResponse> {
  const { bytes: receivedBytes, headers } = response
  const isText = isOk(response) && called.decoder.expects === 'text'
  const pause = async () => {
    if (receivedBytes.length <= largeResponseSize) return
    await new Promise(setImmediate)
    interrupted.throwIfAborted()
  }
  const whole = new TextDecoder().decode(receivedBytes)
  await pause()
  const text = secrets.redact(whole)
  await pause()
  // A larger one is printed as it is.
  const scan = isText || receivedBytes.length > maxJsonSize ? undefined : scanJson(text)
  const excess = scan && findExcess(scan, receivedBytes.length)
  if (excess !== undefined && isOk(response)) throw tooCostly(excess, operation, new URL(url).host)
  await pause()
  return {
    ...response,
    receivedBytes,
    bytes: text === whole ? receivedBytes : secrets.redactBytes(receivedBytes),
    headers: new Map([...headers].map(([name, value]) => [name, secrets.redact(value)])),
    text,
    document: scan === undefined || excess !== undefined ? undefined : parseScannedJson(text, scan),
  }
}

/** Says what in a document is too much, as the end of a sentence; undefined where it can be parsed. */
function findExcess({ isDeep, values, records }: JsonScan, bytes: number): string | undefined {
  if (isDeep) return `is nested more than ${maxJsonDepth} levels deep`
  if (records > maxRecords) return `contains more than ${formatInteger(maxRecords)} records`
  if (bytes > largeResponseSize && values > maxValues)
    return `contains more than ${formatInteger(maxValues)} values`
  return undefined
}

const tooCostly = (excess: string, operation: string, host: string): MergeqError =>
  new MergeqError('bad-answer', `The response from ${host} ${excess}.`, {
    host,
    operation,
    hint: 'Check the base URL, and any proxy in front of the service. If the response is correct, request less data.',
    sentState: 'ambiguous',
    isResponseTooLarge: true,
  })
