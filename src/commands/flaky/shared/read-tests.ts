import { type ListEnd, readList, readToEnd } from '../../../api/list.ts'
import { ownRecord } from '../../../api/operations/fields.ts'
import { listFailingTests, listUnhealthyTests } from '../../../api/operations/tests.ts'
import type { ParamValues } from '../../../api/params.ts'
import { isNotFound, isOutage, isPermanent, type MergeqError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { flag, flagName, option } from '../../../command/inputs.ts'
import { listFrom, printFirstPage, readListOf } from '../../../command/lists.ts'
import { toIso } from '../../../values/time.ts'
import { parseTimeRange, type TimeRange } from '../../../values/time-range.ts'
import { choice } from '../../../values/types.ts'

export type FailingTests = ParamValues<typeof listFailingTests.params>

type UnhealthyTests = Omit<ParamValues<typeof listUnhealthyTests.params>, 'limit' | 'sort'>

export const rangeOf = (values: FailingTests, { serviceTime }: Cli): TimeRange =>
  parseTimeRange(values.since, values.until, serviceTime.startedAt(), flagName)

export const windowRecord = ownRecord({ start: 'string', end: 'string', complete: 'boolean' })

export const windowOf = ({ start, end }: TimeRange, complete: boolean) => ({
  start: toIso(start),
  end: toIso(end),
  complete,
})

/** Throws the error of a signal, and that because of which nothing could be read, unless an outage is tolerated. */
export async function readFailingTests(
  cli: Cli,
  values: FailingTests,
  take: (test: JsonObject) => void,
  toleratesOutage = false,
): Promise<ListEnd> {
  const list = listFrom(cli, listFailingTests, values)
  const tolerates = (failure: MergeqError) => toleratesOutage && isOutage(failure)
  const end = await readToEnd(readListOf(cli.command, list, { tolerates }, cli), take)
  if (end.failure?.kind === 'interrupted') throw end.failure
  return end
}

export const printSearch = (values: FailingTests, cli: Cli): Promise<number> =>
  printFirstPage(listFrom(cli, listFailingTests, values), cli)

/** Logs the notes about a list of failing tests: the first says its range, which a terminal shows already. */
export async function logNotes(
  { notes: [summary = '', ...notes] }: ListEnd,
  { logger, results }: Cli,
): Promise<void> {
  for (const note of results === 'screen' ? notes : [summary, ...notes]) await logger.info(note)
}

export const windowOnlyInput = flag('Leave out flaky and broken tests that did not fail in the time range')

export const onUnavailableOption = option(
  choice(['pass', 'fail'], 'pass|fail'),
  'If the service is unavailable: pass exits 0, fail exits 7',
  { default: 'fail' },
)

/**
 * Reads the flaky and the broken tests, also those that did not fail lately, and returns whether the service lists them
 * (docs/reference/service.md, "list-unhealthy-tests"). Logs a note if the list could not be read completely.
 * Throws only errors that every read would have, such as a rejected token.
 */
export async function readUnhealthyTests(
  cli: Cli,
  values: UnhealthyTests,
  take: (test: JsonObject) => void,
): Promise<boolean> {
  const list = listFrom(cli, listUnhealthyTests, values)
  const end = await readToEnd(readList(cli.client(), list, { tolerates: () => true }), take)
  const { failure, pages, problem = failure?.message.replace(/\.$/, '') } = end
  if (failure !== undefined && isPermanent(failure)) throw failure
  const hasNoList = pages === 0 && failure !== undefined && isNotFound(failure)
  if (problem !== undefined && !hasNoList)
    await cli.logger.info(`The list of flaky and broken tests is incomplete: ${problem}.`)
  return pages > 0
}
