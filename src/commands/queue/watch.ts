import { callOperation } from '../../api/call.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { mapConcurrent, maxConcurrent } from '../../cli/concurrency.ts'
import type { CommandContext } from '../../cli/context.ts'
import { type Invocation, readInvocations } from '../../cli/invocation.ts'
import { runOperation } from '../../cli/run-operation.ts'
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
import { createLiveRenderer, isLive } from '../watch/live-renderer.ts'
import { createLineRenderer } from '../watch/renderer.ts'
import { checkWatchInputs, watchInputs, watchLoop } from '../watch/watch-loop.ts'
import { queueGet } from './get.ts'
import { createQueueLines, type QueueUpdate } from './watch/queue-lines.ts'
import { createQueueScreen } from './watch/queue-screen.ts'

type Queue = Invocation<typeof queueGet.inputs>

const defaultInterval = 10_000

/** How often the record of one that has left is asked for, a failure each time, before it is given up. */
const maxTries = 3

/** One that has left and of which it is not known how. */
interface Departure {
  readonly entry: QueueEntry
  /** How often its record could not be read. */
  readonly tries: number
}

/** How one left, by its record; undefined where that could not be read, and may be asked for again. */
async function readDeparture(
  { entry, tries }: Departure,
  { values }: Queue,
  context: CommandContext,
  isLast: boolean,
): Promise<QueueChange | undefined> {
  const { clock } = context.host
  try {
    const { reply } = await callOperation(context, getSubmittedPullRequest, { ...values, pr: entry.pr })
    return departureChange(entry, reply.records[0], clock.now())
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    const isGivenUp = isLast || failure.kind === 'not-found' || tries + 1 >= maxTries
    return isGivenUp ? departureChange(entry, undefined, clock.now()) : undefined
  }
}

/** Looks again and again, and knows what was seen before. */
function createQueueReader(one: Queue): (context: CommandContext, isLast: boolean) => Promise<QueueUpdate> {
  let before: QueueSnapshot | undefined
  let open: readonly Departure[] = []
  const resting = new Map<number, string>()
  return async (context, isLast) => {
    const [queue = {}] = (await callOperation(context, getQueue, one.values, one)).reply.records
    const after = snapshotOf(queue)
    if (before === undefined) {
      before = after
      return [queue, undefined]
    }
    const moved = queueChanges(before, after, resting, context.host.clock.now())
    const gone: readonly Departure[] = [
      ...open.filter(({ entry }) => !after.entries.has(entry.pr)),
      ...departedEntries(before, after).map(entry => ({ entry, tries: 0 })),
    ]
    const left: (QueueChange | undefined)[] = []
    const ask = (each: Departure) => readDeparture(each, one, context, isLast)
    for await (const change of mapConcurrent(gone, maxConcurrent, ask)) left.push(change)
    for (const pr of after.entries.keys()) resting.delete(pr)
    open = gone.flatMap(({ entry, tries }, index) =>
      left[index] === undefined ? [{ entry, tries: tries + 1 }] : [],
    )
    for (const { entry } of gone) resting.delete(entry.pr)
    // What is not ready is not listed, and comes back; so may what has left nobody knows how.
    for (const { entry } of open) resting.set(entry.pr, entry.state)
    for (const change of left)
      if (change?.to === 'NOT_READY' && change.pr !== null) resting.set(change.pr, change.to)
    before = after
    return [queue, [...left.flatMap(change => change ?? []), ...moved]]
  }
}

export const watch = defineCommand({
  command: 'queue watch',
  summary: 'Watch a queue: what is in it now, and every change',
  request: queueGet,
  inputs: watchInputs('the queue', '10s'),
  operations: [getSubmittedPullRequest],
  output: {
    table: 'the queue, drawn anew, on a terminal; a line for each change elsewhere',
    json: 'the queue as it is now, with --once alone',
    ndjson: 'one {"type":"queue"}, then {"type":"change","pr","from","to","at","position"} lines',
  },
  examples: [
    'mergeq queue watch',
    'mergeq queue watch --once',
    'mergeq queue watch -o ndjson --for 1h | jq -r \'select(.to == "FAILED") | .pr\'',
  ],
  async run(values, context) {
    const { options } = context
    checkWatchInputs(values)
    if (options.dryRun || (values.once && options.format !== 'ndjson')) return runOperation(queueGet, context)
    if (options.format === 'json')
      throw usageError(
        '`mergeq queue watch` is a stream, and JSON is one document.',
        'Use -o ndjson for the changes, or --once for the queue as it is now.',
      )
    const [one] = await readInvocations(queueGet, context)
    if (one === undefined) return 0
    const { interval = defaultInterval } = values
    const stage = isLive(context)
      ? await createLiveRenderer(createQueueScreen(one.values), interval, context)
      : createLineRenderer(createQueueLines(one.values, context), context)
    return watchLoop(createQueueReader(one), { ...values, interval }, stage, context)
  },
})
