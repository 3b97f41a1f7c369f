import { get, getArray, getString, isObject, type Json, type JsonObject } from '../base/json.ts'
import { joinTruncated, shorten } from '../values/format.ts'
import { detailOf, eventsOfAttempt, prNumbersIn } from './timeline.ts'

/**
 * Returns the checks of a test run (docs/reference/service.md, "getMergeQueueTestingDetails"): all check
 * runs, then the newest status of each context. Each has `kind`, `name`, `state` and `url`; a value that the
 * run lacks is undefined.
 */
export function readChecks(run: Json): readonly JsonObject[] {
  const checkRuns = getArray(run, 'checkSuites')
    .flatMap(suite => getArray(suite, 'checkRuns'))
    .map(check => ({
      kind: 'check',
      name: get(check, 'name'),
      state: get(check, 'conclusion') ?? get(check, 'status'),
      url: get(check, 'url'),
    }))
  const newestByContext = new Map(
    getArray(run, 'statusChecks')
      .toReversed()
      .map(status => [getString(status, 'context'), status]),
  )
  const statuses = [...newestByContext.values()].toReversed().map(status => ({
    kind: 'status',
    name: get(status, 'context'),
    state: get(status, 'state'),
    url: get(status, 'url'),
  }))
  return [...checkRuns, ...statuses]
}

export const requiredStatuses = (run: JsonObject): readonly string[] =>
  getArray(run, 'requiredStatuses').filter(name => typeof name === 'string')

/** Returns the names of required statuses that no check of a test run has. */
export function unreportedStatuses(run: JsonObject): readonly string[] {
  const reported = readChecks(run).map(({ name }) => name)
  return requiredStatuses(run).filter(name => !reported.includes(name))
}

/** Whether a test run goes on, as far as it says. */
const isRunning = (run: JsonObject): boolean =>
  !/^(?:succeeded|failed|cancelled)$/i.test(getString(run, 'status') ?? '')

/** Returns the required statuses that have not reported in a test run that goes on. */
export const missingStatuses = (run: JsonObject): readonly string[] =>
  isRunning(run) ? unreportedStatuses(run) : []

/** How a check failed, in words: `failed`, `timed out`. */
const howItFailed = (conclusion: string): string =>
  /^(?:failure|error|)$/i.test(conclusion) ? 'failed' : shorten(conclusion.toLowerCase().replaceAll('_', ' '))

/** Returns what is said of a failed check: `check "test" failed`. */
export const failedCheckText = (name: string, conclusion: string): string =>
  `check "${shorten(name)}" ${howItFailed(conclusion)}`

export interface TestRun {
  readonly id: string
  /** The service's status in lower case; null if the service gives none. */
  readonly status: string | null
  /** Failed checks. Optional checks are left out if the run names required checks. */
  readonly failingChecks: readonly FailingCheck[]
  /** The names of required checks that have not reported while the run goes on. */
  readonly missing: readonly string[]
  /** When the run began, as the service wrote it. */
  readonly startedAt: string | undefined
  readonly pending: readonly string[]
  /** Those of them that wait for a manual approval. */
  readonly awaitingApproval: readonly string[]
  /** The pull requests that were tested, and those that they were tested on top of. */
  readonly tested: readonly number[]
  readonly builtOn: readonly number[]
  /** Whether it tests a part of a batch that failed. */
  readonly isOfSplit: boolean
}

export interface FailingCheck {
  readonly name: string
  readonly url: string | undefined
  /** The conclusion of a check run, or the state of a status, as the service gives it. */
  readonly conclusion: string
}

/** Whether the test run of a failed pull request gives no result: its tests were stopped or took too long. */
export function isInconclusive({ status, failingChecks = [] }: Partial<TestRun> = {}): boolean {
  return (
    status === 'cancelled' ||
    (failingChecks.length > 0 &&
      failingChecks.every(({ conclusion }) => /^(?:cancelled|stale|timed_out)$/i.test(conclusion)))
  )
}

const isTestRunId = (id: string | undefined): id is string => id !== undefined && /^[\w.-]{1,128}$/.test(id)

