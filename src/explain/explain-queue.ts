import type { Infer } from '../api/operations/fields.ts'
import type { queueExplanationRecord } from '../api/operations/records.ts'
import { getNumber, getString, type JsonObject } from '../base/json.ts'
import { queueEntries, testSlots } from '../domain/queue-entries.ts'
import { canResume, normalizeState, stateOf } from '../domain/states.ts'
import { elapsedSince, formatAge, joinTruncated, pluralize } from '../values/format.ts'
import { repositoryName } from '../values/repository.ts'
import {
  type ExplainSources,
  type Explanation,
  explanationOf,
  type NextStep,
} from './explain-pull-request.ts'
import { isOfQueue, lateCheck, queueStateFindings } from './findings.ts'
import type { Finding, QueueAction } from './readiness.ts'

/**
 * Why a queue does not move: `stalled` means that no listed pull request changed its state for an hour, and
 * `waiting` that pull requests are submitted, but none is ready.
 */
type QueueVerdict = QueueExplanation['verdict']

interface QueueSources extends Pick<ExplainSources, 'repo' | 'targetBranch' | 'nameOf'> {
  /** Returns the command that does what concerns the queue, as the caller runs it. */
  commandFor(action: QueueAction): string
  readonly queue: JsonObject
  /** The explanation of the pull request at its head; undefined if it lists none, or if that could not be read. */
  readonly head: Explanation | undefined
  /** The pull requests of each test run that is known. */
  readonly batches: QueueExplanation['batches']
  /** The records of pull requests that are not ready, as far as they were read. */
  readonly notReady: readonly JsonObject[]
  /** How many are not ready; undefined if that is not known. */
  readonly notReadyCount: number | undefined
  readonly unread: QueueExplanation['unread']
  /** In milliseconds since 1970. */
  readonly now: number
}

/** Why nothing moves in a queue, with what its JSON does not have. The most important reason is first. */
export interface QueueExplanation extends Omit<Infer<typeof queueExplanationRecord>, 'head' | 'next'> {
  /** The explanation of the pull request at its head; null if it lists none, or if that could not be read. */
  readonly head: Explanation | null
  readonly next: readonly NextStep[]
}

/** The name in `unread` of the list of pull requests that are not ready. */
export const unreadNotReady = 'pull requests that are not ready'

/** A queue in which nothing changed for so long stands still, in milliseconds. */
const stalledTime = 3_600_000

/** Explains a queue from the documents that were read. Never throws. */
export function explanationOfQueue(sources: QueueSources): QueueExplanation {
  const { repo, targetBranch, queue, head, batches, notReadyCount, unread } = sources
  const state = stateOf(queue)
  const { testing, concurrency = null } = testSlots(queue)
  const verdict = verdictOf(sources)
  const findings = [...stateFindings(queue), ...entryFindings(sources), ...notReadyFindings(sources)]
  return {
    repo: repositoryName(repo),
    targetBranch,
    verdict,
    state: state === '' ? null : normalizeState(state),
    mode: getString(queue, 'mode') ?? null,
    depth: queueEntries(queue).length,
    head: head ?? null,
    testing: testing.length,
    concurrency,
    batches,
    notReady: notReadyCount ?? null,
    notReadyPullRequests: notReadyPullRequests(sources),
    reasons: findings.map(({ code, message }) => ({ code, message })),
    next: stepsOf(sources, verdict),
    unread,
  }
}

/** The verdicts of the states in which nothing else counts. */
const stateVerdicts: ReadonlyMap<string, QueueVerdict> = new Map([
  ['PAUSED', 'paused'],
  ['DRAINING', 'draining'],
  ['SWITCHING_MODES', 'switching-modes'],
])

function verdictOf({ queue, head, notReadyCount = 0, now }: QueueSources): QueueVerdict {
  const state = stateOf(queue)
  if (state !== 'RUNNING') return stateVerdicts.get(state) ?? 'unknown'
  if (queueEntries(queue).length === 0) return notReadyCount > 0 ? 'waiting' : 'empty'
  if (head?.verdict === 'blocked') return 'blocked'
  return (timeSinceChange(queue, now) ?? 0) >= stalledTime ? 'stalled' : 'moving'
}

/** Returns how long ago a listed pull request last changed its state; undefined if none says when. */
function timeSinceChange(queue: JsonObject, now: number): number | undefined {
  const times = queueEntries(queue).flatMap(
    ({ record }) => elapsedSince(getString(record, 'stateChangedAt'), now) ?? [],
  )
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other))
}

