import type { JsonObject } from '../base/json.ts'
import type { ScenarioName } from '../values/scenario-names.ts'

/**
 * The result of a test run for one pull request. `flake` fails, is held in PENDING_FAILURE and is tested
 * again; `cancel` is cancelled halfway through the run; `time-out` ends by the time limit of the queue.
 */
export type ScriptedResult = 'pass' | 'fail' | 'flake' | 'cancel' | 'time-out'

/** What happens to the pull request with the number `pr`, or to all whose number is divisible by `divisibleBy`. */
export interface ScenarioScript {
  readonly pr?: number
  readonly divisibleBy?: number
  /** Of each test run after a submit; the last one counts for all further runs, and is not `flake`. */
  readonly runs?: readonly ScriptedResult[]
  /** Seconds at speed 1 from each submit until the pull request is mergeable; Infinity if it never is. */
  readonly readyAfter?: number
}

/** An end of an attempt that a scenario plays, and when. */
export interface PlannedEnd {
  /** When it is ready, before the first test run, after it passed, or at the merge. */
  readonly at: 'ready' | 'start' | 'tests-passed' | 'merge'
  readonly to: 'FAILED' | 'CANCELLED'
  readonly reason: string
  /** GitHub's own words. */
  readonly message?: string
  /** Seconds at speed 1 after which it turns out to be merged. */
  readonly mergesAfter?: number
}

/** What happens in a sandbox; a pull request without a script passes its tests. All of it is the sandbox's own. */
export interface Scenario {
  readonly summary?: string
  /** For each pull request the first matching script applies. */
  readonly scripts?: readonly ScenarioScript[]
  /** How the first attempt of each pull request ends, in turn. */
  readonly firstEnds?: readonly PlannedEnd[]
  /** Pull requests of which each is based on the one before. */
  readonly stack?: readonly number[]
  /** Settings of the queues at the start, in the form of an updateQueue body. */
  readonly settings?: JsonObject
  /** Multiplies the length of all test runs. */
  readonly stretch?: number
  /** Number of requests at the start of which every second request fails with 503. */
  readonly outage?: number
  /** How many requests are answered in 10 seconds; the others get 429. */
  readonly rateLimit?: number
  readonly silentCheck?: string
  /** Seconds at speed 1 after which another token takes the place of the first. */
  readonly tokenLasts?: number
  /** Pull requests that are closed: each submission is cancelled. */
  readonly closed?: readonly number[]
}

const mergeInProgress: PlannedEnd = {
  at: 'merge',
  to: 'FAILED',
  reason: 'github_api_merge_already_in_progress',
  message: 'Merge already in progress',
}

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  happy: { summary: 'All pull requests merge.' },
  flaky: {
    summary:
      'The first test run of each pull request fails (PENDING_FAILURE), the next run passes, and it merges.',
    scripts: [{ divisibleBy: 1, runs: ['flake', 'pass'] }],
  },
  failure: {
    summary: 'Pull requests with a number divisible by 3 fail.',
    scripts: [{ divisibleBy: 3, runs: ['fail'] }],
  },
  cancelled: {
    summary: 'Each pull request is cancelled during its tests.',
    scripts: [{ divisibleBy: 1, runs: ['cancel'] }],
  },
  'batch-failure': {
    summary: 'Batches of four; pull requests with a number divisible by 4 fail, and bisection finds them.',
    scripts: [{ divisibleBy: 4, runs: ['fail'] }],
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
  },
  paused: {
    summary: 'The queue is paused until it is resumed.',
    settings: { state: 'paused' },
  },
  outage: {
    summary: 'Every second request of the first 20 fails with 503; all pull requests merge.',
    outage: 20,
  },
  stack: {
    summary:
      '#201 to #203 are a stack: a submission takes those below along, and every second one is cancelled by a push.',
    stack: [201, 202, 203],
  },
  'host-trouble': {
    summary: 'The first attempt of each pull request fails because of GitHub; the second merges.',
    firstEnds: [
      { at: 'merge', to: 'FAILED', reason: 'github_api_rate_limit_exceeded' },
      { at: 'merge', to: 'FAILED', reason: 'github_api_repeated_server_errors' },
      { at: 'start', to: 'FAILED', reason: 'start_test_run_retry_exhausted' },
    ],
  },
  'maybe-merged': {
    summary:
      'The first attempt of each pull request fails, but may have merged: every second one shows its merge after 20s.',
    firstEnds: [{ ...mergeInProgress, mergesAfter: 20 }, { ...mergeInProgress }],
  },
  'not-ready': {
    summary:
      'Pull requests with a number divisible by 3 never become ready; the queue cancels them after an hour of its clock (60s).',
    scripts: [{ divisibleBy: 3, readyAfter: Number.POSITIVE_INFINITY }],
    settings: { notReadyTimeoutHours: 1 },
  },
  'silent-check': {
    summary:
      'The required check e2e never reports; test runs end by the time limit of the queue, 30 minutes of its clock (30s).',
    scripts: [{ divisibleBy: 1, runs: ['time-out'] }],
    settings: { requiredStatuses: ['build', 'test', 'e2e'], testingTimeoutMinutes: 30 },
    silentCheck: 'e2e',
  },
  'rate-limit': {
    summary:
      '20 requests are answered in 10s; the others get 429 with a Retry-After that is wrong by up to a second.',
    rateLimit: 20,
  },
  'rotated-token': {
    summary: 'After 30s another token takes the place of the first: it stands in the file of --token-file.',
    tokenLasts: 30,
  },
  slow: { summary: 'Test runs take ten times as long; all pull requests merge.', stretch: 10 },
}

export const findScript = ({ scripts = [] }: Scenario, number: number): ScenarioScript | undefined =>
  scripts.find(
    ({ pr, divisibleBy }) => pr === number || (divisibleBy !== undefined && number % divisibleBy === 0),
  )

/** `run` counts the runs since the latest submit, from 1. */
export function getScriptedResult(scenario: Scenario, number: number, run: number): ScriptedResult {
  const { runs = [] } = findScript(scenario, number) ?? {}
  return runs[Math.max(1, Math.min(run, runs.length)) - 1] ?? 'pass'
}

const closedEnd: PlannedEnd = { at: 'ready', to: 'CANCELLED', reason: 'pr_closed' }

/** `turn` counts the pull requests in the order of their first submits, from 0; undefined for a later submit. */
export const getPlannedEnd = (
  { firstEnds = [], closed = [] }: Scenario,
  number: number,
  turn: number | undefined,
): PlannedEnd | undefined => {
  if (closed.includes(number)) return closedEnd
  return turn === undefined ? undefined : firstEnds[turn % firstEnds.length]
}

/** Lists the pull requests below one in its stack, the lowest first. */
export const listBelow = ({ stack = [] }: Scenario, number: number): readonly number[] =>
  stack.slice(0, Math.max(0, stack.indexOf(number)))
