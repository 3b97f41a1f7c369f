/** One way in which a run of mergeq can end (CLI.md section 9). */
export interface ExitCode {
  readonly code: number
  readonly kind: string
  readonly when: string
}

/** Every ending there is, in the order of its code: the one table of exit codes. */
export const exitCodeList = [
  {
    code: 0,
    kind: 'ok',
    when: 'done; the condition holds; an empty list; a change that reading back confirmed',
  },
  { code: 1, kind: 'internal', when: 'a fault of mergeq itself' },
  {
    code: 2,
    kind: 'usage',
    when: 'the command line, the environment or the settings are wrong, or something would have to be asked and nobody is there; nothing was sent',
  },
  { code: 3, kind: 'failed', when: 'the pull request FAILED' },
  { code: 4, kind: 'auth', when: 'no token, a token for another origin, 401, 403' },
  { code: 5, kind: 'not-found', when: '404' },
  {
    code: 6,
    kind: 'refused',
    when: '400, 409, 412, 413, 422 or another 4xx; the queue is not empty; a body over the limit; nothing was changed',
  },
  {
    code: 7,
    kind: 'unavailable',
    when: 'DNS, TLS, connection, proxy (407 included), time-out, 408 and 429 after the allowed repeats, 5xx; nothing was changed, try again later',
  },
  { code: 8, kind: 'pending', when: 'asked once (`--exit-status`, `--timeout 0`) and not settled' },
  { code: 10, kind: 'cancelled', when: 'the pull request was CANCELLED' },
  {
    code: 11,
    kind: 'unknown-outcome',
    when: 'a change was sent, no answer came, and reading back could not settle it; the message has the command that tells',
  },
  { code: 14, kind: 'stale', when: 'the head or the live settings moved meanwhile' },
  {
    code: 15,
    kind: 'bad-answer',
    when: 'a redirect, a web page, cut, too large or unreadable: not an answer of this service',
  },
  { code: 16, kind: 'output', when: 'standard output or a file could not be written' },
  { code: 17, kind: 'incomplete', when: 'part of a list was printed' },
  { code: 20, kind: 'differs', when: '`queue diff` found differences' },
  { code: 21, kind: 'check-failed', when: 'a check, gate or match said no; a guarded push was stopped' },
  { code: 124, kind: 'timed-out', when: '`--timeout` of a wait was reached' },
  {
    code: 129,
    kind: 'interrupted',
    when: 'SIGHUP; a change in flight is named on standard error, with its pull requests and the command that shows their state',
  },
  {
    code: 130,
    kind: 'interrupted',
    when: 'SIGINT; a change in flight is named on standard error, with its pull requests and the command that shows their state',
  },
  {
    code: 143,
    kind: 'interrupted',
    when: 'SIGTERM; a change in flight is named on standard error, with its pull requests and the command that shows their state',
  },
] as const satisfies readonly ExitCode[]

export type ErrorKind = (typeof exitCodeList)[number]['kind']

/** From the worst to the best: with several pull requests the first of these wins (CLI.md section 9). */
const mostSevereFirst = [143, 130, 129, 1, 16, 2, 4, 11, 15, 7, 6, 5, 3, 10, 14, 17, 21, 20, 124, 8, 0]

/** The worst of several exit codes; 0 of none. */
export const mostSevere = (codes: readonly number[]): number =>
  mostSevereFirst.find(code => codes.includes(code)) ?? 0

/** The exit code of a kind; an interruption without its signal counts as SIGINT. */
export const exitCodeOf = (kind: ErrorKind): number =>
  kind === 'interrupted' ? 130 : (exitCodeList.find(ending => ending.kind === kind)?.code ?? 1)

/** What is known of a failure besides its sentence. */
export interface ErrorDetails {
  readonly hint?: string
  readonly exit?: number
  readonly status?: number
  readonly operation?: string
  readonly attempts?: number
  readonly requestId?: string
  /** How long the service asks to be left alone, in seconds. */
  readonly retryAfter?: number
  /** What the answer said, in its own words. */
  readonly serviceMessage?: string
  /** A web page said it, not the service. */
  readonly isWebPage?: boolean
  /** How far the request got: `ambiguous` may have been applied. */
  readonly sentState?: 'not-sent' | 'ambiguous'
  /** The answer was over its limit: asking again would cost as much and bring the same. */
  readonly overLimit?: boolean
  /** What is known of a change that was sent. */
  readonly delivery?: 'not-applied' | 'unknown'
}

const brand = Symbol.for('mergeq.failure')

/**
 * The one error that people see: a kind, which gives the exit code, one sentence, and a hint that says what
 * to do next. Bundled files do not share classes, so ask `isFailure` and never `instanceof`.
 */
export class MergeqError extends Error {
  readonly [brand] = true
  readonly kind: ErrorKind
  readonly exit: number
  readonly details: ErrorDetails

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message)
    this.kind = kind
    this.exit = details.exit ?? exitCodeOf(kind)
    this.details = details
  }
}

export const isMergeqError = (error: unknown): error is MergeqError =>
  typeof error === 'object' && error !== null && brand in error

/** Whether a failure concerns every further reading, too: trying again does not help (CLI.md section 5). */
export const isPermanent = ({ kind, details }: MergeqError): boolean =>
  details.overLimit === true || /^(auth|usage|internal|output|interrupted)$/.test(kind)

/** The command line, the environment or a setting is wrong; nothing was sent. */
export const usageError = (
  message: string,
  hint = 'See --help after the command for what it takes.',
): MergeqError => new MergeqError('usage', message, { hint })

/** A sentence before another one: what the service says may end without a full stop. */
export const withPeriod = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`)

/** Anything thrown, as a failure: what is not one of ours is a fault of mergeq itself. */
export function toMergeqError(error: unknown): MergeqError {
  if (isMergeqError(error)) return error
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return new MergeqError('internal', `something went wrong inside mergeq: ${what}`, {
    hint: 'This is a fault of mergeq. Please report it with the command that you ran and `mergeq --version`.',
  })
}
