import { type MergeqError, withPeriod } from '../errors.ts'
import { type Json, stringifyJson } from '../json.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/** How an error is printed for people. */
interface ErrorTextOptions {
  /** Whether the name of the API operation is included. */
  readonly verbose: boolean
  /** Whether the reason of the service is on the first line, before the request. */
  readonly isReasonFirst: boolean
}

/** The least number of words that say why the service rejected a request. */
const minReasonWords = 3

/** Returns the reason that the service gave and the rest of the message; else the message alone. */
function splitMessage({ kind, message, details }: MergeqError): readonly [string, string?] {
  const reason = withPeriod(details.serviceMessage?.replace(/\s+/g, ' ') ?? '')
  const isReason = reason.split(' ').length >= minReasonWords && message.endsWith(`: ${reason}`)
  return isReason && (kind === 'not-found' || kind === 'refused')
    ? [reason, `${message.slice(0, -reason.length - 2)}.`]
    : [message]
}

/**
 * Returns an error for people: `mergeq: ` and the message, then the indented hint
 * (docs/reference/cli.md, "Error messages").
 */
export function errorText(error: MergeqError, { verbose, isReasonFirst }: ErrorTextOptions): string {
  const { hint, operation } = error.details
  const prefix = verbose && operation !== undefined ? `${operation}: ` : ''
  const [first, rest] = isReasonFirst ? splitMessage(error) : [error.message]
  const further = [rest, hint].flatMap(text => (text === undefined ? [] : sanitizeLines(text).split('\n')))
  return [`mergeq: ${sanitizeLine(`${prefix}${first}`)}`, ...further.map(line => `  ${line}`), ''].join('\n')
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
