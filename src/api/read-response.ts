import { formatBytes, formatInteger } from '../domain/format.ts'
import { maxJsonSize, maxRecords, maxValues } from '../domain/limits.ts'
import { MergeqError } from '../errors.ts'
import type { HttpResponse } from '../http/http-client.ts'
import { type JsonScan, maxJsonDepth, parseScannedJson, scanJson } from '../json.ts'
import type { ResponseBody } from './decode.ts'
import type { Request } from './request.ts'
import type { ServiceClient } from './service-client.ts'
import { isWebPage } from './web-page.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

export const isOk = ({ status }: Pick<HttpResponse, 'status'>): boolean => status >= 200 && status <= 299

/**
 * A response over this number of bytes is read in steps, between which a signal is noticed, and its values
 * are counted.
 */
const largeResponseSize = 1024 * 1024

export type ReadResponse = ResponseBody & { readonly receivedBytes: Uint8Array }

interface ReadOptions {
  readonly interrupted: AbortSignal
  readonly secrets: ServiceClient['secrets']
}

/**
 * Reads a body as text and, where it is JSON, as a document. A 2xx that would take too much memory to parse
 * throws a `bad-answer` error, any other is not parsed. Secrets are redacted here, because the text may later
 * be cut, unescaped or written to a file.
 */
export async function readResponse(
  response: HttpResponse,
  { expects, operation, url }: Request,
  { interrupted, secrets }: ReadOptions,
): Promise<ReadResponse> {
  const { bytes: receivedBytes, headers } = response
  const isText = isOk(response) && expects === 'text'
  const pause = async () => {
    if (receivedBytes.length > largeResponseSize) await yieldToEventLoop({ interrupted })
  }
  const rejectExcess = (excess: string | undefined) => {
    if (excess !== undefined && isOk(response)) throw tooCostly(excess, operation, new URL(url).host)
  }
  const sizeExcess = isText ? undefined : findSizeExcess(receivedBytes)
  rejectExcess(sizeExcess)
  const whole = new TextDecoder().decode(receivedBytes)
  await pause()
  const text = secrets.redact(whole)
  await pause()
  const scan = isText || sizeExcess !== undefined ? undefined : scanJson(text)
  const excess = scan && findExcess(scan, receivedBytes.length)
  rejectExcess(excess)
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

/** Says, as the end of a sentence, that JSON is too long; undefined where it is not, or is no JSON. */
function findSizeExcess(bytes: Uint8Array): string | undefined {
  if (bytes.length <= maxJsonSize) return undefined
  const start = new TextDecoder().decode(bytes.subarray(0, 1024))
  return /^\s*(?:[[{]|$)/.test(start) ? `has more than ${formatBytes(maxJsonSize)} of JSON` : undefined
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
    operation,
    hint: 'Check the base URL, and any proxy in front of the service. If the response is correct, request less data.',
    sentState: 'ambiguous',
    overLimit: true,
  })

export const isComplete = ({ text, document }: ResponseBody, { expects }: Request): boolean =>
  !isWebPage(text) && (expects !== 'json' || text.trim() === '' || document !== undefined)
