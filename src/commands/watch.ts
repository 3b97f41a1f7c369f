import { type Change, changesBetween, goneFrom, leaving, type Seen, seenIn } from '../contract/changes.ts'
import type { Entry } from '../contract/entries.ts'
import { flag, on, type Values } from '../contract/field.ts'
import { poll } from '../contract/pulls.ts'
import { read } from '../contract/queues.ts'
import { duration, integer } from '../contract/words.ts'
import { asFailure, type Failure, usage } from '../failure.ts'
import type { Desk } from '../run/desk.ts'
import { exchange } from '../run/exchange.ts'
import { type Run, readRuns } from '../run/prepare.ts'
import { run } from '../run.ts'
import type { JsonObject } from '../view/shapes.ts'
import { command } from './command.ts'
import { isLive, openLiveStage } from './watch-live.ts'
import { openLineStage, type Stage } from './watch-stage.ts'

type Queue = Run<typeof read.fields>

const longestInterval = 86_400_000

/** Reads a pause: a duration of at least a second, and of at most a day. */
function pause(word: string): number {
  const length = duration(word)
  if (length < 1_000) throw usage(`'${word}' is shorter than a second.`, 'Read at most once a second.')
  if (length > longestInterval) throw usage(`'${word}' is longer than a day.`, 'Read at least once a day.')
  return length
}

const watchFields = {
  once: on('--once', 'Print the queue as it is now, and end'),
  interval: flag('--interval <duration>', 'Time between readings, at least 1s (default 10s)', pause),
  lasting: flag('--for <duration>', 'End after so long, with 0', duration),
  maxErrors: flag(
    '--max-errors <n>',
    'End after so many failed readings in a row (default 10)',
    integer(1, 1_000_000),
  ),
}

const defaultInterval = 10_000
const defaultErrors = 10
/** The longest pause after failed readings, unless the interval itself is longer. */
const longestPause = 5 * 60_000

/** Failures that end the watching at once: those that trying again does not mend, and a queue that is gone. */
const isFinal = ({ kind }: Failure): boolean =>
  /^(auth|usage|interrupted|not-found|output|internal)$/.test(kind)

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
function openLook(one: Queue): (desk: Desk) => Promise<readonly [JsonObject, readonly Change[] | undefined]> {
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

/** Watches until the time is over, a person leaves, or it cannot go on. */
async function watchQueue(
  one: Queue,
  { once, interval = defaultInterval, lasting, maxErrors = defaultErrors }: Values<typeof watchFields>,
  stage: Stage,
  { world: { clock, out } }: Desk,
): Promise<number> {
  const until = clock.now() + (lasting ?? Number.POSITIVE_INFINITY)
  const look = openLook(one)
  let errors = 0
  for (;;) {
    try {
      await stage.show(...(await stage.unlessLeft(look(stage.desk()))))
      errors = 0
    } catch (error) {
      if (stage.isLeft()) return 0
      const failure = asFailure(error)
      errors++
      if (isFinal(failure) || errors >= maxErrors) throw failure
      await stage.tell(`${failure.message} (${errors} in a row)`)
    }
    const now = clock.now()
    // Nobody reads any more: a closed pipe ends quietly.
    if ((once && errors === 0) || now >= until || out.gone === true) return 0
    const rest = Math.min(interval * 2 ** Math.min(errors, 9), Math.max(interval, longestPause))
    if (!(await stage.rest(Math.min(rest, until - now)))) return 0
  }
}

export const watch = command({
  command: 'queue watch',
  summary: 'Watch a queue: what is in it now, and every change',
  on: read,
  fields: watchFields,
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
    if (values.once && values.lasting !== undefined)
      throw usage('--once and --for contradict each other.', 'Leave one of them out.')
    if (options.dryRun || (values.once && options.format !== 'ndjson')) return run(read, desk)
    if (options.format === 'json')
      throw usage(
        '`mergeq queue watch` is a stream, and JSON is one document.',
        'Use -o ndjson for the changes, or --once for the queue as it is now.',
      )
    const [one] = await readRuns(read, desk)
    if (one === undefined) return 0
    const stage = isLive(desk)
      ? await openLiveStage(one.values, values.interval ?? defaultInterval, desk)
      : openLineStage(one.values, desk)
    try {
      return await watchQueue(one, values, stage, desk)
    } finally {
      await stage.close()
    }
  },
})
