import type { MergeqError } from '../errors.ts'
import type { Json } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/** Returns an error for people: `mergeq: ` and the message, then the indented hint (CLI.md section 4.7). */
export const errorText = ({ message, details }: MergeqError): string =>
  `mergeq: ${sanitizeLine(message)}\n${details.hint === undefined ? '' : `${sanitizeLines(details.hint).replace(/^/gm, '  ')}\n`}`

/** Returns an error for scripts: a JSON object on a single line. */
export function errorJson({ kind, exit, message, details }: MergeqError): string {
  const { hint, status, operation, attempts, requestId } = details
  const error: Record<string, Json> = { kind, exit, message }
  for (const [key, value] of Object.entries({ hint, status, operation, attempts, requestId }))
    if (value !== undefined) error[key] = value
  return `${stringifyJson({ error })}\n`
}
