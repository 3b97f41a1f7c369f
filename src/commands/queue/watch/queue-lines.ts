import type { CommandContext } from '../../../cli/context.ts'
import type { InputValues } from '../../../cli/inputs.ts'
import type { queueInputs } from '../../../cli/queue-inputs.ts'
import { pluralize } from '../../../domain/format.ts'
import { describeChange, type QueueChange } from '../../../domain/queue-changes.ts'
import { testSlots } from '../../../domain/queue-entries.ts'
import { repositoryName } from '../../../domain/values/parsers.ts'
import { getArray, getString, type Json, type JsonObject } from '../../../json.ts'

export type WatchedQueue = InputValues<typeof queueInputs>

/** What one look at a queue finds, and what changed since the one before; undefined the first time. */
export type QueueUpdate = readonly [queue: JsonObject, changes: readonly QueueChange[] | undefined]

/** How much of a queue is under test: `testing 1 of 2`. */
function testingText(queue: Json): string {
  const { testing, concurrency, isBatching } = testSlots(queue)
  if (concurrency === undefined) return `testing ${testing.length}`
  return isBatching
    ? `testing ${testing.length} in batches, ${pluralize(concurrency, 'run')} at a time`
    : `testing ${testing.length} of ${concurrency}`
}

/** What is watched and its state; how much of it is under test. */
export const queueSummary = (queue: JsonObject, { repo, targetBranch }: WatchedQueue): readonly string[] => [
  `Queue of ${targetBranch} in ${repositoryName(repo)}: ${getString(queue, 'state') ?? '-'}`,
  `${testingText(queue)}, ${getArray(queue, 'enqueuedPullRequests').length} in the queue`,
]

/** The queue as the first line of a stream; what it has under our names gives way. */
const queueEvent = (queue: JsonObject, { repo, targetBranch }: WatchedQueue, at: string): JsonObject => {
  const { type: _, at: __, ...rest } = queue
  return { type: 'queue', at, repo: repositoryName(repo), targetBranch, ...rest }
}

const columns = [
  { title: 'AT', format: 'plain' },
  { title: 'PR', format: 'pr' },
  { title: 'FROM', format: 'state' },
  { title: 'TO', format: 'state' },
  { title: 'POSITION', format: 'number' },
] as const

/** A line for each change. */
export function createQueueLines(
  watched: WatchedQueue,
  context: CommandContext,
): (look: QueueUpdate) => Promise<void> {
  const { printer, logger, host } = context
  const print = (record: JsonObject, change?: QueueChange) =>
    printer.print({
      records: [record],
      document: ([one = {}]) => one,
      shape: () => ({
        columns,
        rows: change === undefined ? [] : [[change.at, change.pr, change.from, change.to, change.position]],
        ...(change === undefined ? {} : { sentence: describeChange(change) }),
      }),
    })
  return async ([queue, changes]) => {
    if (changes !== undefined)
      for (const change of changes) await print({ type: 'change', ...change }, change)
    else if (context.options.format === 'ndjson')
      await print(queueEvent(queue, watched, new Date(host.clock.now()).toISOString()))
    else await logger.info(`${queueSummary(queue, watched).join(', ')}.`)
  }
}
