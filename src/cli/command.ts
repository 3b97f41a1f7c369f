import type { CommandDescription, Operation } from '../api/operation.ts'
import type { Environment } from '../host/host.ts'
import type { CommandContext } from './context.ts'
import type { Inputs, InputValues } from './inputs.ts'

/** What stands on standard output: in every format, or in each; CSV and Markdown have the rows of the table. */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** Runs a whole command line in this process, as if it had been typed, and returns its exit code. */
export type CommandRunner = (
  argv: readonly string[],
  env: Environment,
  sinks: RunnerOutput,
) => Promise<number>

/** Where a command line that is run in this process writes to. */
export interface RunnerOutput {
  /** Whether standard output counts as a terminal there. */
  readonly terminal: boolean
  out(text: string | Uint8Array): Promise<void>
  err(text: string | Uint8Array): Promise<void>
}

/** A command that is not exactly one operation: written by hand, on top of rows. */
export interface CommandDefinition<F extends Inputs = Inputs> extends CommandDescription<F> {
  /** The operation that it is built on: its words are taken too. */
  readonly operation?: Operation
  /** What it sends besides, in the order of its work; `any` is whatever operation is named. */
  readonly operations?: readonly Operation[] | 'any'
  /** Whether a failure of what it asks is part of its answer instead of its end. */
  readonly toleratesErrors?: boolean
  /** Whether it ends with the exit code of a program that it runs. */
  readonly propagatesExitCode?: boolean
  /** What it prints, where that is not what its operation prints. */
  readonly output?: OutputDoc
  /** Whether it changes the stored settings: then they are not read first. */
  readonly changesSettings?: boolean
  run(values: InputValues<F>, context: CommandContext, runner: CommandRunner): Promise<number>
}

/** Declares a command; what `run` gets is typed from its own `fields`. */
export const defineCommand = <const F extends Inputs>(one: CommandDefinition<F>): CommandDefinition<F> => one
