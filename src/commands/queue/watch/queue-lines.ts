import { type Change, changeText } from '../../../domain/queue-changes.ts'
import { slotsOf } from '../../../domain/queue-entries.ts'
import type { Values } from '../../../cli/inputs.ts'
import type { read } from '../../../api/operations/queues.ts'
import { nameOf } from '../../../domain/values/parsers.ts'
import type { Desk } from '../../../cli/context.ts'
import { type Json, type JsonObject, listAt, textAt } from '../../../json.ts'
import { count } from '../../../output/view.ts'

export type Watched = Values<typeof read.fields>

/** What one look at a queue finds, and what changed since the one before; undefined the first time. */
export type Look = readonly [queue: JsonObject, changes: readonly Change[] | undefined]

/** How much of a queue is under test: `testing 1 of 2`. */
function testingText(queue: Json): string {
  const { testing, concurrency, isBatching } = slotsOf(queue)
  if (concurrency === undefined) return `testing ${testing.length}`
  return isBatching
    ? `testing ${testing.length} in batches, ${count(concurrency, 'run')} at a time`
    : `testing ${testing.length} of ${concurrency}`
}

/** What is watched and its state; how much of it is under test. */
export const queueTexts = (queue: JsonObject, { repo, targetBranch }: Watched): readonly string[] => [
  `Queue of ${targetBranch} in ${nameOf(repo)}: ${textAt(queue, 'state') ?? '-'}`,
  `${testingText(queue)}, ${listAt(queue, 'enqueuedPullRequests').length} in the queue`,
]

/** The queue as the first line of a stream; what it has under our names gives way. */
const queueEvent = (queue: JsonObject, { repo, targetBranch }: Watched, at: string): JsonObject => {
  const { type: _, at: __, ...rest } = queue
  return { type: 'queue', at, repo: nameOf(repo), targetBranch, ...rest }
}

const columns = [
  { title: 'AT', manner: 'plain' },
  { title: 'PR', manner: 'pr' },
  { title: 'FROM', manner: 'state' },
  { title: 'TO', manner: 'state' },
  { title: 'POSITION', manner: 'number' },
] as const

/** A line for each change. */
export function queueLines(watched: Watched, desk: Desk): (look: Look) => Promise<void> {
  const { printer, voice, world } = desk
  const print = (record: JsonObject, change?: Change) =>
    printer.print({
      records: [record],
      document: ([one = {}]) => one,
      shape: () => ({
        columns,
        rows: change === undefined ? [] : [[change.at, change.pr, change.from, change.to, change.position]],
        ...(change === undefined ? {} : { sentence: changeText(change) }),
      }),
    })
  return async ([queue, changes]) => {
    if (changes !== undefined)
      for (const change of changes) await print({ type: 'change', ...change }, change)
    else if (desk.options.format === 'ndjson')
      await print(queueEvent(queue, watched, new Date(world.clock.now()).toISOString()))
    else await voice.note(`${queueTexts(queue, watched).join(', ')}.`)
  }
}
