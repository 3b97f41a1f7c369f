import { isPermanent, type MergeqError, toMergeqError } from '../errors.ts'
import { type CallOptions, type CallResult, callOperation } from './call.ts'
import { type Operation, operationName } from './operation.ts'
import type { Params, ParamValues } from './param.ts'
import type { ServiceClient } from './service-client.ts'

const missingOperationStatuses: readonly number[] = [404, 405]

export interface ExtraRead<P extends Params> {
  readonly result?: CallResult<P>
  /** Why the read failed; undefined where the service does not have the operation. */
  readonly failure?: MergeqError
}

export interface ExtraReadOptions<P extends Params> extends CallOptions {
  /** What is read, if that is less than the operation: `the timeline`. */
  readonly feature?: string
  readonly missingStatuses?: readonly number[]
  /** Whether the response has what was requested; a response without it counts as a missing operation. */
  isPresent?(result: CallResult<P>): boolean
}

const knownOperations = new WeakMap<object, Map<string, Promise<boolean>>>()

function memoryOf({ settings }: ServiceClient): Map<string, Promise<boolean>> {
  const memory = knownOperations.get(settings) ?? new Map<string, Promise<boolean>>()
  knownOperations.set(settings, memory)
  return memory
}

/**
 * Reads something that not every service has (docs/reference/service.md, "Hosted service only"). After the
 * service said that it does not have it, nothing more is sent for it in this run. Throws only an error that
 * every read would have, such as a rejected token.
 */
export async function callIfAvailable<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  options: ExtraReadOptions<P> = {},
): Promise<ExtraRead<P>> {
  const memory = memoryOf(client)
  const name = [operationName(operation.route), options.feature].join(' ')
  if ((await memory.get(name)) === false) return {}
  const reading = read(client, operation, params, options)
  memory.set(
    name,
    reading.then(
      ({ result, failure }) => result !== undefined || failure !== undefined,
      () => true,
    ),
  )
  return reading
}

async function read<P extends Params>(
  client: ServiceClient,
  operation: Operation<P>,
  params: ParamValues<P>,
  options: ExtraReadOptions<P>,
): Promise<ExtraRead<P>> {
  try {
    const result = await callOperation(client, operation, params, options)
    return options.isPresent?.(result) === false ? {} : { result }
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    const { status } = failure.details
    const { missingStatuses = missingOperationStatuses } = options
    const isMissing = status !== undefined && missingStatuses.includes(status)
    return isMissing ? {} : { failure }
  }
}
