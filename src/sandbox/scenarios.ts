import { type ScenarioName, scenarioNames } from '../domain/scenario-names.ts'
import { requireUtf8 } from '../domain/values/text.ts'
import { toMergeqError, usageError, withName } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
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
  readonly moments?: readonly ScenarioMoment[]
  /** Multiplies the length of all test runs. */
  readonly stretch?: number
  /** Number of requests at the start of which every second request fails with 503. */
  readonly outage?: number
  /** Spans of time in seconds after the start, in which every request fails with 503. */
  readonly outages?: readonly ScenarioOutage[]
}

interface ScenarioMoment {
  readonly after: number
  readonly settings: JsonObject
}

interface ScenarioOutage {
  readonly after: number
  readonly lasts: number
}

/** The value of `divisibleBy` that matches every pull request. */
const all = 1

const builtinScenarios: Readonly<Record<ScenarioName, Scenario>> = {
  happy: { summary: 'All pull requests merge.' },
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
const positiveInteger = numberType(
  'a whole number greater than 0',
  value => Number.isSafeInteger(value) && value > 0,
)

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

/** Reads a part of a file. `place` says where it is, for errors: `scripts[0].runs`, or `the file`. */
type Reader<T> = (value: Json, place: string) => T

const single =
  <T>(type: FieldType<T>): Reader<T> =>
  (value, place) =>
    checkValue(value, place.replace(/\.(?=\w+$)/, ': '), type)

const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value, place) => {
    if (!Array.isArray(value)) throw statusError(400, `${place} must be a list.`)
    return value.map((element, index) => read(element, `${place}[${index}]`))
  }

/** Reads an object that has no other fields than these; all but `required` may be left out. */
const objectOf =
  <T>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }, ...required: readonly string[]): Reader<T> =>
  (value, place) => {
    if (!isObject(value)) throw statusError(400, `${place} must be an object.`)
    const fields = Object.entries(value).map(([key, field]) => {
      if (!Object.hasOwn(readers, key))
        throw statusError(
          400,
          `${place}: unknown field '${key}'; must be one of: ${Object.keys(readers).join(', ')}.`,
        )
      return [key, readers[key as keyof T](field ?? null, place === wholeFile ? key : `${place}.${key}`)]
    })
    if (required.some(key => value[key] === undefined))
      throw statusError(400, `${place} requires ${required.join(' and ')}.`)
    return Object.fromEntries(fields)
  }

/** Unlike updateQueue, a scenario file must not have unknown settings: they are probably typos. */
const readSettings: Reader<JsonObject> = (value, place) => {
  if (!isObject(value)) throw statusError(400, `${place} must be an object.`)
  const [unknownKey] = Object.keys(unknownSettings(value))
  if (unknownKey !== undefined) throw statusError(400, `${place}: unknown setting '${unknownKey}'.`)
  withName(place, () => mergeSettings(defaultSettings, value))
  return value
}

const readScriptFields = objectOf<ScenarioScript>({
  pr: single(positiveInteger),
  divisibleBy: single(positiveInteger),
  runs: single(runs),
  readyAfter: single(seconds),
  cancelledAfter: single(seconds),
  pushedAfter: single(seconds),
  stretch: single(factor),
  head: single(nonEmptyText),
})

const readScript: Reader<ScenarioScript> = (value, place) => {
  const script = readScriptFields(value, place)
  if ((script.pr === undefined) === (script.divisibleBy === undefined))
    throw statusError(400, `${place}: either pr or divisibleBy is required.`)
  if (script.head !== undefined && script.pr === undefined)
    throw statusError(400, `${place}: head requires pr.`)
  return script
}

const readMoment = objectOf<ScenarioMoment>(
  { after: single(seconds), settings: readSettings },
  'after',
  'settings',
)

const readOutage = objectOf<ScenarioOutage>(
  { after: single(seconds), lasts: single(factor) },
  'after',
  'lasts',
)

const wholeFile = 'the file'

const readFile = objectOf<Scenario>({
  summary: single(anyText),
  scripts: listOf(readScript),
  settings: readSettings,
  moments: listOf(readMoment),
  stretch: single(factor),
  outage: single(positiveInteger),
  outages: listOf(readOutage),
})

/**
 * Parses the text of a scenario file: a JSON object. Throws a usage error that names the part of the file that is
 * wrong.
 *
 * @param name The name of the scenario, for errors: the path of the file.
 */
export function parseScenario(text: string, name: string): Scenario {
  const plainText = requireUtf8(text, `The scenario ${name}`)
  try {
    return readFile(parseJson(plainText), wholeFile)
  } catch (error) {
    throw usageError(
      `The scenario ${name} cannot be read: ${toMergeqError(error).message}`,
      'For example: {"scripts":[{"divisibleBy":3,"runs":["flake","pass"]}],"stretch":2}',
    )
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw statusError(400, 'it contains invalid JSON.')
  }
}
