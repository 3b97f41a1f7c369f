import { shellQuote } from '../domain/shell-quote.ts'
import { type Request, textOf } from './request.ts'

/** A request as `--dry-run` prints it (CLI.md section 2): the token is never in it. `body` is JSON text. */
export interface Shown {
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export const redacted = '[REDACTED]'

/** The request as plain data, the token redacted. */
export function show({ operation, method, url, headers, credential, body }: Request): Shown {
  return {
    operation,
    method,
    url,
    headers: credential === 'token' ? { ...headers, 'x-api-token': redacted } : headers,
    ...(body === undefined ? {} : { body: textOf(body) }),
  }
}

/** The same request as a curl line, which reads the token from the environment. */
export function curlLine({ method, url, headers, body }: Shown): string {
  const words = ['curl', '-X', method, shellQuote(url)]
  for (const [name, value] of Object.entries(headers))
    words.push('-H', value === redacted ? `"${name}: $MERGEQ_TOKEN"` : shellQuote(`${name}: ${value}`))
  if (body !== undefined) words.push('--data-binary', shellQuote(body))
  return words.join(' ')
}
