import { type ScenarioName, scenarioNames } from '../domain/scenario-names.ts'
import type { JsonObject } from '../json.ts'

/**
 * The result of a test run for one pull request. `flake` fails, is held in PENDING_FAILURE and is tested
 * again; `cancel` is cancelled halfway through the run.
 */
export type ScriptedResult = 'pass' | 'fail' | 'flake' | 'cancel'

/**
 * What happens to the pull request with the number `pr`, or to all pull requests whose number is divisible by
 * `divisibleBy`. Times are seconds at speed 1.
 */
export interface ScenarioScript {
  readonly pr?: number | undefined
  readonly divisibleBy?: number | undefined
  /**
   * The result of each test run after a submit. The last one counts for all further runs: it is not `flake`.
   */
  readonly runs?: readonly ScriptedResult[] | undefined
  /** Time from each submit until the pull request is mergeable. */
  readonly readyAfter?: number | undefined
  /** Time from the first submit until the pull request is cancelled. */
  readonly cancelledAfter?: number | undefined
  /** Time from the first submit until a push, which voids uploads and cancels a queued pull request. */
  readonly pushedAfter?: number | undefined
  /** Multiplies the length of its test runs. */
  readonly stretch?: number | undefined
  /** The head commit: uploads for other commits do not count. Without it, uploads determine it. */
  readonly head?: string | undefined
}

/**
 * What happens in a sandbox, as plain data. A pull request without a script passes its tests. All rules of
 * scenarios are the sandbox's own.
 */
export interface Scenario {
  readonly name: string
  readonly summary: string
  /** For each pull request the first matching script applies. */
  readonly scripts: readonly ScenarioScript[]
  /** Settings of the queues at the start, in the form of an updateQueue body. */
  readonly settings?: JsonObject | undefined
  /** Changes of settings at times in seconds after the start, for example a pause or another mode. */
  readonly moments?: readonly { readonly after: number; readonly settings: JsonObject }[] | undefined
  /** Multiplies the length of all test runs. */
  readonly stretch?: number | undefined
  /** Number of requests at the start of which every second request fails with 503. */
  readonly outage?: number | undefined
  /** Whether the hosted dialect refuses a state in upper case with 400. */
  readonly lowerCaseStatesOnly?: boolean | undefined
  /** Spans of time in seconds after the start, in which every request fails with 503. */
  readonly outages?: readonly { readonly after: number; readonly lasts: number }[] | undefined
}

/** The value of `divisibleBy` that matches every pull request. */
const all = 1

const builtinScenarios: Readonly<Record<ScenarioName, Omit<Scenario, 'name'>>> = {
  happy: { summary: 'All pull requests merge.', scripts: [] },
  flaky: {
    summary:
      'The first test run of each pull request fails (PENDING_FAILURE), the next run passes, and it merges.',
    scripts: [{ divisibleBy: all, runs: ['flake', 'pass'] }],
  },
  failure: {
    summary: 'Pull requests with a number divisible by 3 fail.',
    scripts: [{ divisibleBy: 3, runs: ['fail'] }],
  },
  cancelled: {
    summary: 'Each pull request is cancelled during its tests.',
    scripts: [{ divisibleBy: all, runs: ['cancel'] }],
  },
  'batch-failure': {
    summary: 'Batches of four; pull requests with a number divisible by 4 fail, and bisection finds them.',
    scripts: [{ divisibleBy: 4, runs: ['fail'] }],
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
  },
  paused: {
    summary: 'The queue is paused until it is resumed.',
    scripts: [],
    settings: { state: 'paused' },
  },
  outage: {
    summary: 'Every second request of the first 20 fails with 503; all pull requests merge.',
    scripts: [],
    outage: 20,
  },
  slow: { summary: 'Test runs take ten times as long; all pull requests merge.', scripts: [], stretch: 10 },
}

export function findScenario(name: string): Scenario | undefined {
  const known = scenarioNames.find(scenarioName => scenarioName === name)
  return known === undefined ? undefined : { name: known, ...builtinScenarios[known] }
}

export const findScript = ({ scripts }: Scenario, number: number): ScenarioScript | undefined =>
  scripts.find(
    ({ pr, divisibleBy }) => pr === number || (divisibleBy !== undefined && number % divisibleBy === 0),
  )

/** `run` counts the runs since the latest submit, from 1. */
export function getScriptedResult(scenario: Scenario, number: number, run: number): ScriptedResult {
  const { runs = [] } = findScript(scenario, number) ?? {}
  return runs[Math.max(1, Math.min(run, runs.length)) - 1] ?? 'pass'
}
