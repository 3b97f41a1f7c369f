import { shortReason } from '../../domain/explain/findings.ts'
import {
  formatAge,
  formatDuration,
  formatOrdinal,
  formatRounded,
  pluralize,
  shorten,
} from '../../domain/format.ts'
import { queueEntries } from '../../domain/queue-entries.ts'
import type { CommandLine } from '../../domain/suggested-command.ts'
import type { FailingCheck } from '../../domain/test-run.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { isPaused, missingState, type WaitEnd, type WaitOptions } from '../../domain/wait-state.ts'
import { get, getString, type JsonObject } from '../../json.ts'
import {
  linkSpan,
  type Pieces,
  plainText,
  type Span,
  type StyledLine,
  signSpan,
  styled,
  wordsSpan,
} from '../../output/styled-text.ts'
import { textWidth } from '../../output/text-width.ts'
import { shortCommits, type WaitResult } from '../../wait/result.ts'
import type { WaitTarget } from '../../wait/wait-target.ts'
import { waitCommand } from './wait-options.ts'

/** A part of the live line. On a narrow terminal the parts with the highest `rank` are left out first. */
export interface Part {
  readonly pieces: Pieces
  readonly rank: number
}

/** Returns how long the state of a record has lasted, in milliseconds; NaN if that is not known. */
const stateAge = (record: JsonObject | undefined, now: number): number =>
  now - Date.parse(getString(record, 'stateChangedAt') ?? '')

/** Returns a state as words, and how long it has lasted: `testing 4m`. */
function stateWithAge(record: JsonObject | undefined, state: string, now: number): Pieces {
  const age = stateAge(record, now)
  return age >= 0 ? [wordsSpan(state), ` ${formatAge(age)}`] : [wordsSpan(state)]
}

function targetParts(
  { request, state, record, queue = {}, attempt }: WaitTarget,
  now: number,
): readonly Part[] {
  const { pr, targetBranch } = request.values
  const { position } = state
  if (state.state === undefined) return [{ pieces: [`#${pr} ${missingState(state)}`], rank: 0 }]
  const parts: Part[] = [{ pieces: [`#${pr} `, ...stateWithAge(record, state.state, now)], rank: 0 }]
  if (attempt?.notBefore !== undefined) return [...parts, { pieces: [', to be submitted again'], rank: 1 }]
  const reason = record && shortReason(pr, targetBranch, record, queue)
  if (reason !== undefined) parts.push({ pieces: [`, ${reason}`], rank: 1 })
  if (position === undefined) return parts
  const entries = queueEntries(queue)
  const place = `, ${formatOrdinal(position)} of ${Math.max(position, entries.length)}`
  parts.push({ pieces: [place], rank: 2 })
  const ahead = entries.find(entry => entry.position === position - 1)
  // The lanes of a parallel queue do not wait for each other.
  if (ahead !== undefined && get(queue, 'mode') !== 'parallel') {
    const pieces = [`, behind #${ahead.pr} (`, ...stateWithAge(ahead.record, ahead.state, now), ')']
    parts.push({ pieces, rank: 4 })
  }
  return parts
}

function countsOf(targets: readonly WaitTarget[]): Pieces {
  const states = targets.map(({ state }) => state.state ?? missingState(state))
  const counts = [...new Set(states)].flatMap((state, index): Pieces => {
    const count = states.filter(other => other === state).length
    return [`${index === 0 ? '' : ', '}${count} `, wordsSpan(state)]
  })
  return [`${pluralize(targets.length, 'pull request')}: `, ...counts]
}

interface Times {
  /** How long the wait has lasted, in milliseconds. */
  readonly elapsed: number
  /** The milliseconds for the whole wait; 0 if it has no time limit. */
  readonly limit: number
  /** The usual time in the queue, in milliseconds. */
  readonly usual?: number | undefined
  /** Whether the line says already how long the wait has lasted. */
  readonly saysAge?: boolean
}

/**
 * Returns the line that a terminal shows during a wait: `#141 pending 47m, 3rd of 12, behind #131 (testing 4m), usually
 * 14m in the queue    waited 6m12s, times out in 38m`. It fits `columns` columns, unless the state alone is wider.
 */
export function liveLine(
  targets: readonly WaitTarget[],
  times: Times & { readonly now: number },
  columns: number,
): StyledLine {
  const [target, ...others] = targets
  if (target === undefined) return ''
  const parts =
    others.length === 0 ? targetParts(target, times.now) : [{ pieces: countsOf(targets), rank: 0 }]
  // A pull request that was neither seen nor submitted may never be in the queue: no usual time for it.
  const isKnown = targets.some(({ state }) => state.state !== undefined || state.submission !== undefined)
  // A state that began with the wait has lasted as long.
  const saysAge = others.length === 0 && Math.abs(stateAge(target.record, times.now) - times.elapsed) < 5_000
  return withTimes(parts, { ...times, usual: isKnown ? times.usual : undefined, saysAge }, columns)
}

/** Returns the line of what is waited for, with the times of the wait as far as they fit. */
export function withTimes(
  what: readonly Part[],
  { elapsed, limit, usual, saysAge = false }: Times,
  columns: number,
): StyledLine {
  let parts: readonly Part[] = [
    ...what,
    ...(usual === undefined ? [] : [{ pieces: [`, usually ${formatRounded(usual)} in the queue`], rank: 5 }]),
    ...(saysAge ? [] : [{ pieces: [`    waited ${formatDuration(elapsed)}`], rank: 3 }]),
    ...(limit > 0
      ? [
          {
            pieces: [`${saysAge ? '    ' : ', '}times out in ${formatAge(Math.max(0, limit - elapsed))}`],
            rank: 6,
          },
        ]
      : []),
  ]
  const lineOf = () => parts.flatMap(({ pieces }) => pieces)
  while (textWidth(plainText(lineOf())) > columns) {
    const lastRank = Math.max(...parts.map(({ rank }) => rank))
    if (lastRank === 0) break
    parts = parts.filter(({ rank }) => rank !== lastRank)
  }
  return lineOf()
}

