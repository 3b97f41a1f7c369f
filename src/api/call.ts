import { joinList } from '../domain/format.ts'
import { pullRequestStates, queueStates } from '../domain/states.ts'
import { type CommandLine, commandLinesByQueue } from '../domain/suggested-command.ts'
import { extendError, type MergeqError, toMergeqError, withPeriod } from '../errors.ts'
import type { BodySink } from '../http/messages.ts'
import { isObject, parseJson } from '../json.ts'
import {
  type BodyOverride,
  type Operation,
  operationName,
  type Params,
  type ParamValues,
  type Resource,
} from './operation.ts'
import type { Delivery } from './receipt.ts'
import { bodyText, buildRequest, type Request, type RequestParts } from './request.ts'
import type { DecodedResponse, ResponseDecoder } from './response.ts'
import { type SendRequestOptions, sendRequest } from './send.ts'
import type { ServiceClient } from './service-client.ts'

export interface CallOptions extends Partial<RequestParts>, Pick<SendRequestOptions, 'limits' | 'progress'> {
  /** Returns where to write the response while it arrives; by default the whole response is read first. */
  createSink?(decoder: ResponseDecoder, request: Request): BodySink | undefined
}

export interface CallResult<P extends Params> {
  readonly response: DecodedResponse
  /** The resource that the body names or, for a request without a body, that the params name. */
  readonly resource: Resource
  readonly params: ParamValues<P>
  readonly delivery: Delivery
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/**
 * Calls an operation. If a change gets no clear response, the service is read to find out whether the change
 * was applied (docs/reference/network.md, "Write recovery"). Throws an error for every other response than a
 * 2xx that can be decoded.
 */
export async function callOperation<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  requestedParams: ParamValues<P>,
  options: CallOptions = {},
): Promise<CallResult<P>> {
  const { host, logger, settings } = client
  const built = await buildRequest(client, operation, requestedParams, options)
  const { request, params } = built
  const lowerCase = lowerCaseStates(operation, request)
  const callInLowerCase = () =>
    callOperation(client, operation, requestedParams, {
      ...options,
      overrides: [...(options.overrides ?? []), ...(lowerCase ?? [])],
    })
  if (lowerCase !== undefined && clientsWithLowerCase.has(client)) return callInLowerCase()
  const result = { resource: request.resource, params }
  const inProgress = (failure: MergeqError) =>
    interruptedChangeError(failure, operation, [request.resource], settings.commandLine)
  const { limits = {}, progress } = options
  let sentAt = host.clock.now()
  try {
    const isUnchanged = operation.recovery === undefined && operation.trimResponse?.(params) === undefined
    const response = await sendRequest(client, operation, built, {
      limits,
      progress,
      onAttempt() {
        sentAt = host.clock.now()
      },
      sink: isUnchanged ? options.createSink?.(operation.decoder, request) : undefined,
    })
    return { ...result, ...response, delivery: 'confirmed' }
  } catch (error) {
    const failure = toMergeqError(error)
    const { status, sentState } = failure.details
    if (failure.kind === 'interrupted')
      throw request.isChange && sentState === 'ambiguous' ? inProgress(failure) : failure
    const instead = status === 413 ? operation.fallback?.(params, 'service') : undefined
    if (instead !== undefined) {
      await logger.warn(instead.warning)
      return callOperation(client, operation, instead.params, options)
    }
    const { maxRetries = client.maxRetries } = limits
    // A request that was refused with 400 was not applied, so it can be sent again.
    if (status === 400 && lowerCase !== undefined && maxRetries > 0) {
      const result = await callInLowerCase().catch(error => {
        throw refusalOf(failure, toMergeqError(error))
      })
      clientsWithLowerCase.add(client)
      return result
    }
    if (operation.recovery === undefined || sentState !== 'ambiguous') throw failure
    const { recoverWrite } = await import('./recovery.ts')
    const write = { operation, recovery: operation.recovery, ...built, sentAt, failure, limits }
    const recovered = await recoverWrite(write, client).catch(error => {
      const { kind } = toMergeqError(error)
      throw kind === 'interrupted'
        ? inProgress(extendError(toMergeqError(error), { sentState: 'ambiguous' }))
        : error
    })
    return { ...result, ...recovered, date: undefined }
  }
}

/** The clients whose service accepted a state in lower case after it had refused the same state. */
const clientsWithLowerCase = new WeakSet<ServiceClient>()

/**
 * Undefined if the request has no known state in upper case (docs/reference/service.md, "Case of states").
 */
function lowerCaseStates(
  { stateFields = [] }: Pick<Operation, 'stateFields'>,
  { body }: Pick<Request, 'body'>,
): readonly BodyOverride[] | undefined {
  if (stateFields.length === 0 || body === undefined) return undefined
  const document = parseJson(bodyText(body))
  const found = stateFields.flatMap(name => {
    const state = isObject(document) ? document[name] : undefined
    const isKnown =
      typeof state === 'string' && [...pullRequestStates, ...queueStates].some(known => known === state)
    return isKnown ? [{ path: [name], value: state.toLowerCase() }] : []
  })
  return found.length === 0 ? undefined : found
}

/**
 * Returns the error to report after a request was refused with 400 in both cases: the first error, unless it
 * is the only one that is about the state.
 */
function refusalOf(first: MergeqError, second: MergeqError): MergeqError {
  if (second.details.status !== 400) return second
  const isAboutState = ({ details }: MergeqError) => /\bstate\b/i.test(details.serviceMessage ?? '')
  return isAboutState(first) && !isAboutState(second) ? second : first
}

/**
 * The failure when a signal ends requests of one operation that were sent and got no response: its message
 * names the operation and the resource of each request, its hint the commands that show their state
 * (docs/reference/cli.md, "Guarantees"). The exit code is that of the signal.
 */
export function interruptedChangeError(
  failure: MergeqError,
  { route, recovery }: Pick<Operation, 'route' | 'recovery'>,
  resources: readonly Resource[],
  commandLine: CommandLine,
): MergeqError {
  const operation = operationName(route)
  const names = resources.flatMap(nameIn)
  const command = recovery === undefined ? '' : recovery.inspectCommand
  // A command about a pull request shows nothing without its number.
  const shown = command.startsWith('pr ') ? resources.filter(({ pr }) => pr !== undefined) : resources
  const commands = command === '' ? [] : commandLinesByQueue(command.split(' '), shown, commandLine)
  const isSingle = resources.length === 1
  const what = `The ${isSingle ? 'request' : 'requests'}${names.length === 0 ? '' : ` for ${joinList(names)}`}`
  const state = isSingle ? 'was in progress' : 'were in progress'
  const advice = 'Check the current state before trying again'
  const separator = commands.length > 1 ? '\n' : ' '
  const hint = commands.length === 0 ? `${advice}.` : `${advice}:${separator}${commands.join('\n')}`
  const details = { operation, delivery: 'unknown', hint } as const
  const message = `${withPeriod(failure.message)} ${what} ${state} and may have been applied.`
  return extendError(failure, details, message)
}

const nameIn = ({ pr, targetBranch }: Resource): readonly string[] =>
  pr !== undefined ? [`#${pr}`] : targetBranch === undefined ? [] : [`the queue for ${targetBranch}`]
