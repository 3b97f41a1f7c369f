import { type Json, stringifyJson } from '../json.ts'
import { messageIn } from './message-in.ts'
import { isWebPage } from './web-page.ts'

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

function cut(message: string): string {
  const lines = message.split(/\s*[\r\n]+/)
  const text = lines.slice(0, maxLines).join('\n')
  const characters = [...text.slice(0, 2 * maxCharacters + 2)]
  if (lines.length <= maxLines && characters.length <= maxCharacters) return text
  return `${characters.slice(0, maxCharacters).join('').trimEnd()}…`
}