/** The largest number of failing checks that a terminal shows for a pull request. */
const maxChecks = 5

/** Returns the sentence about the end of a wait with its link and the color of the state. */
export function styleReason({ target: { request, state }, reason }: WaitResult): Pieces {
  const { repo, pr } = request.values
  const spans = [linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)), wordsSpan(state.state ?? '')]
  return spans.reduce<Pieces>(
    (pieces, span) =>
      pieces.flatMap(piece => {
        const start = typeof piece === 'string' && span.text !== '' ? piece.indexOf(span.text) : -1
        if (typeof piece !== 'string' || start < 0) return piece
        return [piece.slice(0, start), span, piece.slice(start + span.text.length)]
      }),
    [reason],
  )
}

export function describeTargets(targets: readonly WaitTarget[]): string {
  const [first, ...others] = targets
  if (first === undefined || others.length > 0) return plainText(countsOf(targets))
  const again = first.attempt?.notBefore === undefined ? '' : ', to be submitted again'
  return `#${first.request.values.pr}: ${first.state.state ?? missingState(first.state)}${again}`
}

export function signOfEnd(
  { state: { state = '' } }: WaitTarget,
  { outcome, isSkipped = false }: WaitEnd,
): Span {
  switch (outcome) {
    case 'merged':
    case 'failed':
    case 'cancelled':
    case 'stale':
      return signSpan(outcome)
    case 'error':
      return signSpan('FAILED')
    default: {
      const sign = signSpan(isSkipped ? 'SKIPPED' : state)
      // A state that is not known has no sign.
      return sign.text === '' ? signSpan('WARN') : sign
    }
  }
}

/**
 * Returns the first line with the failing checks: a single check on the same line, several on lines of their
 * own. A URL that does not fit beside the name has a line of its own.
 */
export function checkLines(
  headline: Pieces,
  checks: readonly FailingCheck[],
  columns: number,
): readonly StyledLine[] {
  const withUrl = (line: Pieces, url = ''): readonly StyledLine[] => {
    if (url === '') return [line]
    const page = linkSpan(url, url)
    const whole = [...line, '  ', page]
    return textWidth(plainText(whole)) <= columns ? [whole] : [line, ['    ', page]]
  }
  const [first, ...others] = checks
  if (first === undefined) return [headline]
  if (others.length === 0) return withUrl([...headline, `. Failing check: ${shorten(first.name)}`], first.url)
  const hidden = checks.length - maxChecks
  return [
    [...headline, '. Failing checks:'],
    ...checks.slice(0, maxChecks).flatMap(({ name, url }) => withUrl([`    ${shorten(name)}`], url)),
    ...(hidden > 0 ? [`    and ${hidden} more`] : []),
  ]
}

type Step = readonly [purpose: string, command: string]

interface StepOptions extends Pick<WaitOptions, 'head'> {
  /** The number of pull requests that the command waits for. */
  readonly count: number
  readonly commandLine: CommandLine
  /** Whether the pull request, which failed or was cancelled, may have merged. */
  readonly mayBeMerged?: boolean
}

/** Returns the next commands. */
export function nextSteps(
  { request: { values }, state: { state, missingSince, submission }, record, queue, attempt }: WaitTarget,
  { outcome, isSkipped = false }: WaitEnd,
  { head = '', count, commandLine, mayBeMerged = false }: StepOptions,
): readonly Step[] {
  if (isSkipped) return []
  const { pr } = values
  const details: Step = ['Details', commandLine(['pr', 'explain', pr], values)]
  const submit = commandLine(['pr', 'submit', pr], values)
  if (mayBeMerged) return [details]
  switch (outcome === 'left' ? state?.toLowerCase() : outcome) {
    case 'failed':
      return [details, ['After a fix', submit]]
    case 'cancelled':
      return [details, ['To submit again', submit]]
    case 'stale': {
      const [, found] = shortCommits(head, getString(record, 'prSha') ?? '')
      // The commit is text from the service: it must not put anything else into a command line.
      if (!/^[\da-f]+$/i.test(found)) return []
      const words = attempt === undefined ? ['pr', 'wait', pr] : ['pr', 'submit', pr, '--wait']
      const command = commandLine([...words, '--match-head', found], values)
      return [[`To ${attempt === undefined ? 'wait for' : 'submit'} the new head commit`, command]]
    }
    case 'timed-out':
    case 'pending': {
      if (state === undefined && missingSince !== undefined && submission === undefined)
        return [['To submit it', submit]]
      // For several pull requests a single command follows all results.
      const steps: Step[] = count === 1 ? [['To continue waiting', waitCommand([values], commandLine)]] : []
      if (isPaused(queue)) steps.push(['If you manage the queue', commandLine(['queue', 'resume'], values)])
      else if (count === 1) steps.push(details)
      return steps
    }
    default:
      return []
  }
}

/** Returns steps on one line, or each on a line of its own where they are too long for that. */
export function stepLines(steps: readonly Step[], columns: number): readonly StyledLine[] {
  const texts = steps.map(([purpose, command]) => `${purpose}: ${command}`)
  const line = `  ${texts.join('      ')}`
  if (texts.length === 0) return []
  const lines = textWidth(line) <= columns ? [line] : texts.map(text => `  ${text}`)
  return lines.map(text => [styled(text, 'dim')])
}
