import { type ErrorKind, extendError, MergeqError, withPeriod } from '../base/errors.ts'
import { type Json, stringifyJson } from '../base/json.ts'
import { parseUrl } from '../base/url.ts'
import type { Sending } from '../http/http-client.ts'
import { describeMissingQueue, queueName, shortRepositoryName } from '../values/repository.ts'
import type { Request } from './request.ts'
import { isWebPage, messageIn, type ResponseBody } from './response.ts'
import type { ServiceClient } from './service-client.ts'

interface ErrorResponse {
  readonly response: ResponseBody & Sending
  readonly request: Request
  /** Where the token came from; undefined when none was sent. */
  readonly token: string | undefined
  /** Whether the token looks like a key of another version of the API. */
  readonly isOtherKey?: boolean | undefined
  readonly client: Pick<ServiceClient, 'advice' | 'nameOf' | 'proxy'>
  /** After a 404: whether the queue of the request exists; undefined if that is not known. */
  readonly hasQueue?: boolean | undefined
}

interface ErrorContext extends ErrorResponse {
  readonly host: string
  /** The words of the service, unless they say only that there is nothing (404). */
  readonly reason: string | undefined
}

const kindOf = (status: number): ErrorKind => {
  if (status === 401 || status === 403) return 'auth'
  if (status === 404) return 'not-found'
  if (status === 407 || status === 408 || status === 429 || (status >= 500 && status <= 599))
    return 'unavailable'
  return status >= 400 && status <= 499 ? 'refused' : 'bad-answer'
}

function retryAdvice(headers: ReadonlyMap<string, string>): string {
  const after = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(after)) return `Try again in ${after}s.`
  return Number.isNaN(Date.parse(after))
    ? 'Try again later.'
    : `Try again after ${new Date(after).toISOString()}.`
}

/** The error for a status outside 2xx (docs/reference/network.md, "Status codes"), with the words of the service. */
export function errorFromResponse(given: ErrorResponse): MergeqError {
  const { response, request } = given
  const { status, headers, retryAfter } = response
  const { host } = new URL(request.url)
  const requestId = headers.get('x-request-id')
  const serviceMessage = serviceMessageOf(response)
  const isUnsaid = status === 404 && missingRouteWords.test(serviceMessage ?? '')
  const reason = isUnsaid ? undefined : serviceMessage?.replace(/\s+/g, ' ')
  const [summary, hint] = describeResponse({ ...given, host, reason })
  const isRefused = status >= 400 && status <= 499 && status !== 408
  const isUnclear = status === 408 || (status >= 500 && status <= 599)
  const message = reason === undefined ? summary : `${summary}: ${reason}`
  return new MergeqError(kindOf(status), withPeriod(message), {
    // A change was not applied after a refusal; after a redirect it is not known.
    ...(request.isChange && !isUnclear ? { delivery: isRefused ? 'not-applied' : 'unknown' } : {}),
    ...(request.isChange && isUnclear ? { sentState: 'ambiguous' } : {}),
    status,
    host,
    operation: request.operation,
    ...(requestId === undefined ? {} : { requestId }),
    ...(serviceMessage === undefined ? {} : { serviceMessage }),
    ...(retryAfter === undefined ? {} : { retryAfter: Math.ceil(retryAfter / 1_000) }),
    ...(status === 407 ? { needsChange: true } : {}),
    ...(status === 404 && isWebPage(response.text) ? { isWebPage: true } : {}),
    hint,
  })
}

type Description = readonly [summary: string, hint: string]

