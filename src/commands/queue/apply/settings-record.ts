import { usageError } from '../../../base/errors.ts'
import type { Cli } from '../../../command/command.ts'
import { joinList } from '../../../values/format.ts'
import { queueFieldsOf } from '../../../values/repository.ts'
import type { QueueFile } from '../shared/files/queue-file.ts'
import { readQueueFiles } from '../shared/files/read-queue-file.ts'
import type { Plan } from '../shared/plan.ts'
import { type RecordFile, recordKey } from '../shared/record-file.ts'

type RecordedQueue = QueueFile & Required<Pick<QueueFile, 'repo' | 'targetBranch'>>

const isRecorded = (file: QueueFile): file is RecordedQueue =>
  file.repo !== undefined && file.targetBranch !== undefined && file.defaults === false

/** Throws a usage error for another file, and for an earlier record without --yes. */
export async function readSettingsRecord(
  { path, wasThere }: RecordFile,
  yes: boolean,
  cli: Cli,
): Promise<readonly RecordedQueue[]> {
  if (path === undefined || !wasThere) return []
  if (!yes)
    throw usageError(
      `${path} already exists.`,
      'Use another file, or add --yes to replace the queues in it that this command changes.',
    )
  return (await readQueueFiles(path, cli)).map(file => {
    if (isRecorded(file)) return file
    throw usageError(`${path} is not a record of settings.`, 'Use another file.')
  })
}

/** The settings of a live queue before its change: those that can be set again. */
function recordOf({ queue, live }: Plan): RecordedQueue {
  const place = { ...queueFieldsOf(queue), defaults: false }
  if (live === undefined) return { ...place, created: true, settings: {} }
  const settable = Object.entries(live.settings).filter(([key]) => !live.unsettable.includes(key))
  return { ...place, settings: Object.fromEntries(settable) }
}

/** Returns the record of plans, which keeps the other queues of an earlier one. */
export function recordOfPlans(
  earlier: readonly RecordedQueue[],
  plans: readonly Plan[],
): readonly RecordedQueue[] {
  const queues = new Map(earlier.map(file => [recordKey(file), file]))
  for (const plan of plans) {
    const record = recordOf(plan)
    queues.set(recordKey(record), record)
  }
  return [...queues.values()]
}

export async function warnNotUndone(path: string, plans: readonly Plan[], { logger }: Cli): Promise<void> {
  const created = plans.filter(({ live }) => live === undefined).map(({ name }) => name)
  if (created.length > 0) await logger.info(`${path} does not undo the creation of: ${joinList(created)}.`)
  for (const { name, live, differences } of plans) {
    // What the record does not have, nothing sets back.
    const missing = differences.filter(
      ({ setting }) =>
        live !== undefined && (live.unsettable.includes(setting) || !Object.hasOwn(live.settings, setting)),
    )
    const names = joinList(missing.map(({ setting }) => setting))
    if (missing.length > 0)
      await logger.warn(
        `${path} cannot undo all changes of ${name}: the earlier values of ${names} cannot be set.`,
      )
  }
}
