import type { Cli } from '../../cli/cli.ts'
import { openInput } from '../../cli/input-files.ts'
import { parseRepository, queueName } from '../../domain/values/repository.ts'
import { readText } from '../../domain/values/text.ts'
import { usageError } from '../../errors.ts'
import { getString, isObject, parseJson, stringifyJson } from '../../json.ts'
import { outputError } from './read-queue-file.ts'

/** What a record has of a queue: the state before the change, and the state that was sent. */
export interface RecordedChange {
  readonly repo: string
  readonly targetBranch: string
  readonly before: string
  readonly after: string
}

export interface ChangeRecord {
  /** Called before a change is sent, so that the file has it whatever happens. */
  add(change: RecordedChange): Promise<void>
  remove(change: RecordedChange): Promise<void>
}

const nameOfRow = ({ repo, targetBranch }: RecordedChange): string =>
  queueName({ repo: parseRepository(repo), targetBranch })

/**
 * Creates the file of a record, or continues an earlier one: a queue keeps the state before that it has there.
 * Throws an output error if the file cannot be written.
 */
export async function createRecord(
  path: string,
  earlier: readonly RecordedChange[],
  { host: { files } }: Cli,
): Promise<ChangeRecord> {
  const earlierRows = new Map(earlier.map(row => [nameOfRow(row), row]))
  const rows = new Map(earlierRows)
  const save = () =>
    files
      .replace(
        path,
        `${stringifyJson(
          [...rows.values()].map(row => ({ ...row })),
          true,
        )}\n`,
      )
      .catch(error => {
        throw outputError(path, error)
      })
  await save()
  return {
    add(change) {
      const name = nameOfRow(change)
      rows.set(name, { ...change, before: earlierRows.get(name)?.before ?? change.before })
      return save()
    },
    remove(change) {
      const name = nameOfRow(change)
      const earlierRow = earlierRows.get(name)
      if (earlierRow === undefined) rows.delete(name)
      else rows.set(name, earlierRow)
      return save()
    },
  }
}

/** Returns what the file has from an earlier command; throws a usage error if it is no record. */
export async function readEarlierRecord(
  path: string | undefined,
  cli: Cli,
): Promise<readonly RecordedChange[]> {
  if (path === undefined || cli.options.dryRun || !(await cli.host.files.exists(path))) return []
  const earlier = await readRecord(path, 'Use another file.', cli)
  if (earlier.length > 0) await cli.logger.warn(`${path} is an earlier record; its states are kept.`)
  return earlier
}

const maxRecordSize = 16 * 1024 * 1024

export async function readRecord(path: string, hint: string, cli: Cli): Promise<readonly RecordedChange[]> {
  const name = path === '-' ? 'Standard input' : path
  const document = parseJson(await readText(openInput(path, cli), name, maxRecordSize))
  return (Array.isArray(document) ? document : [undefined]).map(row => {
    const [repo, targetBranch, before, after] = ['repo', 'targetBranch', 'before', 'after'].map(key =>
      isObject(row) ? getString(row, key) : undefined,
    )
    if (repo === undefined || targetBranch === undefined || before === undefined || after === undefined)
      throw usageError(`${name} is not a record of states.`, hint)
    return { repo, targetBranch, before, after }
  })
}