function describeResponse(context: ErrorContext): Description {
  const { host, request, reason } = context
  const { status, headers } = context.response
  const credential = credentialOf(context)
  const subject = subjectOf(request)
  const about = subject.text === '' ? '' : ` for ${subject.text}`
  if (status === 401) return [`${host} rejected ${credential} (401)`, authenticationHint(context)]
  if (status === 403)
    return [
      `${host} denied access to ${credential} (403)`,
      `Check the permissions of ${credential}, and any proxy or allow list in front of the service.`,
    ]
  if (status === 404) return describeNotFound(context, subject)
  if (status === 407)
    return [
      'The proxy requires a login (407); the service was not reached',
      `Set ${context.client.proxy === undefined ? 'HTTPS_PROXY' : 'the option proxy'} to a URL with the user name and password, for example http://user:password@proxy.example:3128.`,
    ]
  if (status === 413) return [`The request is too large for ${host} (413)`, 'Send less data in one request.']
  const later = retryAdvice(headers)
  if (status === 429) return [`${host} reported that the rate limit was exceeded (429)`, later]
  if (status >= 300 && status <= 399)
    return [
      `${host} redirected the request${targetOf(headers)} (${status}); mergeq does not follow redirects`,
      'A redirect would send the token to another address. If the service has moved, change the base URL.',
    ]
  const kind = kindOf(status)
  if (kind === 'unavailable') return [`${host} could not process the request${about} (${status})`, later]
  if (kind === 'bad-answer')
    return [`${host} returned an unexpected status (${status})`, 'Check the base URL.']
  const refusal = changeNotMade(request) ?? `The service rejected the request${about}`
  const unchanged = request.isChange ? 'Nothing was changed. ' : ''
  return [
    // The reason that the service gave follows; where it gave none, the status stands for it.
    reason === undefined ? `${refusal} (${status})` : refusal,
    refusalHint(status, context) ?? `${unchanged}Fix the request and try again.`,
  ]
}

function credentialOf({ token, request }: ErrorContext): string {
  const { forkedRun } = request.resource
  if (token !== undefined) return /^the (?:stored|option) /.test(token) ? token : `the token from ${token}`
  return forkedRun === undefined ? 'a request without a token' : `the GitHub run ID ${forkedRun}`
}

type ResponseText = Pick<ResponseBody, 'text' | 'document'>

/** The beginning of the keys of version 2 of the API (docs/reference/service.md, "Authentication"). */
export const otherKeyPrefix = 'trunk_v2_'

function authenticationHint({ token, isOtherKey, request, client }: ErrorContext): string {
  if (isOtherKey === true)
    return `The token begins with ${otherKeyPrefix}: it is a key of another version of the API. Use the organization API token (v1): https://app.trunk.io, under Settings, Developer, API Keys.`
  const { operation, resource } = request
  const advice = client.advice.afterRefusal({ operation, status: 401, resource, token })
  if (advice !== undefined) return advice
  if (token !== undefined) return 'Check that the token is complete and belongs to this organization.'
  return resource.forkedRun === undefined
    ? `The operation ${operation} does not require a token, but the service rejected the request. Check the base URL, and any proxy in front of the service.`
    : 'The workflow run must be in progress, come from a fork and test the head commit.'
}

const missingRouteWords =
  /^(?:not found|cannot (?:get|post) .*|(?:unknown|no such) (?:operation|path|route|endpoint)\b.*)?\.?$/i

export const isRouteMissing = (response: ResponseText): boolean =>
  isWebPage(response.text) || missingRouteWords.test(serviceMessageOf(response) ?? '')

