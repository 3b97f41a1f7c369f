import { type Operation, operationMethod, operationName } from '../api/operation.ts'
import { type OperationName, serviceOperations } from '../api/operations/index.ts'
import { maxBodySize } from '../domain/limits.ts'
import { toMergeqError } from '../errors.ts'
import type { ResponseText } from './dialects.ts'
import { handlers, isOperationName } from './handlers.ts'
import { metricsContentType } from './metrics-text.ts'
import { createOutageCheck } from './outage.ts'
import { parseBody } from './request-fields.ts'
import { createSandboxState, type SandboxState, type SandboxStateOptions } from './sandbox-state.ts'
import { createUuid } from './seed.ts'
import { statusError } from './status-error.ts'

export const defaultToken = 'sandbox'

export interface ServiceOptions extends SandboxStateOptions {
  /** The only token that the service accepts (docs/reference/service.md, "Authentication"). */
  readonly token: string
  now(): number
}

export interface SandboxRequest {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface SandboxResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The service, independent of the HTTP server. */
export interface SandboxService {
  /** Returns the response to a request; never throws. */
  handle(request: SandboxRequest): SandboxResponse
  createErrorResponse(status: number, message: string): SandboxResponse
  readonly state: SandboxState
}

/** Marks every response, so that clients recognize a sandbox (docs/reference/cli.md, "Sandbox notice"). */
const sandboxHeader = 'x-mergeq-sandbox'

export const pathPrefix = '/v1'

export const bodyTooLargeMessage = 'The body is larger than 20 MiB.'

interface OperationRules {
  readonly method: string
  readonly isChange: boolean
  readonly isPublic: boolean
}

const operationsByPath: ReadonlyMap<string, OperationRules> = new Map(
  serviceOperations.map(({ route, recovery, isPublic = false }: Operation) => [
    `${pathPrefix}/${operationName(route)}`,
    { method: operationMethod(route), isChange: recovery !== undefined, isPublic },
  ]),
)

/** It accepts the id of a forked run instead of a token (docs/reference/service.md, "setImpactedTargets"). */
const operationForForks: OperationName = 'setImpactedTargets'
const forkedRunHeader = 'x-forked-workflow-run-id'

/** Responses depend only on the options, the requests, and the times of the requests. */
export function createService(options: ServiceOptions): SandboxService {
  const { scenario, token, seed } = options
  const state = createSandboxState(options, options.now)
  const { dialect } = state
  const isOutage = createOutageCheck(scenario, options.now(), state.timings.second)
  let requestCount = 0

  const createResponse = (status: number, { contentType, text }: ResponseText): SandboxResponse => ({
    status,
    headers: {
      'content-type': contentType,
      date: new Date(options.now()).toUTCString(),
      [sandboxHeader]: '1',
      ...(dialect.hasObservedFields ? { 'x-request-id': createUuid(seed, 'request', requestCount) } : {}),
    },
    body: text,
  })

  const createErrorResponse = (status: number, message: string) =>
    createResponse(status, dialect.createErrorBody(message))

  const authenticate = (operation: OperationName, headers: SandboxRequest['headers']) => {
    const sentToken = headers['x-api-token'] ?? ''
    if (sentToken === token) return
    // The sandbox's own: any run id is accepted, because the sandbox cannot look up the run.
    if (operation === operationForForks && sentToken === '' && (headers[forkedRunHeader] ?? '') !== '') return
    throw statusError(
      401,
      sentToken === '' ? 'The token is missing: send x-api-token.' : 'The token is not valid.',
    )
  }

  const findOperation = (path: string): OperationName => {
    const name = path.slice(pathPrefix.length + 1)
    if (!path.startsWith(`${pathPrefix}/`) || !isOperationName(name)) throw statusError(404, 'Not Found')
    return name
  }

  const perform = ({ method, path, query, headers, body }: SandboxRequest): SandboxResponse => {
    const { method: expectedMethod, isChange = false, isPublic = false } = operationsByPath.get(path) ?? {}
    if (isOutage({ path, body }, isChange, options.now())) throw statusError(503, 'Service Unavailable')
    const operation = findOperation(path)
    if (method !== expectedMethod)
      return createResponse(dialect.methodNotAllowed.status, dialect.methodNotAllowed.body)
    if (!isPublic) authenticate(operation, headers)
    if (Buffer.byteLength(body) > maxBodySize) throw statusError(413, bodyTooLargeMessage)
    const request = { query, body: method === 'POST' ? parseBody(body, operation) : {} }
    const result = handlers[operation](state, request)
    if (result === undefined) return createResponse(200, dialect.emptyResponse)
    return 'text' in result
      ? createResponse(200, { contentType: metricsContentType, text: result.text })
      : createResponse(200, { contentType: 'application/json', text: JSON.stringify(result.document) })
  }

  return {
    handle(request) {
      requestCount++
      try {
        return perform(request)
      } catch (error) {
        const { message, details } = toMergeqError(error)
        return createErrorResponse(details.status ?? 500, message)
      }
    },
    createErrorResponse,
    state,
  }
}
