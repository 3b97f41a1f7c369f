import type { CallResult } from '../api/call.ts'
import type { Params } from '../api/operation.ts'
import type { RequestLimits } from '../api/service-client.ts'
import { failureOrThrow, isNotFound, type MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { callMethod } from '../methods/call.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import type { Cli } from './cli.ts'
import { readsMore } from './context.ts'
import { each } from './each.ts'
import { type Called, type PresentOptions, printOutcome, type RequestValues } from './presentation.ts'

/** What a command adds to the sending of its requests; everything may be left out. */
export interface RequestsOptions<V> extends PresentOptions<V> {
  /**
   * Returns the record that a change replaces, so that a person at a terminal sees what changed. It is called before
   * the change is sent, only for such a person, and an error that it throws is ignored.
   */
  before?(values: V): Promise<JsonObject | undefined>
  /** Returns an error that says more about a request that failed; if it throws, the original error stays. */
  explain?(failure: MergeqError, request: ServiceRequest<V>): Promise<MergeqError>
  /** Sends a request in the place of `call`. */
  send?(request: ServiceRequest<V>): Promise<CallResult<Params>>
  /** How many requests are sent at a time; 4 by default. */
  readonly atOnce?: number | undefined
  /** Whether the first exit code other than 0 stops the rest; by default with `--stop-on-error`. */
  readonly stopOnError?: boolean | undefined
}

interface CallOptions<V> extends Pick<RequestsOptions<V>, 'explain'> {
  readonly limits?: RequestLimits
}

/** Sends a request, and prints nothing. */
export async function call<V extends RequestValues>(
  cli: Cli,
  request: ServiceRequest<V>,
  { limits = {}, explain }: CallOptions<V> = {},
): Promise<CallResult<Params>> {
  const { operation, values, overrides } = request
  try {
    return await callMethod(cli.client(), operation, values, { overrides, limits })
  } catch (error) {
    const failure = await explainNotFound(cli, request, failureOrThrow(error))
    if (explain === undefined) throw failure
    throw await explain(failure, request).catch(() => {
      cli.host.interrupted.throwIfAborted()
      return failure
    })
  }
}

/** Returns the error of a request; that of a missing queue says which queue was probably meant. */
export async function explainNotFound(
  cli: Cli,
  request: ServiceRequest,
  failure: MergeqError,
): Promise<MergeqError> {
  if (failure.kind !== 'not-found' || !isNotFound(failure) || !readsMore(cli)) return failure
  const { explainMissingQueue } = await import('./missing-queue.ts')
  return explainMissingQueue(cli, request, failure)
}

/** Sends requests, and prints the responses in the order of the requests. Returns the most severe exit code. */
export async function runRequests<V extends RequestValues>(
  cli: Cli,
  requests: readonly ServiceRequest<V>[],
  options: RequestsOptions<NoInfer<V>>,
): Promise<number> {
  if (requests.length === 0) return 0
  const { atOnce, stopOnError, explain } = options
  const send = options.send ?? (request => call(cli, request, explain === undefined ? {} : { explain }))
  const showsSheet = requests.length === 1 && !cli.args.has('--output')
  const work = async (request: ServiceRequest<V>): Promise<Called> => {
    const before = await readBefore(cli, request, options)
    return { before, called: await send(request) }
  }
  const { report } = await each(cli, requests, work, {
    atOnce,
    stopOnError,
    print: outcome => printOutcome(cli, outcome, { ...options, showsSheet }),
  })
  await cli.printer.end()
  return report()
}

async function readBefore<V extends RequestValues>(
  cli: Cli,
  { values }: ServiceRequest<V>,
  { before }: RequestsOptions<V>,
): Promise<JsonObject | undefined> {
  if (before === undefined || cli.results !== 'screen' || !readsMore(cli)) return undefined
  try {
    return await before(values)
  } catch {
    cli.host.interrupted.throwIfAborted()
    return undefined
  }
}
