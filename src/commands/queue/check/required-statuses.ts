import { getArray, type JsonObject } from '../../../base/json.ts'
import { isPassedCheck, readChecks } from '../../../domain/test-run.ts'
import { joinTruncated, pluralize, shorten } from '../../../values/format.ts'

/** Fewer test runs say nothing about a status: a new one, for example, has not reported yet. */
const minRuns = 3

/**
 * Checks that each required status reported and passed in at least one of the test runs that require it. The statuses
 * are those of the newest test run, because earlier ones may be required no longer.
 *
 * @param runs details of finished test runs (docs/reference/service.md, "getMergeQueueTestingDetails"), the newest first
 */
export function checkRequiredStatuses(runs: readonly JsonObject[]): {
  readonly ok: boolean
  readonly reason: string
} {
  const seen = `in ${pluralize(runs.length, 'finished test run')}`
  if (runs.length < minRuns)
    return {
      ok: true,
      reason: `only ${pluralize(runs.length, 'finished test run')} with details; ${minRuns} are needed to check statuses`,
    }
  const required = requiredBy(runs[0] ?? {})
  if (required.length === 0) return { ok: true, reason: 'the newest test run names no required statuses' }
  const unknown: string[] = []
  const unreported: string[] = []
  const unpassed: string[] = []
  for (const name of required) {
    const requiring = runs.filter(run => requiredBy(run).includes(name))
    const checks = requiring.flatMap(readChecks).filter(check => check.name === name)
    if (checks.some(isPassedCheck)) continue
    if (requiring.length < minRuns) unknown.push(shorten(name))
    else if (checks.length === 0) unreported.push(shorten(name))
    else unpassed.push(shorten(name))
  }
  const problems = [
    ...(unreported.length === 0 ? [] : [`never reported: ${joinTruncated(unreported)}`]),
    ...(unpassed.length === 0 ? [] : [`never passed: ${joinTruncated(unpassed)}`]),
  ]
  const remarks =
    unknown.length === 0
      ? []
      : [`required by fewer than ${minRuns} test runs, not checked: ${joinTruncated(unknown)}`]
  if (problems.length > 0)
    return { ok: false, reason: `required statuses ${seen}: ${[...problems, ...remarks].join('; ')}` }
  const passed = required.length - unknown.length
  return {
    ok: true,
    reason: [`${passed} of ${required.length} required statuses passed ${seen}`, ...remarks].join('; '),
  }
}

const requiredBy = (run: JsonObject): readonly string[] => [
  ...new Set(getArray(run, 'requiredStatuses').flatMap(name => (typeof name === 'string' ? name : []))),
]
