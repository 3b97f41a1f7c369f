import { isObject, type Json, type JsonObject } from '../contract/json.ts'
import { usage } from '../failure.ts'

/**
 * How a test run turns out for one pull request. `flake` fails, is held in PENDING_FAILURE and is tested again;
 * `cancel` is cancelled half-way through.
 */
export type Verdict = 'pass' | 'fail' | 'flake' | 'cancel'

/** What is scripted for some pull requests: one of them, or all whose number can be divided. */
export interface Script {
  readonly pr?: number
  readonly divisibleBy?: number
  /** The verdict of each test run after a submit; the last one stands for all that follow, so it is no flake. */
  readonly runs: readonly Verdict[]
}

/** What happens in a sandbox, as plain data: what no script names passes, and every rule here is the sandbox's own. */
export interface Scenario {
  readonly name: string
  readonly summary: string
  /** The first script that names a pull request decides. */
  readonly scripts: readonly Script[]
  /** Settings that the queues start with, as updateQueue takes them. */
  readonly settings?: JsonObject
  /** How many times as long as usual a test run takes. */
  readonly stretch?: number
  /** Of so many first requests every second one is answered with 503. */
  readonly outage?: number
}

const each = 1

/** The scenarios that come with the sandbox (DESIGN.md section 6). */
export const scenarios: readonly Scenario[] = [
  { name: 'happy', summary: 'All merge.', scripts: [] },
  {
    name: 'flaky',
    summary: 'Each first run fails, is held in PENDING_FAILURE, then passes and merges.',
    scripts: [{ divisibleBy: each, runs: ['flake', 'pass'] }],
  },
  {
    name: 'failure',
    summary: 'Numbers divisible by 3 fail.',
    scripts: [{ divisibleBy: 3, runs: ['fail'] }],
  },
  {
    name: 'cancelled',
    summary: 'Each is cancelled while it is tested.',
    scripts: [{ divisibleBy: each, runs: ['cancel'] }],
  },
  {
    name: 'batch-failure',
    summary: 'Batches of four; numbers divisible by 4 fail and bisection finds them.',
    scripts: [{ divisibleBy: 4, runs: ['fail'] }],
    settings: { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
  },
  {
    name: 'paused',
    summary: 'The queue starts paused and moves once it is resumed.',
    scripts: [],
    settings: { state: 'paused' },
  },
  {
    name: 'outage',
    summary: 'Of the first 20 requests every second one fails with 503; all merge.',
    scripts: [],
    outage: 20,
  },
  { name: 'slow', summary: 'Tests take ten times as long; all merge.', scripts: [], stretch: 10 },
]

/** The names of the scenarios, the default one first. */
export const scenarioNames: readonly string[] = scenarios.map(({ name }) => name)

/** The scenario of a name; undefined when there is none. */
export const scenarioNamed = (name: string): Scenario | undefined =>
  scenarios.find(scenario => scenario.name === name)

/** The verdict that is scripted for a pull request's run, counted from 1 since its submit. */
export function verdictOf({ scripts }: Scenario, number: number, run: number): Verdict {
  const script = scripts.find(
    ({ pr, divisibleBy }) => pr === number || (divisibleBy !== undefined && number % divisibleBy === 0),
  )
  return script?.runs[Math.max(1, Math.min(run, script.runs.length)) - 1] ?? 'pass'
}

const verdicts: readonly string[] = ['pass', 'fail', 'flake', 'cancel'] satisfies readonly Verdict[]

const isVerdict = (value: Json): value is Verdict => typeof value === 'string' && verdicts.includes(value)

const isWhole = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/**
 * Reads a scenario of one's own: JSON with the fields of `Scenario`, all of them optional. Throws a usage failure
 * that names the part it cannot read.
 */
export function readScenario(text: string, name: string): Scenario {
  const refuse = (what: string) =>
    usage(
      `the scenario ${name} cannot be read: ${what}.`,
      'For example {"scripts":[{"divisibleBy":3,"runs":["flake","pass"]}],"stretch":2}.',
    )
  const {
    scripts = [],
    settings,
    stretch,
    outage,
    summary = '',
  } = documentIn(text) ?? fail(refuse('it is not a JSON object'))
  if (typeof summary !== 'string') throw refuse('summary must be text')
  if (!Array.isArray(scripts)) throw refuse('scripts must be a list')
  if (settings !== undefined && !isObject(settings)) throw refuse('settings must be an object')
  if (stretch !== undefined && !(typeof stretch === 'number' && stretch > 0))
    throw refuse('stretch must be a number over 0')
  if (outage !== undefined && !isWhole(outage)) throw refuse('outage must be a whole number over 0')
  return {
    name,
    summary,
    scripts: scripts.map(
      (script, index) => scriptIn(script) ?? fail(refuse(`scripts[${index}] is not a script`)),
    ),
    ...(settings === undefined ? {} : { settings }),
    ...(stretch === undefined ? {} : { stretch }),
    ...(outage === undefined ? {} : { outage }),
  }
}

function documentIn(text: string): JsonObject | undefined {
  try {
    const document: Json = JSON.parse(text)
    return isObject(document) ? document : undefined
  } catch {
    return undefined
  }
}

function scriptIn(value: Json): Script | undefined {
  if (!isObject(value) || !Array.isArray(value.runs) || !value.runs.every(isVerdict)) return undefined
  const { pr, divisibleBy, runs } = value
  if (runs.length === 0 || runs.at(-1) === 'flake') return undefined
  if (isWhole(pr)) return { pr, runs }
  return isWhole(divisibleBy) ? { divisibleBy, runs } : undefined
}

function fail(failure: Error): never {
  throw failure
}
