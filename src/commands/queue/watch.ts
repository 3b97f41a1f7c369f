import { callOperation } from '../../api/call.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { RequestLimits, ServiceClient } from '../../api/service-client.ts'
import { withTimeline } from '../../api/timeline.ts'
import { defineCommand } from '../../cli/command.ts'
import { maxErrorsOption } from '../../cli/common-inputs.ts'
import { printDryRun } from '../../cli/confirm.ts'
import { combineFields } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { mapConcurrent, maxConcurrent } from '../../cli/run-requests.ts'
import {
  departedEntries,
  departureChange,
  type QueueChange,
  type QueueSnapshot,
  queueChanges,
  snapshotOf,
} from '../../domain/queue-changes.ts'
import type { QueueEntry } from '../../domain/queue-entries.ts'
import { parseDuration, parseInterval } from '../../domain/values/time.ts'
import { isPermanent, toMergeqError, usageError } from '../../errors.ts'
import { printQueue, queueRecord } from './get.ts'
import type { QueueParams, QueueRequest } from './plan.ts'
import { type QueueActivity, readQueueActivity } from './screen.ts'
import { createLiveRenderer, isLive } from './watch-live.ts'
import { changeRecord, createStreamRenderer, type QueueReader, watchLoop } from './watch-loop.ts'

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
  values: QueueParams,
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
function createQueueReader({ values, overrides }: QueueRequest): QueueReader {
  let lastSnapshot: QueueSnapshot | undefined
  let unresolved: readonly Departure[] = []
  const unlistedStates = new Map<number, string>()
  return async (client, limits, isLast) => {
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
    const work = (departure: Departure) => readDeparture(departure, values, client, limits, isLast)
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
function withActivity(readQueue: QueueReader, values: QueueParams): QueueReader {
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
export const queueWatchCommand = defineCommand({
  command: 'queue watch',
  summary: 'Watch a queue and show every change',
  operation: getQueue,
  isComposition: true,
  options: {
    once: flag({ name: 'once', summary: 'Print the queue once and exit' }),
    interval: option({
      name: 'interval',
      value: 'duration',
      default: '10s',
      summary: 'Time between polls, at least 1s',
      parse: parseInterval,
    }),
    duration: option({
      name: 'for',
      value: 'duration',
      summary: 'Stop after this long and exit 0',
      parse: parseDuration,
    }),
    maxErrors: maxErrorsOption,
  },
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
  async run(options, context) {
    const { format, dryRun } = context.options
    const { once, duration, interval } = options
    if (once && duration !== undefined)
      throw usageError('--once and --for cannot be used together.', 'Use only one of them.')
    const request = await context.request()
    if (dryRun) return printDryRun(getQueue, [request], context)
    if (once && format !== 'ndjson') return printQueue([request], context)
    if (format === 'json')
      throw usageError(
        '`mergeq queue watch` cannot print JSON, because its output is a stream.',
        'Use -o ndjson for the changes, or --once for the current queue.',
      )
    const { values } = request
    const readQueue = createQueueReader(request)
    if (!isLive(context)) return watchLoop(readQueue, options, createStreamRenderer(values, context), context)
    const renderer = await createLiveRenderer(values, interval, context)
    return watchLoop(withActivity(readQueue, values), options, renderer, context)
  },
})
