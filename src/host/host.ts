import type { Json, JsonObject } from '../base/json.ts'

/** What settings, git and requests need of the operating system: all that the library has of it. */
export interface ServiceHost {
  readonly env: Environment
  /** The absolute path of the working directory; undefined when it was removed. */
  readonly cwd: string | undefined
  readonly runtime: Runtime
  readonly clock: Clock
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  random(): number
  readonly files: Files
  /** The file with the settings of this machine, which need not exist; undefined where there is no such file. */
  readonly machineFile: string | undefined
  /** Aborted by SIGHUP, SIGINT, SIGTERM or Ctrl-Break; the reason is a MergeqError with the exit code of the signal. */
  readonly interrupted: AbortSignal
  /**
   * Runs git with captured output and without a shell. git is found in the absolute entries of PATH and runs
   * in its own directory, so that no file in the working directory is run because of its name. What git
   * started ends with it.
   */
  git(args: readonly string[], options: GitOptions): Promise<CapturedResult>
  /**
   * Runs a program without a shell and with an empty standard input, and returns the first line that it prints; its
   * standard error comes without its arguments and what it printed. The program has an absolute path or is found in the
   * absolute entries of PATH, and runs in its own directory. A line is kept for this process. What the program started
   * ends with it if its time is over.
   */
  readLine(words: readonly string[], options: LineOptions): Promise<CapturedResult>
  /** Called before the first request of an HTTP client. */
  beforeRequests?(): Promise<void>
}

