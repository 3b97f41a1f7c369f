import { attemptLimit, changeLimit } from '../domain/limits.ts'
import { extendError, type MergeqError, toMergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/http-client.ts'
import type { BodySink } from '../http/stream-body.ts'
import { type DecodedResponse, notJsonError, type ResponseBody } from './decode.ts'
import type { ErrorContext } from './error-response.ts'
import type { Operation } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import { isComplete, isOk, type ReadResponse, readResponse } from './read-response.ts'
import type { Request } from './request.ts'
import { previewRequest } from './request-preview.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'
import { isWebPage } from './web-page.ts'

/** Every command prints this note once (docs/reference/cli.md, "Sandbox notice"). */
export const sandboxNote = 'mergeq: this is a sandbox; nothing here is real.'

export interface SendRequestOptions {
  readonly limits?: RequestLimits
  /** How far a longer task has come: part of the spinner's text. */
  readonly progress?: string | undefined
  onAttempt?(): void
  readonly sink?: BodySink | undefined
}

/** The decoded response, and the time of the response by the service's clock, in milliseconds since 1970. */
export interface SendResult {
  readonly response: DecodedResponse
  readonly date: number | undefined
}

/** Throws an error for a status outside 2xx, and for a body that cannot be decoded. */
export async function sendRequest<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  { request, params }: { readonly request: Request; readonly params: ParamValues<P> },
  options: SendRequestOptions = {},
): Promise<SendResult> {
  const token = request.credential === 'token' ? await client.token() : undefined
  const received = await receive(client, request, token?.value, options)
  const decoded =
    received.streamedBytes === undefined
      ? await decodeResponse(operation, request, received, params, {
          token: token?.source,
          commandLine: client.settings.commandLine,
        })
      : { records: [], bytes: received.bytes, isStreamed: true }
  return { response: decoded, date: dateOf(received) }
}

function dateOf({ headers }: ResponseBody): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : date
}

type ReceivedResponse = ResponseBody & Pick<HttpResponse, 'streamedBytes'> & { readonly attempts: number }

async function receive(
  client: ServiceClient,
  request: Request,
  token: string | undefined,
  { limits = {}, progress, onAttempt = () => undefined, sink }: SendRequestOptions,
): Promise<ReceivedResponse> {
  const { options, logger, host } = client
  const defaultTimeout = request.isChange ? changeLimit : attemptLimit
  const httpClient = await client.httpClient()
  const startedAt = host.clock.now()
  if (options.verbose) await logger.debug(describeRequest(request, client))
  let checkedResponse: ReadResponse | undefined
  const readOptions = { interrupted: host.interrupted, secrets: client.secrets }
  const sendOptions = {
    token,
    timeout: () => limits.timeout?.(defaultTimeout) ?? (options.timeout || defaultTimeout),
    retryPolicy: limits.retryPolicy ?? client.retryPolicy,
    onAttempt,
    sink,
    async isComplete(response: HttpResponse) {
      checkedResponse = await readResponse(response, request, readOptions)
      return isComplete(checkedResponse, request)
    },
  }
  const { url } = request
  const suffix = progress === undefined ? '' : `, ${progress}`
  const response = await logger.withSpinner(
    () => `Waiting for ${new URL(url).host}${suffix}`,
    () => httpClient.send(request, sendOptions),
  )
  await logger.debug(`< ${response.status} after ${host.clock.now() - startedAt} ms`)
  if (response.headers.has('x-mergeq-sandbox')) await logger.infoOnce(sandboxNote)
  // The check for completeness has read the last response already.
  const parsed =
    checkedResponse?.receivedBytes === response.bytes
      ? checkedResponse
      : await readResponse(response, request, readOptions).catch(error => {
          throw afterResponse(toMergeqError(error))
        })
  if (options.verbose && !isOk(parsed)) await logger.debug(describeErrorBody(parsed))
  if (parsed.text.includes('\uFFFD') && !isUtf8(response.bytes))
    await logger.warnOnce('The response is not valid UTF-8; invalid characters are shown as \uFFFD.')
  return { ...parsed, attempts: response.attempts }
}

/** If a signal interrupted the reading of a response, the change may have been made. */
const afterResponse = (failure: MergeqError): MergeqError =>
  failure.kind === 'interrupted' ? extendError(failure, { sentState: 'ambiguous' }) : failure

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes) !== undefined
  } catch {
    return false
  }
}

const maxShownBody = 2_048

function describeRequest(request: Request, { secrets }: ServiceClient): string {
  const { method, url, headers, body } = previewRequest(request)
  const lines = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  return [...lines, ...(body === undefined ? [] : [truncate(secrets.redact(body))])]
    .map(line => `> ${line}`)
    .join('\n')
}

const describeErrorBody = ({ text, bytes }: ResponseBody): string => {
  const body = isWebPage(text) ? `(web page, ${bytes.length} bytes)` : truncate(text.trim())
  return body.replace(/^/gm, '< ')
}

const truncate = (body: string): string =>
  body.length > maxShownBody ? `${body.slice(0, maxShownBody)}… (${body.length} characters)` : body

async function decodeResponse<P extends Params>(
  { decoder, errors, isHostedOnly, trimResponse }: Operation<P>,
  request: Request,
  response: ReceivedResponse,
  params: ParamValues<P>,
  forErrors: Pick<ErrorContext, 'token' | 'commandLine'>,
): Promise<DecodedResponse> {
  const { operation, isChange, resource } = request
  const { host, pathname: path } = new URL(request.url)
  const { attempts } = response
  if (!isOk(response)) {
    const { errorFromResponse } = await import('./error-response.ts')
    const failure = errorFromResponse(response, {
      ...resource,
      operation,
      host,
      path,
      ...forErrors,
      changes: isChange,
      errors,
      isHostedOnly,
    })
    const rawError = decoder.readError?.(response)
    throw extendError(failure, { attempts, ...(rawError === undefined ? {} : { rawResponse: rawError }) })
  }
  try {
    // A change may have any response, but not a web page or a part of a document.
    const isCut = isChange && /^\s*[[{]/.test(response.text) && response.document === undefined
    if (isChange && (isCut || isWebPage(response.text))) throw notJsonError(response)
    const decoded = decoder.read(response)
    return trimResponse?.(params)?.(decoded) ?? decoded
  } catch (error) {
    const failure = toMergeqError(error)
    const details = { attempts, operation, sentState: 'ambiguous' } as const
    throw extendError(failure, details, `Invalid response from ${host}: ${failure.message}`)
  }
}
