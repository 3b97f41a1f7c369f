import { MergeqError } from '../base/errors.ts'
import { get, getArray, getNumber, isObject, type Json, type JsonObject } from '../base/json.ts'
import { maxJsonSize } from './limits.ts'

/** Whether a text is a web page: from a captive portal or a proxy, not from the service. */
export const isWebPage = (text: string): boolean =>
  /^\uFEFF?\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)

export function messageIn(document: Json): string | undefined {
  if (typeof document === 'string') return document
  if (!isObject(document)) return undefined
  return ownMessage(document) ?? listedMessages(document)
}

const messageKeys = ['message', 'detail', 'error_description', 'error', 'title', 'reason']

function ownMessage(document: JsonObject): string | undefined {
  const error = get(document, 'error')
  if (isObject(error)) return ownMessage(error)
  return messageKeys
    .map(key => get(document, key))
    .find((value): value is string => typeof value === 'string' && value.trim() !== '')
}

function listedMessages(document: JsonObject): string | undefined {
  const messages = getArray(document, 'errors').flatMap(error => messageIn(error) ?? [])
  return messages.length === 0 ? undefined : messages.join('\n')
}

export interface ResponseBody {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly bytes: Uint8Array
  readonly text: string
  /** Undefined when the text is not JSON. */
  readonly document: Json | undefined
}

/**
 * A decoded response. `records` are what `--fields` selects from and what NDJSON prints. `document` creates
 * what `--json` prints of them; without it, a receipt is printed. `bytes` are the body.
 */
export interface DecodedResponse {
  readonly records: readonly JsonObject[]
  document?(records: readonly JsonObject[]): Json
  readonly bytes: Uint8Array
  /** Printed unchanged in every format, unless fields are selected. */
  readonly rawBody?: Uint8Array
  /** The whole document of a list. */
  readonly envelope?: JsonObject
}

const firstRecord = ([record]: readonly JsonObject[]): Json => record ?? null

/** Reads the response of an operation; `read` throws a `bad-answer` error for a response of another form. */
export interface ResponseDecoder {
  readonly expects: 'json' | 'text' | 'anything'
  /** The largest body that is read, in bytes after decompression; `maxResponseSize` by default. */
  readonly maxBytes?: number
  read(response: ResponseBody): DecodedResponse
  /** Returns what is printed of a response outside 2xx; by default nothing. */
  readError?(response: ResponseBody): Uint8Array | undefined
}

const checkBaseUrl = 'Check the base URL. If it is correct, try again later.'

export const webPageError = (): MergeqError =>
  new MergeqError('bad-answer', 'it is a web page.', {
    hint: 'Check the base URL and the proxy. A network that requires you to sign in also returns web pages.',
  })

export const missingPartError = (what: string): MergeqError =>
  new MergeqError('bad-answer', `it has no ${what}.`, { hint: checkBaseUrl })

/** Returns what a value is that stands where an object is required. */
function describeValue(value: Json): string {
  if (typeof value === 'string') return 'a string'
  if (typeof value === 'number') return 'a number'
  return Array.isArray(value) && value.length > 0 ? 'a list' : JSON.stringify(value)
}

