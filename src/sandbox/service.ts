import { type Operation, operationMethod, operationName } from '../api/operation.ts'
import { type OperationName, serviceOperations } from '../api/operations/index.ts'
import { maxBodySize } from '../domain/limits.ts'
import { toMergeqError } from '../errors.ts'
import type { DialectBody } from './dialects.ts'
import { handlers, isOperation } from './handlers.ts'
import { metricsType } from './metrics-text.ts'
import { createOutage } from './outage.ts'
import { bodyOf } from './request-fields.ts'
import { createSandboxState, type SandboxState, type SandboxStateOptions } from './sandbox-state.ts'
import { uuid } from './seed.ts'
import { statusError } from './status-error.ts'

/** The token that a sandbox accepts unless it is told another. */
export const defaultToken = 'sandbox'

export interface ServiceOptions extends SandboxStateOptions {
  /** The only token that is accepted (service-api.md section 5). */
  readonly token: string
  /** The moment of a request, in milliseconds since 1970. */
  now(): number
}

/** A request as it came in; header names are lower case, the path is without its query. */
export interface SandboxCall {
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

/** The service without its socket. */
export interface SandboxService {
  /** Answers any request; never throws. */
  answer(call: SandboxCall): SandboxResponse
  /** The answer to a request that was refused before it could be read. */
  refuse(status: number, message: string): SandboxResponse
  /** What it plays on, for whoever reports how it went. */
  readonly stage: SandboxState
}

/** Marks every answer, so that a rehearsal is never taken for the real thing (CLI.md section 4). */
export const sandboxHeader = 'x-mergeq-sandbox'

/** The version of service-api.md section 9. */
export const prefix = '/v1'

/** What a body over the limit of service-api.md section 8 is told. */
export const tooLargeMessage = 'The body is over 20 MiB.'

const rows: ReadonlyMap<string, { readonly method: string; readonly changes: boolean }> = new Map(
  serviceOperations.map(({ route, effect }: Operation) => [
    `${prefix}/${operationName(route)}`,
    { method: operationMethod(route), changes: effect !== false },
  ]),
)

/** The one operation that takes a fork's run in place of a token (service-observed.md section 2.4). */
const openToForks: OperationName = 'setImpactedTargets'
const forkedRun = 'x-forked-workflow-run-id'

/** Opens the service: a pure function of its options, the requests, and the moments at which they come. */
export function createService(options: ServiceOptions): SandboxService {
  const { scenario, token, seed } = options
  const stage = createSandboxState(options, options.now)
  const { dialect } = stage
  const isLost = createOutage(scenario, options.now(), stage.timings.second)
  let calls = 0

  const answer = (status: number, { type, text }: DialectBody): SandboxResponse => ({
    status,
    headers: {
      'content-type': type,
      date: new Date(options.now()).toUTCString(),
      [sandboxHeader]: '1',
      ...(dialect.tellsMore ? { 'x-request-id': uuid(seed, 'request', calls) } : {}),
    },
    body: text,
  })

  const authenticate = (operation: OperationName, headers: SandboxCall['headers']) => {
    const args = headers['x-api-token'] ?? ''
    if (args === token) return
    // The sandbox's own: it believes any run id, as it cannot ask for the run.
    if (operation === openToForks && args === '' && (headers[forkedRun] ?? '') !== '') return
    throw statusError(
      401,
      args === '' ? 'The token is missing: send x-api-token.' : 'The token is not valid.',
    )
  }

  /** The operation of a path that takes the method. */
  const operationAt = (path: string): OperationName => {
    const name = path.slice(prefix.length + 1)
    if (!path.startsWith(`${prefix}/`) || !isOperation(name)) throw statusError(404, 'Not Found')
    return name
  }

  const perform = ({ method, path, query, headers, body }: SandboxCall): SandboxResponse => {
    if (isLost({ path, body }, rows.get(path)?.changes ?? false, options.now()))
      throw statusError(503, 'Service Unavailable')
    const operation = operationAt(path)
    if (method !== rows.get(path)?.method) return answer(dialect.wrongMethod.status, dialect.wrongMethod.body)
    authenticate(operation, headers)
    if (Buffer.byteLength(body) > maxBodySize) throw statusError(413, tooLargeMessage)
    const request = { query, body: method === 'POST' ? bodyOf(body, operation) : {} }
    const result = handlers[operation](stage, request)
    if (result === undefined) return answer(200, dialect.done)
    return 'text' in result
      ? answer(200, { type: metricsType, text: result.text })
      : answer(200, { type: 'application/json', text: JSON.stringify(result.document) })
  }

  return {
    answer(call) {
      calls++
      try {
        return perform(call)
      } catch (error) {
        const { message, details } = toMergeqError(error)
        return answer(details.status ?? 500, dialect.refused(message))
      }
    },
    refuse: (status, message) => answer(status, dialect.refused(message)),
    stage,
  }
}
