import { readIfFound } from '../../../api/call.ts'
import { incompleteListError } from '../../../api/list.ts'
import type { List } from '../../../api/operation.ts'
import { getMergeQueueTestingDetails } from '../../../api/operations/pull-requests.ts'
import { testingResultsPage } from '../../../api/operations/testing-results.ts'
import { getString, type JsonObject } from '../../../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../../../base/scheduling.ts'
import type { Cli } from '../../../command/command.ts'
import { flagName } from '../../../command/inputs.ts'
import { readListOf } from '../../../command/lists.ts'
import { keptDays, parseKeptRange } from '../../../values/kept-range.ts'
import type { Queue } from '../../../values/repository.ts'
import { checkRequiredStatuses } from './required-statuses.ts'

/** Checks the required statuses in the last `count` finished test runs before `now`, the time of the service. */
export async function checkStatuses(queue: Queue, count: number, now: number, cli: Cli) {
  const ids = await readLastRuns(queue, count, now, cli)
  const readRun = (run: string) =>
    readIfFound(cli.client(), getMergeQueueTestingDetails, { ...queue, run, pr: undefined })
  const runs: JsonObject[] = []
  for await (const run of mapConcurrent(ids, maxConcurrent, readRun)) if (run !== undefined) runs.push(run)
  return { check: 'statuses', ...checkRequiredStatuses(runs) }
}

/** Returns the IDs of the last finished test runs that were not cancelled, the newest first. */
async function readLastRuns(queue: Queue, count: number, now: number, cli: Cli): Promise<readonly string[]> {
  const { start, end } = parseKeptRange(`${keptDays}d`, undefined, now, flagName)
  const list: List = {
    operation: testingResultsPage,
    parts: [{ ...queue, since: start, until: end }],
    hiddenBy: () => undefined,
    describe: () => '',
    envelope: () => ({}),
  }
  const ids = new Set<string>()
  for await (const { records, end: listEnd } of readListOf(cli.command, list, {}, cli)) {
    for (const record of records) {
      const id = getString(record, 'testRunId')
      if (id !== undefined && getString(record, 'outcome')?.toLowerCase() !== 'cancelled') ids.add(id)
    }
    if (ids.size >= count) break
    if (listEnd?.complete === false) throw incompleteListError(listEnd, cli.command)
  }
  return [...ids].slice(0, count)
}
