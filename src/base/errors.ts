const whenInterrupted = (signal: string): string =>
  `${signal}; if a change was in progress, standard error names it, its pull requests and a command to check them`

/**
 * All exit codes, the most severe first (docs/reference/cli.md, "Exit codes"). Several codes can have the
 * same kind; `signal` is the signal that ends mergeq with the code. `when` is its meaning, and `short` what the help of a
 * command has instead, where that is not the kind in words; `advice` is what the README says to do, where it has the code.
 * What else is asked about a kind:
 *
 * - `isPermanent`: every further request of the command would fail as well
 * - `isPassing`: the same request may succeed later, although nobody changes anything
 * - `isOutage`: the service could not be reached, or could not process the request
 */
const exitCodesBySeverity = [
  { code: 143, kind: 'interrupted', isPermanent: true, signal: 'SIGTERM', when: whenInterrupted('SIGTERM') },
  { code: 130, kind: 'interrupted', isPermanent: true, signal: 'SIGINT', when: whenInterrupted('SIGINT') },
  { code: 129, kind: 'interrupted', isPermanent: true, signal: 'SIGHUP', when: whenInterrupted('SIGHUP') },
  { code: 1, kind: 'internal', short: 'bug in mergeq', isPermanent: true, when: 'a bug in mergeq' },
  {
    code: 16,
    kind: 'output',
    short: 'cannot write',
    isPermanent: true,
    when: 'standard output or a file could not be written',
  },
  {
    code: 2,
    kind: 'usage',
    short: 'wrong usage',
    isPermanent: true,
    when: 'invalid command line, environment or settings; a prompt that was declined or could not be shown; nothing was sent',
    advice: 'fix the command',
  },
  {
    code: 4,
    kind: 'auth',
    short: 'token rejected',
    isPermanent: true,
    when: 'no token, a token for another origin, 401 or 403',
    advice: '`mergeq auth status`',
  },
  {
    code: 11,
    kind: 'unknown-outcome',
    short: 'outcome unknown',
    when: 'a change was sent, no response arrived, and the outcome cannot be verified; the message gives a command to check it. Also: the service itself does not know whether a pull request merged',
    advice: 'run the command that the message shows',
  },
  {
    code: 15,
    kind: 'bad-answer',
    short: 'unexpected response',
    isPassing: true,
    when: 'unexpected response: a redirect, a web page, or a body that is truncated, too large or unreadable',
  },
  {
    code: 7,
    kind: 'unavailable',
    short: 'service unavailable',
    isPassing: true,
    isOutage: true,
    when: 'DNS, TLS, connection or proxy error (including 407), timeout, 5xx, or 408 or 429 after all retries; nothing was changed',
    advice: 'try again later',
  },
  {
    code: 6,
    kind: 'refused',
    short: 'request refused',
    when: '400, 409, 412, 413, 422 or another 4xx; a queue that is not empty; a request body over the limit; nothing was changed',
    advice: 'fix the request',
  },
  { code: 5, kind: 'not-found', when: '404; a setting without a value', advice: 'fix the request' },
  {
    code: 3,
    kind: 'failed',
    short: 'it failed',
    when: 'the pull request failed',
    advice: '`mergeq pr explain`',
  },
  {
    code: 10,
    kind: 'cancelled',
    short: 'was cancelled',
    when: 'the pull request was cancelled',
    advice: '`mergeq pr explain`',
  },
  {
    code: 14,
    kind: 'stale',
    short: 'changed meanwhile',
    when: 'the head commit or the live settings changed in the meantime',
  },
  {
    code: 17,
    kind: 'incomplete',
    short: 'list incomplete',
    when: 'part of a list was printed; the rest could not be read',
  },
  {
    code: 21,
    kind: 'check-failed',
    when: 'a check, gate or match failed; `guard` blocked a push',
    advice: '',
  },
  {
    code: 20,
    kind: 'differs',
    short: 'settings differ',
    when: '`queue diff` found differences; `queue apply` did not take effect',
    advice: '',
  },
  {
    code: 124,
    kind: 'timed-out',
    when: 'the time limit of a wait (`--timeout`) was reached, or the service did not return after a submission',
    advice: 'wait again',
  },
  {
    code: 8,
    kind: 'pending',
    short: 'not finished',
    when: 'the pull request is not finished (`--exit-status`, `--timeout 0`), or the queue is paused (`--fail-on-paused`)',
  },
  {
    code: 0,
    kind: 'ok',
    short: 'success',
    when: 'success, including an empty list or a change that was confirmed by reading it back; for checks, all conditions are met',
    advice: '',
  },
] as const

