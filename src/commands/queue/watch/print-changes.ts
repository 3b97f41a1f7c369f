import type { CommandContext } from '../../../cli/context.ts'
import type { RecordFields } from '../../../cli/fields.ts'
import { describeDeparture } from '../../../domain/departure.ts'
import { describeChange, type QueueChange } from '../../../domain/queue-changes.ts'
import { testSlotsText } from '../../../domain/queue-entries.ts'
import { repositoryName } from '../../../domain/values/repository.ts'
import { getArray, getString, type JsonObject } from '../../../json.ts'
import { singleRecord } from '../../../output/printer.ts'
import { table } from '../../../output/view.ts'
import type { QueueActivity, QueueName } from '../get/queue-activity.ts'

export interface QueueUpdate {
  readonly queue: JsonObject
  /** The changes since the previous reading; undefined for the first reading. */
  readonly changes: readonly QueueChange[] | undefined
  readonly activity?: QueueActivity | undefined
}

/** Returns a sentence: the queue with its state, and the number of pull requests under test and queued. */
const queueSummary = (queue: JsonObject, { repo, targetBranch }: QueueName): string =>
  `Queue for ${targetBranch} in ${repositoryName(repo)}: ${getString(queue, 'state') ?? '-'}, ${testSlotsText(queue, ' of ')}, ${getArray(queue, 'enqueuedPullRequests').length} queued.`

/** Returns the first record of a stream; the fields that this program adds replace those of the service. */
const queueEvent = (queue: JsonObject, { repo, targetBranch }: QueueName, at: string): JsonObject => {
  const { type: _, at: __, ...rest } = queue
  return { type: 'queue', at, repo: repositoryName(repo), targetBranch, ...rest }
}

/** A record is the queue, as the first reading shows it, or a change. */
export const changeRecord: RecordFields = {
  names: [
    ...['type', 'at', 'pr', 'from', 'to', 'position', 'repo', 'targetBranch'],
    ...['author', 'submittedBy', 'reason', 'actor'],
  ],
  columns: [
    ['AT', 'at'],
    ['PR', 'pr', 'pr'],
    ['FROM', 'from', 'state'],
    ['TO', 'to', 'state'],
    ['POSITION', 'position', 'number'],
  ],
}

/** Formats a change with what the service says about it: `#4 TESTING -> CANCELLED: pr_closed (ada)`. */
function formatChange(change: QueueChange): string {
  const departure = describeDeparture(change)
  return departure === '' ? describeChange(change) : `${describeChange(change)}: ${departure}`
}

/** Creates a function that prints a record for each change, and prints or logs the first reading. */
export function createChangePrinter(
  watched: QueueName,
  context: CommandContext,
): (update: QueueUpdate) => Promise<void> {
  const { printer, logger, host } = context
  const print = (record: JsonObject, change?: QueueChange) =>
    printer.print(
      singleRecord(record, () => ({
        ...table(change === undefined ? [] : [record], changeRecord.columns),
        ...(change === undefined ? {} : { sentence: formatChange(change) }),
      })),
    )
  return async ({ queue, changes }) => {
    if (changes !== undefined)
      for (const change of changes) await print({ type: 'change', ...change }, change)
    else if (context.options.format === 'ndjson')
      await print(queueEvent(queue, watched, new Date(host.clock.now()).toISOString()))
    else await logger.info(queueSummary(queue, watched))
  }
}
