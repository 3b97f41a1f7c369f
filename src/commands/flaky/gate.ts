import { incompleteListError, type ListEnd } from '../../api/list.ts'
import { extended, type Infer, list, optional, ownRecord } from '../../api/operations/fields.ts'
import { testRecord } from '../../api/operations/test-records.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { isOutage, MergeqError, usageError } from '../../base/errors.ts'
import { getString, isObject, type Json, type JsonObject, parseJson } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { openInput } from '../../command/input-files.ts'
import { type Input, option, optionInput } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { stateSpan } from '../../output/styled-text.ts'
import { columns } from '../../output/view.ts'
import { formatInteger, pluralize } from '../../values/format.ts'
import { isUuid, readText } from '../../values/text.ts'
import { describeInWords } from '../../values/time-range.ts'
import { fileName, integer } from '../../values/types.ts'
import {
  type FailingTests,
  logNotes,
  onUnavailableOption,
  printSearch,
  rangeOf,
  readFailingTests,
  readUnhealthyTests,
  windowOf,
  windowOnlyInput,
  windowRecord,
} from './shared/read-tests.ts'

/** Returns the IDs, in lower case, in a document of `flaky list`, a record of it, an ID, or a list of these. */
function collectIds(value: Json | undefined, location: string): readonly string[] {
  const tests = isObject(value) ? value.tests : value
  if (Array.isArray(tests)) return tests.flatMap(test => collectIds(test, location))
  const id = typeof value === 'string' ? value : getString(value, 'id')
  if (id !== undefined && (isUuid(id) || isObject(value))) return [id.toLowerCase()]
  const problem = typeof value === 'string' ? `'${value}' is not a test ID` : 'not a test ID or a test record'
  throw usageError(
    `${location}: ${problem}.`,
    'A baseline is a list of test IDs, or the output of flaky list --json.',
  )
}

/**
 * Returns the IDs of a baseline, in lower case. A baseline is a list with an ID on each line (blank lines and
 * lines that begin with # are skipped), or the JSON or NDJSON output of `flaky list`. Throws a usage error that
 * names file and line for anything else.
 */
