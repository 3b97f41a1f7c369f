import { type Change, changesBetween, goneFrom, leaving, type Seen, seenIn } from '../../domain/queue-changes.ts'
import type { Entry } from '../../domain/queue-entries.ts'
import { poll } from '../../api/operations/pull-requests.ts'
import { read } from '../../api/operations/queues.ts'
import { asFailure, isFinal, usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { exchange } from '../../api/call.ts'
import { atOnce, sideBySide } from '../../cli/concurrency.ts'
import { type Run, readRuns } from '../../cli/invocation.ts'
import { run } from '../../cli/run-operation.ts'
import { command } from '../../cli/command.ts'
import { isLive, openLiveStage } from '../watch/live-renderer.ts'
import { openLineStage } from '../watch/renderer.ts'
import { checkTerms, keepWatching, watchFields } from '../watch/watch-loop.ts'
import { queuePicture } from './watch/queue-screen.ts'
import { type Look, queueLines } from './watch/queue-lines.ts'

type Queue = Run<typeof read.fields>

const defaultInterval = 10_000

/** How often the record of one that has left is asked for, a failure each time, before it is given up. */
const mostTries = 3

/** One that has left and of which it is not known how. */
interface Departure {
  readonly entry: Entry
  /** How often its record could not be read. */
  readonly tries: number
}

/** How one left, by its record; undefined where that could not be read, and may be asked for again. */
async function readDeparture(
  { entry, tries }: Departure,
  { values }: Queue,
  desk: Desk,
  isLast: boolean,
): Promise<Change | undefined> {
  const { clock } = desk.world
  try {
    const { reply } = await exchange(poll, { values: { ...values, pr: entry.pr }, sets: [] }, desk)
    return leaving(entry, reply.records[0], clock.now())
  } catch (error) {
    const failure = asFailure(error)
    if (isFinal(failure)) throw failure
    const isGivenUp = isLast || failure.kind === 'not-found' || tries + 1 >= mostTries
    return isGivenUp ? leaving(entry, undefined, clock.now()) : undefined
  }
}

/** Looks again and again, and knows what was seen before. */
function openLook(one: Queue): (desk: Desk, isLast: boolean) => Promise<Look> {
  let before: Seen | undefined
  let open: readonly Departure[] = []
  const resting = new Map<number, string>()
  return async (desk, isLast) => {
    const [queue = {}] = (await exchange(read, one, desk)).reply.records
    const after = seenIn(queue)
    if (before === undefined) {
      before = after
      return [queue, undefined]
    }
    const moved = changesBetween(before, after, resting, desk.world.clock.now())
    const gone: readonly Departure[] = [
      ...open.filter(({ entry }) => !after.entries.has(entry.pr)),
      ...goneFrom(before, after).map(entry => ({ entry, tries: 0 })),
    ]
    const left: (Change | undefined)[] = []
    const ask = (each: Departure) => readDeparture(each, one, desk, isLast)
    for await (const change of sideBySide(gone, atOnce, ask)) left.push(change)
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

export const watch = command({
  command: 'queue watch',
  summary: 'Watch a queue: what is in it now, and every change',
  on: read,
  fields: watchFields('the queue', '10s'),
  asks: [poll],
  prints: {
    table: 'the queue, drawn anew, on a terminal; a line for each change elsewhere',
    json: 'the queue as it is now, with --once alone',
    ndjson: 'one {"type":"queue"}, then {"type":"change","pr","from","to","at","position"} lines',
  },
  examples: [
    'mergeq queue watch',
    'mergeq queue watch --once',
    'mergeq queue watch -o ndjson --for 1h | jq -r \'select(.to == "FAILED") | .pr\'',
  ],
  async run(values, desk) {
    const { options } = desk
    checkTerms(values)
    if (options.dryRun || (values.once && options.format !== 'ndjson')) return run(read, desk)
    if (options.format === 'json')
      throw usage(
        '`mergeq queue watch` is a stream, and JSON is one document.',
        'Use -o ndjson for the changes, or --once for the queue as it is now.',
      )
    const [one] = await readRuns(read, desk)
    if (one === undefined) return 0
    const { interval = defaultInterval } = values
    const stage = isLive(desk)
      ? await openLiveStage(queuePicture(one.values), interval, desk)
      : openLineStage(queueLines(one.values, desk), desk)
    return keepWatching(openLook(one), { ...values, interval }, stage, desk)
  },
})
