// What a person at a terminal sees of a wait: the live line, and the lines about each end.

import { get, getString, type JsonObject } from '../../../../base/json.ts'
import { type LinePart, type LineTimes, withTimes } from '../../../../command/waits.ts'
import { queueEntries } from '../../../../domain/queue-entries.ts'
import type { FailingCheck } from '../../../../domain/test-run.ts'
import { shortReason } from '../../../../explain/findings.ts'
import {
  linkSpan,
  type Pieces,
  plainText,
  type Span,
  type StyledLine,
  signSpan,
  styled,
  wordsSpan,
} from '../../../../output/styled-text.ts'
import { textWidth } from '../../../../output/text-width.ts'
import { shortCommits } from '../../../../values/commit.ts'
import { formatAge, formatOrdinal, joinTruncated, pluralize, shorten } from '../../../../values/format.ts'
import { type PullRequest, urlOfPullRequest } from '../../../../values/pull-request.ts'
import type { WaitResult } from '../../../../wait/results.ts'
import type { Wait } from '../../../../wait/wait.ts'
import {
  absenceOf,
  isBetweenAttempts,
  isInPause,
  isPaused,
  missingState,
  type TrackedPullRequest,
  type WaitOptions,
} from '../../../../wait/wait-state.ts'

/** Returns how long the state of a record has lasted, in milliseconds; NaN if that is not known. */
const stateAge = (record: JsonObject | undefined, now: number): number =>
  now - Date.parse(getString(record, 'stateChangedAt') ?? '')

/** Returns a state as words, and how long it has lasted: `testing 4m`. */
function stateWithAge(record: JsonObject | undefined, state: string, now: number): Pieces {
  const age = stateAge(record, now)
  return age >= 0 ? [wordsSpan(state), ` ${formatAge(age)}`] : [wordsSpan(state)]
}

