import { type Operation, operationMethod, operationName } from '../api/operation.ts'
import { toMergeqError } from '../base/errors.ts'
import { get } from '../base/json.ts'
import type { Dialect } from './dialects.ts'
import { performOperation, type SandboxOperationName, sandboxOperations } from './handlers.ts'
import { metricsContentType } from './metrics-text.ts'
import { parseBody, statusError } from './requests.ts'
import { createHex, createUuid } from './sample-data.ts'
import type { Scenario } from './scenarios.ts'
import { createState, type SandboxState, type StateOptions } from './state.ts'

export interface SandboxRequest {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface SandboxResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Marks every response, so that clients recognize a sandbox (docs/reference/cli.md, "Sandbox notice"). */
const sandboxHeader = 'x-mergeq-sandbox'

/** Says how much faster than usual its time passes, for clients that pause for minutes. */
const speedHeader = 'x-mergeq-sandbox-speed'

export const pathPrefix = '/v1'

type ServiceOperation = Operation & { readonly name: SandboxOperationName }

const operationsByPath: ReadonlyMap<string, ServiceOperation> = new Map(
  sandboxOperations.map((operation: Operation) => {
    const name = operationName(operation.route) as SandboxOperationName
    return [`${pathPrefix}/${name}`, { ...operation, name }]
  }),
)

/** Responses depend only on the options, the requests, and the times of the requests. */
export function createService(options: StateOptions, scenario: Scenario) {
  const state = createState(options, scenario)
  const { dialect, seed, now } = state
  const isOutage = createOutageCheck(state)
  const checkRate = createRateCheck(scenario)
  const endsHold = createHoldCheck()
  let requestCount = 0

  const createResponse = (
    status: number,
    { contentType, text }: Dialect['emptyResponse'],
    headers: SandboxResponse['headers'] = {},
  ): SandboxResponse => ({
    status,
    headers: {
      ...headers,
      'content-type': contentType,
      date: new Date(now()).toUTCString(),
      [sandboxHeader]: '1',
      [speedHeader]: String(state.speed),
      ...(dialect.hasObservedFields ? { 'x-request-id': createUuid(seed, 'request', requestCount) } : {}),
    },
    body: text,
  })

  const createErrorResponse = (status: number, message: string, headers?: SandboxResponse['headers']) =>
    createResponse(status, dialect.createErrorBody(message), headers)

  const findOperation = (path: string): ServiceOperation | undefined => {
    const operation = operationsByPath.get(path)
    return operation?.isHostedOnly === true && !dialect.hasHostedOperations ? undefined : operation
  }

  const perform = (request: SandboxRequest): SandboxResponse => {
    const { method, path, query, headers, body } = request
    const operation = findOperation(path)
    if (isOutage(request, operation?.change !== undefined)) throw statusError(503, 'Service Unavailable')
    if (operation === undefined) throw statusError(404, 'Not Found')
    const retryAfter = checkRate(now())
    if (retryAfter !== undefined)
      return createErrorResponse(429, 'Too Many Requests', { 'retry-after': String(retryAfter) })
    if (method !== operationMethod(operation.route))
      return createResponse(dialect.methodNotAllowed.status, dialect.methodNotAllowed.body)
    const problem = headers['x-api-token'] ? 'not valid.' : 'missing: send x-api-token.'
    if (!hasToken(operation, headers, state)) throw statusError(401, `The token is ${problem}`)
    const document = method === 'POST' ? parseBody(body) : {}
    if (state.unknown.includes(Number(get(document, 'pr.number')))) throw statusError(404, 'Not Found')
    if (endsHold(operation, body, now())) state.release()
    const result = performOperation(operation, state, { query, body: document })
    if (result === undefined) return createResponse(200, dialect.emptyResponse)
    return typeof result === 'string'
      ? createResponse(200, { contentType: metricsContentType, text: result })
      : createResponse(200, { contentType: 'application/json', text: JSON.stringify(result) })
  }

  return {
    /** Returns the response to a request; never throws. */
    handle(request: SandboxRequest): SandboxResponse {
      requestCount++
      try {
        return perform(request)
      } catch (error) {
        const { message, details } = toMergeqError(error)
        return createErrorResponse(details.status ?? 500, message)
      }
    },
    /** Whether a request has the token that its operation needs; the body of another request is not needed. */
    isAuthorized({ path, headers }: Pick<SandboxRequest, 'path' | 'headers'>): boolean {
      const operation = findOperation(path)
      return operation !== undefined && hasToken(operation, headers, state)
    },
    createErrorResponse,
    state,
  }
}

export type SandboxService = ReturnType<typeof createService>

/**
 * Whether a request has the token, if its operation needs it. The sandbox's own: any run id of a fork replaces it,
 * because the sandbox cannot look up the run (docs/reference/service.md, "setImpactedTargets").
 */
function hasToken(
  { params, isPublic }: ServiceOperation,
  headers: SandboxRequest['headers'],
  state: Pick<SandboxState, 'accepts'>,
): boolean {
  const token = headers['x-api-token'] ?? ''
  const isReplaced = Object.values(params).some(
    ({ location = '' }) =>
      location.startsWith('credential.') && (headers[location.slice('credential.'.length)] ?? '') !== '',
  )
  return isPublic === true || state.accepts(token) || (token === '' && isReplaced)
}

/** The length of the time in which requests are counted, in milliseconds: that of the true clock, which clients see. */
const rateWindow = 10_000

/** Returns undefined for a request that is answered, else `Retry-After`, too short and too long in turn. */
function createRateCheck({ rateLimit = Number.POSITIVE_INFINITY }: Scenario) {
  let windowStart = Number.NEGATIVE_INFINITY
  let answered = 0
  let refused = 0
  return (now: number): number | undefined => {
    if (now >= windowStart + rateWindow) {
      windowStart = now
      answered = 0
    }
    answered++
    if (answered <= rateLimit) return undefined
    refused++
    const seconds = (windowStart + rateWindow - now) / 1_000
    return refused % 2 === 1 ? Math.floor(seconds) : Math.ceil(seconds)
  }
}

/** Two equal reads of a queue or a pull request within this time, in milliseconds, are those of a wait. */
const pollInterval = 3_000

/** Returns a check whether a request ends the hold of `sandbox shell`: a submission, or the second read of a wait. */
function createHoldCheck() {
  let last = { path: '', body: '', at: Number.NEGATIVE_INFINITY }
  return ({ name, route, change }: ServiceOperation, body: string, now: number): boolean => {
    const isPoll = route === last.path && body === last.body && now - last.at <= pollInterval
    last = { path: route, body, at: now }
    const isRead = name === 'getQueue' || name.startsWith('getSubmittedPullRequest')
    return change?.isSubmission === true || (isPoll && isRead)
  }
}

/**
 * Returns a check whether a request fails with 503; it is called once for each request, in order. Of the first
 * `outage` requests every second one fails. A change that failed in this way is accepted when it is sent again, so
 * that a client that retries once always succeeds. All of this is the sandbox's own.
 */
function createOutageCheck({ scenario: { outage = 0 } }: SandboxState) {
  const failedChanges = new Set<string>()
  let requestCount = 0
  return ({ path, body }: SandboxRequest, isChange: boolean): boolean => {
    requestCount++
    if (requestCount > outage || requestCount % 2 === 1) return false
    const digest = createHex(32, path, body)
    if (isChange && failedChanges.has(digest)) return false
    failedChanges.add(digest)
    return true
  }
}
