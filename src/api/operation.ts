import type { Inputs, InputValues } from '../cli/inputs.ts'
import type { ErrorKind } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { View } from '../output/view.ts'
import type { DecodedResponse, ResponseDecoder } from './decode.ts'
import type { Paginator } from './pagination.ts'

/** Method and path of an operation (service-api.md section 4). */
export type Route = `${'GET' | 'POST'} /${string}`

/** What every command tells of itself, an operation's and a hand-written one's. */
export interface CommandDescription<F extends Inputs = Inputs> {
  /** As typed: `pr submit`. */
  readonly command: string
  readonly alias?: string
  readonly summary: string
  readonly inputs: F
  /** Command lines that work; one that ends with another code than 0 says so behind a `#`: `# exits with 8, ...`. */
  readonly examples: readonly string[]
  /** Kinds in which it ends besides those of every command and of the operations that it sends (CLI.md section 9). */
  readonly exitKinds?: readonly ErrorKind[]
}

/** Who says that a body is too big: the limit of service-api.md section 8, or the service itself (413). */
export type BodyLimitSource = 'limit' | 'service'

/** What must be answered before something is destroyed: y, or a name typed in full. */
export interface Confirmation {
  readonly text: string
  readonly answer: string
}

/** What is known when a change got no answer and the service was read again (WIRE.md section 2). */
export interface WriteObservation {
  /** What was read; undefined when the service knows nothing of it (404). */
  readonly record: JsonObject | undefined
  /** The body that was sent. */
  readonly sent: JsonObject
  /** The first and the last second in which it may have been sent, by the service's clock, in seconds since 1970. */
  readonly sentFrom: number
  readonly sentTo: number
}

/**
 * What one reading says of a change. `done`: the change shows. `not-applied`: it does not. `seems-done`: an end shows
 * that may be older than the change, which several readings must show. `refused` says why the change can no longer be
 * made; unless `isDated`, after the sending, several readings must show that as well.
 */
export type RecoveryResult =
  | 'done'
  | 'seems-done'
  | 'not-applied'
  | 'unclear'
  | { readonly refused: string; readonly isDated?: boolean }

/** How a change is settled when no answer came: what to read, what that means, and whether it may be sent once more. */
export interface WriteRecovery {
  /** What is read back; undefined where nothing can tell. */
  readonly readBack?: Operation
  /** When the same bytes may be sent once more: after reading that it was not applied, without reading, or never. */
  readonly replay: 'if-not-applied' | 'unread' | 'never'
  /** The status that the service answers where the change was made already: to a replay it proves nothing. */
  readonly repeated?: number
  /** The command that tells a person how it stands. */
  readonly inspectCommand: string
  inspect(evidence: WriteObservation): RecoveryResult
}

/** One operation of the service: a row of data that the line carries from argv to exit code. */
export interface Operation<P extends Route = Route, F extends Inputs = Inputs> extends CommandDescription<F> {
  readonly route: P
  /** `false` for a read; for a change, how it is settled when no answer came: it is never resent blindly. */
  readonly effect: false | WriteRecovery
  /** Several are sent one after another: the order in which they arrive matters. */
  readonly isOrdered?: boolean
  readonly decoder: ResponseDecoder
  /** Leaves out of an answer what was not asked for and the service cannot leave out itself. */
  narrow?(values: InputValues<F>): ((reply: DecodedResponse) => DecodedResponse) | undefined
  view(reply: DecodedResponse, values: InputValues<F>): View
  /** Refuses, before anything is sent, what no field can refuse alone. `sets` are the paths given by `--set`. */
  check?(values: InputValues<F>, overrides: readonly string[]): void
  /** What is asked before it destroys something; undefined asks nothing. */
  confirm?(runs: readonly InputValues<F>[]): Confirmation | undefined
  /**
   * The values to send instead when the body is too big, `why` says for whom, and what to warn of; undefined refuses, and
   * so does a failure of its own, which says more than the number of bytes.
   */
  fallback?(
    values: InputValues<F>,
    why: BodyLimitSource,
  ): { readonly values: InputValues<F>; readonly warning: string } | undefined
  /** Follows pages: makes one answer of many. */
  pagination?(values: InputValues<F>): Paginator
}

/** Declares an operation; what `view` and `check` get is typed from the row's own `fields`. */
export const defineOperation = <const P extends Route, const F extends Inputs>(
  row: Operation<P, F>,
): Operation<P, F> => row

/** The operation's name: its path without the leading slash (`submitPullRequest`). */
export const operationName = (route: Route): string => route.slice(route.indexOf('/') + 1)

export const operationMethod = (route: Route): 'GET' | 'POST' => (route.startsWith('GET ') ? 'GET' : 'POST')
