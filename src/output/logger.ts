import type { MergeqError } from '../errors.ts'
import { errorJson, errorText } from './error-text.ts'
import type { Writer } from './printer.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'

/** Writes messages to standard error; results go to standard output. Write errors are ignored. */
export interface Logger {
  /** Writes a warning; `--quiet` does not hide it. */
  warn(text: string): Promise<void>
  /** Writes progress or a remark, unless `--quiet` is set. */
  info(text: string): Promise<void>
  /** Writes details, only with `--verbose`. */
  debug(text: string): Promise<void>
  /** Writes an error, as text or, with JSON output, as a JSON object. */
  error(error: MergeqError): Promise<void>
}

/** Which messages a logger writes, and whether errors are JSON. */
export interface LoggerOptions {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly json: boolean
}

/** Creates a logger. A write that fails is ignored, because the command does not depend on its log. */
export function createLogger(sink: Writer, { quiet, verbose, json }: LoggerOptions): Logger {
  const write = (text: string) => sink.write(text).catch(() => undefined)
  return {
    warn: text => write(`mergeq: ${sanitizeLine(text)}\n`),
    info: async text => {
      if (!quiet) await write(`${sanitizeLine(text)}\n`)
    },
    debug: async text => {
      if (verbose) await write(`${sanitizeLines(text)}\n`)
    },
    error: error => write(json ? errorJson(error) : errorText(error)),
  }
}