export function readBaseline(content: string, file: string): ReadonlySet<string> {
  const document = parseJson(content)
  if (document !== undefined) return new Set(collectIds(document, `${file}:1`))
  const ids = content.split('\n').flatMap((text, index) => {
    const line = text.trim()
    if (line === '' || line.startsWith('#')) return []
    return collectIds(/^[[{]/.test(line) ? parseJson(line) : line, `${file}:${index + 1}`)
  })
  return new Set(ids)
}

const flagBaseline = optionInput(
  'baseline',
  option(fileName(), 'File with tests to ignore: one ID per line, or JSON or NDJSON from `flaky list`'),
)

const baselineInput: Input<ReadonlySet<string>> = {
  ...flagBaseline,
  async read(args, context) {
    const path = flagBaseline.read(args)
    if (path === undefined) return new Set()
    const name = path === '-' ? 'standard input' : path
    return readBaseline(await readText(openInput(path, context), name), name)
  },
}

const idOf = (test: JsonObject): string => (getString(test, 'id') ?? '').toLowerCase()

/** Undefined where the service does not list them. Their records have no rates: with a minimum rate nothing is read. */
async function countOthers(
  ids: ReadonlySet<string>,
  values: FailingTests,
  cli: Cli,
): Promise<number | undefined> {
  if (values.minFailureRate !== undefined) return undefined
  let count = 0
  const isListed = await readUnhealthyTests(cli, values, test => {
    if (!ids.has(idOf(test))) count++
  })
  return isListed ? count : undefined
}

const describeOthers = (count: number): string =>
  `${pluralize(count, 'more test')} ${count === 1 ? 'is' : 'are'} flaky or broken, but did not fail in this range. The gate does not count ${count === 1 ? 'it' : 'them'}.`

const verdictRecord = ownRecord({
  ok: 'boolean',
  failing: 'number',
  max: 'number',
  baseline: 'number',
  complete: 'boolean',
  reason: 'string',
  // Unknown with --window-only, and where the list was not read.
  notInWindow: optional('number'),
})

const gateRecord = extended(verdictRecord, { tests: list(testRecord), window: optional(windowRecord) })

const verdictColumns = columns('ok', 'failing', 'max', 'reason')

const maxOption = option(integer(0, Number.MAX_SAFE_INTEGER), 'Fail if more than <n> tests failed', {
  example: '10',
})

/** Says what the gate has counted: `12 tests failed, over the limit of 10; 3 ignored by the baseline`. */
function describeVerdict(
  { pages, isBroken }: ListEnd,
  { failing, max, baseline }: Pick<Infer<typeof verdictRecord>, 'failing' | 'max' | 'baseline'>,
  isExcused: boolean,
): string {
  const isExceeded = failing > max
  const limit = `${isExceeded ? 'over' : 'within'} the limit of ${formatInteger(max)}`
  const reasons = [pages > 0 ? `${pluralize(failing, 'test')} failed, ${limit}` : 'not checked']
  if (baseline > 0) reasons.push(`${formatInteger(baseline)} ignored by the baseline`)
  if (isBroken && !isExceeded)
    reasons.push(
      isExcused
        ? 'passed with an incomplete list because the service is unavailable'
        : 'the list is incomplete',
    )
  return reasons.join('; ')
}

// Without the params that shorten the list and so change the count.
const { limit: _, pageToken: __, sort: ___, ...gateParams } = listFailingTests.params
const listTests = { ...listFailingTests, params: gateParams }

export const definition = command({
  name: 'flaky gate',
  summary: 'Check the number of failing tests against a limit',
  alsoSends: [listFailingTests, listUnhealthyTests],
  options: {
    ...paramsOf(listTests),
    max: maxOption,
    baseline: baselineInput,
    onUnavailable: onUnavailableOption,
    windowOnly: windowOnlyInput,
  },
  set: setOf(listTests),
  exits: ['check-failed'],
  prints: {
    table: 'the result, in one line',
    documents: [gateRecord],
    records: [verdictRecord],
    columns: verdictColumns,
  },
  examples: [
    'mergeq flaky gate --since 24h --max 10 --no-quarantined',
    'mergeq flaky gate --max 0 --baseline known.ndjson --on-unavailable pass',
  ],
  async run({ max, baseline, onUnavailable, windowOnly, ...values }, cli) {
    const { logger, printer } = cli
    if (cli.options.dryRun) return printSearch(values, cli)
    const tests: JsonObject[] = []
    let ignored = 0
    const toleratesOutage = onUnavailable === 'pass'
    const take = (test: JsonObject) => {
      if (baseline.has(idOf(test))) ignored++
      else tests.push(test)
    }
    const end = await readFailingTests(cli, values, take, toleratesOutage)
    const { failure, isBroken, complete } = end
    const ids = new Set([...baseline, ...tests.map(idOf)])
    const others = windowOnly || failure !== undefined ? undefined : await countOthers(ids, values, cli)

    if (end.mistake !== undefined && (others ?? 0) === 0)
      throw usageError(end.mistake.sentence, end.mistake.hint)

    const failing = tests.length
    const isExceeded = failing > max
    // It passes although the service is unavailable. A list that was cut does not show all failures.
    const isExcused = failure !== undefined && isOutage(failure) && toleratesOutage && end.pages === 0
    const ok = !isExceeded && (!isBroken || isExcused)
    const counts = { failing, max, baseline: ignored }
    const reason = describeVerdict(end, counts, isExcused)
    const verdict: Infer<typeof verdictRecord> = {
      ok,
      ...counts,
      complete,
      reason,
      ...(others === undefined ? {} : { notInWindow: others }),
    }
    const range = rangeOf(values, cli)
    const rangeText = describeInWords(range, values.until === undefined, values.since)
    await printer.print({
      records: [verdict],
      document: ([first = {}]) =>
        cli.options.fields.length > 0 ? first : { ...verdict, tests, window: windowOf(range, complete) },
      columns: verdictColumns,
      screen: () => ({ heading: [[stateSpan(ok ? 'PASS' : 'FAIL'), `  ${reason} (${rangeText})`]] }),
    })
    // The notes would give the number of tests of a list that was not read.
    if (end.pages > 0) await logNotes(end, cli)
    if (others !== undefined && others > 0) await logger.info(describeOthers(others))

    if (isExceeded) {
      if (isBroken && !isExcused) await logger.info(incompleteListError(end).message)
      throw new MergeqError('check-failed', `${cli.command}: ${reason}.`, {
        hint: 'To list the tests, use flaky list with the same options.',
        isShown: cli.results === 'screen',
      })
    }
    if (isExcused) await logger.warn(`${failure.message} The gate passes because of --on-unavailable pass.`)
    else if (isBroken) throw incompleteListError(end, cli.command)
    return 0
  },
})
