import type { MergeqError } from '../errors.ts'
import type { Json } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/**
 * Returns an error for people: `mergeq: ` and the message, then the indented hint
 * (docs/reference/cli.md, "Error messages"). The name of the API operation is included only with `verbose`.
 */
export function errorText({ message, details }: MergeqError, verbose = false): string {
  const { hint, operation } = details
  const prefix = verbose && operation !== undefined ? `${operation}: ` : ''
  const indentedHint = hint === undefined ? '' : `${sanitizeLines(hint).replace(/^/gm, '  ')}\n`
  return `mergeq: ${sanitizeLine(`${prefix}${message}`)}\n${indentedHint}`
}

/**
 * Returns an error for scripts: a JSON object on a single line. Its `details` are the words of the service
 * in the response.
 */
export function errorJson({ kind, exit, message, details }: MergeqError): string {
  const { hint, status, operation, attempts, requestId, serviceMessage } = details
  const words = serviceMessage === undefined ? undefined : sanitizeLines(serviceMessage)
  const error: Record<string, Json> = { kind, exit, message }
  const optional = { hint, status, operation, attempts, requestId, details: words }
  for (const [key, value] of Object.entries(optional)) if (value !== undefined) error[key] = value
  return `${stringifyJson({ error })}\n`
}
