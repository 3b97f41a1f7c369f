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
 * What the command prints on standard output: one text for every format, or a text for each. CSV and Markdown
 * have the rows of the table.
 */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** Runs a whole command line in this process, as if it had been typed, and returns its exit code. */
export type CommandRunner = (
  argv: readonly string[],
  env: Environment,
  sinks: RunnerOutput,
) => Promise<number>

/** Where the output of a command line that runs in this process goes. */
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
  /** Whether it destroys something: a misspelt command line is never corrected to it. */
  readonly destructive?: boolean
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
  /** What `--fields` can select, if the command does not print receipts. */
  readonly fields?: FieldsDefinition
}

/** A question, and the input that confirms it: y, or the full name of what is destroyed. */
export interface Confirmation {
  readonly text: string
  readonly expectedInput: string
}

/** What a list on a terminal ends with: lines below the table, or a sentence instead of an empty table. */
export type ListEnding = Pick<View, 'footer' | 'sentence'>

/** The inputs that an operation needs: one for every required param. */
export type ParamInputs<P extends Params> = {
  readonly [K in keyof P as undefined extends ParamValue<P[K]> ? never : K]: Input<ParamValue<P[K]>>
} & { readonly [K in keyof P as undefined extends ParamValue<P[K]> ? K : never]?: Input<ParamValue<P[K]>> }

/** The requests of one operation, and how their responses are printed. `runInvocations` sends them. */
export interface OperationRequest<P extends Params = Params, F extends Inputs = Inputs>
  extends RequestDefinition<P, F> {
  /** Whether requests are sent one after another, because the service depends on their order. */
  readonly isOrdered?: boolean
  /**
   * Returns the view of a response. `before` is the record that `readBefore` returned; `overrides` are the
   * values that `--set` replaced in the body.
   */
  view(
    response: DecodedResponse,
    values: InputValues<F>,
    before?: JsonObject,
    overrides?: readonly BodyOverride[],
  ): View
  /**
   * Returns the record that a change is about to replace, for a view that shows what changed. Called before
   * the change is sent, and only if a person at a terminal sees the result. An error that it throws is
   * ignored.
   */
  readBefore?(values: InputValues<F>, context: CommandContext): Promise<JsonObject | undefined>
  /**
   * Returns an error that explains why the service rejected a change. Called only for a person at a terminal.
   * If it throws, the original error is reported.
   */
  explainRejection?(
    failure: MergeqError,
    values: InputValues<F>,
    context: CommandContext,
  ): Promise<MergeqError>
  /**
   * Returns what a list on a terminal ends with, in place of the notes on standard error about its range and
   * length; undefined if those notes are to be written.
   */
  listEnding?(end: PaginationEnd, values: InputValues<F>, context: CommandContext): ListEnding | undefined
  /** Returns the question to ask before something is destroyed; undefined if there is nothing to ask. */
  confirm?(runs: readonly InputValues<F>[]): Confirmation | undefined
}

/** A command that sends the requests of one operation and does nothing else. */
export interface OperationCommand<P extends Params = Params, F extends Inputs = Inputs>
  extends CommandDescription<F>,
    OperationRequest<P, F> {
  readonly command: string
  readonly inputs: F
}

/** A command with a `run` function of its own. */
export interface CommandDefinition<F extends Inputs = Inputs, R extends Inputs = Inputs>
  extends CommandDescription<F> {
  /** The operation that the command performs, for a command that adds something to one operation. */
  readonly operation?: Operation
  /** The requests that the command is built on: the command has all their inputs as well. */
  readonly request?: RequestDefinition<Params, R>
  /**
   * Whether `run` reads the requests itself because files name what they are about. `invocations` is then
   * empty.
   */
  readonly readsRequests?: boolean
  /**
   * Other operations that the command sends, in the order in which it sends them; `any` if the user names the
   * operation.
   */
  readonly operations?: readonly Operation[] | 'any'
  /** Whether the command reports a failed request as a part of its result and continues. */
  readonly toleratesErrors?: boolean
  /** Whether the command ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  /** Whether the command changes the stored settings. It then runs without the settings of the profile. */
  readonly changesSettings?: boolean
  /** Throws a usage error for values that contradict each other, before the requests are read. */
  validate?(values: InputValues<F>, context: CommandContext): void
  /** Returns the question to ask before something is destroyed; undefined if there is nothing to ask. */
  confirm?(
    runs: readonly InputValues<R>[],
    values: InputValues<F>,
    context: CommandContext,
  ): Confirmation | undefined | Promise<Confirmation | undefined>
  /**
   * What `--dry-run` does instead of `run`; without this function it prints the requests. A command without
   * `request` runs as usual: it changes nothing, or it reads `context.options.dryRun`.
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

/** Without `fields`, a command that performs a change has the fields of a receipt. */
const defaultFields = ({
  operation,
}: {
  readonly operation?: Operation
}): Pick<CommandDescription, 'fields'> =>
  operation !== undefined && operation.effect !== false ? { fields: receiptRecord } : {}

/** Defines a command with a `run` function. Its arguments have the types that `inputs` and `request` give. */
export const defineCommand = <const F extends Inputs, const R extends Inputs = Inputs>(
  command: CommandDefinition<F, R>,
): CommandDefinition<F, R> => ({ ...defaultFields(command.request ?? command), ...command })

/** Defines the requests of one operation. `inputs` must contain every required param. */
export const defineOperationRequest = <const P extends Params, const F extends ParamInputs<P> & Inputs>(
  request: OperationRequest<P, F>,
): OperationRequest<P, F> => request

/** Defines a command that is one operation. `inputs` must contain every required param. */
export const defineOperationCommand = <const P extends Params, const F extends ParamInputs<P> & Inputs>(
  command: OperationCommand<P, F>,
): OperationCommand<P, F> => ({ ...defaultFields(command), ...command })
