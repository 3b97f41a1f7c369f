import { methodOf, operationOf, type Row } from '../api/operation.ts'
import { endpoints, type Operation } from '../api/operations/index.ts'
import { largestBody } from '../domain/limits.ts'
import { asFailure } from '../errors.ts'
import { bodyOf } from './request-bodies.ts'
import type { Body } from './dialects.ts'
import { handlers, isOperation } from './handlers.ts'
import { metricsType } from './metrics-text.ts'
import { openOutage } from './outage.ts'
import { refusal } from './error-status.ts'
import { uuid } from './seed.ts'
import { openStage, type Stage, type StageOptions } from './state.ts'

/** The token that a sandbox accepts unless it is told another. */
export const defaultToken = 'sandbox'

export interface ServiceOptions extends StageOptions {
  /** The only token that is accepted (service-api.md section 5). */
  readonly token: string
  /** The moment of a request, in milliseconds since 1970. */
  now(): number
}

/** A request as it came in; header names are lower case, the path is without its query. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The service without its socket. */
export interface Service {
  /** Answers any request; never throws. */
  answer(call: Call): Answer
  /** The answer to a request that was refused before it could be read. */
  refuse(status: number, message: string): Answer
  /** What it plays on, for whoever reports how it went. */
  readonly stage: Stage
}

/** Marks every answer, so that a rehearsal is never taken for the real thing (CLI.md section 4). */
export const marker = 'x-mergeq-sandbox'

/** The version of service-api.md section 9. */
export const prefix = '/v1'

/** What a body over the limit of service-api.md section 8 is told. */
export const tooLarge = 'The body is over 20 MiB.'

const rows: ReadonlyMap<string, { readonly method: string; readonly changes: boolean }> = new Map(
  endpoints.map(({ route, changes }: Row) => [
    `${prefix}/${operationOf(route)}`,
    { method: methodOf(route), changes: changes !== false },
  ]),
)

/** The one operation that takes a fork's run in place of a token (service-observed.md section 2.4). */
const openToForks: Operation = 'setImpactedTargets'
const forkedRun = 'x-forked-workflow-run-id'

/** Opens the service: a pure function of its options, the requests, and the moments at which they come. */
export function openService(options: ServiceOptions): Service {
  const { scenario, token, seed } = options
  const stage = openStage(options, options.now)
  const { dialect } = stage
  const isLost = openOutage(scenario, options.now(), stage.pace.second)
  let calls = 0

  const answer = (status: number, { type, text }: Body): Answer => ({
    status,
    headers: {
      'content-type': type,
      date: new Date(options.now()).toUTCString(),
      [marker]: '1',
      ...(dialect.tellsMore ? { 'x-request-id': uuid(seed, 'request', calls) } : {}),
    },
    body: text,
  })

  const authenticate = (operation: Operation, headers: Call['headers']) => {
    const given = headers['x-api-token'] ?? ''
    if (given === token) return
    // The sandbox's own: it believes any run id, as it cannot ask for the run.
    if (operation === openToForks && given === '' && (headers[forkedRun] ?? '') !== '') return
    throw refusal(401, given === '' ? 'The token is missing: send x-api-token.' : 'The token is not valid.')
  }

  /** The operation of a path that takes the method. */
  const operationAt = (path: string): Operation => {
    const name = path.slice(prefix.length + 1)
    if (!path.startsWith(`${prefix}/`) || !isOperation(name)) throw refusal(404, 'Not Found')
    return name
  }

  const perform = ({ method, path, query, headers, body }: Call): Answer => {
    if (isLost({ path, body }, rows.get(path)?.changes ?? false, options.now()))
      throw refusal(503, 'Service Unavailable')
    const operation = operationAt(path)
    if (method !== rows.get(path)?.method) return answer(dialect.wrongMethod.status, dialect.wrongMethod.body)
    authenticate(operation, headers)
    if (Buffer.byteLength(body) > largestBody) throw refusal(413, tooLarge)
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
        const { message, details } = asFailure(error)
        return answer(details.status ?? 500, dialect.refused(message))
      }
    },
    refuse: (status, message) => answer(status, dialect.refused(message)),
    stage,
  }
}