export const exitCodeList: readonly (typeof exitCodesBySeverity)[number][] = [...exitCodesBySeverity].sort(
  (one, other) => one.code - other.code,
)

export const signalExitCodes = exitCodeList.filter(exitCode => 'signal' in exitCode)

export type ErrorKind = (typeof exitCodeList)[number]['kind']

/** Returns the most severe exit code, 0 for an empty list. One that is not in the list is more severe than 0 only. */
export const mostSevere = (codes: readonly number[]): number =>
  exitCodesBySeverity.find(({ code }) => code !== 0 && codes.includes(code))?.code ??
  codes.find(code => code !== 0) ??
  0

/** Returns the exit code of a kind. The code of `interrupted` is that of SIGINT, 130. */
export const exitCodeOf = (kind: ErrorKind): number =>
  exitCodeList.find(
    exitCode => exitCode.kind === kind && !('signal' in exitCode && exitCode.signal !== 'SIGINT'),
  )?.code ?? 1

/** What is known about an error besides its kind and message; a detail that is absent is unknown. */
export interface ErrorDetails {
  readonly hint?: string
  readonly exit?: number
  readonly status?: number
  /** Where the request was sent, with the port unless it is that of the scheme. */
  readonly host?: string
  readonly operation?: string
  /** The response, for a command that prints it on standard output in addition to the error. */
  readonly rawResponse?: Uint8Array
  readonly attempts?: number
  /** When the request was last sent, by the local clock, in milliseconds since 1970. */
  readonly sentAt?: number
  readonly requestId?: string
  /** What the error is about, if it is about one pull request, queue or repository (`host/owner/name`). */
  readonly pr?: number
  readonly repo?: string
  readonly targetBranch?: string
  /** The delay that the service requests before the next attempt, in seconds. */
  readonly retryAfter?: number
  /** The words of the service in the response, cut to a few lines. */
  readonly serviceMessage?: string
  /** Whether the response was a web page, for example of a proxy, and not JSON of the service. */
  readonly isWebPage?: boolean
  /** Whether the request left this machine; the service may have applied an `ambiguous` request. */
  readonly sentState?: 'not-sent' | 'ambiguous'
  readonly failedStep?: 'dns' | 'proxy' | 'connection' | 'tls'
  /** Whether someone must change a setting before a request can succeed: a certificate, the login of a proxy. */
  readonly needsChange?: boolean
  /** Whether the response exceeded its size limit, so that another attempt would fail again. */
  readonly isResponseTooLarge?: boolean
  /** Whether the body was not sent because it is over the limit. */
  readonly isBodyTooLarge?: boolean
  readonly delivery?: 'not-applied' | 'unknown'
  /** Whether a reading showed what may be the change whose outcome is unknown. */
  readonly mayBeVisible?: boolean
  /** The head commit of the pull request, where it is not the expected one. */
  readonly head?: string
  /** Whether it was looked up what is missing, after a 404. */
  readonly isExplained?: boolean
  /** Whether a person has seen the result that says what the message says. */
  readonly isShown?: boolean
}

const brand = Symbol.for('mergeq.failure')