/** Accepts an object with an id or a branch, a branch that ends in an id, or an id. */
const findId = (value: Json | undefined): string | undefined => {
  if (isObject(value))
    return ['testRunId', 'id', 'branch', 'testBranch'].map(key => findId(value[key])).find(isTestRunId)
  return typeof value === 'string' ? value.slice(value.lastIndexOf('/') + 1) : undefined
}

const runKeys = ['testRunId', 'testRun', 'testsPassed', 'verifiedByTestRun']

/** Returns the id of the newest test run of the last attempt, if the record or its timeline names one. */
export const testRunOf = (record: JsonObject): string | undefined =>
  [...runKeys.map(key => get(record, key)), ...eventsOfAttempt(record).map(testRunOfEvent)]
    .map(findId)
    .find(isTestRunId)

export const testRunOfEvent = (event: JsonObject): string | undefined =>
  runKeys
    .map(key => detailOf(event, key))
    .map(findId)
    .find(isTestRunId)

export const testedBy = (run: JsonObject): readonly number[] =>
  prNumbersIn(getArray(run, 'testedPullRequests'))

/** Whether a test run concerns a pull request; true also for a run that names no pull requests at all. */
export function testsPullRequest(run: JsonObject, pr: number): boolean {
  const tested = testedBy(run)
  return tested.length === 0 || tested.includes(pr) || getArray(run, 'dependentPrs').includes(pr)
}

const passedStates = ['SUCCESS', 'NEUTRAL', 'SKIPPED']
const failedStates = ['FAILURE', 'ERROR', 'CANCELLED', 'TIMED_OUT', 'STALE', 'ACTION_REQUIRED']

function resultOf(check: JsonObject): 'passed' | 'failed' | undefined {
  const state = (getString(check, 'state') ?? '').toUpperCase()
  if (passedStates.includes(state)) return 'passed'
  return failedStates.includes(state) ? 'failed' : undefined
}

const nameOfCheck = (check: JsonObject): string => getString(check, 'name') ?? 'an unnamed check'

/** Whether a check waits for a manual approval; a status with the state PENDING runs. */
export const isAwaitingApproval = ({ kind, state }: JsonObject): boolean =>
  typeof state === 'string' &&
  (/^(?:waiting|requested)$/i.test(state) || (kind === 'check' && /^pending$/i.test(state)))

/** Returns which checks wait for a manual approval, as a sentence without a full stop. */
export const approvalText = (names: readonly string[]): string =>
  names.length === 1
    ? `Its check ${joinTruncated(names)} waits for a manual approval`
    : `Its checks ${joinTruncated(names)} wait for a manual approval`

export const isPassedCheck = (check: JsonObject): boolean => resultOf(check) === 'passed'

export const isFailedCheck = (check: JsonObject): boolean => resultOf(check) === 'failed'

/** Whether a check of a test run must pass: all of them, if the run names none. */
export function isRequiredCheck(run: JsonObject, { name = null }: JsonObject): boolean {
  const required = getArray(run, 'requiredStatuses')
  return required.length === 0 || required.includes(name)
}

export function parseTestRun(id: string, run: JsonObject): TestRun {
  const checks = readChecks(run).filter(check => isRequiredCheck(run, check))
  const withResult = (result: 'passed' | 'failed' | undefined): readonly FailingCheck[] => {
    const found = new Map<string, FailingCheck>()
    for (const check of checks) {
      if (resultOf(check) !== result) continue
      const conclusion = getString(check, 'state') ?? ''
      const name = nameOfCheck(check)
      const earlier = found.get(name) ?? { name, url: undefined, conclusion }
      found.set(name, { ...earlier, url: earlier.url ?? getString(check, 'url') })
    }
    return [...found.values()]
  }
  return {
    id,
    status: getString(run, 'status')?.toLowerCase() ?? null,
    failingChecks: withResult('failed'),
    missing: missingStatuses(run),
    startedAt: getString(run, 'createdAt'),
    pending: withResult(undefined).map(({ name }) => name),
    awaitingApproval: [...new Set(checks.filter(isAwaitingApproval).map(nameOfCheck))],
    tested: testedBy(run),
    builtOn: getArray(run, 'dependentPrs').filter(pr => typeof pr === 'number'),
    isOfSplit: /-bisection[^/]*$/.test(getString(run, 'testBranch') ?? ''),
  }
}
