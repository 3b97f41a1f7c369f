import { tryRead } from '../../api/extra-reads.ts'
import type { ParamValues } from '../../api/operation.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import type { PaginationEnd } from '../../api/pages.ts'
import type { CommandRequest } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag } from '../../cli/inputs.ts'
import { readPages } from '../../cli/stream-pages.ts'
import { parseTimeRange, type TimeRange } from '../../domain/time-range.ts'
import { toIso } from '../../domain/values/time.ts'
import { isNotFound, type MergeqError, toMergeqError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'

export type FailingTestsRequest = CommandRequest<ParamValues<typeof listFailingTests.params>>

export const rangeOf = ({ values }: FailingTestsRequest, { startedAt }: CommandContext): TimeRange =>
  parseTimeRange(values.since, values.until, startedAt)

/** Returns a range as `--json` has it; `complete` says whether the whole range was read. */
export const windowOf = ({ start, end }: TimeRange, complete: boolean) => ({
  start: toIso(start),
  end: toIso(end),
  complete,
})

export interface FailingTestsEnd extends PaginationEnd {
  readonly hasStarted: boolean
  readonly failure: MergeqError | undefined
}

interface FailingTestsReading {
  /** The command in messages about the progress. */
  readonly command: string
  readonly request: FailingTestsRequest
  /** Whether an unavailable service is no error even if nothing could be read. */
  readonly toleratesOutage?: boolean
  take(test: JsonObject): void
}

/**
 * Reads the tests that failed in a range and passes each to `take`. Throws the error of a signal, and the error
 * because of which nothing could be read.
 */
export async function readFailingTests(
  { command, request, toleratesOutage = false, take }: FailingTestsReading,
  context: CommandContext,
): Promise<FailingTestsEnd> {
  const pages = listFailingTests.pagination?.(request.values, context.startedAt)
  if (pages === undefined) throw new Error('the list of failing tests has no pages')
  const list = { command, operation: listFailingTests }
  const takeAll = (tests: readonly JsonObject[]) => {
    for (const test of tests) take(test)
  }
  const ending = await readPages({ command: list, request, pages }, context, takeAll).catch(error => {
    const failure = toMergeqError(error)
    if (!toleratesOutage || failure.kind !== 'unavailable') throw failure
    return failure
  })
  // Nothing was printed yet, so that standard output is not closed.
  const failure = ending === 'closed' ? undefined : ending
  const end = pages.finish(failure?.message)
  takeAll(end.records)
  return { ...end, hasStarted: pages.hasStarted, failure }
}

/** Logs the notes about a list of failing tests: the first says its range, which a terminal shows already. */
export async function logNotes(
  { notes: [summary = '', ...notes] }: FailingTestsEnd,
  { logger, isWatched }: CommandContext,
): Promise<void> {
  for (const note of isWatched ? notes : [summary, ...notes]) await logger.info(note)
}

/** The option that leaves out flaky and broken tests that did not fail in the range. */
export const windowOnlyInput = flag(
  'Read only the tests that failed in the range, not other flaky or broken tests',
)

/** The members of a body that say which tests a list is about. */
const sharedMembers: readonly string[] = ['repo', 'org_url_slug']

interface UnhealthyTestsEnd {
  readonly isAvailable: boolean
  /** Why the list ended early or could not be read, without a full stop; undefined for a whole list. */
  readonly problem: string | undefined
}

/**
 * Reads the flaky and the broken tests, also those that did not fail lately, where the service lists them
 * (docs/reference/service.md, "list-unhealthy-tests"). Logs a note if the list could not be read completely.
 * Throws only errors that every read would have, such as a rejected token.
 *
 * @param request its overrides are those of the request for the failing tests
 */
export async function readUnhealthyTests(
  request: CommandRequest<Omit<ParamValues<typeof listUnhealthyTests.params>, 'limit'>>,
  context: CommandContext,
  take: (test: JsonObject) => void,
): Promise<UnhealthyTestsEnd> {
  const end = await readUnhealthyPages(request, context, take)
  if (end.problem !== undefined)
    await context.logger.info(`The list of flaky and broken tests is incomplete: ${end.problem}.`)
  return end
}

async function readUnhealthyPages(
  request: CommandRequest<Omit<ParamValues<typeof listUnhealthyTests.params>, 'limit'>>,
  context: CommandContext,
  take: (test: JsonObject) => void,
): Promise<UnhealthyTestsEnd> {
  const { values } = request
  const overrides = request.overrides.filter(({ path: [member = ''] }) => sharedMembers.includes(member))
  const pages = listUnhealthyTests.pagination?.(values, context.host.clock.now())
  if (pages === undefined) throw new Error('the list of unhealthy tests has no pages')
  for (let pageQuery = pages.nextQuery(); pageQuery !== undefined; pageQuery = pages.nextQuery()) {
    const options = { overrides, pageQuery }
    const { response, failure } = await tryRead(context.client(), listUnhealthyTests, values, options)
    if (response === undefined) {
      // A service that has sent a page has the operation.
      const isMissing = !pages.hasStarted && failure !== undefined && isNotFound(failure)
      return {
        isAvailable: pages.hasStarted,
        problem: isMissing ? undefined : failure?.message.replace(/\.$/, ''),
      }
    }
    pages.take(response).forEach(take)
  }
  return { isAvailable: true, problem: pages.finish().problem }
}
