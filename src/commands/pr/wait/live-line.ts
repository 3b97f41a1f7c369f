import type { Wait, WaitTarget } from '../../../api/wait/poll.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { shortReason } from '../../../domain/explain/findings.ts'
import { formatAge, formatDuration, formatOrdinal, pluralize } from '../../../domain/format.ts'
import { type UsualTimeInQueue, usualTimeText } from '../../../domain/metrics/last-hour.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { queueName } from '../../../domain/values/repository.ts'
import { missingState } from '../../../domain/wait-state.ts'
import { get, getString, type JsonObject } from '../../../json.ts'
import { type Pieces, plainText, type StyledLine, wordsSpan } from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import { readUsualTime } from '../../queue/screen.ts'

/** A part of the live line. On a narrow terminal the parts with the highest `rank` are left out first. */
export interface Part {
  readonly pieces: Pieces
  readonly rank: number
}

/** Returns a state as words, and how long it has lasted: `testing 4m`. */
function stateWithAge(record: JsonObject | undefined, state: string, now: number): Pieces {
  const age = now - Date.parse(getString(record, 'stateChangedAt') ?? '')
  return age >= 0 ? [wordsSpan(state), ` ${formatAge(age)}`] : [wordsSpan(state)]
}

function targetParts({ request, state, record, queue = {} }: WaitTarget, now: number): readonly Part[] {
  const { pr, targetBranch } = request.values
  const { position } = state
  if (state.state === undefined) return [{ pieces: [`#${pr} ${missingState(state)}`], rank: 0 }]
  const parts: Part[] = [{ pieces: [`#${pr} `, ...stateWithAge(record, state.state, now)], rank: 0 }]
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

export function countsOf(targets: readonly WaitTarget[]): Pieces {
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
  readonly usual?: UsualTimeInQueue | undefined
}

/**
 * Returns the line that a terminal shows during a wait: `#141 pending 47m, 3rd of 12, behind #131 (testing 4m), usually
 * 14m in the queue    waited 6m12s, 38m left`. It fits `columns` columns, unless the state alone is wider.
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
  return withTimes(parts, isKnown ? times : { ...times, usual: undefined }, columns)
}

/** Returns the line of what is waited for, with the times of the wait as far as they fit. */
export function withTimes(
  what: readonly Part[],
  { elapsed, limit, usual }: Times,
  columns: number,
): StyledLine {
  let parts: readonly Part[] = [
    ...what,
    ...(usual === undefined ? [] : [{ pieces: [`, ${usualTimeText(usual)} in the queue`], rank: 5 }]),
    { pieces: [`    waited ${formatDuration(elapsed)}`], rank: 3 },
    ...(limit > 0 ? [{ pieces: [`, ${formatAge(Math.max(0, limit - elapsed))} left`], rank: 6 }] : []),
  ]
  const lineOf = () => parts.flatMap(({ pieces }) => pieces)
  while (textWidth(plainText(lineOf())) > columns) {
    const lastRank = Math.max(...parts.map(({ rank }) => rank))
    if (lastRank === 0) break
    parts = parts.filter(({ rank }) => rank !== lastRank)
  }
  return lineOf()
}

/** The time for the metrics, in milliseconds: nothing waits for them. */
const metricsTime = 3_000

/**
 * Runs `work` and shows the live line of a wait until it ends; `targets` returns the pull requests that it
 * still waits for. When all of them are in one queue, its usual time is read once, at the same time. Where the
 * logger has no spinner, only the work is done.
 */
export async function withLiveLine(
  targets: () => readonly WaitTarget[],
  { elapsed, options: { limit, grace } }: Wait,
  context: CommandContext,
  work: () => Promise<void>,
): Promise<void> {
  const { logger, host } = context
  if (!logger.hasSpinner) return work()
  let usual: UsualTimeInQueue | undefined
  const pullRequests = targets().map(({ request }) => request.values)
  const [first] = pullRequests
  if (first !== undefined && new Set(pullRequests.map(queueName)).size === 1)
    void readUsualTime(context.client(), first, metricsTime).then(time => {
      usual = time
    })
  return logger.withSpinner(columns => {
    // Until a submission appears, the wait lasts no longer than --grace.
    const isMissing = targets().every(({ state }) => !state.state && state.missingSince !== undefined)
    const timeLimit = isMissing ? Math.min(grace, limit || grace) : limit
    const times = { now: host.clock.now(), elapsed: elapsed(), limit: timeLimit, usual }
    return liveLine(targets(), times, columns)
  }, work)
}
