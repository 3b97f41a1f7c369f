import {
  firstPage,
  incompleteListError,
  type ListEnd,
  type ListPage,
  type ReadOptions,
  rangeEnd,
  readList,
} from '../api/list.ts'
import type { List, ListOperation } from '../api/list-operation.ts'
import type { Params, ParamValues } from '../api/params.ts'
import { toMergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { type Column, type Result, type Screen, screenOf } from '../output/view.ts'
import { type Cli, drawsResults } from './command.ts'

/** Milliseconds between two progress messages in CI. */
const progressInterval = 60_000

/** Reads a list, and says in a CI job once a minute how far it has come. */
export function readListOf(
  command: string,
  list: List,
  options: Pick<ReadOptions, 'tolerates' | 'see'>,
  { client, host, logger }: Cli,
): AsyncGenerator<ListPage, void> {
  let loggedAt = host.clock.monotonic()
  return readList(client(), list, {
    ...options,
    async beforePage(progress) {
      if (!isContinuousIntegration(host.env) || host.clock.monotonic() - loggedAt < progressInterval) return
      loggedAt = host.clock.monotonic()
      await logger.info(`${command}: ${progress}.`)
    },
  })
}

/** Returns a sentence whose times are as people read them: `2026-01-05 12:00 UTC`. */
const withReadableTimes = (note: string): string =>
  note.replaceAll(/(?<=\d)T(\d\d:\d\d):\d\d\.\d{3}Z/g, ' $1 UTC')

/** What a list on a terminal ends with: lines below the table, or a sentence instead of an empty table. */
export type ListEnding = Pick<Screen, 'footer' | 'sentence'>

interface ListOptions extends Pick<ReadOptions, 'see'> {
  readonly columns: readonly Column[]
  /** The columns on a terminal, where they are others. */
  readonly screenColumns?: readonly Column[]
  /**
   * Returns what ends a list on a terminal, instead of the notes about its range and length on standard error;
   * undefined where the notes say it. `records` are those that the last page has.
   */
  ending?(end: ListEnd & Pick<ListPage, 'records'>): ListEnding | undefined
}

/** Returns the list of an operation for values; `now` is what durations are subtracted from. */
export function listFrom<P extends Params>(
  { client, serviceTime }: Cli,
  operation: ListOperation<P>,
  values: ParamValues<P>,
  now = serviceTime.startedAt(),
): List {
  return operation.list(values, now, client().nameOf)
}

/** Prints the request for the first page of a list, for a dry run. Returns exit code 0. */
export async function printFirstPage(list: List, cli: Cli): Promise<number> {
  const { printRequests } = await import('./dry-run.ts')
  return printRequests(cli, list.operation, [firstPage(list)])
}

/** Prints the records of a list as they arrive. Returns exit code 0; throws an error for an incomplete list. */
export async function runList<P extends Params>(
  cli: Cli,
  operation: ListOperation<P>,
  values: ParamValues<P>,
  { columns, screenColumns = columns, see, ending }: ListOptions,
): Promise<number> {
  const { host, logger, printer, messages } = cli
  const { dryRun } = cli.options
  const now = dryRun ? undefined : await rangeEnd(cli.client(), operation, values)
  const list = listFrom(cli, operation, values, now)
  if (dryRun) return printFirstPage(list, cli)
  const output = printer.list(list.operation.pages?.key ?? '')
  const resultOfPage = (records: readonly JsonObject[]): Result => ({
    records,
    columns,
    screen: () => ({ columns: screenColumns, rows: records }),
  })
  /** Prints the last page; returns what is left to say about the list. */
  const finish = async (records: readonly JsonObject[], end: ListEnd) => {
    const lastLines = drawsResults(cli) ? ending?.({ ...end, records }) : undefined
    const last = resultOfPage(records)
    await output.add({ ...last, screen: () => ({ ...screenOf(last), ...lastLines }) })
    await output.end(end.envelope)
    return lastLines === undefined ? end.notes : end.warnings
  }
  const pages = readListOf(cli.command, list, { see }, cli)
  /** Completes the document that was begun when a page cannot be printed. */
  const endBrokenList = async (error: unknown) => {
    // The generator ends with this error and gives its last page.
    const { value: last } = await pages.throw(error)
    if (output.isOpen() && toMergeqError(error).kind !== 'output' && last?.end !== undefined)
      await finish(last.records, last.end)
  }
  for await (const { records, end } of pages) {
    if (end === undefined) {
      try {
        await output.add(resultOfPage(records))
      } catch (error) {
        await endBrokenList(error)
        throw error
      }
      // A closed standard output is not an error: the reader needs no more.
      if (host.out.isClosed === true) return 0
      continue
    }
    const { failure } = end
    const endsCommand = failure !== undefined && ['interrupted', 'usage'].includes(failure.kind)
    if (endsCommand) {
      if (output.isOpen()) await finish(records, end)
      throw failure
    }
    const notes = await finish(records, end)
    for (const note of notes) await logger.info(messages === 'person' ? withReadableTimes(note) : note)
    if (end.isBroken) throw incompleteListError(end, cli.command)
  }
  return 0
}
