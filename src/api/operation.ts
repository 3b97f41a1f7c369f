import type { CommandLine } from '../domain/suggested-command.ts'
import type { Json } from '../json.ts'
import type { DecodedResponse, ResponseDecoder } from './decode.ts'
import type { RecordType } from './operations/fields.ts'
import type { Paginator } from './pagination.ts'
import type { Params, ParamValues } from './param.ts'
import type { RecoveryResult, WriteObservation } from './recovery-rules.ts'
import type { Resource } from './resource.ts'

/** Method and path of an operation (docs/reference/service.md, "Operations"). */
export type Route = `${'GET' | 'POST'} /${string}`

/**
 * Who found a body too large: the limit of docs/reference/service.md, "Limits", or the service itself (status
 * 413).
 */
type BodyLimitSource = 'limit' | 'service'

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
  readonly replay: 'if-not-applied' | 'without-reading' | 'never'
  /**
   * The status with which the service responds to a change that was already made; for a replay it proves
   * nothing.
   */
  readonly alreadyAppliedStatus?: number
  /** The command that shows the current state to a person: `pr get`; empty if there is none. */
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
  hint?(status: number, resource: Resource, commandLine: CommandLine): string | undefined
}

/** Returns the hint of an operation that helps after a 404 only. */
export const hintIfNotFound =
  (hint: string) =>
  (status: number): string | undefined =>
    status === 404 ? hint : undefined

/** Returns a rule of write recovery by its name. The rules are loaded only when a change got no response. */
export const inspectWith =
  (rule: keyof typeof import('./recovery-rules.ts')): WriteRecovery['inspect'] =>
  async evidence =>
    (await import('./recovery-rules.ts'))[rule](evidence)

/**
 * Returns the members of the body that request the first page; none for an operation without pages.
 *
 * @param now milliseconds since 1970
 */
export const firstPageQuery = async <P extends Params>(
  operation: Pick<Operation<P>, 'pagination'>,
  params: ParamValues<P>,
  now: number,
): Promise<Readonly<Record<string, Json>>> => (await operation.pagination?.(params, now))?.nextQuery() ?? {}

/** An operation of the service: how it is requested, and how its response is read. */
export interface Operation<P extends Params = Params, R extends Route = Route> {
  readonly route: R
  /** What a call does, for the documentation of the library: a sentence. */
  readonly summary: string
  readonly params: P
  /** How to find out the outcome of a change without a response; left out for a read. */
  readonly recovery?: WriteRecovery
  readonly decoder: ResponseDecoder
  /** The records of a response; left out where the service responds with nothing. */
  readonly response?: RecordType
  /** The document of a response, where the records are only a part of it. */
  readonly document?: RecordType
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
  /** Pairs of params of which a request has at most one each. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** Throws a usage error for params that are not enough; `hasOverrides`: other fields of the body were given. */
  check?(params: ParamValues<P>, hasOverrides: boolean): void
  /** Removes from a response what the service cannot leave out; undefined when nothing is to be removed. */
  trimResponse?(params: ParamValues<P>): ((response: DecodedResponse) => DecodedResponse) | undefined
  /**
   * Params to send instead when the body is too large, and a warning about them; undefined when there are
   * none. May throw an error that says more than the number of bytes.
   */
  fallback?(
    params: ParamValues<P>,
    source: BodyLimitSource,
  ): { readonly params: ParamValues<P>; readonly warning: string } | undefined
  /**
   * Returns what requests all pages and combines them. Throws a usage error for params that contradict each other.
   *
   * @param now milliseconds since 1970, from which durations are subtracted
   */
  pagination?(params: ParamValues<P>, now: number): Promise<Paginator>
}

/** Defines an operation; the params of its functions are typed from its own `params`. */
export const defineOperation = <const P extends Params, const R extends Route>(
  operation: Operation<P, R>,
): Operation<P, R> => operation

/** Whether an operation changes something. */
export const isChange = ({ recovery }: Pick<Operation, 'recovery'>): boolean => recovery !== undefined

/** The same operation with another decoder for its responses. */
export const withDecoder = <P extends Params>(
  operation: Operation<P>,
  decoder: ResponseDecoder,
): Operation<P> => ({ ...operation, decoder })

/** The operation's name: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

/** The HTTP method of a route. */
export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')
