import type { Described, Row } from '../api/operation.ts'
import type { Fields, Values } from './inputs.ts'
import type { Desk } from './context.ts'
import type { Environment } from '../host/host.ts'

/** What stands on standard output: in every format, or in each; CSV and Markdown have the rows of the table. */
export type Prints = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** Runs a whole command line in this process, as if it had been typed, and returns its exit code. */
export type Runner = (argv: readonly string[], env: Environment, sinks: Sinks) => Promise<number>

/** Where a command line that is run in this process writes to. */
export interface Sinks {
  /** Whether standard output counts as a terminal there. */
  readonly terminal: boolean
  out(text: string | Uint8Array): Promise<void>
  err(text: string | Uint8Array): Promise<void>
}

/** A command that is not exactly one operation: written by hand, on top of rows. */
export interface Command<F extends Fields = Fields> extends Described<F> {
  /** The operation that it is built on: its words are taken too. */
  readonly on?: Row
  /** What it sends besides, in the order of its work; `any` is whatever operation is named. */
  readonly asks?: readonly Row[] | 'any'
  /** Whether a failure of what it asks is part of its answer instead of its end. */
  readonly bearsFailures?: boolean
  /** Whether it ends with the exit code of a program that it runs. */
  readonly passesExitOn?: boolean
  /** What it prints, where that is not what its operation prints. */
  readonly prints?: Prints
  /** Whether it changes the stored settings: then they are not read first. */
  readonly changesSettings?: boolean
  run(values: Values<F>, desk: Desk, runner: Runner): Promise<number>
}

/** Declares a command; what `run` gets is typed from its own `fields`. */
export const command = <const F extends Fields>(one: Command<F>): Command<F> => one