/** The operating system, as the program sees it. Tests replace it; `node-host.ts` has the implementation. */
export interface Host extends ServiceHost {
  /** The command-line arguments after the name of the program. */
  readonly argv: readonly string[]
  readonly input: StandardInput
  readonly out: Output
  readonly err: Output
  /**
   * Reports what happens to the terminal, for a screen that is redrawn. Resolves to a function that ends this
   * and restores the terminal. With `press`, keys are not echoed; Ctrl-C still interrupts the process, and
   * Ctrl-Z suspends it, except on Windows.
   */
  watchTerminal(events: TerminalEvents): Promise<() => void>
  /**
   * Locks a file, which need not exist, with `<path>.lock` beside it. A lock without a sign of life for `stale`
   * milliseconds is broken. Resolves to what releases it, or to undefined while another process holds it.
   */
  lock(path: string, stale: number): Promise<(() => Promise<void>) | undefined>
  /** Opens a URL in the browser of this machine; rejects when no browser can be started. */
  openUrl(url: string): Promise<void>
  /**
   * Runs a program of the user without a shell, with the streams of this process. What the program started
   * ends with it.
   */
  runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<ProgramResult>
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What this process runs on: `version` is that of mergeq, `node` that of Node. */
interface Runtime {
  readonly version: string
  readonly node: string
  readonly platform: string
  /** The path that has no content and no entries: `\\\\.\\nul` on Windows. */
  readonly nullDevice: string
}

/** The only source of time: in tests it is virtual, and passes only while something sleeps. */
export interface Clock {
  /** Returns the current time in milliseconds since 1970. */
  now(): number
  /** Returns the milliseconds since an arbitrary start, for limits: unlike `now` it never jumps. */
  monotonic(): number
  /** Resolves after `ms` milliseconds, or rejects with the reason of the signal when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Standard input. */
export interface StandardInput {
  readonly terminal: boolean
  /** Whether it is a pipe, a file or a socket: no terminal, no device such as `/dev/null`, and not closed. */
  readonly isStream: boolean
  /** Yields standard input in pieces. Throws an error that says why it cannot be read. */
  read(limit?: InputLimit): AsyncIterable<Uint8Array>
  /** Prompts for a line, without echo when `hidden`. Resolves to undefined at the end of the input. */
  ask(question: string, hidden?: boolean, limit?: InputLimit): Promise<string | undefined>
}

/** How long standard input, a prompt or a program of the user may take. */
export interface InputLimit {
  /** In milliseconds. */
  readonly time: number
  /** Returns the error when the time is over. */
  over(): Error
}

/** What happens to a terminal while a screen is shown. */
export interface TerminalEvents {
  /**
   * A key was pressed. A key without a character is the sequence of the terminal, such as `ESC [ A` for the
   * up arrow. Without this function, the keys are not read.
   */
  press?(key: string): void
  resize(): void
  /**
   * The process is about to be suspended (Ctrl-Z): restores the terminal for the shell. The process is
   * suspended when the returned promise resolves or rejects.
   */
  suspend(): Promise<void>
  /** The process continues, or was not suspended after all. */
  resume(): void
}

/** Standard output or standard error. */
export interface Output {
  readonly terminal: boolean
  /** The columns of the terminal; 80 without a terminal. */
  readonly columns: number
  /** The rows of the terminal; 24 without a terminal. */
  readonly rows: number
  /** Whether the reader has closed the pipe; later writes are dropped. */
  readonly isClosed?: boolean
  /** Whether the output is a terminal that supports cursor movement, and this process is in its foreground. */
  readonly canRedraw?: boolean
  /** Resolves to whether the output is a terminal that supports links (OSC 8). */
  hasLinks?(): Promise<boolean>
  /**
   * Resolves when the text was handed over or the reader has closed the pipe. Rejects with an output error
   * when the text cannot be written.
   */
  write(text: string | Uint8Array): Promise<void>
}

/** The file system; a relative path begins at the working directory. */
export interface Files {
  /** Yields the bytes of a file in pieces. Each piece is valid until the next one is requested. */
  stream(path: string, interrupted: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Returns the text of a regular file of at most `maxBytes` bytes, or undefined when there is no file.
   * Throws an error for any other kind of file, so that it never blocks on a FIFO.
   */
  read(path: string, maxBytes?: number): Promise<string | undefined>
  /**
   * Returns the text of a regular file, as `read` does, or of a pipe such as `<(...)` of a shell. What a pipe holds
   * can be read once: this process keeps it. Throws an error if the pipe has not ended after `time` milliseconds.
   */
  readOnce(path: string, limits: PipeLimits): Promise<string | undefined>
  /**
   * Opens a settings file, which conf reads; undefined when there is no file. It is a regular file of at most `maxBytes`
   * bytes: throws an error for any other, and what `parse` throws for its text. Never creates or changes anything.
   */
  openSettings(
    path: string,
    maxBytes: number,
    parse: (text: string) => JsonObject,
  ): Promise<SettingsFile | undefined>
  /**
   * Replaces a settings file, which is no link, by a new one that conf writes, accessible to this user only, as `replace`
   * does. Removes what processes that died while they did so left beside it.
   */
  replaceSettings(path: string, document: JsonObject, format: (document: JsonObject) => string): Promise<void>
  exists(path: string): Promise<boolean>
  /**
   * Returns the paths of the files in a directory and in those below it, relative to it; links, and directories whose
   * name begins with a dot, are skipped. Undefined if there is no such directory.
   */
  listBelow(folder: string): Promise<readonly string[] | undefined>
  /** Returns a path as an absolute one, without `.` and `..`. */
  absolute(path: string): string
  /** Creates a directory and its missing parents, accessible to this user only unless `mode` says otherwise. */
  createDirectory(path: string, mode?: number): Promise<void>
  /** Returns the target of a symbolic link, which need not exist; any other path unchanged. */
  resolveLink(path: string): Promise<string>
  /**
   * Replaces the content of a file atomically: the text is written to a new file beside it, read back,
   * compared, and renamed over it. A link stays a link, and its target must exist. An existing file keeps its mode, and a new file
   * gets `mode`. After any error the old file is unchanged.
   */
  replace(path: string, text: string, mode?: number): Promise<void>
  /** Creates a file that must not be there. Throws an error with the code EEXIST if there is anything of that name. */
  create(path: string, text: string): Promise<void>
  /** Identifies what is at a path, so that a file that was replaced is another one; undefined if there is nothing. */
  version(path: string): Promise<string | undefined>
  /** Removes a file; a missing file is not an error. */
  remove(path: string): Promise<void>
  /** Creates an empty directory among the temporary files, accessible to this user only. */
  createTemporary(): Promise<{
    readonly path: string
    /** Removes the directory with everything in it. */
    remove(): Promise<void>
  }>
}

/** A settings file as conf has read it. */
export interface SettingsFile {
  /** Returns a member of the document; undefined if it has none. */
  get(member: string): Json | undefined
  /** The whole document. */
  readonly store: JsonObject
  /** The number of the user to whom the file belongs. */
  readonly owner: number
  /** The permission bits. */
  readonly mode: number
}

/** What limits reading from a pipe: `time` is in milliseconds. */
export interface PipeLimits {
  readonly maxBytes: number
  readonly time: number
  /** Its reason is the error when it is aborted. */
  readonly interrupted: AbortSignal
}

/** How git is run. */
export interface GitOptions {
  readonly env: Environment
  /** The time limit in milliseconds; the program is killed afterwards. */
  readonly timeout: number
}

/** How a program is run whose first line is read. */
export interface LineOptions extends GitOptions {
  /** The bytes of the output that are kept. */
  readonly maxBytes: number
  /** A line is read again that was not read after this time, in milliseconds since 1970. */
  readonly after?: number | undefined
  /** Ends the program when it is aborted. */
  readonly interrupted: AbortSignal
}

/** How a program of the user is run. */
export interface ProgramOptions {
  readonly env: Environment
  /** When the signal is aborted, the program gets a moment to end and is killed afterwards. */
  readonly until: AbortSignal
  /** Whether Ctrl-C belongs to the program alone: SIGINT does nothing to this process until the program ends. */
  readonly handlesInterrupt?: boolean
  /** With it, standard input is empty; without it, the program shares all streams of this process. */
  readonly output?: ProgramOutput
  /** Without it, the program may take any time. When it is over, the program ends as with `until`. */
  readonly limit?: InputLimit | undefined
}

/** Who takes what a program prints. */
export interface ProgramOutput {
  /** Reads standard output; what it leaves is thrown away. */
  read(output: AsyncIterable<Uint8Array>): Promise<void>
  /** Called with each line of standard error; left out, the program shares that of this process. */
  line?(text: string): Promise<void>
}

/** How a program ended. */
export interface ProgramResult {
  /** The exit code; 128 plus the number of the signal that ended the program; 127 when it could not be started. */
  readonly code: number
  /** The error of the operating system when the program could not be started, such as `ENOENT`. */
  readonly startError?: string
}

/** How a program ended whose output was captured, and what it printed. */
export interface CapturedResult extends ProgramResult {
  readonly out: string
  /** What it wrote to standard error: at most 64 KiB. */
  readonly err?: string
  /** Whether the program was killed because its time limit was reached. */
  readonly timedOut?: boolean
}

/**
 * Handles a Ctrl-C that arrives as a character as the signal is handled. No signal is sent: on Windows it
 * would end the process at once.
 */
export function interrupt(proc: Pick<NodeJS.Process, 'emit' | 'exit'>): void {
  if (!proc.emit('SIGINT', 'SIGINT')) proc.exit(130)
}

/**
 * Returns environment variables as Windows reads them: their names are the same in upper and lower case. A
 * list of the variables has the names as they were written.
 */
export const windowsEnvironment = (env: Environment): Environment =>
  new Proxy(env, {
    get(variables, name) {
      if (typeof name !== 'string' || variables[name] !== undefined) return Reflect.get(variables, name)
      const upperCase = name.toUpperCase()
      const written = Object.keys(variables).find(key => key.toUpperCase() === upperCase)
      return written === undefined ? undefined : variables[written]
    },
  })
