import { MergeqError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'

/** What came back, read as text and, where it is JSON, as a document. */
export interface ResponseBody {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** The body after decompression. */
  readonly bytes: Uint8Array
  readonly text: string
  /** Undefined when the text is not JSON. */
  readonly document: Json | undefined
}

/**
 * What an answer holds: `records` are what `-o ndjson` prints and `--fields` picks from, `document` makes of them what
 * `--json` prints (without it, that is our receipt), `bytes` are the answer as it came.
 */
export interface DecodedResponse {
  readonly records: readonly JsonObject[]
  /** The same records a few at a time, made anew for each call: where all of them together would take much memory. */
  batches?(): Iterable<readonly JsonObject[]>
  document?(records: readonly JsonObject[]): Json
  readonly bytes: Uint8Array
  /** Printed as it is whatever the format, unless fields are picked: the answer untouched. */
  readonly rawBody?: Uint8Array
  /** The page object of a list (service-api.md section 2.6). */
  readonly page?: JsonObject
  /** The whole document of a list, its own fields included. */
  readonly envelope?: JsonObject
  /** The answer was printed while it came: nothing is left to print. */
  readonly isPassedOn?: boolean
}

const theOne = ([one]: readonly JsonObject[]): Json => one ?? null

/** How the answer of an operation is read. Throws a `bad-answer` failure when it is not an answer. */
export interface ResponseDecoder {
  readonly expects: 'json' | 'text' | 'anything'
  /** The largest body that is read, in bytes after decompression; `maxAnswer` where this is left out. */
  readonly maxBytes?: number
  read(answer: ResponseBody): DecodedResponse
  /** How a long answer is passed on while it comes, where it is printed untouched. */
  readonly passOn?: PassingOn
}

/** What is passed on while it comes: in every format, or as the text that stands for a table on a pipe. */
export interface PassingOn {
  readonly formats: 'all' | 'text'
  /** Looks at the beginning of an answer, and returns what stands before it. Throws where it is no answer. */
  begin(start: ResponseBody): Uint8Array
}

/** Whether the text is a web page: a captive portal or a proxy, not this service. */
export const isWebPage = (text: string): boolean =>
  /^\uFEFF?\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)

/** The failure for a page that something else than the service sent. */
export const webPageError = (): MergeqError =>
  new MergeqError('bad-answer', 'this is a web page and not the service.', {
    hint: 'Check the base address and the proxy; a network that asks you to sign in answers like this, too.',
  })

/** The failure for a JSON answer without a part that the service's documentation requires, as in `a list of tests`. */
export const withoutPart = (what: string): MergeqError =>
  new MergeqError('bad-answer', `the answer holds no ${what}.`, {
    hint: 'Check the base address; if it is right, try again later.',
  })

/** The failure for an answer that is not JSON where JSON was due. */
export function notJsonError({ text, bytes }: Pick<ResponseBody, 'text' | 'bytes'>): MergeqError {
  const hint = 'Check the base address; if it is right, try again later.'
  if (text.trim() === '')
    return new MergeqError('bad-answer', 'the answer is missing: the service sent no document.', { hint })
  if (isWebPage(text)) return webPageError()
  const whole = /^\uFEFF?\s*[[{]/.test(text) ? 'complete JSON' : 'JSON'
  return new MergeqError('bad-answer', `the answer is not ${whole} (${bytes.length} bytes received).`, {
    hint,
  })
}

/** Any 2xx is success, whatever its body (service-observed.md section 1.2): the receipt is ours. */
export const emptyDecoder: ResponseDecoder = {
  expects: 'anything',
  read: ({ bytes }) => ({ records: [], bytes }),
}

/** What the document of the service requires of an answer: its name in messages, and whether it is there. */
export interface Required {
  readonly name: string
  isThere(document: JsonObject): boolean
}

/** The failure for a JSON answer that lacks what the document requires of it. */
export const lacking = (document: JsonObject, { name }: Pick<Required, 'name'>): MergeqError => {
  const said = messageIn(document)?.slice(0, maxQuoted)
  return new MergeqError(
    'bad-answer',
    `the answer has no ${name}${said === undefined || said === '' ? '' : `; it says: ${said}`}.`,
    { hint: 'Check the base address; if it is right, try again later.' },
  )
}

/** Most of a message that stands in an answer of another shape that is quoted, in characters. */
const maxQuoted = 200

/**
 * A JSON object; `refine` gives its states the spelling of service-api.md. One without what is `required` is no answer.
 */
export const recordDecoder = (
  refine: (document: JsonObject) => JsonObject,
  required?: Required,
): ResponseDecoder => ({
  expects: 'json',
  read(answer) {
    if (!isObject(answer.document)) throw notJsonError(answer)
    if (required?.isThere(answer.document) === false) throw lacking(answer.document, required)
    return { records: [refine(answer.document)], document: theOne, bytes: answer.bytes }
  },
})

/** A change that may answer with a document; anything else is a receipt. */
export const recordOrEmptyDecoder = (refine: (document: JsonObject) => JsonObject): ResponseDecoder => ({
  expects: 'anything',
  read(answer) {
    if (!isObject(answer.document) || Object.keys(answer.document).length === 0)
      return emptyDecoder.read(answer)
    return recordDecoder(refine).read(answer)
  },
})

/** Most of an error body that is shown, in bytes. */
const maxShownError = 2_048

/** What an error body says, in plain text or JSON, at most 2 KB of it; a web page says nothing. */
export function errorMessageOf({
  text,
  document,
}: Pick<ResponseBody, 'text' | 'document'>): string | undefined {
  if (isWebPage(text)) return undefined
  const said = (isObject(document) ? messageIn(document) : undefined) ?? text.trim()
  if (said === '') return undefined
  const bytes = new TextEncoder().encode(said)
  if (bytes.length <= maxShownError) return said
  const shown = new TextDecoder().decode(bytes.subarray(0, maxShownError)).replace(/\uFFFD+$/, '')
  return `${shown}… (cut: ${bytes.length} bytes)`
}

function messageIn(document: JsonObject): string | undefined {
  const inner = document.error ?? document.message ?? document.detail
  if (typeof inner === 'string') return inner
  return isObject(inner) && typeof inner.message === 'string' ? inner.message : undefined
}
