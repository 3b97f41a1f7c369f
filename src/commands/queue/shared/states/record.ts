import { usageError } from '../../../../base/errors.ts'
import { getString, parseJson } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { openInput } from '../../../../command/input-files.ts'
import { isSameState, normalizeState } from '../../../../domain/states.ts'
import { parseRepository, queueName } from '../../../../values/repository.ts'
import { readText } from '../../../../values/text.ts'
import { type RecordFile, recordKey } from '../record-file.ts'

/** What a record has of a queue (docs/reference/cli.md, "Several queues"). */
export interface RecordedChange {
  readonly repo: string
  readonly targetBranch: string
  readonly before: string
  readonly after: string
  /** When `queue resume --from` restored the state before. */
  readonly restored?: string
}

const recordMembers = ['repo', 'targetBranch', 'before', 'after', 'restored'] as const

const maxRecordSize = 16 * 1024 * 1024

export async function readStateRecord(
  path: string,
  hint: string,
  cli: Cli,
): Promise<readonly RecordedChange[]> {
  const name = path === '-' ? 'Standard input' : path
  const document = parseJson(await readText(openInput(path, cli), name, maxRecordSize))
  const rows = (Array.isArray(document) ? document : [undefined]).map(row => {
    const [repo, targetBranch, before, after, restored] = recordMembers.map(key => getString(row, key))
    if (repo === undefined || targetBranch === undefined || before === undefined || after === undefined)
      throw usageError(`${name} is not a record of states.`, hint)
    const states = { before: normalizeState(before), after: normalizeState(after) }
    return { repo, targetBranch, ...states, ...(restored === undefined ? {} : { restored }) }
  })
  const keys = rows.map(recordKey)
  const twice = rows.find((_, index) => keys.indexOf(keys[index] ?? '') !== index)
  if (twice !== undefined) {
    const queue = queueName({ repo: parseRepository(twice.repo), targetBranch: twice.targetBranch })
    throw usageError(`${name} has the queue for ${queue} twice.`, hint)
  }
  return rows
}

/**
 * Returns the rows of an earlier freeze that a new one continues; none if all queues of the file are restored. Throws
 * a usage error if there is another file, or an earlier record without --yes.
 */
export async function readEarlierRecord(
  { path, wasThere }: RecordFile,
  yes: boolean,
  cli: Cli,
): Promise<readonly RecordedChange[]> {
  if (path === undefined || !wasThere) return []
  const rows = await readStateRecord(path, 'Use another file.', cli)
  if (rows.length > 0 && rows.every(({ restored }) => restored !== undefined)) return []
  if (!yes)
    throw usageError(
      `${path} already exists.`,
      'Use another file, or add --yes to keep its states and add those of other queues.',
    )
  if (rows.length > 0)
    await cli.logger.warn(
      `${path} is an earlier record; it keeps the states of queues that have not changed since.`,
    )
  return rows
}

/**
 * Returns the rows of a freeze and those of an earlier one. A row that goes on keeps its state before; if its queue is not
 * in its state after any more, somebody has changed that since, and this is another freeze.
 */
export function continueRecord(
  earlier: readonly RecordedChange[],
  changes: readonly RecordedChange[],
  isApplied = (_: RecordedChange): boolean => true,
): readonly RecordedChange[] {
  const rows = new Map(earlier.map(row => [recordKey(row), row]))
  for (const change of changes) {
    const key = recordKey(change)
    const row = rows.get(key)
    const goesOn = row !== undefined && row.restored === undefined && isSameState(row.after, change.before)
    if (!goesOn) rows.delete(key)
    if (isApplied(change)) rows.set(key, goesOn ? { ...change, before: row.before } : change)
  }
  return [...rows.values()]
}
