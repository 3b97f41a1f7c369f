import { readIfFound } from '../../../api/call.ts'
import { incompleteListError } from '../../../api/list.ts'
import { getMergeQueueTestingDetails } from '../../../api/operations/pull-requests.ts'
import { listTestRuns } from '../../../api/operations/testing-results.ts'
import { getString, type JsonObject } from '../../../base/json.ts'
import { mapConcurrent, maxConcurrent } from '../../../base/scheduling.ts'
import type { Cli } from '../../../command/command.ts'
import { listFrom, readListOf } from '../../../command/lists.ts'
import { isPassedCheck, readChecks, requiredStatuses } from '../../../domain/test-run.ts'
import { joinTruncated, pluralize, shorten } from '../../../values/format.ts'
import type { Queue } from '../../../values/repository.ts'
import { keptDays } from '../../../values/time-range.ts'

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
  const list = listFrom(cli, listTestRuns, { ...queue, since: `${keptDays}d` }, now)
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

/** Fewer test runs say nothing about a status: a new one, for example, has not reported yet. */
const minRuns = 3

/**
 * Checks that each required status reported and passed in at least one of the test runs that require it. The statuses
 * are those of the newest test run, because earlier ones may be required no longer.
 *
 * @param runs details of finished test runs (docs/reference/service.md, "getMergeQueueTestingDetails"), the newest first
 */
function checkRequiredStatuses(runs: readonly JsonObject[]) {
  const seen = pluralize(runs.length, 'finished test run')
  if (runs.length < minRuns)
    return { ok: true, reason: `only ${seen} with details; ${minRuns} are needed to check statuses` }
  const required = [...new Set(requiredStatuses(runs[0] ?? {}))]
  if (required.length === 0) return { ok: true, reason: 'the newest test run names no required statuses' }
  const notChecked = `required by fewer than ${minRuns} test runs, not checked`
  const problems = required.map(name => {
    const requiring = runs.filter(run => requiredStatuses(run).includes(name))
    const checks = requiring.flatMap(readChecks).filter(check => check.name === name)
    if (checks.some(isPassedCheck)) return undefined
    if (requiring.length < minRuns) return notChecked
    return checks.length === 0 ? 'never reported' : 'never passed'
  })
  const remarks = ['never reported', 'never passed', notChecked].flatMap(problem => {
    const names = required.filter((_, index) => problems[index] === problem).map(name => shorten(name))
    return names.length === 0 ? [] : [`${problem}: ${joinTruncated(names)}`]
  })
  const ok = problems.every(problem => problem === undefined || problem === notChecked)
  if (!ok) return { ok, reason: `required statuses in ${seen}: ${remarks.join('; ')}` }
  const passed = `${problems.filter(problem => problem === undefined).length} of ${required.length}`
  return { ok, reason: [`${passed} required statuses passed in ${seen}`, ...remarks].join('; ') }
}
