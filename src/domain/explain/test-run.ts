import { get, getArray, getString, isObject, type Json, type JsonObject } from '../../json.ts'
import { checksOf } from '../check-runs.ts'
import { type Finding, joinSome, shorten } from './finding.ts'

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
  [record, ...getArray(record, 'timeline')]
    .flatMap(moment => [
      get(moment, 'testRunId'),
      get(moment, 'testRun'),
      get(moment, 'testsPassed'),
      get(moment, 'verifiedByTestRun'),
    ])
    .map(idIn)
    .find(isRun)

/** Whether a run says that it has to do with a pull request; one that names nobody may have. */
export function testsPullRequest(run: JsonObject, pr: number): boolean {
  const tested = getArray(run, 'testedPullRequests').map(one => get(one, 'prNumber'))
  return tested.length === 0 || tested.includes(pr) || getArray(run, 'dependentPrs').includes(pr)
}

const good = /^(SUCCESS|NEUTRAL|SKIPPED)$/i
const bad = /^(FAILURE|ERROR|CANCELLED|TIMED_OUT|STALE|ACTION_REQUIRED)$/i

/** The run of an id, its checks sorted: an optional check decides nothing. */
export function parseTestRun(id: string, run: JsonObject): TestRun {
  const required = getArray(run, 'requiredStatuses')
  const checks = checksOf(run).filter(({ name = null }) => required.length === 0 || required.includes(name))
  const names = (isMeant: (state: string) => boolean) => [
    ...new Set(
      checks.flatMap(check =>
        isMeant(getString(check, 'state') ?? '')
          ? [shorten(getString(check, 'name') ?? 'a check without a name')]
          : [],
      ),
    ),
  ]
  return {
    id,
    status: getString(run, 'status')?.toLowerCase() ?? null,
    failing: names(state => bad.test(state)),
    pending: names(state => !bad.test(state) && !good.test(state)),
  }
}

/** What a test run tells of why its pull requests are where they are. */
export const testRunFindings = ({ failing, pending }: TestRun): readonly Finding[] => [
  ...(failing.length === 0
    ? []
    : [{ code: 'failing-checks', message: `Failing in its test run: ${joinSome(failing)}.` }]),
  ...(pending.length === 0
    ? []
    : [{ code: 'pending-checks', message: `Still running in its test run: ${joinSome(pending)}.` }]),
]
