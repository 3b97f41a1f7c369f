import type { MergeqError } from '../base/errors.ts'
import type { RecordType } from './operations/fields.ts'
import type { NameOf, Params, ParamValues } from './params.ts'
import type { Resource } from './resource.ts'
import type { DecodedResponse, Pages, ResponseDecoder } from './response.ts'

/** Method and path of an operation (docs/reference/service.md, "Operations"). */
type Route = `${'GET' | 'POST'} /${string}`

/** What a reading says about a change: see `recoveryRules`. */
export type RecoveryRule = 'submit' | 'cancel' | 'restart' | 'create' | 'update' | 'delete'

export interface ReadBack {
  /** The change has all its params. */
  readonly operation: Operation
  readonly rule: RecoveryRule
}

/** How to find out what became of a change without a response (docs/reference/network.md, "Write recovery"). */
export interface WriteRecovery {
  /** Left out where no operation shows the change. */
  readonly readBack?: ReadBack
  /** When the same bytes may be sent again. */
  readonly replay: 'if-not-applied' | 'without-reading' | 'never'
  /** The response to a change that was already made; for a replay it proves nothing. */
  readonly alreadyAppliedStatus?: number | undefined
}

/** What an operation changes, and what is said of it; the words are left out where they are not known. */
export interface Change {
  /** What messages call one such change: `cancellation`. */
  readonly noun?: string
  /** What it does to its pull request or queue, in messages: `cancelled`. */
  readonly done?: string
  /**
   * The sentence about one such change, as a question or plan begins and as it was made; `{pr}` and `{queue}` are its
   * pull request and queue.
   */
  readonly sentence?: Readonly<Record<'before' | 'after', string>>
  /** Whether it is about a queue itself. */
  readonly isOfQueue?: boolean
  /** Whether it submits a pull request, which may be in the queue already. */
  readonly isSubmission?: boolean
  /** Whether a pull request that nobody named, but that the checkout gives, is changed without a question. */
  readonly actsOnGuess?: boolean
  readonly recovery: WriteRecovery
}

/** The words of an operation in errors about its responses, where the general words do not fit. */
interface OperationErrors {
  /** What a request is about, where that is neither the pull request nor the queue: `the test run`. */
  readonly subject?: string
  /** What to check after a 404: params, or words that begin with `the`; by default repository and branch. */
  readonly check?: readonly string[]
  /** Whether a request makes what it is about: then a 404 is about something else. */
  readonly makesSubject?: boolean
  /** What to do after a refusal, instead of the advice of the caller; undefined where the general hint fits. */
  hint?(status: number): string | undefined
}

interface OperationRequest<P extends Params, R extends Route> {
  readonly route: R
  readonly params: P
  /** Whether requests have no token. */
  readonly isPublic?: boolean
  /** Pairs of params of which a request has at most one each. */
  readonly exclusive?: readonly (readonly [string, string])[]
  /** Throws a usage error for values that are not enough; `hasOverrides`: other fields of the body were given. */
  check?(values: ParamValues<P>, hasOverrides: boolean, nameOf: NameOf): void
  /**
   * Returns values to send instead when the body is too large for the limit of docs/reference/service.md,
   * "Limits", or for the service (413), and a warning about them. May throw an error that says more than the
   * number of bytes.
   */
  fallback?(
    values: ParamValues<P>,
    failure: MergeqError,
  ): { readonly values: ParamValues<P>; readonly warning: string } | undefined
}

interface OperationResponse<P extends Params> {
  readonly decoder: ResponseDecoder
  /** How it is read page by page; left out for an operation that is no list. */
  readonly pages?: Pages
  /** The records of a response; left out where the service responds with nothing. */
  readonly response?: RecordType
  /** The document of a response, where the records are only a part of it. */
  readonly document?: RecordType
  /** Throws a `bad-answer` error for a response that is about something else than the request. */
  checkResponse?(response: DecodedResponse, resource: Resource): void
  /** Returns a response without what the service cannot leave out. */
  adaptResponse?(response: DecodedResponse, values: ParamValues<P>): DecodedResponse
  readonly errors?: OperationErrors
}

/** An operation of the service: its request, its response, and what it changes; `ListOperation` adds filters and a limit. */
export interface Operation<P extends Params = Params, R extends Route = Route>
  extends OperationRequest<P, R>,
    OperationResponse<P> {
  /** What a call does, for the documentation of the library: a sentence. */
  readonly summary: string
  /** Whether only the hosted service is known to have it (docs/reference/service.md, "Hosted service only"). */
  readonly isHostedOnly?: boolean
  /** Left out for a read. */
  readonly change?: Change
}

/** Defines an operation; the params of its functions are typed from its own `params`. */
export const defineOperation = <const P extends Params, const R extends Route>(
  operation: Operation<P, R>,
): Operation<P, R> => ({
  ...operation,
  params: operationMethod(operation.route) === 'POST' ? inBody(operation.params) : operation.params,
})

const inBody = <P extends Params>(params: P): P =>
  Object.fromEntries(
    Object.entries(params).map(([name, param]) => [name, { location: `body.${name}`, ...param }]),
  ) as P

/** A change with what command line and library add to it; the functions are typed from its own `params`. */
export const extendOperation = <const P extends Params, R extends Route>(
  operation: Operation<Params, R>,
  own: Pick<Operation<P>, 'params' | 'check' | 'fallback'>,
): Operation<P, R> => ({ ...operation, ...own }) as Operation<P, R>

/** An operation whose params nobody names. */
export function anyOperation<P extends Params>(operation: Operation<P>): Operation
export function anyOperation(operation: Operation): Operation {
  return operation
}

export const isChange = ({ change }: Pick<Operation, 'change'>): boolean => change !== undefined

/** The operation's name: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')
