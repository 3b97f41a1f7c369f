import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { RequestLimits, ServiceClient } from '../../api/service-client.ts'
import { withTimeline } from '../../api/timeline.ts'
import { defineCustomCommand, type Invocation } from '../../cli/custom-command.ts'
import { combineFields } from '../../cli/fields.ts'
import { mapConcurrent, maxConcurrent } from '../../cli/run-requests.ts'
import { createLiveRenderer, isLive } from '../../cli/watch/live-renderer.ts'
import { checkWatchInputs, type WatchReader, watchInputs, watchLoop } from '../../cli/watch/watch-loop.ts'
import { createStreamRenderer } from '../../cli/watch/watch-renderer.ts'
import {
  departedEntries,
  departureChange,
  type QueueChange,
  type QueueSnapshot,
  queueChanges,
  snapshotOf,
} from '../../domain/queue-changes.ts'
import type { QueueEntry } from '../../domain/queue-entries.ts'
import { isPermanent, toMergeqError, usageError } from '../../errors.ts'
import type { QueueActivity } from './get/queue-activity.ts'
import { queueRequest } from './get/queue-request.ts'
import { printQueue, queueRecord } from './get.ts'
import { changeRecord, createChangePrinter, type QueueUpdate } from './watch/print-changes.ts'

type QueueInvocation = Invocation<typeof queueRequest.inputs>

/** How often the record of a pull request that left is read before its outcome counts as unknown. */
const maxAttempts = 3

interface Departure {
  readonly entry: QueueEntry
  /** How many readings of its record have failed. */
  readonly attempts: number
}

/** Reads how a pull request left the queue; undefined if that failed and will be attempted again. */
async function readDeparture(
  { entry, attempts }: Departure,
  { values }: QueueInvocation,
  client: ServiceClient,
  limits: RequestLimits,
  isLast: boolean,
): Promise<QueueChange | undefined> {
  const { clock } = client.host
  try {
    const params = { ...values, pr: entry.pr }
    const { response } = await callOperation(client, getSubmittedPullRequest, params, { limits })
    const [record = {}] = response.records
    return departureChange(entry, await withTimeline(client, record, params, { limits }), clock.now())
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    const isGivenUp = isLast || failure.kind === 'not-found' || attempts + 1 >= maxAttempts
    return isGivenUp ? departureChange(entry, undefined, clock.now()) : undefined
  }
}

/** Creates a function that reads the queue and compares it with the previous reading. */
function createQueueReader(invocation: QueueInvocation): WatchReader<QueueUpdate> {
  let lastSnapshot: QueueSnapshot | undefined
  let unresolved: readonly Departure[] = []
  const unlistedStates = new Map<number, string>()
  return async (client, limits, isLast) => {
    const { values, overrides } = invocation
    const { response } = await callOperation(client, getQueue, values, { overrides, limits })
    const [queue = {}] = response.records
    const snapshot = snapshotOf(queue)
    if (lastSnapshot === undefined) {
      lastSnapshot = snapshot
      return { queue, changes: undefined }
    }
    const changes = queueChanges(lastSnapshot, snapshot, unlistedStates, client.host.clock.now())
    const departures: readonly Departure[] = [
      ...unresolved.filter(({ entry }) => !snapshot.entries.has(entry.pr)),
      ...departedEntries(lastSnapshot, snapshot).map(entry => ({ entry, attempts: 0 })),
    ]
    const departureChanges: (QueueChange | undefined)[] = []
    const work = (departure: Departure) => readDeparture(departure, invocation, client, limits, isLast)
    for await (const change of mapConcurrent(departures, maxConcurrent, work)) departureChanges.push(change)
    for (const pr of snapshot.entries.keys()) unlistedStates.delete(pr)
    unresolved = departures.flatMap(({ entry, attempts }, index) =>
      departureChanges[index] === undefined ? [{ entry, attempts: attempts + 1 }] : [],
    )
    for (const { entry } of departures) unlistedStates.delete(entry.pr)
    // A pull request that is not ready, or whose outcome is unknown, is not listed and may return.
    for (const { entry } of unresolved) unlistedStates.set(entry.pr, entry.state)
    for (const change of departureChanges)
      if (change?.to === 'NOT_READY' && change.pr !== null) unlistedStates.set(change.pr, change.to)
    lastSnapshot = snapshot
    return { queue, changes: [...departureChanges.flatMap(change => change ?? []), ...changes] }
  }
}

/** How long the metrics of a queue are shown before they are read again, in milliseconds. */
const maxActivityAge = 30_000

/** Returns a reader that also reads the metrics of the queue, at the same time and not each time. */
async function withActivity(
  readQueue: WatchReader<QueueUpdate>,
  { values }: QueueInvocation,
): Promise<WatchReader<QueueUpdate>> {
  const { readQueueActivity } = await import('./get/queue-activity.ts')
  let activity: QueueActivity | undefined
  let readAt = Number.NEGATIVE_INFINITY
  return async (client, limits, isLast) => {
    const now = client.host.clock.now()
    const isCurrent = now - readAt < maxActivityAge
    if (!isCurrent) readAt = now
    const [update, newActivity] = await Promise.all([
      readQueue(client, limits, isLast),
      isCurrent ? activity : readQueueActivity(client, values),
    ])
    activity = newActivity
    return { ...update, activity }
  }
}

/** `queue watch`: shows a queue and its changes until the duration is over or a person quits. */
export const queueWatchCommand = defineCustomCommand({
  command: 'queue watch',
  summary: 'Watch a queue and show every change',
  request: queueRequest,
  inputs: watchInputs,
  operations: [getSubmittedPullRequest, getMergeQueueMetrics],
  fields: combineFields(changeRecord, { ...queueRecord, columns: [] }),
  output: {
    table: 'a live view on a terminal; elsewhere one line per change',
    json: 'the current queue; requires --once',
    ndjson:
      'one {"type":"queue"} line, then {"type":"change","pr","from","to","at","position"} lines; a pull request that left the queue also has "author","submittedBy","reason","actor" if known',
  },
  examples: [
    'mergeq queue watch',
    'mergeq queue watch --once',
    'mergeq queue watch -o ndjson --for 1h | jq -r \'select(.to == "FAILED") | .pr\'',
  ],
  validate: checkWatchInputs,
  async run(values, context, invocations) {
    const { options } = context
    if (values.once && options.format !== 'ndjson') return printQueue(invocations, context)
    if (options.format === 'json')
      throw usageError(
        '`mergeq queue watch` cannot print JSON, because its output is a stream.',
        'Use -o ndjson for the changes, or --once for the current queue.',
      )
    const [invocation] = invocations
    if (invocation === undefined) return 0
    const { values: queue } = invocation
    const readQueue = createQueueReader(invocation)
    if (!isLive(context)) {
      const renderer = createStreamRenderer(createChangePrinter(queue, context), context)
      return watchLoop(readQueue, values, renderer, context)
    }
    const { createQueueScreen } = await import('./watch/live-screen.ts')
    const screen = createQueueScreen(queue, context.settings.commandLine)
    const renderer = await createLiveRenderer(screen, values.interval, context)
    return watchLoop(await withActivity(readQueue, invocation), values, renderer, context)
  },
})
