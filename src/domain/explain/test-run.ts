import { at, isObject, type Json, type JsonObject, listAt, textAt } from '../../json.ts'
import { checksOf } from '../../api/operations/testing-details.ts'
import { brief, type Finding, some } from './finding.ts'

/** A test run, as far as an explanation needs it. */
export interface TestRun {
  readonly id: string
  /** As the service says it; null where it does not. */
  readonly status: string | null
  /** The names of the checks that have failed, and of those that have not ended; the required ones where it names any. */
  readonly failing: readonly string[]
  readonly pending: readonly string[]
}

const isRun = (id: string | undefined): id is string => id !== undefined && /^[\w.-]{1,128}$/.test(id)

/** The id at the end of a test branch, or the id itself. */
const idIn = (value: Json | undefined): string | undefined => {
  if (isObject(value))
    return ['testRunId', 'id', 'branch', 'testBranch'].map(key => idIn(value[key])).find(isRun)
  return typeof value === 'string' ? value.slice(value.lastIndexOf('/') + 1) : undefined
}

/** The id of a record's newest test run, where the record or its history names one (service-observed.md section 2.5). */
export const testRunOf = (record: JsonObject): string | undefined =>
  [record, ...listAt(record, 'timeline')]
    .flatMap(moment => [
      at(moment, 'testRunId'),
      at(moment, 'testRun'),
      at(moment, 'testsPassed'),
      at(moment, 'verifiedByTestRun'),
    ])
    .map(idIn)
    .find(isRun)

/** Whether a run says that it has to do with a pull request; one that names nobody may have. */
export function concerns(run: JsonObject, pr: number): boolean {
  const tested = listAt(run, 'testedPullRequests').map(one => at(one, 'prNumber'))
  return tested.length === 0 || tested.includes(pr) || listAt(run, 'dependentPrs').includes(pr)
}

const good = /^(SUCCESS|NEUTRAL|SKIPPED)$/i
const bad = /^(FAILURE|ERROR|CANCELLED|TIMED_OUT|STALE|ACTION_REQUIRED)$/i

/** The run of an id, its checks sorted: an optional check decides nothing. */
export function readRun(id: string, run: JsonObject): TestRun {
  const required = listAt(run, 'requiredStatuses')
  const checks = checksOf(run).filter(({ name = null }) => required.length === 0 || required.includes(name))
  const names = (isMeant: (state: string) => boolean) => [
    ...new Set(
      checks.flatMap(check =>
        isMeant(textAt(check, 'state') ?? '')
          ? [brief(textAt(check, 'name') ?? 'a check without a name')]
          : [],
      ),
    ),
  ]
  return {
    id,
    status: textAt(run, 'status')?.toLowerCase() ?? null,
    failing: names(state => bad.test(state)),
    pending: names(state => !bad.test(state) && !good.test(state)),
  }
}

/** What a test run tells of why its pull requests are where they are. */
export const runFindings = ({ failing, pending }: TestRun): readonly Finding[] => [
  ...(failing.length === 0
    ? []
    : [{ code: 'failing-checks', message: `Failing in its test run: ${some(failing)}.` }]),
  ...(pending.length === 0
    ? []
    : [{ code: 'pending-checks', message: `Still running in its test run: ${some(pending)}.` }]),
]
