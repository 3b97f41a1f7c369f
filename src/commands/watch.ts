import { type Change, changesBetween, goneFrom, leaving, type Seen, seenIn } from '../contract/changes.ts'
import type { Entry } from '../contract/entries.ts'
import { poll } from '../contract/pulls.ts'
import { read } from '../contract/queues.ts'
import { asFailure, usage } from '../failure.ts'
import type { Desk } from '../run/desk.ts'
import { exchange } from '../run/exchange.ts'
import { type Run, readRuns } from '../run/prepare.ts'
import { run } from '../run.ts'
import { command } from './command.ts'
import { queuePicture } from './watch-live.ts'
import { type Look, queueLines } from './watch-stage.ts'
import { isLive, openLiveStage } from './watching/live.ts'
import { openLineStage } from './watching/stage.ts'
import { checkTerms, isFinal, keepWatching, watchFields } from './watching/watching.ts'

type Queue = Run<typeof read.fields>

const defaultInterval = 10_000

/** Most records that are read at once when many leave together. */
const atOnce = 4

/** How each of these left, by its record; a record that cannot be read tells nothing. */
async function departures(gone: readonly Entry[], { values }: Queue, desk: Desk): Promise<readonly Change[]> {
  const changes: Change[] = []
  for (let from = 0; from < gone.length; from += atOnce)
    changes.push(
      ...(await Promise.all(
        gone.slice(from, from + atOnce).map(async entry => {
          const record = await exchange(poll, { values: { ...values, pr: entry.pr }, sets: [] }, desk)
            .then(({ reply }) => reply.records[0])
            .catch(error => {
              const failure = asFailure(error)
              if (isFinal(failure) && failure.kind !== 'not-found') throw failure
              return undefined
            })
          return leaving(entry, record, desk.world.clock.now())
        }),
      )),
    )
  return changes
}

/** Looks again and again, and knows what was seen before. */
function openLook(one: Queue): (desk: Desk) => Promise<Look> {
  let before: Seen | undefined
  const resting = new Map<number, string>()
  return async desk => {
    const [queue = {}] = (await exchange(read, one, desk)).reply.records
    const after = seenIn(queue)
    if (before === undefined) {
      before = after
      return [queue, undefined]
    }
    const moved = changesBetween(before, after, resting, desk.world.clock.now())
    const left = await departures(goneFrom(before, after), one, desk)
    for (const pr of after.entries.keys()) resting.delete(pr)
    // What is not ready is not listed, and comes back.
    for (const { pr, to } of left) if (pr !== null && to === 'NOT_READY') resting.set(pr, to)
    before = after
    return [queue, [...left, ...moved]]
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
