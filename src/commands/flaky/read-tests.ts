import { type ExtraListEnd, readListIfAvailable } from '../../api/extra-reads.ts'
import type { ParamValues } from '../../api/operation.ts'
import { describeRange, listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import type { PaginationEnd } from '../../api/pages.ts'
import type { CommandRequest } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { flag } from '../../cli/inputs.ts'
import { readPages } from '../../cli/stream-pages.ts'
import { describeWhen, parseTimeRange, type TimeRange } from '../../domain/time-range.ts'
import { toIso } from '../../domain/values/time.ts'
import { type MergeqError, toMergeqError } from '../../errors.ts'
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

/** How the reading of a list of failing tests ended. */
export interface FailingTestsEnd extends PaginationEnd {
  /** Whether at least one page was read. */
  readonly hasStarted: boolean
  /** The error that ended the list early. */
  readonly failure: MergeqError | undefined
}

/**
 * Reads the tests that failed in a range and passes each to `take`. Returns `closed` if standard output was closed.
 * Throws the error of a signal, and the error because of which nothing could be read.
 *
 * @param command the command in messages about the progress
 * @param toleratesOutage whether an unavailable service is no error even if nothing could be read
 */
export async function readFailingTests(
  command: string,
  request: FailingTestsRequest,
  context: CommandContext,
  take: (test: JsonObject) => void,
  toleratesOutage = false,
): Promise<FailingTestsEnd | 'closed'> {
  const pages = listFailingTests.pagination?.(request.values, context.startedAt)
  if (pages === undefined) throw new Error('the list of failing tests has no pages')
  const list = { command, operation: listFailingTests }
  const failure = await readPages(list, request, pages, context, tests => tests.forEach(take)).catch(
    error => {
      const failure = toMergeqError(error)
      if (!toleratesOutage || failure.kind !== 'unavailable') throw failure
      return failure
    },
  )
  if (failure === 'closed') return 'closed'
  const end = pages.finish(failure?.message)
  end.records.forEach(take)
  return { ...end, hasStarted: pages.hasStarted, failure }
}

/** Logs the notes at the end of a list of failing tests, on a terminal with its range in words. */
export async function logNotes(
  notes: readonly string[],
  range: TimeRange,
  { args, host, logger }: CommandContext,
): Promise<void> {
  const text = describeWhen(range, !args.has('--until'))
  for (const note of notes)
    await logger.info(host.err.terminal ? note.replace(`from ${describeRange(range)}`, text) : note)
}

/** The option that leaves out flaky and broken tests that did not fail in the range. */
export const windowOnlyInput = flag({
  name: 'window-only',
  summary: 'Ignore flaky and broken tests that did not fail in the range',
})

/** The members of a body that say which tests a list is about. */
const sharedMembers: readonly string[] = ['repo', 'org_url_slug']

/**
 * Reads the flaky and the broken tests, also those that did not fail lately, where the service lists them
 * (docs/reference/service.md, "list-unhealthy-tests"). Logs a note if the list could not be read completely.
 */
export async function readUnhealthyTests(
  params: Omit<ParamValues<typeof listUnhealthyTests.params>, 'limit'>,
  { overrides }: FailingTestsRequest,
  context: CommandContext,
  take: (test: JsonObject) => void,
): Promise<ExtraListEnd> {
  const end = await readListIfAvailable(
    context.client(),
    listUnhealthyTests,
    params,
    tests => tests.forEach(take),
    { overrides: overrides.filter(({ path: [member = ''] }) => sharedMembers.includes(member)) },
  )
  if (end.problem !== undefined)
    await context.logger.info(`The list of flaky and broken tests is incomplete: ${end.problem}.`)
  return end
}
