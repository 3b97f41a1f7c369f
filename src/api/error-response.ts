import { repositoryName } from '../domain/values/repository.ts'
import { type ErrorDetails, type ErrorKind, MergeqError } from '../errors.ts'
import { errorMessageOf, isWebPage, type ResponseBody } from './decode.ts'
import type { ResourceRef } from './receipt.ts'

/** What a request was about, for messages about its failure. */
export interface ErrorContext extends ResourceRef {
  readonly operation: string
  readonly host: string
  readonly path: string
  /** Where the token came from; undefined when none was sent. */
  readonly token: string | undefined
  readonly changes: boolean
}

const kindOf = (status: number): ErrorKind => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'not-found'
  if (status === 407 || status === 408 || status === 429 || (status >= 500 && status <= 599))
    return 'unavailable'
  return status >= 400 && status <= 499 ? 'refused' : 'bad-answer'
}

const retryAfterOf = (headers: ReadonlyMap<string, string>): string =>
  headers.get('retry-after')?.trim() ?? ''
const inSeconds = /^\d{1,9}$/

/** The advice when to try again, from the Retry-After header. */
function retryAdvice(headers: ReadonlyMap<string, string>): string {
  const after = retryAfterOf(headers)
  if (inSeconds.test(after)) return `Try again in ${after} s.`
  return Number.isNaN(Date.parse(after))
    ? 'Try again later.'
    : `Try again after ${new Date(after).toISOString()}.`
}

/**
 * What a status says about a change: not applied after a 4xx except 408, unknown after 408, 5xx and a
 * redirect.
 */
function sentStateOf(status: number, changes: boolean): ErrorDetails {
  if (!changes) return {}
  if (status === 408 || (status >= 500 && status <= 599)) return { sentState: 'ambiguous' }
  return { delivery: status >= 400 && status <= 499 ? 'not-applied' : 'unknown' }
}

/** The error for a status outside 2xx (CLI.md section 9, service-api.md section 7). */
export function errorFromResponse(
  answer: Pick<ResponseBody, 'status' | 'headers' | 'text' | 'document'>,
  subject: ErrorContext,
): MergeqError {
  const { status, headers } = answer
  const { operation, host } = subject
  const requestId = headers.get('x-request-id')
  const message = errorMessageOf(answer)
  const details = {
    ...sentStateOf(status, subject.changes),
    status,
    operation,
    ...(requestId === undefined ? {} : { requestId }),
    ...(message === undefined ? {} : { serviceMessage: message }),
    ...(inSeconds.test(retryAfterOf(headers)) ? { retryAfter: Number(retryAfterOf(headers)) } : {}),
  }
  const fail = (what: string, hint?: string, more: ErrorDetails = {}) =>
    new MergeqError(kindOf(status), `${operation}: ${what}`, {
      ...details,
      ...more,
      ...(hint === undefined ? {} : { hint }),
    })
  const because = message === undefined ? '.' : `: ${message}`
  const credential = credentialOf(subject)
  if (status === 401)
    return fail(
      `${host} rejected ${credential} (401).`,
      subject.token === undefined
        ? 'The run must be in progress, come from a fork and test the commit of --sha. Where there is a token, set MERGEQ_TOKEN and leave --forked-run out.'
        : 'It may be wrong, rotated, or of another organization. Set MERGEQ_TOKEN, or store another with `mergeq auth login`.',
    )
  if (status === 403)
    return fail(
      `${host} recognised the request but did not let it through (403)${because}`,
      `Check what ${credential} may do, and what stands before the service (proxy, allow-list).`,
    )
  if (status === 404) return notFound(answer, subject, fail)
  if (status === 407)
    return fail(`the proxy asks for a login (407); the service was not reached.`, 'Put it into HTTPS_PROXY.')
  if (status === 413)
    return fail(`the request is too large for ${host} (413)${because}`, 'Send less in one request.')
  const later = retryAdvice(headers)
  if (status === 429) return fail(`${host} limits the rate of requests (429)${because}`, later)
  if (status >= 300 && status <= 399)
    return fail(
      `${host} answered with a redirect (${status})${targetOf(headers)}, which is never followed.`,
      'The token would go to another address. If the service has moved, change the base address.',
    )
  if (kindOf(status) === 'unavailable') return fail(`${host} could not answer (${status})${because}`, later)
  if (kindOf(status) === 'refused')
    return fail(
      `${host} refused this (${status})${because}`,
      'Mend the request and run it again; nothing was changed.',
    )
  return fail(
    `${host} answered with status ${status}, which is no answer of this service.`,
    'Check the base address.',
  )
}

/** The credential of a request in words: the token and where it came from, or the id of a run. */
function credentialOf({ token, forkedRun }: ErrorContext): string {
  if (token !== undefined) return `the token from ${token}`
  return forkedRun === undefined ? 'a request without a token' : `the run id ${forkedRun} of this forked run`
}

function notFound(
  answer: Pick<ResponseBody, 'text'>,
  { host, path, changes, repo, targetBranch, pr, head }: ErrorContext,
  fail: (what: string, hint?: string, more?: ErrorDetails) => MergeqError,
): MergeqError {
  if (isWebPage(answer.text))
    return fail(
      `${host} has nothing at ${path} (404).`,
      'The base address may be wrong, or the service too old.',
      { isWebPage: true },
    )
  const queue =
    repo === undefined || targetBranch === undefined
      ? undefined
      : `${targetBranch} in ${repositoryName(repo)}`
  if (queue === undefined)
    return fail(
      `${host} does not know this (404)${repo === undefined ? '' : ` in ${repositoryName(repo)}`}.`,
      'Check --repo, and what was asked for.',
    )
  if (pr === undefined && head !== undefined)
    return fail(
      `no pull request with the head branch ${head} was submitted to the queue of ${queue}, says ${host} (404).`,
      'Check --head, --repo and --target-branch, or name the pull request by its number.',
    )
  if (pr === undefined)
    return fail(
      `${host} knows no queue of ${queue} (404).`,
      'Check --repo and --target-branch, or create it with `mergeq queue create`.',
    )
  return fail(
    `#${pr} ${changes ? 'is not in' : 'was never submitted to'} the queue of ${queue}, says ${host} (404).`,
    `Submit it with \`mergeq pr submit ${pr}\`, or check --repo and --target-branch.`,
  )
}

/** The origin that a redirect points to, without its path. */
function targetOf(headers: ReadonlyMap<string, string>): string {
  const location = headers.get('location')
  if (location === undefined || !URL.canParse(location)) return ''
  return ` to ${new URL(location).origin}`
}
