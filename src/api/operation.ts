import type { CommandLine } from '../domain/suggested-command.ts'
import type { Json, JsonObject } from '../json.ts'
import type { DecodedResponse, ResponseDecoder } from './decode.ts'
import type { Paginator } from './pagination.ts'
import type { Params, ParamValues } from './param.ts'
import type { Resource } from './resource.ts'

/** Method and path of an operation (docs/reference/service.md, "Operations"). */
export type Route = `${'GET' | 'POST'} /${string}`

/**
 * What found a body too large: the limit of docs/reference/service.md, "Limits", or the service with status
 * 413.
 */
type BodyLimitSource = 'limit' | 'service'

/**
 * What is known about a change that got no response, once the service was read again
 * (docs/reference/network.md, "Write recovery").
 */
export interface WriteObservation {
  /** The record that was read; undefined if the service responded with 404. */
  readonly record: JsonObject | undefined
  /** The body that was sent. */
  readonly sent: JsonObject
  /**
   * The first and the last second in which the change may have been sent, by the service's clock, in seconds
   * since 1970.
   */
  readonly sentFrom: number
  readonly sentTo: number
}

/**
 * What one reading says about a change. `done`: the record shows the change. `not-applied`: the record does
 * not show it. `seems-done`: the record shows the result, which may also come from something earlier.
 * `unclear`: the record proves nothing. `refused`: the change can no longer be made, for the reason in the
 * text. `seems-done` and `refused` count only if several readings agree; `isDated` makes one reading enough,
 * because the reason arose after the change was sent.
 */
export type RecoveryResult =
  | 'done'
  | 'seems-done'
  | 'not-applied'
  | 'unclear'
  | { readonly refused: string; readonly isDated?: boolean }

/** The operation whose response shows whether a change was applied. */
interface ReadBack {
  readonly operation: Operation
  /** The params of that operation. The service is read only if the body of the change names all of them. */
  readonly params: readonly string[]
}

/** What to do if a change gets no response: how to read it back, and whether to send it again. */
export interface WriteRecovery {
  /** Left out if no operation shows the change. */
  readonly readBack?: ReadBack
  /**
   * When the same bytes may be sent once more: after readings that do not show the change, without any
   * reading, or never.
   */
  readonly replay: 'if-not-applied' | 'unread' | 'never'
  /**
   * The status with which the service refuses a change that was made before. After a replay it proves
   * nothing, because the first request may have been applied.
   */
  readonly repeated?: number
  /** The command that shows the current state to the user: `pr get`; empty if there is none. */
  readonly inspectCommand: string
  inspect(evidence: WriteObservation): RecoveryResult | Promise<RecoveryResult>
}

/** The words of an operation in error messages, where the general words do not fit. */
export interface OperationErrors {
  /** What the request is about, if that is neither a pull request nor a queue: `the test run`. */
  readonly subject?: string
  /**
   * Returns what to do after the service refused a request with this status; undefined if the general advice
   * fits.
   */
  hint?(status: number, resource: Resource, commandLine: CommandLine): string | undefined
}

/** Returns a `hint` that applies to status 404 only. */
export const hintIfNotFound =
  (hint: string) =>
  (status: number): string | undefined =>
    status === 404 ? hint : undefined

/**
 * Returns the members of the body that request the first page; an empty object for an operation without
 * pages.
 */
export const firstPageQuery = async <P extends Params>(
  operation: Pick<Operation<P>, 'pagination'>,
  params: ParamValues<P>,
): Promise<Readonly<Record<string, Json>>> => (await operation.pagination?.(params))?.nextQuery() ?? {}

/** An operation of the service: how to request it, and how to read its response. */
export interface Operation<P extends Params = Params, R extends Route = Route> {
  readonly route: R
  readonly params: P
  /** `false` for a read; for a change, how to find out its outcome if there is no response. */
  readonly effect: false | WriteRecovery
  readonly decoder: ResponseDecoder
  /** The dotted names of the fields of a record; left out if the response has no records. */
  readonly fields?: readonly string[]
  /** The names of the fields of the document, if the document contains more than the records. */
  readonly documentFields?: readonly string[]
  readonly errors?: OperationErrors
  /**
   * Whether only the hosted service is known to have the operation
   * (docs/reference/service.md, "Hosted service only").
   */
  readonly isHostedOnly?: boolean
  /** The members of the body that contain a state (docs/reference/service.md, "Case of states"). */
  readonly stateFields?: readonly string[]
  /** Whether requests are sent without a token. */
  readonly isPublic?: boolean
  /**
   * Returns a function that removes from a response what the request could not exclude; undefined if nothing
   * is to be removed.
   */
  narrow?(params: ParamValues<P>): ((response: DecodedResponse) => DecodedResponse) | undefined
  /**
   * Returns other params for a body that is too large, and a warning about them; undefined if there are none.
   * May throw an error that explains the size better than a number of bytes.
   */
  fallback?(
    params: ParamValues<P>,
    source: BodyLimitSource,
  ): { readonly params: ParamValues<P>; readonly warning: string } | undefined
  /** Returns the reader of all pages of the list. */
  pagination?(params: ParamValues<P>): Promise<Paginator>
}

/** Defines an operation. The params of its functions have the types that `params` gives. */
export const defineOperation = <const P extends Params, const R extends Route>(
  operation: Operation<P, R>,
): Operation<P, R> => operation

/** Returns the same operation with another decoder for its responses. */
export const withDecoder = <P extends Params>(
  operation: Operation<P>,
  decoder: ResponseDecoder,
): Operation<P> => ({ ...operation, decoder })

/** Returns the name of an operation: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')
