import { callOperation } from '../api/call.ts'
import { incompleteListError, type PageQuery, type PaginationEnd, type Paginator } from '../api/pages.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { pluralize } from '../domain/format.ts'
import { type MergeqError, toMergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { table } from '../output/view.ts'
import { type CommandRequest, operationOf, type RequestCommand } from './command.ts'
import type { CommandContext } from './context.ts'

/** Milliseconds between two progress messages in CI. */
const progressInterval = 60_000

/** The list that a command reads. */
export interface ListRequest {
  readonly command: Pick<RequestCommand, 'command' | 'operation'>
  readonly request: CommandRequest
  readonly pages: Paginator
}

/**
 * Requests page after page and passes the records of each to `take`, until the list ends or standard
 * output is closed (`closed`). Returns the error that ended the list early after a part had been
 * read; throws any other error.
 */
export async function readPages(
  { command, request, pages }: ListRequest,
  context: CommandContext,
  take: (records: readonly JsonObject[]) => Promise<void> | void,
): Promise<MergeqError | 'closed' | undefined> {
  const { logger, host } = context
  const { values, overrides } = request
  const operation = operationOf(command)
  const inCi = isContinuousIntegration(host.env)
  let [read, recordCount, loggedAt] = [0, 0, host.clock.monotonic()]
  const requestPage = async (pageQuery: PageQuery) => {
    const progress = `${pluralize(read, 'page')} and ${pluralize(recordCount, pages.noun)} so far`
    if (inCi && host.clock.monotonic() - loggedAt >= progressInterval) {
      loggedAt = host.clock.monotonic()
      await logger.info(`${command.command}: ${progress}.`)
    }
    const options = { overrides, pageQuery, progress }
    return (await callOperation(context.client(), operation, values, options)).response
  }
  try {
    for await (const records of pages.read(requestPage)) {
      read++
      recordCount += records.length
      await take(records)
      // A closed standard output is not an error: the reader needs no more.
      if (host.out.isClosed === true) return 'closed'
    }
  } catch (error) {
    const failure = toMergeqError(error)
    const isOurs = ['interrupted', 'output', 'usage'].includes(failure.kind)
    if (isOurs || !pages.hasStarted) throw failure
    return failure
  }
  return undefined
}

/** Returns a sentence whose times are as people read them: `2026-01-05 12:00 UTC`. */
const withReadableTimes = (note: string): string =>
  note.replaceAll(/(?<=\d)T(\d\d:\d\d):\d\d\.\d{3}Z/g, ' $1 UTC')

/** Prints the records of a list as they arrive. Returns exit code 0; throws an error for an incomplete list. */
export async function streamPages<V extends Readonly<Record<string, unknown>>>(
  command: RequestCommand<V>,
  request: CommandRequest<V>,
  pages: Paginator,
  context: CommandContext,
): Promise<number> {
  const { logger, options, printer, presentation, hasReader } = context
  const { values, overrides } = request
  const list = options.format === 'json' ? printer.list(pages.key) : undefined
  const viewOf = (records: readonly JsonObject[]) =>
    command.view?.({ records, bytes: new Uint8Array() }, values, { overrides, isSingle: false, context }) ??
    table([], [])
  const print = (records: readonly JsonObject[], view = viewOf) =>
    printer.print({ records, document: () => null, view })
  const take = (records: readonly JsonObject[]) => (list === undefined ? print(records) : list.add(records))
  const end = async (finish: PaginationEnd) => {
    const ending = presentation === 'screen' ? command.listEnding?.(finish, values, context) : undefined
    if (list === undefined) {
      await print(finish.records, records => {
        const view = viewOf(records)
        return { ...(presentation === 'screen' ? (view.terminalView?.() ?? view) : view), ...ending }
      })
      await printer.end()
    } else {
      await list.add(finish.records)
      await list.end(finish.envelope)
    }
    return ending === undefined ? finish.notes : finish.warnings
  }
  const failure = await readPages({ command, request, pages }, context, take).catch(async error => {
    const { kind, message } = toMergeqError(error)
    if (list?.isOpen() && kind !== 'output') await end(pages.finish(message))
    throw error
  })
  if (failure === 'closed') return 0
  const finish = pages.finish(failure?.message)
  const notes = await end(finish)
  for (const note of notes) await logger.info(hasReader ? withReadableTimes(note) : note)
  if (!finish.isBroken) return 0
  throw incompleteListError(failure, finish.problem, command.command)
}