/** The error of a body that is not the JSON object that it should be. */
export function notObjectError({ text, bytes, document }: ResponseBody): MergeqError {
  const hint = checkBaseUrl
  if (text.trim() === '') return new MergeqError('bad-answer', 'the body is missing.', { hint })
  if (isWebPage(text)) return webPageError()
  if (document !== undefined) {
    const found = describeValue(document)
    return new MergeqError('bad-answer', `the body is not a JSON object but ${found}.`, { hint })
  }
  const whole = /^\uFEFF?\s*[[{]/.test(text) ? 'complete JSON' : 'JSON'
  return new MergeqError('bad-answer', `the body is not ${whole} (${bytes.length} bytes received).`, {
    hint,
  })
}

/** Accepts every body of a 2xx (docs/reference/service.md, "Success responses"). */
export const emptyDecoder: ResponseDecoder = {
  expects: 'anything',
  read: ({ bytes }) => ({ records: [], bytes }),
}

interface RequiredPart {
  readonly name: string
  isPresent(document: JsonObject): boolean
}

/** The error of a document that lacks a part: it says which fields are there, or quotes the message that is. */
export function missingPartErrorWithMessage(document: JsonObject, name: string): MergeqError {
  const quoted = messageIn(document)?.slice(0, maxQuoted) ?? ''
  const fields = Object.keys(document).join(', ').slice(0, maxQuoted)
  const others = fields === '' ? '' : `, only: ${fields}`
  return missingPartError(`${name}${quoted === '' ? others : ` and says: ${quoted}`}`)
}

const maxQuoted = 200

const errorFields = ['error', 'message', 'code', 'status']

/** What is enough in a document that is only printed: any field but those of an error. */
export const anyField = (name: string): RequiredPart => ({
  name,
  isPresent: document => Object.keys(document).some(key => !errorFields.includes(key)),
})

/** Decodes a JSON object. Throws a `bad-answer` error for an object without `required`. */
export const recordDecoder = (
  refine: (document: JsonObject) => JsonObject,
  required?: RequiredPart,
): ResponseDecoder => ({
  expects: 'json',
  read(response) {
    if (!isObject(response.document)) throw notObjectError(response)
    if (required?.isPresent(response.document) === false)
      throw missingPartErrorWithMessage(response.document, required.name)
    return { records: [refine(response.document)], document: firstRecord, bytes: response.bytes }
  },
})

/** Decodes the response of a change that may be a document; any other response leads to a receipt. */
export const recordOrEmptyDecoder = (refine: (document: JsonObject) => JsonObject): ResponseDecoder => ({
  expects: 'anything',
  read(response) {
    if (!isObject(response.document) || Object.keys(response.document).length === 0)
      return emptyDecoder.read(response)
    return recordDecoder(refine).read(response)
  },
})

/** Returns the token of the next page, empty for the last. Any other value is an error: the list would look complete. */
export function readPageToken(document: JsonObject, tokenPath: string): string {
  const value = get(document, tokenPath) ?? ''
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw missingPartError('valid token of the next page')
}

/** Returns how many records all pages have, if the service says it. It decides where the list ends: a number, or an error. */
export function readTotal(document: JsonObject, key: string): number | undefined {
  const total = getNumber(document, key)
  if (total !== undefined && Number.isSafeInteger(total) && total >= 0) return total
  if ((document[key] ?? null) === null) return undefined
  throw missingPartError(`valid number of results (${key})`)
}

/**
 * The member of a response that tells the last page: the token of the next page, which is empty or missing there, or of
 * pages that begin at an offset the number of records of all pages.
 */
type PagesEnd = { readonly nextToken: string } | { readonly total: string }

/**
 * How a list is read page by page (docs/reference/service.md, "Pages"). Its params `pageSize` and `pageToken`
 * request a page.
 */
export interface Pages {
  /** The member of a response that has the records. */
  readonly key: string
  /** Names one record in messages. */
  readonly noun: string
  readonly end: PagesEnd
  /** Returns the id of a record; a record with the same id is the same. */
  idOf(record: JsonObject): string | undefined
}

/**
 * Decodes a page of a list. Without its records, throws a `bad-answer` error: an answer of another form must not look
 * like an empty list.
 */
export const listDecoder = (
  { key, noun, end }: Pages,
  refine: (record: JsonObject) => JsonObject = record => record,
): ResponseDecoder => ({
  expects: 'json',
  maxBytes: maxJsonSize,
  read(response) {
    const { document, bytes } = response
    if (!isObject(document)) throw notObjectError(response)
    const records = document[key]
    if (!Array.isArray(records) || !records.every(isObject))
      throw missingPartErrorWithMessage(document, `list of ${noun}s (${key})`)
    if ('total' in end) readTotal(document, end.total)
    else readPageToken(document, end.nextToken)
    return { records: records.map(refine), envelope: document, bytes }
  },
})
