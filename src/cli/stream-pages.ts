import { isContinuousIntegration } from '../config/ci-systems.ts'
import { toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import {
  incompleteListError,
  type List,
  type ListEnd,
  type ListPage,
  type ReadOptions,
  readList,
} from '../methods/list.ts'
import type { ServiceRequest } from '../methods/resolve.ts'
import { type Result, screenOf } from '../output/view.ts'
import type { Cli } from './cli.ts'
import type { RequestCommand } from './command.ts'
import { drawsResults } from './context.ts'
import { resultOf } from './report.ts'

/** Milliseconds between two progress messages in CI. */
const progressInterval = 60_000

/** Reads a list, and says in a CI job once a minute how far it has come. */
export function readListOf(
  command: string,
  list: List,
  options: Pick<ReadOptions, 'overrides' | 'tolerates'>,
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

/** Prints the records of a list as they arrive. Returns exit code 0; throws an error for an incomplete list. */
export async function streamPages<V extends Readonly<Record<string, unknown>>>(
  command: RequestCommand<V>,
  { values, overrides }: ServiceRequest<V>,
  list: List,
  context: Cli,
): Promise<number> {
  const { host, logger, printer, messages } = context
  const output = printer.list(list.operation.pages?.key ?? '')
  const resultOfPage = (records: readonly JsonObject[]): Result => {
    const response = { records, bytes: new Uint8Array() }
    const shown = command.present?.(response, values, { overrides, showsSheet: false, context }) ?? {}
    return { records, ...resultOf(shown) }
  }
  /** Prints the last page; returns what is left to say about the list. */
  const finish = async (records: readonly JsonObject[], end: ListEnd) => {
    const ending = drawsResults(context)
      ? command.listEnding?.({ ...end, records }, values, context)
      : undefined
    const last = resultOfPage(records)
    await output.add({ ...last, screen: () => ({ ...screenOf(last), ...ending }) })
    await output.end(end.envelope)
    return ending === undefined ? end.notes : end.warnings
  }
  const pages = readListOf(command.command, list, { overrides }, context)
  for await (const { records, end } of pages) {
    if (end === undefined) {
      try {
        await output.add(resultOfPage(records))
      } catch (error) {
        // The document that was begun is completed.
        const { value: last } = await pages.throw(error)
        if (output.isOpen() && toMergeqError(error).kind !== 'output' && last?.end !== undefined)
          await finish(last.records, last.end)
        throw error
      }
      // A closed standard output is not an error: the reader needs no more.
      if (host.out.isClosed === true) return 0
      continue
    }
    const { failure } = end
    const isOurs = failure !== undefined && ['interrupted', 'usage'].includes(failure.kind)
    if (isOurs) {
      if (output.isOpen()) await finish(records, end)
      throw failure
    }
    const notes = await finish(records, end)
    for (const note of notes) await logger.info(messages === 'person' ? withReadableTimes(note) : note)
    if (end.isBroken) throw incompleteListError(end, command.command)
  }
  return 0
}
