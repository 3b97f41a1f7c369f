import { type ScenarioName, scenarioNames } from '../domain/scenario-names.ts'
import { requireUtf8 } from '../domain/values/text.ts'
import { integer } from '../domain/values/types.ts'
import { toMergeqError, usageError, withName } from '../errors.ts'
import { getArray, isObject, type Json, type JsonObject } from '../json.ts'
import { defaultSettings, mergeSettings, unknownSettings } from './engine/settings.ts'
import { anyText, checkValue, type FieldType, fieldType, nonEmptyText, statusError } from './requests.ts'

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
  readonly pr?: number
  readonly divisibleBy?: number
  /**
   * The result of each test run after a submit. The last one counts for all further runs: it is not `flake`.
   */
  readonly runs?: readonly ScriptedResult[]
  /** Time from each submit until the pull request is mergeable. */
  readonly readyAfter?: number
  /** Time from the first submit until the pull request is cancelled. */
  readonly cancelledAfter?: number
  /** Time from the first submit until a push, which voids uploads and cancels a queued pull request. */
  readonly pushedAfter?: number
  /** Multiplies the length of its test runs. */
  readonly stretch?: number
  /** The head commit: uploads for other commits do not count. Without it, uploads determine it. */
  readonly head?: string
}

/**
 * What happens in a sandbox, as plain data. A pull request without a script passes its tests. All rules of
 * scenarios are the sandbox's own.
 */
export interface Scenario {
  readonly summary?: string
  /** For each pull request the first matching script applies. */
  readonly scripts?: readonly ScenarioScript[]
  /** Settings of the queues at the start, in the form of an updateQueue body. */
  readonly settings?: JsonObject
  /** Changes of settings at times in seconds after the start, for example a pause or another mode. */
  readonly moments?: readonly { readonly after: number; readonly settings: JsonObject }[]
  /** Multiplies the length of all test runs. */
  readonly stretch?: number
  /** Number of requests at the start of which every second request fails with 503. */
  readonly outage?: number
  /** Spans of time in seconds after the start, in which every request fails with 503. */
  readonly outages?: readonly { readonly after: number; readonly lasts: number }[]
}

const builtinScenarios: Readonly<Record<ScenarioName, Scenario>> = {
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
  slow: { summary: 'Test runs take ten times as long; all pull requests merge.', stretch: 10 },
}

export function findScenario(name: string): Scenario | undefined {
  const known = scenarioNames.find(scenarioName => scenarioName === name)
  return known === undefined ? undefined : builtinScenarios[known]
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

const maxNumber = 86_400_000

const numberType = (expected: string, isValid: (value: number) => boolean): FieldType<number> =>
  fieldType(expected, value => (typeof value === 'number' && isValid(value) ? value : undefined))

const factor = numberType('a number greater than 0', value => value > 0 && value <= maxNumber)
const seconds = numberType('a number of seconds, 0 or more', value => value >= 0 && value <= maxNumber)
const positiveInteger = integer(1)

const results = ['pass', 'fail', 'flake', 'cancel'] as const satisfies readonly ScriptedResult[]

const runs = fieldType<readonly ScriptedResult[]>(
  `a list of ${results.join(', ')} that does not end with flake`,
  value =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.at(-1) !== 'flake' &&
    value.every(element => results.includes(element))
      ? value
      : undefined,
)

const list = fieldType('a list', value => (Array.isArray(value) ? value : undefined))

/** The settings of a queue: `checkSettings` checks each. */
const settings = fieldType('an object', value =>
  value instanceof Object && !Array.isArray(value) ? value : undefined,
)

type Fields = Readonly<Record<string, FieldType<unknown>>>

const fileFields: Fields = {
  summary: anyText,
  scripts: list,
  settings,
  moments: list,
  stretch: factor,
  outage: positiveInteger,
  outages: list,
}

const scriptFields: Fields = {
  pr: positiveInteger,
  divisibleBy: positiveInteger,
  runs,
  readyAfter: seconds,
  cancelledAfter: seconds,
  pushedAfter: seconds,
  stretch: factor,
  head: nonEmptyText,
}

const momentFields: Fields = { after: seconds, settings }
const outageFields: Fields = { after: seconds, lasts: factor }

/** Checks a scenario file. Throws an error that names the place in it, such as `scripts[0]`. */
function checkFile(file: Json): void {
  checkObject(file, 'the file', fileFields)
  for (const [index, script] of getArray(file, 'scripts').entries()) {
    const place = `scripts[${index}]`
    const { pr, divisibleBy, head } = checkObject(script, place, scriptFields)
    if ((pr === undefined) === (divisibleBy === undefined))
      throw statusError(400, `${place}: either pr or divisibleBy is required.`)
    if (head !== undefined && pr === undefined) throw statusError(400, `${place}: head requires pr.`)
  }
  for (const [index, moment] of getArray(file, 'moments').entries())
    checkObject(moment, `moments[${index}]`, momentFields, 'after', 'settings')
  for (const [index, outage] of getArray(file, 'outages').entries())
    checkObject(outage, `outages[${index}]`, outageFields, 'after', 'lasts')
}

/** Checks an object that has no other fields than these; all but `required` may be left out. */
function checkObject(value: Json, place: string, fields: Fields, ...required: readonly string[]): JsonObject {
  if (!isObject(value)) throw statusError(400, `${place} must be an object.`)
  for (const [name, field] of Object.entries(value)) {
    const type = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (type === undefined)
      throw statusError(
        400,
        `${place}: unknown field '${name}'; must be one of: ${Object.keys(fields).join(', ')}.`,
      )
    checkValue(field, `${place}: ${name}`, type)
  }
  if (required.some(name => value[name] === undefined))
    throw statusError(400, `${place} requires ${required.join(' and ')}.`)
  if (isObject(value.settings)) checkSettings(value.settings, `${place}.settings`)
  return value
}

/** Unlike updateQueue, a scenario file must not have unknown settings: they are probably typos. */
function checkSettings(named: JsonObject, place: string): void {
  const [unknownKey] = Object.keys(unknownSettings(named))
  if (unknownKey !== undefined) throw statusError(400, `${place}: unknown setting '${unknownKey}'.`)
  withName(place, () => mergeSettings(defaultSettings, named))
}

/**
 * Parses the text of a scenario file: a JSON object. Throws a usage error that names the part of the file that is
 * wrong.
 *
 * @param name The name of the scenario, for errors: the path of the file.
 */
export function parseScenario(text: string, name: string): Scenario {
  const plainText = requireUtf8(text, `The scenario ${name}`)
  try {
    const scenario = JSON.parse(plainText)
    checkFile(scenario)
    return scenario
  } catch (error) {
    const isJson = !(error instanceof SyntaxError)
    const reason = isJson ? toMergeqError(error).message : 'it contains invalid JSON.'
    throw usageError(
      `The scenario ${name} cannot be read: ${reason}`,
      'For example: {"scripts":[{"divisibleBy":3,"runs":["flake","pass"]}],"stretch":2}',
    )
  }
}
