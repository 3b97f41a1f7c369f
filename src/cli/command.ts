import type { BodyOverride } from '../api/body-overrides.ts'
import type { DecodedResponse } from '../api/decode.ts'
import type { Operation } from '../api/operation.ts'
import type { PaginationEnd } from '../api/pagination.ts'
import type { Params, ParamValue } from '../api/param.ts'
import type { ErrorKind, MergeqError } from '../errors.ts'
import type { Environment } from '../host/host.ts'
import type { JsonObject } from '../json.ts'
import type { View } from '../output/view.ts'
import type { CommandContext } from './context.ts'
import { type FieldsDefinition, receiptRecord } from './fields/record-fields.ts'
import type { Input, Inputs, InputValues } from './inputs.ts'
import type { Invocation, RequestDefinition } from './invocation.ts'

/**
 * Documentation of standard output: for every format, or for each; CSV and Markdown have the rows of the
 * table.
 */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** Runs a whole command line in this process, as if it had been typed, and returns its exit code. */
export type CommandRunner = (
  argv: readonly string[],
  env: Environment,
  sinks: RunnerOutput,
) => Promise<number>

/** The outputs of a command line that runs in this process. */
interface RunnerOutput {
  /** Whether standard output counts as a terminal. */
  readonly terminal: boolean
  out(text: string | Uint8Array): Promise<void>
  err(text: string | Uint8Array): Promise<void>
}

/** What help and the parser need to know about a command. */
export interface CommandDescription<F extends Inputs = Inputs> {
  /** The command as it is typed: `pr submit`. */
  readonly command: string
  readonly alias?: string
  readonly summary: string
  readonly inputs: F
  /** Command lines that work; a line with another exit code than 0 ends with `# exits with 8 if ...`. */
  readonly examples: readonly string[]
  /**
   * Error kinds in addition to those of every command and of the operations that the command sends
   * (docs/reference/cli.md, "Exit codes").
   */
  readonly exitKinds?: readonly ErrorKind[]
  /** What the command prints, where that is not what its operation returns. */
  readonly output?: OutputDoc
  /** What `--fields` can select, where the command does not print receipts. */
  readonly fields?: FieldsDefinition
}

/** What the user must type before something is destroyed: y, or a name in full. */
export interface Confirmation {
  readonly text: string
  readonly expectedInput: string
}

/** What ends a list on a terminal: lines below the table, or a sentence instead of an empty table. */
export type ListEnding = Pick<View, 'footer' | 'sentence'>

/** The inputs of an operation's params: every required param has one. */
export type ParamInputs<P extends Params> = {
  readonly [K in keyof P as undefined extends ParamValue<P[K]> ? never : K]: Input<ParamValue<P[K]>>
} & { readonly [K in keyof P as undefined extends ParamValue<P[K]> ? K : never]?: Input<ParamValue<P[K]>> }

/** The requests of one operation, and how their responses are printed; `runInvocations` sends them. */
export interface OperationRequest<P extends Params = Params, F extends Inputs = Inputs>
  extends RequestDefinition<P, F> {
  /** Whether several requests are sent one after another, because their order matters to the service. */
  readonly isOrdered?: boolean
  /**
   * @param before what `readBefore` returned
   * @param overrides what `--set` replaced in the body
   */
  view(
    response: DecodedResponse,
    values: InputValues<F>,
    before?: JsonObject,
    overrides?: readonly BodyOverride[],
  ): View
  /**
   * Returns the record that a change replaces, so that a person at a terminal sees what changed. It is called
   * before the change is sent, only for such a person, and an error that it throws is ignored.
   */
  readBefore?(values: InputValues<F>, context: CommandContext): Promise<JsonObject | undefined>
  /**
   * Returns an error that says more about a change that the service rejected. It is called only for a person
   * at a terminal; if it throws, the original error stays.
   */
  explainRejection?(
    failure: MergeqError,
    values: InputValues<F>,
    context: CommandContext,
  ): Promise<MergeqError>
  /**
   * Returns what ends a list on a terminal, instead of the notes about its range and length on standard
   * error; undefined where the notes say it.
   */
  listEnding?(end: PaginationEnd, values: InputValues<F>, context: CommandContext): ListEnding | undefined
  /** The question before something is destroyed; undefined when nothing is asked. */
  confirm?(runs: readonly InputValues<F>[]): Confirmation | undefined
}

/** A command that is exactly one operation. */
export interface OperationCommand<P extends Params = Params, F extends Inputs = Inputs>
  extends CommandDescription<F>,
    OperationRequest<P, F> {
  readonly command: string
  readonly inputs: F
}

/** A command with its own logic. */
export interface CommandDefinition<F extends Inputs = Inputs, R extends Inputs = Inputs>
  extends CommandDescription<F> {
  /** The operation that the command is, where it is an operation with additions. */
  readonly operation?: Operation
  /** The request that the command is built on: the command has its inputs, too. */
  readonly request?: RequestDefinition<Params, R>
  /** Whether `run` reads the requests itself, because files name the resources: `invocations` is empty. */
  readonly readsRequests?: boolean
  /**
   * Other operations that the command sends, in the order of its work; `any` is an operation that the user
   * names.
   */
  readonly operations?: readonly Operation[] | 'any'
  /** Whether a failed request is a part of the result instead of the end of the command. */
  readonly toleratesErrors?: boolean
  /** Whether the command ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  /** Whether the command changes the stored settings: then they are not read first. */
  readonly changesSettings?: boolean
  /** Throws a usage error for values that contradict each other, before the requests are read. */
  validate?(values: InputValues<F>, context: CommandContext): void
  /** The question before something is destroyed; undefined when nothing is asked. */
  confirm?(
    runs: readonly InputValues<R>[],
    values: InputValues<F>,
    context: CommandContext,
  ): Confirmation | undefined | Promise<Confirmation | undefined>
  /**
   * What --dry-run does instead of `run`. Without it, the requests are printed. A command without a request
   * runs as usual: it changes nothing, or reads `context.options.dryRun` itself.
   */
  dryRun?(
    values: InputValues<F>,
    context: CommandContext,
    invocations: readonly Invocation<R>[],
  ): Promise<number>
  /**
   * Runs the command and returns its exit code.
   *
   * @param invocations the requests that were typed, one for each pull request
   * @param runner runs further command lines in this process
   */
  run(
    values: InputValues<F>,
    context: CommandContext,
    invocations: readonly Invocation<R>[],
    runner: CommandRunner,
  ): Promise<number>
}

/** The fields of a command that says nothing about them: a change prints receipts. */
const defaultFields = ({
  operation,
}: {
  readonly operation?: Operation
}): Pick<CommandDescription, 'fields'> =>
  operation !== undefined && operation.effect !== false ? { fields: receiptRecord } : {}

/** Defines a command with its own logic; the values of `run` are typed from its inputs and its request. */
export const defineCommand = <const F extends Inputs, const R extends Inputs = Inputs>(
  command: CommandDefinition<F, R>,
): CommandDefinition<F, R> => ({ ...defaultFields(command.request ?? command), ...command })

/** Defines the requests of one operation; the inputs must give every required param. */
export const defineOperationRequest = <const P extends Params, const F extends ParamInputs<P> & Inputs>(
  request: OperationRequest<P, F>,
): OperationRequest<P, F> => request

/** Defines a command that is exactly one operation; its inputs must give every required param. */
export const defineOperationCommand = <const P extends Params, const F extends ParamInputs<P> & Inputs>(
  command: OperationCommand<P, F>,
): OperationCommand<P, F> => ({ ...defaultFields(command), ...command })
