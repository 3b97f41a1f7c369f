import type { Json, JsonObject } from '../json.ts'
import type { DecodedResponse, ResponseDecoder } from './decode.ts'
import type { Paginator } from './pagination.ts'
import type { Params, ParamValues } from './param.ts'
import type { Resource } from './resource.ts'

/** Method and path of an operation (docs/reference/service.md, "Operations"). */
export type Route = `${'GET' | 'POST'} /${string}`

/**
 * Who found a body too large: the limit of docs/reference/service.md, "Limits", or the service itself (status
 * 413).
 */
type BodyLimitSource = 'limit' | 'service'

/**
 * What is known when a change got no response and the service was read again
 * (docs/reference/network.md, "Write recovery").
 */
export interface WriteObservation {
  /** The record that was read; undefined when the service responded with 404. */
  readonly record: JsonObject | undefined
  /** The body that was sent. */
  readonly sent: JsonObject
  /**
   * First and last second in which the change may have been sent, by the service's clock, in seconds since
   * 1970.
   */
  readonly sentFrom: number
  readonly sentTo: number
}

/**
 * What a reading says about a change. `done`: the record shows the change. `not-applied`: it does not.
 * `seems-done`: the record shows the result, but the result may be older than the change; several readings
 * must agree. `refused`: why the change can no longer be made; several readings must agree, unless `isDated`
 * says that the reason arose after the change was sent.
 */
export type RecoveryResult =
  | 'done'
  | 'seems-done'
  | 'not-applied'
  | 'unclear'
  | { readonly refused: string; readonly isDated?: boolean }

/** The operation that reads back what a change should have changed. */
interface ReadBack {
  readonly operation: Operation
  /** Its params: the body of the change must name every one of them. */
  readonly params: readonly string[]
}

/**
 * What happens when a change gets no response: what to read back, what it means, whether to send the change
 * again.
 */
export interface WriteRecovery {
  /** Left out where no operation shows the change. */
  readonly readBack?: ReadBack
  /**
   * When the same bytes may be sent again: after a reading that shows no change, without a reading, or
   * never.
   */
  readonly replay: 'if-not-applied' | 'unread' | 'never'
  /**
   * The status with which the service responds to a change that was already made; for a replay it proves
   * nothing.
   */
  readonly repeated?: number
  /** The command that shows the current state to a person. */
  readonly inspectCommand: string
  inspect(evidence: WriteObservation): RecoveryResult | Promise<RecoveryResult>
}

/** The words of an operation in errors about its responses, where the general words do not fit. */
export interface OperationErrors {
  /** What a request is about, where that is neither the pull request nor the queue: `the test run`. */
  readonly subject?: string
  /**
   * What to do after the service refused a request with this status; undefined where the general advice
   * fits.
   */
  hint?(status: number, resource: Resource): string | undefined
}

/** Returns the hint of an operation that helps after a 404 only. */
export const hintIfNotFound =
  (hint: string) =>
  (status: number): string | undefined =>
    status === 404 ? hint : undefined

/** Returns the members of the body that request the first page; none for an operation without pages. */
export const firstPageQuery = async <P extends Params>(
  operation: Pick<Operation<P>, 'pagination'>,
  params: ParamValues<P>,
): Promise<Readonly<Record<string, Json>>> => (await operation.pagination?.(params))?.nextQuery() ?? {}

/** An operation of the service: how it is requested, and how its response is read. */
export interface Operation<P extends Params = Params, R extends Route = Route> {
  readonly route: R
  readonly params: P
  /** `false` for a read; for a change, how to find out its outcome without a response. */
  readonly effect: false | WriteRecovery
  readonly decoder: ResponseDecoder
  /** The dotted names of the fields of a record; left out where the service responds with nothing. */
  readonly fields?: readonly string[]
  /** The names of the fields of the document, where the records are only a part of it. */
  readonly documentFields?: readonly string[]
  readonly errors?: OperationErrors
  /**
   * Whether only the hosted service is known to have the operation
   * (docs/reference/service.md, "Hosted service only").
   */
  readonly isHostedOnly?: boolean
  /** Members of the body that have a state (docs/reference/service.md, "Case of states"). */
  readonly stateFields?: readonly string[]
  /** Whether requests have no token. */
  readonly isPublic?: boolean
  /** Removes from a response what the service cannot leave out; undefined when nothing is to be removed. */
  narrow?(params: ParamValues<P>): ((response: DecodedResponse) => DecodedResponse) | undefined
  /**
   * Params to send instead when the body is too large, and a warning about them; undefined when there are
   * none. May throw an error that says more than the number of bytes.
   */
  fallback?(
    params: ParamValues<P>,
    source: BodyLimitSource,
  ): { readonly params: ParamValues<P>; readonly warning: string } | undefined
  /** Returns what requests all pages and combines them. */
  pagination?(params: ParamValues<P>): Promise<Paginator>
}

/** Defines an operation; the params of its functions are typed from its own `params`. */
export const defineOperation = <const P extends Params, const R extends Route>(
  operation: Operation<P, R>,
): Operation<P, R> => operation

/** The same operation with another decoder for its responses. */
export const withDecoder = <P extends Params>(
  operation: Operation<P>,
  decoder: ResponseDecoder,
): Operation<P> => ({ ...operation, decoder })

/** The operation's name: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

/** The HTTP method of a route. */
export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')
