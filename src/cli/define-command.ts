import type { CallResult } from '../api/call.ts'
import type { BodyOverride, Operation, Params, ParamValues } from '../api/operation.ts'
import type { DecodedResponse } from '../api/response.ts'
import type { RequestLimits } from '../api/service-client.ts'
import type { ErrorKind, MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { ListEnd, ListPage } from '../methods/list.ts'
import type { Method } from '../methods/method.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import type { Screen } from '../output/view.ts'
import type { Presentation } from './calls.ts'
import type { Cli } from './cli.ts'
import type { FieldsDefinition } from './fields.ts'
import {
  type Inputs,
  type InputValues,
  type Options,
  type OptionValues,
  optionInputs,
  paramInput,
} from './inputs.ts'

/**
 * What the command prints on standard output: one text for every format, or a text for each. CSV and Markdown
 * have the rows of the table.
 */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** What help and the parser need to know about a command. */
export interface CommandDescription {
  /** The command as it is typed: `pr submit`. */
  readonly command: string
  readonly alias?: string
  readonly summary: string
  /**
   * Command lines that work. A line that exits with another code than 0 ends with `# exits with 8 if ...`.
   */
  readonly examples: readonly string[]
  /**
   * The kinds of exit code that the command can have in addition to those of every command and of its
   * operations (docs/reference/cli.md, "Exit codes").
   */
  readonly exitKinds?: readonly ErrorKind[]
  /** What the command prints, if that is not what its operation returns. */
  readonly output?: OutputDoc
  /** What `--fields` can select; by default the fields of receipts, for a change. */
  readonly fields?: FieldsDefinition
  /** Whether a failed request is a part of the result instead of the end of the command. */
  readonly toleratesErrors?: boolean
  /** Whether the command ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  /** Whether the command destroys something: a misspelt command is never corrected to it. */
  readonly destructive?: boolean
}

/** The values of a request: those of the params, of the inputs that replace them, and of the options. */
export type RequestValues<P extends Params, I extends Inputs, X extends Options> = Omit<
  ParamValues<P>,
  keyof I | keyof X
> &
  InputValues<I> &
  OptionValues<X>

/** What `present` may need to know beside the response and the values of the request. */
export interface PresentDetails {
  /** What `readBefore` returned. */
  readonly before?: JsonObject | undefined
  /** What `--set` replaced in the body. */
  readonly overrides: readonly BodyOverride[]
  /** Whether a screen is a sheet of the result and not a row: it is the only one, and `-o table` was not typed. */
  readonly showsSheet: boolean
  readonly context: Cli
}

/** How the requests of an operation are sent, and how their responses are printed. */
export interface RequestCommand<V = Readonly<Record<string, unknown>>> {
  /** The command as it is typed: `pr submit`. */
  readonly command: string
  /** Returns how a response is shown, other than as the JSON of the service. */
  present?(response: DecodedResponse, values: V, details: PresentDetails): Presentation
  /**
   * Returns the record that a change replaces, so that a person at a terminal sees what changed. It is called
   * before the change is sent, only for such a person, and an error that it throws is ignored.
   */
  readBefore?(values: V, context: Cli): Promise<JsonObject | undefined>
  /**
   * Returns an error that says more about a change that the service rejected. It is called only for a person
   * at a terminal; if it throws, the original error stays.
   */
  explainRejection?(failure: MergeqError, values: V, context: Cli): Promise<MergeqError>
  /** Whether the first failure stops the rest, as with --stop-on-error. */
  readonly stopsOnError?: boolean
  /**
   * Returns what ends a list on a terminal, instead of the notes about its range and length on standard
   * error; undefined where the notes say it. `records` are those that the last page has.
   */
  listEnding?(
    end: ListEnd & Pick<ListPage, 'records'>,
    values: V,
    context: Cli,
  ): Pick<Screen, 'footer' | 'sentence'> | undefined
}

export interface SendOneOptions {
  /** Whether it is the only request of the command; otherwise errors name the pull request. True by default. */
  readonly isOnly?: boolean
  readonly limits?: RequestLimits
}

/** A request that was sent: its response or its error. */
export interface SentRequest<V> {
  readonly request: ServiceRequest<V>
  readonly isOnly: boolean
  readonly result?: CallResult<Params>
  readonly failure?: MergeqError
  /** What `readBefore` returned. */
  readonly before?: JsonObject | undefined
}

/** What a `run` function uses: the context, and the requests that were typed. */
export interface RunContext<V> extends Cli {
  /**
   * Reads the requests of the command's operation: one for each pull request. Throws a usage error if a value
   * is wrong or missing.
   */
  requests(): Promise<readonly ServiceRequest<V>[]>
  /** Reads the request of a command that has exactly one. Throws the same errors. */
  request(): Promise<ServiceRequest<V>>
  /**
   * Sends requests of the operation and prints the responses, as without `run`. Returns the exit code.
   *
   * @param atOnce how many are sent at a time; 4 by default
   */
  send(requests: readonly ServiceRequest<V>[], atOnce?: number): Promise<number>
  /** Sends a request of the operation and prints nothing. */
  sendOne(request: ServiceRequest<V>, options?: SendOneOptions): Promise<SentRequest<V>>
  /** Prints a request that was sent, or logs its error. Returns the exit code. */
  report(sent: SentRequest<V>): Promise<number>
}

/**
 * A command. Its options and arguments are made from the params of its operation. Without `run`, it sends a
 * request of the operation for each pull request that was typed, and prints the responses: --dry-run,
 * receipts and exit codes included.
 */
export interface OldCommand<P extends Params = Params, I extends Inputs = Inputs, X extends Options = Options>
  extends CommandDescription,
    RequestCommand<RequestValues<P, I, X>> {
  readonly operation?: Method<P>
  /** Whether the command does something else than its operation, whose requests it only reads. */
  readonly isComposition?: boolean
  /** The params that can be typed; all by default. */
  readonly params?: readonly (keyof P & string)[]
  /** Inputs that replace the option of a param, by the name of the param; a constant is not typed. */
  readonly inputs?: I
  /** Options and arguments that are never sent. */
  readonly options?: X
  /**
   * Further operations that the command sends, in the order of its work; `any` is an operation that the user
   * names.
   */
  readonly operations?: readonly Operation[] | 'any'
  /** Whether the command changes the stored settings: then they are not read first. */
  readonly changesSettings?: boolean
  /** False for a command for which only options count: wrong settings must not keep it from running. */
  readonly needsSettings?: boolean
  /** Throws a usage error for options that contradict each other; the requests are not read yet. */
  check?(values: OptionValues<X>, context: Cli): void
  /** Runs instead of `run` with --dry-run, where that does more than to print the requests of the operation. */
  dryRun?(values: OptionValues<X>, context: RunContext<RequestValues<P, I, X>>): Promise<number>
  /**
   * Runs the command instead of its operation, and returns its exit code. With --dry-run it is called only if
   * the command has no operation: it then says what it would change.
   *
   * @param values the values of `options`
   */
  run?(values: OptionValues<X>, context: RunContext<RequestValues<P, I, X>>): Promise<number>
}

/** Returns the operation of a command that sends requests. */
export function operationOf({
  command,
  operation,
}: {
  readonly command?: string
  readonly operation?: Method | undefined
}): Method {
  if (operation === undefined) throw new Error(`mergeq ${command} has no operation`)
  return operation
}

type None = Record<never, never>

/** Defines a command; the values of its functions are typed from its operation, inputs and options. */
export const defineCommand = <
  const P extends Params = None,
  const I extends Inputs = None,
  const X extends Options = None,
>(
  command: OldCommand<P, I, X>,
): OldCommand<P, I, X> => command

/** What the requests of a command are read from. */
export type RequestSource<P extends Params, I extends Inputs, X extends Options> = Pick<
  OldCommand<P, I, X>,
  'operation' | 'params' | 'inputs' | 'options'
> & { readonly command?: string }

/** Returns the inputs of a request: those of the params, and the options of the command. */
export function requestInputs<P extends Params, I extends Inputs, X extends Options>({
  operation,
  params,
  inputs,
  options,
}: RequestSource<P, I, X>): Inputs {
  const entries = Object.entries(operation?.params ?? {}).flatMap(([name, param]) => {
    if (params !== undefined && !params.includes(name)) return []
    return [[name, inputs?.[name] ?? paramInput(name, param)] as const]
  })
  const others = Object.entries(inputs ?? {}).filter(([name]) => operation?.params[name] === undefined)
  return { ...Object.fromEntries([...entries, ...others]), ...optionInputs(options ?? {}) }
}
