import type { Failure } from '../errors.ts'
import { failureDocument, failureText } from './error-text.ts'
import type { Sink } from './printer.ts'
import { manyLines, oneLine } from './sanitize.ts'

/** Standard error: everything that is not the answer goes through here. */
export interface Voice {
  /** Something that a person should know though the run goes on; never silenced. */
  warn(text: string): Promise<void>
  /** Progress and remarks; `-q` silences them. */
  note(text: string): Promise<void>
  /** Told only with `-v`. */
  detail(text: string): Promise<void>
  /** A failure, as text or, where JSON was asked for, as one object. */
  fail(failure: Failure): Promise<void>
}

export interface Tone {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly json: boolean
}

/** Opens standard error. Nobody may read it: a write that fails there changes nothing. */
export function openVoice(sink: Sink, { quiet, verbose, json }: Tone): Voice {
  const say = (text: string) => sink.write(text).catch(() => undefined)
  return {
    warn: text => say(`mergeq: ${oneLine(text)}\n`),
    note: async text => {
      if (!quiet) await say(`${oneLine(text)}\n`)
    },
    detail: async text => {
      if (verbose) await say(`${manyLines(text)}\n`)
    },
    fail: failure => say(json ? failureDocument(failure) : failureText(failure)),
  }
}
