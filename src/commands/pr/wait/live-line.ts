import { callOperation } from '../../../api/call.ts'
import { getMergeQueueMetrics, readSamplesIn } from '../../../api/operations/metrics.ts'
import { withoutMessages } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { shortReason } from '../../../domain/explain/findings.ts'
import { formatAge, formatDuration, formatOrdinal, pluralize } from '../../../domain/format.ts'
import {
  findQueue,
  summarizeMetrics,
  type UsualTimeInQueue,
  usualTimeInQueue,
  usualTimeText,
} from '../../../domain/metrics/last-hour.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { isUnderTest } from '../../../domain/states.ts'
import { queueName } from '../../../domain/values/repository.ts'
import { get, getString, type JsonObject } from '../../../json.ts'
import { plainText, type Span, type StyledLine, wordsSpan } from '../../../output/styled-text.ts'
import { textWidth } from '../../../output/text-width.ts'
import type { RequestedPullRequest } from '../record.ts'
import type { WaitTarget } from './poll.ts'

/** The times of a wait, in milliseconds; `now` and `startedAt` since 1970. */
export interface LiveTimes {
  readonly now: number
  readonly startedAt: number
  /** The time limit of the whole wait; 0 if the wait has none. */
  readonly limit: number
  readonly usual?: UsualTimeInQueue | undefined
}

type Pieces = readonly (string | Span)[]

/** A part of the live line. On a narrow terminal the parts with the highest `rank` are left out first. */
interface Part {
  readonly pieces: Pieces
  readonly rank: number
}

/** The space between what is known of the pull request and the times. */
const gap = '    '

/** Returns a state as words, and for a state under test how long it has lasted: `testing 4m`. */
function stateWithAge(record: JsonObject | undefined, state: string, now: number): Pieces {
  const age = now - Date.parse(getString(record, 'stateChangedAt') ?? '')
  return isUnderTest(state) && age >= 0 ? [wordsSpan(state), ` ${formatAge(age)}`] : [wordsSpan(state)]
}

/** Returns what is known of a pull request without a state: nothing was read, or it was not found. */
const withoutState = ({ state: { missingSince, submission } }: WaitTarget): string =>
  missingSince === undefined
    ? 'not checked yet'
    : submission === undefined
      ? 'not found in the queue'
      : 'not visible yet'

/** Returns the parts about one pull request: its state, its place in the queue, and what holds it back. */
function targetParts(target: WaitTarget, now: number): readonly Part[] {
  const { request, state, record, queue = {} } = target
  const { pr, targetBranch } = request.values
  const known = state.state
  if (known === undefined) return [{ pieces: [`#${pr} ${withoutState(target)}`], rank: 0 }]
  const entries = queueEntries(queue)
  const { position } = state
  const ahead = entries.find(entry => entry.position === (position ?? 0) - 1)
  const reason = record && shortReason(pr, targetBranch, record, queue)
  const parts: Part[] = [{ pieces: [`#${pr} `, ...stateWithAge(record, known, now)], rank: 0 }]
  if (reason !== undefined) parts.push({ pieces: [`, ${reason}`], rank: 1 })
  if (position !== undefined)
    parts.push({ pieces: [`, ${formatOrdinal(position)} of ${Math.max(position, entries.length)}`], rank: 2 })
  // The lanes of a parallel queue do not wait for each other.
  if (ahead !== undefined && get(queue, 'mode') !== 'parallel')
    parts.push({
      pieces: [`, behind #${ahead.pr} (`, ...stateWithAge(ahead.record, ahead.state, now), ')'],
      rank: 4,
    })
  return parts
}

