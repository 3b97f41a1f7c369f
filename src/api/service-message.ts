import { get, getArray, isObject, type Json, type JsonObject } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { isWebPage } from './web-page.ts'

/** How many lines and characters of the words of the service are shown. */
const maxLines = 5
const maxCharacters = 500

/**
 * The words of the service in the body of an error: the message in a JSON object, other JSON on one line, or
 * the text, cut to a few lines. Undefined for a web page and an empty body.
 */
export function serviceMessageOf({
  text,
  document,
}: {
  readonly text: string
  readonly document: Json | undefined
}): string | undefined {
  if (isWebPage(text)) return undefined
  const message = document === undefined ? text : (messageIn(document) ?? stringifyJson(document))
  return isEmptyDocument(document) ? undefined : cut(message.trim()) || undefined
}

const isEmptyDocument = (document: Json | undefined): boolean =>
  document === null || (typeof document === 'object' && Object.keys(document).length === 0)

/** The message in a JSON document; undefined where no usual member has one. */
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

/** The messages in a list of errors. */
function listedMessages(document: JsonObject): string | undefined {
  const messages = getArray(document, 'errors').flatMap(error => messageIn(error) ?? [])
  return messages.length === 0 ? undefined : messages.join('\n')
}

function cut(message: string): string {
  const lines = message.split(/\s*[\r\n]+/)
  const text = lines.slice(0, maxLines).join('\n')
  const characters = [...text.slice(0, 2 * maxCharacters + 2)]
  if (lines.length <= maxLines && characters.length <= maxCharacters) return text
  return `${characters.slice(0, maxCharacters).join('').trimEnd()}…`
}