function partsOf(tracked: TrackedPullRequest, now: number): readonly LinePart[] {
  const { pullRequest, seen, record, queue = {} } = tracked
  const { pr, targetBranch } = pullRequest
  const { state, position } = seen
  if (state === undefined) return [{ pieces: [`#${pr} ${missingState(tracked)}`], rank: 0 }]
  const parts: LinePart[] = [{ pieces: [`#${pr} `, ...stateWithAge(record, state, now)], rank: 0 }]
  if (isInPause(tracked)) return [...parts, { pieces: [', to be submitted again'], rank: 1 }]
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

function countsOf(all: readonly TrackedPullRequest[]): Pieces {
  const states = all.map(tracked => tracked.seen.state ?? missingState(tracked))
  const counts = [...new Set(states)].flatMap((state, index): Pieces => {
    const count = states.filter(other => other === state).length
    return [`${index === 0 ? '' : ', '}${count} `, wordsSpan(state)]
  })
  return [`${pluralize(all.length, 'pull request')}: `, ...counts]
}

/**
 * Returns the line that a terminal shows during a wait: `#141 pending 47m, 3rd of 12, behind #131 (testing 4m), usually
 * 14m in the queue    waited 6m12s, times out in 38m`. It fits `columns` columns, unless the state alone is wider.
 */
export function waitLine(
  all: readonly TrackedPullRequest[],
  { waitLimit, grace }: Pick<WaitOptions, 'waitLimit' | 'grace'>,
  { now, elapsed, usual }: Pick<LineTimes, 'elapsed' | 'usual'> & { readonly now: number },
  columns: number,
): StyledLine {
  const [first, ...others] = all
  if (first === undefined) return ''
  const parts = others.length === 0 ? partsOf(first, now) : [{ pieces: countsOf(all), rank: 0 }]
  // Until a submission appears, the wait lasts no longer than --grace.
  const isMissing = all.every(each => !each.seen.state && absenceOf(each) !== undefined)
  const limit = isMissing ? Math.min(grace, waitLimit || grace) : waitLimit
  // A pull request that was neither seen nor submitted may never be in the queue: no usual time for it.
  const isUsual = all.some(isSeenOrSent)
  // A state that began with the wait has lasted as long.
  const saysAge = others.length === 0 && Math.abs(stateAge(first.record, now) - elapsed) < 5_000
  return withTimes(parts, { elapsed, limit, usual: isUsual ? usual : undefined, saysAge }, columns)
}

const isSeenOrSent = ({ seen, attempt }: TrackedPullRequest): boolean =>
  seen.state !== undefined || attempt.sent !== undefined

/** Returns what a wait is for, in a log: the state of a pull request, or how many of several are in which state. */
export function describeWaiting(all: readonly TrackedPullRequest[]): string {
  const [first, ...others] = all
  if (first === undefined || others.length > 0) return plainText(countsOf(all))
  const again = isInPause(first) ? ', to be submitted again' : ''
  return `#${first.pullRequest.pr}: ${first.seen.state ?? missingState(first)}${again}`
}

/** Says after Ctrl-C which pull requests stay in the queue, and which are not in it. */
export function stopSentence(waiting: readonly TrackedPullRequest[]): string {
  const between = waiting.filter(isBetweenAttempts)
  const queued = waiting.filter(tracked => !between.includes(tracked) && isSeenOrSent(tracked))
  const names = queued.map(({ pullRequest }) => `#${pullRequest.pr}`)
  const list = names.length === 2 ? names.join(' and ') : joinTruncated(names)
  const stay = names.length === 0 ? [] : [`${list} ${names.length === 1 ? 'stays' : 'stay'} in the queue.`]
  const gone = between.map(({ pullRequest }) => `#${pullRequest.pr} is not in the queue.`)
  return ['Stopped waiting.', ...stay, ...gone].join(' ')
}

/**
 * Returns the lines about the end of a pull request: its sign, the sentence, the failing checks and the next commands.
 * `isOnly` is whether the command waits for no other one.
 */
export const endLines = (
  result: WaitResult,
  wait: Wait,
  isOnly: boolean,
  columns: number,
): readonly StyledLine[] => [
  ...checkLines([signOfEnd(result), ' ', ...styleReason(result)], result.failingChecks, columns),
  ...stepLines(nextSteps(result, wait, isOnly), columns),
]

/** Returns the line with the command that goes on waiting for several pull requests, after all results. */
export const continueLines = (
  pullRequests: readonly PullRequest[],
  wait: Wait,
  columns: number,
): readonly StyledLine[] => stepLines(continueSteps(pullRequests, wait), columns)

function signOfEnd({ tracked, end }: WaitResult): Span {
  const { outcome, isSkipped = false } = end
  switch (outcome) {
    case 'merged':
    case 'failed':
    case 'cancelled':
    case 'stale':
      return signSpan(outcome)
    case 'error':
      return signSpan('FAILED')
    default: {
      const sign = signSpan(isSkipped ? 'SKIPPED' : (tracked.seen.state ?? ''))
      // A state that is not known has no sign.
      return sign.text === '' ? signSpan('WARN') : sign
    }
  }
}

/** Returns the sentence about the end of a wait with its link and the color of the state. */
function styleReason({ tracked: { pullRequest, seen }, reason }: WaitResult): Pieces {
  const { repo, pr } = pullRequest
  const spans = [linkSpan(`#${pr}`, urlOfPullRequest(repo, pr)), wordsSpan(seen.state ?? '')]
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

/** The largest number of failing checks that a terminal shows for a pull request. */
const maxChecks = 5

/**
 * Returns the first line with the failing checks: a single check on the same line, several on lines of their
 * own. A URL that does not fit beside the name has a line of its own.
 */
function checkLines(
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

const continueSteps = (pullRequests: readonly PullRequest[], { client }: Wait): readonly string[] =>
  client.advice.toWait(pullRequests).map(command => `To continue waiting: ${command}`)

/** Returns the next commands, each with its purpose: `Details: mergeq pr explain 7`. */
function nextSteps(
  { tracked, end, mayBeMerged }: WaitResult,
  wait: Wait,
  isOnly: boolean,
): readonly string[] {
  const { commandLine } = wait.client.settings
  const { pullRequest, record, queue, attempt, seen } = tracked
  if (end.isSkipped === true) return []
  const { pr } = pullRequest
  const details = `Details: ${commandLine(['pr', 'explain', pr], pullRequest)}`
  const submit = commandLine(['pr', 'submit', pr], pullRequest)
  if (mayBeMerged) return [details]
  switch (end.outcome === 'left' ? seen.state?.toLowerCase() : end.outcome) {
    case 'failed':
      return [details, `After a fix: ${submit}`]
    case 'cancelled':
      return [details, `To submit again: ${submit}`]
    case 'stale': {
      const expected = wait.options.head ?? attempt.head ?? ''
      const [, found] = shortCommits(expected, getString(record, 'prSha') ?? '')
      // The commit is text from the service: it must not put anything else into a command line.
      if (!/^[\da-f]+$/i.test(found)) return []
      const submits = wait.submitOptions !== undefined
      const words = submits ? ['pr', 'submit', pr, '--wait'] : ['pr', 'wait', pr]
      const command = commandLine([...words, '--match-head', found], pullRequest)
      return [`To ${submits ? 'submit' : 'wait for'} the new head commit: ${command}`]
    }
    case 'timed-out':
    case 'pending': {
      if (seen.state === undefined && absenceOf(tracked) !== undefined && attempt.sent === undefined)
        return [`To submit it: ${submit}`]
      // For several pull requests a single command follows all results.
      const goOn = isOnly ? continueSteps([pullRequest], wait) : []
      if (isPaused(queue))
        return [...goOn, `If you manage the queue: ${commandLine(['queue', 'resume'], pullRequest)}`]
      return isOnly ? [...goOn, details] : goOn
    }
    default:
      return []
  }
}

/** Returns steps on one line, or each on a line of its own where they are too long for that. */
function stepLines(steps: readonly string[], columns: number): readonly StyledLine[] {
  if (steps.length === 0) return []
  const line = `  ${steps.join('      ')}`
  const lines = textWidth(line) <= columns ? [line] : steps.map(step => `  ${step}`)
  return lines.map(text => [styled(text, 'dim')])
}
