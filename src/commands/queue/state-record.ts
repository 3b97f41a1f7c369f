import { acquireLock } from '../../config/lock.ts'
import { isSameState, normalizeState } from '../../domain/states.ts'
import { parseRepository, queueName, repositoryKey } from '../../domain/values/repository.ts'
import { readText } from '../../domain/values/text.ts'
import { toIso } from '../../domain/values/time.ts'
import { isMergeqError, MergeqError, usageError } from '../../errors.ts'
import { getString, isObject, parseJson, stringifyJson } from '../../json.ts'
import type { Cli } from '../../run/command.ts'
import { openInput } from '../../run/input-files.ts'
import { outputError } from './read-queue-file.ts'

/** What a record has of a queue (docs/reference/cli.md, "Several queues"). */
export interface RecordedChange {
  readonly repo: string
  readonly targetBranch: string
  readonly before: string
  /** The state that was sent. */
  readonly after: string
  /** When `queue resume --from` restored the state before. */
  readonly restored?: string
}

const keyOf = ({ repo, targetBranch }: RecordedChange): string =>
  `${repositoryKey(parseRepository(repo))}@${targetBranch}`

const maxRecordSize = 16 * 1024 * 1024

/** Reads the rows of a record. Throws a usage error if the file is none, or has a queue twice. */
export async function readStateRecord(
  path: string,
  hint: string,
  cli: Cli,
): Promise<readonly RecordedChange[]> {
  const name = path === '-' ? 'Standard input' : path
  const document = parseJson(await readText(openInput(path, cli), name, maxRecordSize))
  const rows = (Array.isArray(document) ? document : [undefined]).map(row => {
    const [repo, targetBranch, before, after, restored] = [
      'repo',
      'targetBranch',
      'before',
      'after',
      'restored',
    ].map(key => (isObject(row) ? getString(row, key) : undefined))
    if (repo === undefined || targetBranch === undefined || before === undefined || after === undefined)
      throw usageError(`${name} is not a record of states.`, hint)
    const states = { before: normalizeState(before), after: normalizeState(after) }
    return { repo, targetBranch, ...states, ...(restored === undefined ? {} : { restored }) }
  })
  const keys = rows.map(keyOf)
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
  path: string,
  yes: boolean,
  cli: Cli,
): Promise<readonly RecordedChange[]> {
  if (!(await cli.host.files.exists(path))) return []
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
 * Waits until no other process uses a record, and keeps others from it. Throws a usage error if another process uses it
 * for longer, and an output error if there can be no lock.
 */
export async function lockRecord(path: string, { host, logger }: Cli): Promise<() => Promise<void>> {
  const wait = () => logger.info(`Waiting for another mergeq process, which uses ${path}.`)
  try {
    const target = await host.files.resolveLink(path)
    // A new lock is dated up to a second ahead: after 11 s, that of a process that has died is always broken.
    const release = await acquireLock(target, { stale: 10_000, timeout: 11_000, wait }, host)
    if (release !== undefined) return () => release().catch(() => undefined)
  } catch (error) {
    if (isMergeqError(error)) throw error
    throw outputError(path, error instanceof Error ? error : new Error(String(error)))
  }
  throw usageError(
    `${path} is used by another mergeq process. Nothing was changed.`,
    'When that process has ended, run the same command again.',
  )
}

/** The file of a record, while it is locked. */
export interface StateRecord {
  save(): Promise<void>
  /** Called before a change is sent, so that the file has it whatever happens. */
  add(change: RecordedChange): Promise<void>
  /** Called when a change was certainly not applied. */
  remove(change: RecordedChange): Promise<void>
  /** Throws an error if another process has changed the file although it is locked. */
  check(): Promise<void>
  /** Called when a queue is in its state from before. A file that cannot be written is only warned of, once. */
  restored(change: RecordedChange): Promise<void>
}

/**
 * Opens the file of a record. A change takes the place of an earlier one, and keeps its state before if the queue is
 * still in its state after: otherwise somebody has changed the queue since, and this is another freeze.
 */
export async function openRecord(
  path: string,
  earlier: readonly RecordedChange[],
  { host: { clock, files }, logger }: Cli,
): Promise<StateRecord> {
  const continued = new Map(
    earlier.filter(({ restored }) => restored === undefined).map(row => [keyOf(row), row]),
  )
  const rows = new Map(earlier.map(row => [keyOf(row), row]))
  let written = await files.read(path, maxRecordSize).catch(error => {
    throw outputError(path, error)
  })
  const check = async () => {
    const text = await files.read(path, maxRecordSize)
    if (text !== undefined && text !== written)
      throw new MergeqError('output', `${path} was changed by another process.`, {
        hint: 'To see the states of the queues, run: mergeq queue list --include-state',
      })
  }
  const write = async () => {
    await check()
    const document = [...rows.values()].map(row => ({ ...row }))
    const text = `${stringifyJson(document, true)}\n`
    await files.replace(path, text)
    written = text
  }
  let last: Promise<void> = Promise.resolve()
  /** Works on the file when the work before has ended: several queues are changed at a time. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  const save = () =>
    inTurn(write).catch(error => {
      throw isMergeqError(error) ? error : outputError(path, error)
    })
  let isWritable = true
  return {
    save,
    add(change) {
      const before = continued.get(keyOf(change))
      const isContinued = before !== undefined && isSameState(before.after, change.before)
      if (!isContinued) continued.delete(keyOf(change))
      rows.set(keyOf(change), isContinued ? { ...change, before: before.before } : change)
      return save()
    },
    remove(change) {
      const before = continued.get(keyOf(change))
      if (before === undefined) rows.delete(keyOf(change))
      else rows.set(keyOf(change), before)
      return save()
    },
    check: () => inTurn(check),
    async restored(change) {
      if (change.restored !== undefined || !isWritable) return
      rows.set(keyOf(change), { ...change, restored: toIso(clock.now()) })
      await save().catch(async error => {
        isWritable = false
        await logger.warnOnce(`${error.message} The states are restored all the same.`)
      })
    },
  }
}