function describeNotFound(context: ErrorContext, subject: Subject): Description {
  const { host, hasQueue, response } = context
  const { operation, called, url } = context.request
  const { pathname } = new URL(url)
  const hint = refusalHint(404, context) ?? checkHint(context)
  const summary = notFoundSummary(context, subject)
  if (called.isHostedOnly === true && hasQueue !== false) {
    const noOperation = `${host} has no operation ${operation} (404)`
    const onlyHosted = `Only the hosted service has the operation ${operation}.`
    if (hasQueue === true) return [noOperation, onlyHosted]
    const either = subject.text === '' ? noOperation : `${summary}, or ${noOperation}`
    return [isRouteMissing(response) ? either : summary, `${onlyHosted} ${hint}`]
  }
  if (isWebPage(response.text) && hasQueue !== false)
    return [
      `${host} returned a web page for ${pathname} (404)`,
      'Check the base URL. An older version of the service may not have this operation.',
    ]
  // Every address of the service has a version: without one, every request gets this response.
  if (!isRouteMissing(response) || /\/v\d+\//.test(pathname)) return [summary, hint]
  const address = 'Check the base URL (that of the service ends with /v1).'
  return [summary, hint === 'Check the base URL.' ? address : `${address} ${hint}`]
}

/** What the operation itself or the caller says about a refusal. */
const refusalHint = (status: number, { request, client }: ErrorContext): string | undefined =>
  request.called.errors?.hint === undefined
    ? client.advice.afterRefusal({ operation: request.operation, status, resource: request.resource })
    : request.called.errors.hint(status)

/** `Check --repo and --target-branch.` */
function checkHint({ request: { resource, called }, client }: ErrorContext): string {
  const named = (['repo', 'targetBranch'] as const).filter(name => resource[name] !== undefined)
  const parts = called.errors?.check ?? (named.length === 0 ? ['the base URL'] : named)
  const names = parts.map(part => (part.startsWith('the ') ? part : client.nameOf(part)))
  return `Check ${names.join(', ').replace(/, ([^,]+)$/, ' and $1')}.`
}

function notFoundSummary({ host, request, hasQueue }: ErrorContext, { name, place, text }: Subject): string {
  const { pr, repo, targetBranch } = request.resource
  if (text === '') return `${host} returned 404 (not found)`
  if (request.called.errors?.makesSubject === true) {
    const to = name === undefined || place === '' ? '' : ` to ${place}`
    return `${changeNotMade(request)}${to} (404)`
  }
  const isAboutQueue = hasQueue === false || name === undefined
  if (isAboutQueue && repo !== undefined && targetBranch !== undefined)
    return describeMissingQueue({ repo, targetBranch })
  return name === `#${pr}` ? `${name} is not in ${place}` : `The service did not find ${text}`
}

/** What a request is about, and the queue or repository that has it. */
interface Subject {
  /** `#7`; undefined for a request about the queue or repository itself. */
  readonly name: string | undefined
  /** `the queue for main of acme/web`, `acme/web`, or nothing. */
  readonly place: string
  /** Both. */
  readonly text: string
}

function subjectOf({ called, resource: { pr, head, repo, targetBranch } }: Request): Subject {
  const pullRequest = pr === undefined ? head && `the pull request for branch ${head}` : `#${pr}`
  const own = called.errors?.subject
  const name =
    own === undefined || pullRequest === undefined ? (own ?? pullRequest) : `${own} of ${pullRequest}`
  const place =
    repo === undefined || targetBranch === undefined
      ? repo && shortRepositoryName(repo)
      : `the queue for ${queueName({ repo, targetBranch })}`
  return { name, place: place ?? '', text: [name ?? [], place ?? []].flat().join(' in ') }
}

/** Returns that a change was not made, `#7 was not submitted`; undefined where it is not known to what. */
export function changeNotMade(request: Request): string | undefined {
  const { change } = request.called
  const { name, place } = subjectOf(request)
  const subject = name ?? (change?.isOfQueue === true ? place : '')
  return change?.done === undefined || subject === ''
    ? undefined
    : `${subject.charAt(0).toUpperCase()}${subject.slice(1)} was not ${change.done}`
}

/** Returns an error that says first which change was not made; that of another request stays the same. */
export function changeError(failure: MergeqError, request: Request): MergeqError {
  const change = changeNotMade(request)
  const cause = failure.message.replace(/^[A-Z]/, letter => letter.toLowerCase())
  return change === undefined ? failure : extendError(failure, {}, `${change}: ${cause}`)
}

function targetOf(headers: ReadonlyMap<string, string>): string {
  const url = parseUrl(headers.get('location') ?? '')
  return url === undefined ? '' : ` to ${url.origin}`
}

/** The most characters of the body that are looked at. */
const maxRead = 4_096
const maxLines = 5
const maxCharacters = 500

/** The words of the service in the body of an error, cut to a few lines; undefined for a web page and an empty body. */
export function serviceMessageOf({ text, document }: ResponseText): string | undefined {
  if (isWebPage(text)) return undefined
  const message = document === undefined ? text : (messageIn(document) ?? stringifyJson(document))
  return isEmptyDocument(document) ? undefined : cut(message.trimStart().slice(0, maxRead)) || undefined
}

const isEmptyDocument = (document: Json | undefined): boolean =>
  document === null || (typeof document === 'object' && Object.keys(document).length === 0)

function cut(message: string): string {
  const lines = message
    .trimEnd()
    .split(/[\r\n]+/)
    .map(line => line.trimEnd())
  const text = lines.slice(0, maxLines).join('\n')
  const characters = [...text.slice(0, 2 * maxCharacters + 2)]
  if (lines.length <= maxLines && characters.length <= maxCharacters) return text
  return `${characters.slice(0, maxCharacters).join('').trimEnd()}…`
}
