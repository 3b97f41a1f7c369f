import { callOperation } from '../api/call.ts'
import { incompleteListError, type PageQuery, type PaginationEnd, type Paginator } from '../api/pages.ts'
import type { Request } from '../api/request.ts'
import type { ResponseDecoder } from '../api/response.ts'
import { isContinuousIntegration } from '../config/ci-systems.ts'
import { pluralize } from '../domain/format.ts'
import { extendError, type MergeqError, toMergeqError } from '../errors.ts'
import type { BodySink } from '../http/messages.ts'
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

const lineBreak = 10

/**
 * A sink that streams a response to standard output; undefined where the response is not printed unchanged.
 * It writes whole lines, so that a secret is never split before it is redacted; a response that breaks off
 * ends with its last whole line.
 */
export function createBodySink(
  { streaming }: ResponseDecoder,
  { operation, url }: Request,
  { options, presentation, host: { out } }: CommandContext,
): BodySink | undefined {
  if (streaming === undefined || out.terminal || options.fields.length > 0) return undefined
  const isText = options.format === 'table' && presentation === 'rows'
  if (streaming.formats === 'text' && !isText) return undefined
  let rest: Uint8Array[] = []
  const write = async (piece: Uint8Array): Promise<boolean> => {
    const end = piece.lastIndexOf(lineBreak) + 1
    if (end === 0) rest.push(piece)
    else {
      const lines = Buffer.concat([...rest, piece.subarray(0, end)])
      rest = [piece.subarray(end)]
      await out.write(lines)
    }
    // A closed standard output is not an error: the reader needs no more.
    return out.isClosed !== true
  }
  return {
    begin(start) {
      const text = new TextDecoder().decode(start.bytes)
      try {
        rest = [streaming.begin({ ...start, text, document: undefined })]
      } catch (error) {
        const failure = toMergeqError(error)
        throw extendError(
          failure,
          { operation },
          `Invalid response from ${new URL(url).host}: ${failure.message}`,
        )
      }
    },
    write,
    end: () => out.write(Buffer.concat(rest)),
  }
}
