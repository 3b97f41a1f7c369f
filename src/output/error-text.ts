import type { MergeqError } from '../errors.ts'
import type { Json } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/** A failure for a person: `mergeq: ` and one sentence, then an indented hint (CLI.md section 4.7). */
export const failureText = ({ message, details }: MergeqError): string =>
  `mergeq: ${sanitizeLine(message)}\n${details.hint === undefined ? '' : `${sanitizeLines(details.hint).replace(/^/gm, '  ')}\n`}`

/** A failure for a script: one JSON object on one line. */
export function failureDocument({ kind, exit, message, details }: MergeqError): string {
  const { hint, status, operation, attempts, requestId } = details
  const error: Record<string, Json> = { kind, exit, message }
  for (const [key, value] of Object.entries({ hint, status, operation, attempts, requestId }))
    if (value !== undefined) error[key] = value
  return `${stringifyJson({ error })}\n`
}
