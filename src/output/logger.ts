import type { MergeqError } from '../errors.ts'
import { failureDocument, failureText } from './error-text.ts'
import type { Writer } from './printer.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/** Standard error: everything that is not the answer goes through here. */
export interface Logger {
  /** Something that a person should know though the run goes on; never silenced. */
  warn(text: string): Promise<void>
  /** Progress and remarks; `-q` silences them. */
  info(text: string): Promise<void>
  /** Told only with `-v`. */
  debug(text: string): Promise<void>
  /** A failure, as text or, where JSON was asked for, as one object. */
  error(failure: MergeqError): Promise<void>
}

export interface LoggerOptions {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly json: boolean
}

/** Opens standard error. Nobody may read it: a write that fails there changes nothing. */
export function createLogger(sink: Writer, { quiet, verbose, json }: LoggerOptions): Logger {
  const say = (text: string) => sink.write(text).catch(() => undefined)
  return {
    warn: text => say(`mergeq: ${sanitizeLine(text)}\n`),
    info: async text => {
      if (!quiet) await say(`${sanitizeLine(text)}\n`)
    },
    debug: async text => {
      if (verbose) await say(`${sanitizeLines(text)}\n`)
    },
    error: failure => say(json ? failureDocument(failure) : failureText(failure)),
  }
}
