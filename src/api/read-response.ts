import { MergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/http-client.ts'
import { parseJson } from '../json-text.ts'
import type { ResponseBody } from './decode.ts'
import { costLimits, findExcessiveCost } from './json-cost.ts'
import type { Request } from './request.ts'
import type { ServiceClient } from './service-client.ts'
import { isWebPage } from './web-page.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

export const isOk = ({ status }: Pick<HttpResponse, 'status'>): boolean => status >= 200 && status <= 299

/** A response over this number of bytes is read in steps, between which a signal is noticed. */
const largeResponseSize = 1024 * 1024

export type ReadResponse = ResponseBody & { readonly receivedBytes: Uint8Array }

interface ReadOptions {
  readonly interrupted: AbortSignal
  readonly secrets: ServiceClient['secrets']
}

/**
 * Reads a body as text and, where it is JSON, as a document. The cost of parsing it is estimated first, in
 * steps between which a signal is noticed: a 2xx that would cost too much throws a `bad-answer` error, any
 * other is not parsed. Secrets are redacted here, because the text may later be cut, unescaped or written to
 * a file.
 */
export async function readResponse(
  response: HttpResponse,
  { expects, operation, url, maxResponseSize }: Request,
  { interrupted, secrets }: ReadOptions,
): Promise<ReadResponse> {
  const { bytes: receivedBytes, headers } = response
  const isText = isOk(response) && expects === 'text'
  const excess = isText
    ? undefined
    : await findExcessiveCost(receivedBytes, costLimits(maxResponseSize), () =>
        yieldToEventLoop({ interrupted }),
      )
  if (excess !== undefined && isOk(response)) throw tooCostly(excess, operation, new URL(url).host)
  const whole = new TextDecoder().decode(receivedBytes)
  if (receivedBytes.length > largeResponseSize) await yieldToEventLoop({ interrupted })
  const text = secrets.redact(whole)
  return {
    ...response,
    receivedBytes,
    bytes: text === whole ? receivedBytes : secrets.redactBytes(receivedBytes),
    headers: new Map([...headers].map(([name, value]) => [name, secrets.redact(value)])),
    text,
    document: isText || excess !== undefined ? undefined : parseJson(text),
  }
}

const tooCostly = (excess: string, operation: string, host: string): MergeqError =>
  new MergeqError('bad-answer', `The response from ${host} ${excess}.`, {
    operation,
    hint: 'Check the base URL, and any proxy in front of the service. If the response is correct, raise the limit with --max-answer <size>, or request less data.',
    sentState: 'ambiguous',
    overLimit: true,
  })

export const isComplete = ({ text, document }: ResponseBody, { expects }: Request): boolean =>
  !isWebPage(text) && (expects !== 'json' || text.trim() === '' || document !== undefined)
