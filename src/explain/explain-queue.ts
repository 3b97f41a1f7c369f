import { callOperation } from '../api/call.ts'
import { readList, readToEnd } from '../api/list.ts'
import type { Infer } from '../api/operations/fields.ts'
import { getMergeQueueMetrics, queueMetricsIn } from '../api/operations/metrics.ts'
import { listPullRequests } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { queueExplanationRecord } from '../api/operations/records.ts'
import { readBatches } from '../api/reads/batches.ts'
import { tolerate } from '../api/reads/extra-reads.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { serviceStart } from '../api/service-time.ts'
import { isNotFound } from '../base/errors.ts'
import { getNumber, getString, type JsonObject } from '../base/json.ts'
import { queueEntries, testSlots } from '../domain/queue-entries.ts'
import { normalizeState, stateOf } from '../domain/states.ts'
import { elapsedSince, formatAge, joinTruncated, pluralize } from '../values/format.ts'
import { type Queue, repositoryName } from '../values/repository.ts'
import { type Explanation, explain, explanationJson, explanationOf } from './explain-pull-request.ts'
import { isOfQueue, lateCheck, queueStateFindings } from './findings.ts'
import { type NextStep, nextStep } from './next-commands.ts'
import type { Finding, Step } from './readiness.ts'

/**
 * Why a queue does not move: `stalled` means that no listed pull request changed its state for an hour, and
 * `waiting` that pull requests are submitted, but none is ready.
 */
type QueueVerdict = QueueExplanation['verdict']

/** What was read of a queue. */
interface QueueSources extends Queue {
  readonly client: ServiceClient
  readonly queue: JsonObject
  /** The explanation of the pull request at its head; undefined if it lists none, or if that could not be read. */
  readonly head: Explanation | undefined
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
const unreadNotReady = 'pull requests that are not ready'

/** A queue in which nothing changed for so long stands still, in milliseconds. */
const stalledTime = 3_600_000

/** The most pull requests that are not ready of which something is read. */
const maxRead = 20

/** Reads what explains a queue. Throws the error of the queue; what else cannot be read is named in the explanation. */
export async function explainQueueAt(place: Queue, client: ServiceClient): Promise<QueueExplanation> {
  const { response } = await callOperation(client, getQueue, place)
  const [queue = {}] = response.records
  const entries = queueEntries(queue)
  const [first] = entries
  const reads = [
    first === undefined ? undefined : tolerate(() => explain({ ...place, pr: first.pr }, client, queue)),
    readBatches(queue, place, client, { limits: { maxRetries: 0 }, readsAlone: true }),
    readNotReady(place, client),
    readNotReadyCount(place, client),
  ] as const
  // All reads finish before an error is thrown: otherwise the others would lose their connections and retry.
  await Promise.allSettled(reads)
  const [explained, batches, listed, counted] = await Promise.all(reads)
  const unread = [
    ...unreadPart('head of the queue', explained?.failure?.message),
    ...unreadPart(unreadNotReady, listed.why),
    ...unreadPart('metrics', counted.failure?.message),
  ]
  const { records: notReady } = listed
  const notReadyCount = listed.isComplete ? notReady.length : counted.value
  const head = explained?.value
  const now = await serviceStart(client)
  const sources = { ...place, client, queue, head, notReady, notReadyCount, unread, now }
  const state = stateOf(queue)
  const { testing, concurrency = null } = testSlots(queue)
  const verdict = verdictOf(sources)
  const ofState = queueFindings(queue)
  const findings = [...ofState, ...entryFindings(sources), ...notReadyFindings(sources)]
  return {
    repo: repositoryName(place.repo),
    targetBranch: place.targetBranch,
    verdict,
    state: state === '' ? null : normalizeState(state),
    mode: getString(queue, 'mode') ?? null,
    depth: entries.length,
    head: head ?? null,
    testing: testing.length,
    concurrency,
    batches,
    notReady: notReadyCount ?? null,
    notReadyPullRequests: notReadyPullRequests(sources),
    reasons: findings.map(({ code, message }) => ({ code, message })),
    next: stepsOf(sources, verdict, ofState),
    unread,
  }
}

/** Lists the pull requests that are not ready; none, without a reason, where the service lacks the operation. */
async function readNotReady(place: Queue, client: ServiceClient) {
  const records: JsonObject[] = []
  const wanted = { ...place, states: ['NOT_READY'], limit: maxRead }
  const list = listPullRequests.list(wanted, client.serviceTime.startedAt(), client.nameOf)
  const take = (record: JsonObject) => records.push(record)
  const { value: end, failure } = await tolerate(() => readToEnd(readList(client, list), take))
  const isMissing = failure !== undefined && isNotFound(failure)
  return {
    records,
    isComplete: end?.complete === true,
    why: isMissing ? undefined : (failure?.message ?? end?.problem ?? end?.failure?.message),
  }
}

/** Returns how many pull requests of the queue are not ready, as the metrics say; no value where they do not. */
const readNotReadyCount = (place: Queue, client: ServiceClient) =>
  tolerate(async () => {
    const { response } = await callOperation(client, getMergeQueueMetrics, { repo: place.repo })
    return queueMetricsIn(response.bytes, place)?.numbers.awaitingMergeability
  })

const unreadPart = (what: string, why: string | undefined): QueueExplanation['unread'] =>
  why === undefined ? [] : [{ what, why }]

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

const queueFindings = (queue: JsonObject): readonly Finding[] =>
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
  const { repo, targetBranch, client, queue, notReady, now } = sources
  return notReady.flatMap(record => {
    const pr = getNumber(record, 'prNumber')
    if (pr === undefined) return []
    const { title, since, reasons } = explanationOf({
      pr,
      repo,
      targetBranch,
      record,
      queue,
      now,
      nameOf: client.nameOf,
      commandLine: client.settings.commandLine,
      run: undefined,
      unread: [],
    })
    // That it is not ready is known, and what the queue does is said once.
    const own = reasons.filter(finding => finding.code !== 'not-ready' && !isOfQueue(finding))
    return [{ pr, title, since, reasons: own.map(({ code, message }) => ({ code, message })) }]
  })
}

/** Returns what to do: about the queue first, then about its head, then about what is not ready. */
function stepsOf(
  sources: QueueSources,
  verdict: QueueVerdict,
  ofState: readonly Finding[],
): readonly NextStep[] {
  const { client, head, notReady, notReadyCount = 0, unread } = sources
  const isHeld = head !== undefined && ['blocked', 'stalled'].includes(verdict)
  // A service that lacks the list does not have it later either.
  const canList = unread.some(({ what }) => what === unreadNotReady)
  const list: Step = { action: 'list-not-ready', why: 'Lists the pull requests that are not ready.' }
  const withCommand = (step: Step) => nextStep(step, sources, client.settings.commandLine)
  return [
    ...ofState.flatMap(({ steps = [] }) => steps).map(withCommand),
    ...(isHeld ? head.next.map(step => ({ ...step, why: `#${head.pr}: ${step.why}` })) : []),
    ...(notReadyCount > 0 && notReady.length === 0 && canList ? [withCommand(list)] : []),
  ]
}

/** Returns an explanation as JSON: `queueExplanationRecord`. */
export const queueExplanationJson = (
  explanation: QueueExplanation,
): Infer<typeof queueExplanationRecord> => ({
  ...explanation,
  head: explanation.head === null ? null : explanationJson(explanation.head),
  next: explanation.next.map(({ command, why }) => ({ command, why })),
})
