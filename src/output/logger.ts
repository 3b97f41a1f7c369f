import { type MergeqError, stackTraceOf } from '../base/errors.ts'
import { type Json, stringifyJson } from '../base/json.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import type { Spinner, SpinnerText } from './spinner.ts'
import type { StyledLine, TextStyles } from './styled-text.ts'
import type { Writer } from './view.ts'

/** Where messages are written. They are wrapped at the columns of a terminal, and nowhere else. */
interface LogWriter extends Writer {
  readonly terminal?: boolean
  readonly columns?: number
  /** Whether it can be redrawn now. */
  readonly canRedraw?: boolean
  /** Resolves to whether the output is a terminal that supports links (OSC 8). */
  hasLinks?(): Promise<boolean>
}

interface LoggerOptions {
  readonly quiet: boolean
  readonly verbose: boolean
  readonly json: boolean
  /** Whether the stack trace of an error is written before it. */
  readonly stack?: boolean
  readonly color?: boolean
  /** How texts look on a terminal; the library has none, and does not take along what that needs. */
  readonly styles?: TextStyles
  /** Loads what starts a spinner on the terminal; undefined shows no spinner. */
  readonly loadSpinner?: (() => Promise<(text: SpinnerText) => Spinner>) | undefined
}

/** Returns a line of a hint dimmed, with what is meant and a command to copy in bold. */
function styleHint(hint: string, { applyStyle }: TextStyles): string {
  if (hint.startsWith('Did you mean')) return applyStyle(hint, 'bold')
  const [, label = hint, command = ''] = /^(|.*?: )((?:mergeq|git|export) .*)$/.exec(hint) ?? []
  return applyStyle(label, 'dim') + applyStyle(command, 'bold')
}

/** Returns the text of an error with its prefix in red and its hint, which is indented, dimmed. */
const colorizeError = (text: string, styles: TextStyles): string =>
  text
    .replace(/^mergeq:/, prefix => styles.applyStyle(prefix, 'red'))
    .replace(/^( +)(.*)$/gm, (_, indent: string, hint: string) => indent + styleHint(hint, styles))

/** The time before the spinner appears, in milliseconds. */
const spinnerDelay = 200
/** The interval between updates of the text, in milliseconds. */
const refreshInterval = 100

export type Logger = ReturnType<typeof createLogger>

