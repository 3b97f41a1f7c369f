import type { Format } from '../domain/output-formats.ts'
import type { Repository } from '../domain/values/repository.ts'

/**
 * The inputs of operations that need not be typed, because a setting can give each of them
 * (docs/reference/cli.md, "Settings").
 */
export interface SettingValues {
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  readonly pr: string
  readonly sha: string
  readonly testRun: string
  readonly forkedRun: string
}

/** The name of an input that a setting can give. */
export type SettingName = keyof SettingValues

/** The services that an input may use while it reads its value: settings, the current time and files. */
export interface ParseContext {
  /** Returns the value of a setting, or undefined when no source gives one. */
  setting<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /**
   * Returns the value of a setting. Throws a usage error that lists the sources when none of them has one.
   */
  require<N extends SettingName>(name: N): Promise<SettingValues[N]>
  /** Returns the value of a setting only if an option or an environment variable gives it. */
  readExplicit<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The time at which the command started, in milliseconds since 1970. */
  readonly now: number
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  /** Whether the shell may have rewritten arguments that look like paths, as Git Bash does. */
  readonly rewritesPaths: boolean
  /** Prints a note on standard error, unless --quiet is set. */
  note(text: string): Promise<void>
  /** Returns the format that `--output` or a setting gives. `--json` replaces it and is not considered. */
  outputFormat(): Promise<Format>
  /** Reads a file, or standard input for `-`. Throws a usage error when the input cannot be read. */
  open(path: string): AsyncIterable<Uint8Array>
  /**
   * Returns the files that a typed path names: those of a directory that have the ending, and on Windows
   * those that match a pattern. Throws a usage error if there are none.
   */
  expandFiles(path: string, ending: string): Promise<readonly string[]>
  /** Runs `work` and shows a spinner with `text` on an interactive terminal until it ends. */
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
}