/**
 * An error that mergeq reports to the user: its kind determines the exit code, its message is one sentence,
 * and `details.hint` says what to do next. Bundled files can contain several copies of this class; an error of
 * each is an instance of all.
 */
export class MergeqError extends Error {
  // The bundle shortens the name of the class, which logs show.
  static override readonly name = 'MergeqError'
  static {
    Object.assign(MergeqError.prototype, { name: MergeqError.name, [brand]: true })
  }
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isMergeqError(value)
  }
  readonly kind: ErrorKind
  readonly exit: number
  readonly details: ErrorDetails

  /** @param cause the error that this one was made from, for the stack trace of `MERGEQ_DEBUG=1` */
  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.kind = kind
    this.exit = details.exit ?? exitCodeOf(kind)
    this.details = details
  }
}

/** Returns whether an error is one of mergeq, also if another copy of this module made it. */
export const isMergeqError = (error: unknown): error is MergeqError =>
  typeof error === 'object' && error !== null && brand in error

const kindHas = (kind: ErrorKind, property: 'isPermanent' | 'isPassing' | 'isOutage'): boolean =>
  exitCodesBySeverity.some(exitCode => exitCode.kind === kind && property in exitCode)

/** Whether every further request would fail for the same reason, such as a rejected token. */
export const isPermanent = ({ kind }: MergeqError): boolean => kindHas(kind, 'isPermanent')

/** Whether the same request may succeed later, although nobody changes anything (docs/reference/cli.md, "Waiting"). */
export const isPassing = ({ kind, details }: MergeqError): boolean =>
  kindHas(kind, 'isPassing') && details.isResponseTooLarge !== true && details.needsChange !== true

/** Whether the service could not be reached, or could not process the request. */
export const isOutage = ({ kind }: MergeqError): boolean => kindHas(kind, 'isOutage')

export const usageHint = 'To see the usage, run the command with --help.'

/** Whether the service itself answered that the resource does not exist, and not a proxy with a web page. */
export const isNotFound = ({ details }: MergeqError): boolean =>
  details.status === 404 && details.isWebPage !== true

/** Returns a new error of the same kind: `more` replaces details, and the first cause stays. */
export const extendError = (
  error: MergeqError,
  more: ErrorDetails,
  newMessage = error.message,
): MergeqError => new MergeqError(error.kind, newMessage, { ...error.details, ...more }, error.cause ?? error)

/** The user name and password of an address. */
const userOfAddress = /:\/\/[^/?#\s]*@/g

/** Returns an error with exit code 2: nothing was sent. It does not repeat the user and password of an address. */
export const usageError = (message: string, hint = usageHint): MergeqError => {
  const withoutUser = (text: string) => text.replace(userOfAddress, '://[REDACTED]@')
  return new MergeqError('usage', withoutUser(message), { hint: withoutUser(hint) })
}

/** Messages of the service may end without a full stop, question mark or exclamation mark. */
export const withPeriod = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`)

/** Returns the stack trace of what an error was made from. */
export function stackTraceOf(error: unknown): string {
  const origin = error instanceof Error ? (error.cause ?? error) : error
  return origin instanceof Error ? (origin.stack ?? String(origin)) : String(origin)
}

/** A thrown value that is no `MergeqError` becomes an internal error. */
export function toMergeqError(error: unknown): MergeqError {
  if (isMergeqError(error)) return error
  const description = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const hint =
    'This is a bug in mergeq. Please report it with the command that you ran and the output of `mergeq --version`.'
  return new MergeqError('internal', `internal error: ${description}`, { hint }, error)
}

/** Returns the error of a request that failed; throws that of a signal, which ends the command. */
export function failureOrThrow(error: unknown): MergeqError {
  const failure = toMergeqError(error)
  if (failure.kind === 'interrupted') throw failure
  return failure
}

/** Runs `work`; a usage error that it throws begins with the name of an option, a field or a place in a file. */
export function withName<T>(name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw usageError(`${name}: ${error.message}`, error.details.hint)
  }
}