/** Creates what writes messages to standard error. A failed write is ignored: no command depends on its log. */
export function createLogger(
  sink: LogWriter,
  { quiet, verbose, json, stack = false, color = false, styles, loadSpinner }: LoggerOptions,
) {
  let spinner: Spinner | undefined
  let isSpinning = false
  /** What replaces the text of the spinner. */
  let remark: string | undefined
  const writeUnwrapped = (text: string) => {
    spinner?.clear()
    return sink.write(text).catch(() => undefined)
  }
  const wrap = (text: string) =>
    sink.terminal === true && sink.columns !== undefined && styles !== undefined
      ? styles.wrapLines(text, sink.columns)
      : text
  const write = (text: string) => writeUnwrapped(wrap(text))
  const warn = async (text: string) => {
    if (!quiet || !json) await write(`mergeq: ${sanitizeLine(text)}\n`)
  }
  const info = async (text: string) => {
    if (!quiet) await write(`${sanitizeLine(text)}\n`)
  }
  const endProgress = () => {
    remark = undefined
  }
  const canDraw = () => loadSpinner !== undefined && sink.canRedraw === true
  const once = (log: (text: string) => Promise<void>) => {
    const texts = new Set<string>()
    return async (text: string) => {
      if (texts.has(text)) return
      texts.add(text)
      await log(text)
    }
  }
  /** Shows a spinner, if there is one, for the first of several tasks. Returns the function that stops it. */
  const startSpinner = (text: SpinnerText): (() => void) => {
    if (loadSpinner === undefined) return () => undefined
    if (isSpinning) return endProgress
    isSpinning = true
    let isDone = false
    let timer = setTimeout(async () => {
      const start = await loadSpinner()
      if (isDone) return
      const started = start(columns => remark ?? text(columns))
      spinner = started
      timer = setInterval(() => started.refresh(), refreshInterval)
    }, spinnerDelay)
    return () => {
      isDone = true
      isSpinning = false
      endProgress()
      clearTimeout(timer)
      spinner?.stop()
      spinner = undefined
    }
  }
  return {
    /** Writes a warning; `--quiet` hides it only where errors are JSON: a script parses what is left. */
    warn,
    /** Writes progress or a remark, unless `--quiet` is set. */
    info,
    /** Shows a remark that the next one replaces: in the place of the spinner's text, or like `info` without one. */
    async progress(text: string): Promise<void> {
      if (!isSpinning || verbose || !canDraw()) return info(text)
      remark = sanitizeLine(text)
      spinner?.refresh()
    },
    /** Shows the text of the spinner again, in the place of the last remark. */
    endProgress,
    /** Writes details, only with `--verbose`. */
    async debug(text: string): Promise<void> {
      if (verbose) await write(`${sanitizeLines(text)}\n`)
    },
    /** Writes an error, as text or, with JSON output, as a JSON object. */
    async error(error: MergeqError): Promise<void> {
      if (stack) await writeUnwrapped(`${sanitizeLines(stackTraceOf(error))}\n`)
      if (json) return writeUnwrapped(errorJson(error))
      const text = wrap(errorText(error, verbose))
      return writeUnwrapped(color && styles !== undefined ? colorizeError(text, styles) : text)
    },
    /** Like `warn`, at most once for the same text. */
    warnOnce: once(warn),
    /** Like `info`, at most once for the same text. */
    infoOnce: once(info),
    /** Writes a remark with styles and links unless `--quiet` is set. For terminals only. */
    async infoLine(line: StyledLine): Promise<void> {
      if (quiet || styles === undefined) return
      const links = (await sink.hasLinks?.()) ?? false
      await write(`${styles.renderLine(line, { color, links })}\n`)
    },
    /** Whether it can draw a spinner now: not while the process is in the background of its terminal. */
    get hasSpinner() {
      return canDraw()
    },
    /** Clears the line of the spinner: before other output, which a pipe may print to the same terminal. */
    clearSpinner: () => spinner?.clear(),
    startSpinner,
    async withSpinner<T>(text: SpinnerText, work: () => Promise<T>): Promise<T> {
      const stop = startSpinner(text)
      try {
        return await work()
      } finally {
        stop()
      }
    },
  }
}

/** Returns an error for people: message and indented hint (docs/reference/cli.md, "Error messages"). */
function errorText({ message, details }: MergeqError, verbose: boolean): string {
  const { hint, operation, isShown = false } = details
  const prefix = verbose && operation !== undefined ? `${operation}: ` : ''
  const first = isShown ? [] : [`mergeq: ${sanitizeLine(`${prefix}${message}`)}`]
  const further = hint === undefined ? [] : sanitizeLines(hint).split('\n')
  return [...first, ...further.map(line => `  ${line}`), ''].join('\n')
}

/** Returns an error for scripts: a JSON object on one line. Its `details` are the words of the service. */
function errorJson({ kind, exit, message, details }: MergeqError): string {
  const { hint, pr, repo, targetBranch, status, host, operation, attempts, requestId, serviceMessage } =
    details
  const words = serviceMessage === undefined ? undefined : sanitizeLines(serviceMessage)
  const error: Record<string, Json> = { kind, exit, message }
  const about = { pr, repo, targetBranch }
  const optional = { hint, ...about, status, host, operation, attempts, requestId, details: words }
  for (const [key, value] of Object.entries(optional)) if (value !== undefined) error[key] = value
  return `${stringifyJson({ error })}\n`
}
