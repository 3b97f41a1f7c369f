/** Everything outside the program. Only this is faked in tests; the real one is made in `real.ts`. */
export interface Host {
  /** The words after the program's name. */
  readonly argv: readonly string[]
  readonly env: Environment
  /** The absolute path of the working folder; undefined when it was removed: it is then in no git checkout. */
  readonly cwd: string | undefined
  readonly runtime: Runtime
  readonly clock: Clock
  /** A number from 0 (inclusive) to 1 (exclusive). */
  random(): number
  readonly input: Input
  readonly out: Output
  readonly err: Output
  readonly files: Files
  /** Aborted by SIGHUP, SIGINT or SIGTERM; the reason is the signal's name. */
  readonly interrupted: AbortSignal
  /** Runs a program without a shell. */
  spawn(command: string, args: readonly string[], options: SpawnOptions): Promise<Spawned>
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface Runtime {
  /** mergeq's own version. */
  readonly version: string
  readonly node: string
  readonly v8: string
  readonly platform: string
  /** The id of the user that runs this; undefined where users have none (Windows). */
  readonly user?: number | undefined
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Input {
  readonly terminal: boolean
  /** Standard input in pieces; an error names what cannot be read. */
  read(): AsyncIterable<Uint8Array>
  /** Reads one line that a person types, without showing it when `hidden`. Undefined at the end of the input. */
  ask(question: string, hidden?: boolean): Promise<string | undefined>
  /** Hands on each key that is pressed, unseen, until the function that it returns is called; Ctrl-C still interrupts. */
  keys(press: (key: string) => void): () => void
}

export interface Output {
  readonly terminal: boolean
  /** Columns of the terminal; 80 where there is none. */
  readonly columns: number
  /** Rows of the terminal; 24 where there is none. */
  readonly rows: number
  /** Whether the reader has gone: what is written from then on is dropped. */
  readonly gone?: boolean
  /** Whether it is a terminal in which what was written can be written over. */
  readonly canRedraw?: boolean
  /** Resolves when the text has been handed over, and when the reader has gone. Rejects when it cannot be written. */
  write(text: string | Uint8Array): Promise<void>
}

export interface Files {
  /**
   * The file's bytes in pieces. A piece is good until the next is asked for. A FIFO that nobody
   * writes to is given up after `patience` milliseconds.
   */
  stream(path: string, patience: number, interrupted: AbortSignal): AsyncIterable<Uint8Array>
  /** The text of a regular file of at most `most` bytes, or undefined where there is none. Never blocks on a FIFO. */
  read(path: string, most?: number): Promise<string | undefined>
  exists(path: string): Promise<boolean>
  /** The names in a folder; none where there is no such folder. */
  list(folder: string): Promise<readonly string[]>
  /** Makes a program of this text; rejects where there is something of that name already. */
  makeProgram(path: string, text: string): Promise<void>
  /** Makes a folder, and those on the way to it, for this user alone. */
  makeFolder(path: string): Promise<void>
  /** Where a link leads, followed to its end, even to a file that is not there; another path as it is. */
  follow(path: string): Promise<string>
  /** What the system says of who may use a path, links followed; undefined where there is nothing. */
  access(path: string): Promise<Access | undefined>
  rename(from: string, to: string): Promise<void>
  /**
   * Puts a text into a file in one step: into a new one beside it, read back and compared, then renamed over it. A link
   * stays a link, a file keeps its mode, a new one gets `mode`; whatever fails, what was there stays byte for byte.
   */
  replace(path: string, text: string, mode?: number): Promise<void>
  /** Removes a file; one that is not there is no failure. */
  remove(path: string): Promise<void>
  /** Removes an empty folder; one that is not there is no failure. */
  removeFolder(path: string): Promise<void>
}

/** Who may use a file or folder, and when it was last changed. */
export interface Access {
  /** The id of the user that owns it. */
  readonly owner: number
  /** The permission bits, as chmod(1) takes them. */
  readonly mode: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
}

export interface SpawnOptions {
  readonly env: Environment
  readonly cwd?: string
  /** `inherit` hands our streams on; `capture` collects standard output. */
  readonly output: 'inherit' | 'capture'
  /** Milliseconds; afterwards the program is ended. */
  readonly timeout?: number
  /** Once it is aborted the program has a moment to end by itself, and is then ended. */
  readonly until?: AbortSignal
}

export interface Spawned {
  /** The exit code; 128 and the signal's number when a signal ended it; 127 when it could not be found. */
  readonly code: number
  readonly out: string
}