const stateFindings = (queue: JsonObject): readonly Finding[] =>
  stateOf(queue) === ''
    ? [{ code: 'queue-state', message: 'The service reports no state of the queue.' }]
    : queueStateFindings(queue, [])

/** What the pull requests say that the queue lists. */
function entryFindings({ queue, head, now }: QueueSources): readonly Finding[] {
  const entries = queueEntries(queue)
  if (entries.length === 0) return [{ code: 'empty', message: 'No pull requests are queued.' }]
  const { testing, concurrency, isBatching } = testSlots(queue)
  const idle = timeSinceChange(queue, now)
  const numbers = joinTruncated(testing.map(({ pr }) => `#${pr}`))
  const waiting = entries.length - testing.length
  const isFull = concurrency !== undefined && testing.length >= concurrency && !isBatching && waiting > 0
  const limit = pluralize(concurrency ?? 0, 'concurrent test run')
  const full = `The queue is at its limit of ${limit}; ${waiting} ${waiting === 1 ? 'waits' : 'wait'}.`
  return [
    idle === undefined
      ? { code: 'no-times', message: 'No queued pull request says when its state changed.' }
      : idle >= stalledTime
        ? { code: 'stalled', message: `No queued pull request changed its state for ${formatAge(idle)}.` }
        : { code: 'last-change', message: `A pull request last changed its state ${formatAge(idle)} ago.` },
    testing.length === 0
      ? { code: 'nothing-tested', message: 'No test runs are in progress.' }
      : { code: 'testing', message: `Under test: ${numbers}.` },
    ...(head?.reasons ?? [])
      .filter(({ code }) => code === lateCheck)
      .map(({ code, message }) => ({ code, message: `In the test run of #${head?.pr}, ${message}` })),
    ...(isFull ? [{ code: 'no-free-slot', message: full }] : []),
  ]
}

function notReadyFindings({ notReadyCount = 0, notReady }: QueueSources): readonly Finding[] {
  if (notReadyCount === 0) return []
  const verb = notReadyCount === 1 ? 'is' : 'are'
  const names = joinTruncated(
    notReady.flatMap(record => (typeof record.prNumber === 'number' ? `#${record.prNumber}` : [])),
  )
  const list = names === '' ? '' : `: ${names}`
  const message = `${pluralize(notReadyCount, 'pull request')} ${verb} submitted, but not ready${list}.`
  return [{ code: 'not-ready', message }]
}

/** Returns the pull requests that are not ready, each with what it is waiting for. */
function notReadyPullRequests(sources: QueueSources): QueueExplanation['notReadyPullRequests'] {
  const { repo, targetBranch, queue, notReady, nameOf, now } = sources
  return notReady.flatMap(record => {
    const pr = getNumber(record, 'prNumber')
    if (pr === undefined) return []
    const { title, since, reasons } = explanationOf({
      ...{ pr, repo, targetBranch, nameOf, record, queue, now },
      // What to do about each of them is left to its own explanation.
      commandFor: () => '',
      run: undefined,
      unread: [],
    })
    // That it is not ready is known, and what the queue does is said once.
    const own = reasons.filter(finding => finding.code !== 'not-ready' && !isOfQueue(finding))
    return [{ pr, title, since, reasons: own.map(({ code, message }) => ({ code, message })) }]
  })
}

/** Returns what to do: about the queue first, then about its head, then about what is not ready. */
function stepsOf(sources: QueueSources, verdict: QueueVerdict): readonly NextStep[] {
  const { queue, head, notReady, notReadyCount = 0, unread, commandFor } = sources
  const steps: NextStep[] = []
  if (canResume(stateOf(queue)))
    steps.push({
      command: commandFor('resume-queue'),
      when: 'If you manage the queue',
      why: 'Resumes testing and merging, if you manage the queue.',
    })
  if (head !== undefined && ['blocked', 'stalled'].includes(verdict))
    steps.push(...head.next.map(step => ({ ...step, why: `#${head.pr}: ${step.why}` })))
  // A service that lacks the list does not have it later either.
  const canList = unread.some(({ what }) => what === unreadNotReady)
  if (notReadyCount > 0 && notReady.length === 0 && canList)
    steps.push({ command: commandFor('list-not-ready'), why: 'Lists the pull requests that are not ready.' })
  return steps
}
