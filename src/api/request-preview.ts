import { shellQuote } from '../domain/suggested-command.ts'
import { bodyText, type Request } from './request.ts'

/**
 * A request as `--dry-run` prints it (docs/reference/cli.md, "Dry run"): without the token, `body` as text.
 */
export interface RequestPreview {
  readonly operation: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

const redactedToken = '[REDACTED]'

export function previewRequest({
  operation,
  method,
  url,
  headers,
  credential,
  body,
}: Request): RequestPreview {
  return {
    operation,
    method,
    url,
    headers: credential === 'token' ? { ...headers, 'x-api-token': redactedToken } : headers,
    ...(body === undefined ? {} : { body: bodyText(body) }),
  }
}

/** The request as a curl command, which reads the token from MERGEQ_TOKEN. */
export function curlCommand({ method, url, headers, body }: RequestPreview): string {
  const words = ['curl', '-X', method, shellQuote(url)]
  for (const [name, value] of Object.entries(headers))
    words.push('-H', value === redactedToken ? `"${name}: $MERGEQ_TOKEN"` : shellQuote(`${name}: ${value}`))
  if (body !== undefined) words.push('--data-binary', shellQuote(body))
  return words.join(' ')
}
