import { type ScenarioName, scenarioNames } from '../domain/scenario-names.ts'
import type { JsonObject } from '../json.ts'

/**
 * How a test run turns out for one pull request. `flake` fails, is held in PENDING_FAILURE and is tested again;
 * `cancel` is cancelled half-way through.
 */
export type ScriptedResult = 'pass' | 'fail' | 'flake' | 'cancel'

/** What is scripted for some pull requests: one of them, or all whose number can be divided. Times are seconds at speed 1. */
export interface ScenarioScript {
  readonly pr?: number | undefined
  readonly divisibleBy?: number | undefined
  /** The verdict of each test run after a submit; the last one stands for all that follow, so it is no flake. */
  readonly runs?: readonly ScriptedResult[] | undefined
  /** How long after each submit it becomes mergeable. */
  readonly readyAfter?: number | undefined
  /** How long after its first submit somebody cancels it, wherever it stands then. */
  readonly cancelledAfter?: number | undefined
  /** How long after its first submit a commit is pushed: its uploads are void, and what is queued is cancelled. */
  readonly pushedAfter?: number | undefined
  /** How many times as long as usual its test runs take. */
  readonly stretch?: number | undefined
  /** Its head commit: uploads for another one do not count. Otherwise uploads are believed. */
  readonly head?: string | undefined
}

/** What happens in a sandbox, as plain data: what no script names passes, and every rule here is the sandbox's own. */
export interface Scenario {
  readonly name: string
  readonly summary: string
  /** The first script that names a pull request decides. */
  readonly scripts: readonly ScenarioScript[]
  /** Settings that the queues start with, as updateQueue takes them. */
  readonly settings?: JsonObject | undefined
  /** Changes of settings that come by themselves, so many seconds after the start: pauses, drains, other modes. */
  readonly moments?: readonly { readonly after: number; readonly settings: JsonObject }[] | undefined
  /** How many times as long as usual a test run takes. */
  readonly stretch?: number | undefined
  /** Of so many first requests every second one is answered with 503. */
  readonly outage?: number | undefined
  /** Spans of seconds after the start in which every request is answered with 503. */
  readonly outages?: readonly { readonly after: number; readonly lasts: number }[] | undefined
}

const each = 1

/** What happens in each scenario that comes with the sandbox. */
const contents: Readonly<Record<ScenarioName, Omit<Scenario, 'name'>>> = {
  happy: { summary: 'All merge.', scripts: [] },
  flaky: {
    summary: 'Each first run fails, is held in PENDING_FAILURE, then passes and merges.',
    scripts: [{ divisibleBy: each, runs: ['flake', 'pass'] }],
  },
  failure: {
    summary: 'Numbers divisible by 3 fail.',
    scripts: [{ divisibleBy: 3, runs: ['fail'] }],
  },
  cancelled: {
    summary: 'Each is cancelled while it is tested.',
    scripts: [{ divisibleBy: each, runs: ['cancel'] }],
  },
  'batch-failure': {
    summary: 'Batches of four; numbers divisible by 4 fail and bisection finds them.',
    scripts: [{ divisibleBy: 4, runs: ['fail'] }],
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
  },
  paused: {
    summary: 'The queue starts paused and moves once it is resumed.',
    scripts: [],
    settings: { state: 'paused' },
  },
  outage: {
    summary: 'Of the first 20 requests every second one fails with 503; all merge.',
    scripts: [],
    outage: 20,
  },
  slow: { summary: 'Tests take ten times as long; all merge.', scripts: [], stretch: 10 },
}

/** The scenarios that come with the sandbox (DESIGN.md section 6), the default one first. */
export const scenarios: readonly Scenario[] = scenarioNames.map(name => ({ name, ...contents[name] }))

/** The scenario of a name; undefined when there is none. */
export const scenarioNamed = (name: string): Scenario | undefined =>
  scenarios.find(scenario => scenario.name === name)

/** What is scripted for a pull request. */
export const scriptOf = ({ scripts }: Scenario, number: number): ScenarioScript | undefined =>
  scripts.find(
    ({ pr, divisibleBy }) => pr === number || (divisibleBy !== undefined && number % divisibleBy === 0),
  )

/** The verdict that is scripted for a pull request's run, counted from 1 since its submit. */
export function scriptedResult(scenario: Scenario, number: number, run: number): ScriptedResult {
  const { runs = [] } = scriptOf(scenario, number) ?? {}
  return runs[Math.max(1, Math.min(run, runs.length)) - 1] ?? 'pass'
}