/** Returns how many of several pull requests are in each state. */
function countParts(targets: readonly WaitTarget[]): readonly Part[] {
  const states = targets.map(({ state }) => state.state ?? '')
  const isUnread = targets.every(({ state }) => state.missingSince === undefined)
  const counts = [...new Set(states)].map(
    (state): Pieces => [
      `${states.filter(other => other === state).length} `,
      state !== '' ? wordsSpan(state) : isUnread ? 'not checked yet' : 'not visible yet',
    ],
  )
  const pieces = counts.flatMap((count, index) => (index === 0 ? count : [', ', ...count]))
  return [{ pieces: [`${pluralize(targets.length, 'pull request')}: `, ...pieces], rank: 0 }]
}

function timeParts({ now, startedAt, limit, usual }: LiveTimes): readonly Part[] {
  const elapsed = now - startedAt
  return [
    { pieces: [`${gap}${formatDuration(elapsed)} elapsed`], rank: 3 },
    ...(usual === undefined ? [] : [{ pieces: [`, ${usualTimeText(usual)}`], rank: 5 }]),
    ...(limit > 0
      ? [{ pieces: [`, times out in ${formatAge(Math.max(0, limit - elapsed))}`], rank: 6 }]
      : []),
  ]
}

/**
 * Returns the line that a terminal shows during a wait: `#141 pending, 3rd of 12, behind #131 (testing 4m)
 * 6m12s elapsed, usually 14m, times out in 38m`. It fits `columns` columns, unless the state alone is wider.
 */
export function liveLine(targets: readonly WaitTarget[], times: LiveTimes, columns: number): StyledLine {
  const [target, ...others] = targets
  if (target === undefined) return ''
  let parts = [
    ...(others.length === 0 ? targetParts(target, times.now) : countParts(targets)),
    ...timeParts(times),
  ]
  const lineOf = () => parts.flatMap(({ pieces }) => pieces)
  while (textWidth(plainText(lineOf())) > columns) {
    const lastRank = Math.max(...parts.map(({ rank }) => rank))
    if (lastRank === 0) break
    parts = parts.filter(({ rank }) => rank !== lastRank)
  }
  return lineOf()
}

/**
 * Runs `work` and shows the live line of a wait until it ends; `targets` returns the pull requests that it
 * still waits for. The wait began at `startedAt`, in milliseconds since 1970, and may take `limit`
 * milliseconds. When all pull requests are in one queue, its usual time is requested once, at the same time.
 * Where the logger has no spinner, only the work is done.
 */
export async function withLiveLine(
  targets: () => readonly WaitTarget[],
  { startedAt, limit }: Pick<LiveTimes, 'startedAt' | 'limit'>,
  context: CommandContext,
  work: () => Promise<void>,
): Promise<void> {
  const { logger, host } = context
  if (!logger.hasSpinner) return work()
  let usual: UsualTimeInQueue | undefined
  let isUsualRequested = false
  return logger.withSpinner(columns => {
    const waiting = targets()
    const [target] = waiting
    if (
      target !== undefined &&
      !isUsualRequested &&
      new Set(waiting.map(({ request }) => queueName(request.values))).size === 1
    ) {
      isUsualRequested = true
      void readUsualTime(target.request.values, context).then(found => {
        usual = found
      })
    }
    return liveLine(waiting, { now: host.clock.now(), startedAt, limit, usual }, columns)
  }, work)
}

/** The time for the metrics, in milliseconds: they are an extra of the live line. */
const timeLimit = 3_000

/**
 * Reads the usual time in a queue from the metrics of its last hour, with a single request. Undefined if
 * there are none or if the request fails; never rejects.
 */
async function readUsualTime(
  { repo, targetBranch }: RequestedPullRequest,
  context: CommandContext,
): Promise<UsualTimeInQueue | undefined> {
  try {
    const client = context.client()
    const limits = { maxRetries: 0, timeout: (usual: number) => Math.min(usual, timeLimit) }
    const params = { repo, branch: undefined }
    const { response } = await callOperation(withoutMessages(client), getMergeQueueMetrics, params, {
      limits,
    })
    const summary = summarizeMetrics(readSamplesIn(response.bytes))
    return usualTimeInQueue(findQueue(summary, repo, targetBranch))
  } catch {
    return undefined
  }
}
