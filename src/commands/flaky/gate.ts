import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { choiceOption, type Input, option } from '../../cli/inputs.ts'
import { formatInteger, pluralize } from '../../domain/format.ts'
import { integerParser } from '../../domain/values/numbers.ts'
import { parseUuid, requireUtf8, textParser } from '../../domain/values/text.ts'
import { MergeqError, toMergeqError, usageError } from '../../errors.ts'
import { getString, isObject, type Json, type JsonObject, parseJson } from '../../json.ts'
import { stateSpan } from '../../output/styled-text.ts'
import { linesView, table } from '../../output/view.ts'
import {
  type FailingTestsEnd,
  type FailingTestsRequest,
  logNotes,
  rangeOf,
  readFailingTests,
  readUnhealthyTests,
  windowOf,
  windowOnlyInput,
} from './read-tests.ts'

/**
 * Returns the test ids of a baseline, in lower case. A baseline is a list with an id on each line (blank
 * lines and lines that begin with # are skipped), or the JSON or NDJSON output of `flaky list`. Throws a
 * usage error that names file and line for anything else.
 */
export function readBaseline(baseline: string, file: string): ReadonlySet<string> {
  const content = requireUtf8(baseline, file)
  const isJson = /^\s*[[{]/.test(content)
  const document = isJson ? parseJson(content) : undefined
  if (document !== undefined) return new Set(collectIds(document, `${file}:1`))
  const ids = content.split(/\r?\n/).flatMap((line, index) => {
    const [text, location] = [line.trim(), `${file}:${index + 1}`]
    if (text === '' || (!isJson && text.startsWith('#'))) return []
    if (!isJson) return [parseTestId(text, location)]
    const record = parseJson(text)
    if (record === undefined) throw baselineError(location, 'invalid JSON.')
    return collectIds(record, location)
  })
  return new Set(ids)
}

const baselineError = (location: string, problem: string) =>
  usageError(
    `${location}: ${problem}`,
    'A baseline is a list of test IDs, or the output of `mergeq flaky list --json`.',
  )

/** Returns the ids in a document of `flaky list`, in a record of it, or in an array of either. */
function collectIds(document: Json, location: string): readonly string[] {
  if (Array.isArray(document)) return document.flatMap(item => collectIds(item, location))
  if (typeof document === 'string') return [parseTestId(document, location)]
  if (!isObject(document)) throw baselineError(location, 'not a test ID or a test record.')
  if (Array.isArray(document.tests)) return collectIds(document.tests, location)
  const id = getString(document, 'id')
  if (id === undefined) throw baselineError(location, 'the test record has no ID.')
  return [id.toLowerCase()]
}

function parseTestId(text: string, location: string): string {
  try {
    return parseUuid(text).toLowerCase()
  } catch (error) {
    throw baselineError(location, toMergeqError(error).message)
  }
}

/** Reads the ids of a baseline from the file that an option names, or from standard input for `-`. */
const loadBaseline = (file: Input<string | undefined>): Input<ReadonlySet<string>> => ({
  ...file,
  async read(args, context) {
    const path = await file.read(args, context)
    if (path === undefined) return new Set()
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of context.open(path)) text += decoder.decode(chunk, { stream: true })
    return readBaseline(text + decoder.decode(), path === '-' ? 'standard input' : path)
  },
})

const idOf = (test: JsonObject): string => (getString(test, 'id') ?? '').toLowerCase()

/**
 * Returns how many flaky and broken tests did not fail in the range; undefined where the service does not
 * list them. Their records have no failure rates, so with a minimum rate nothing is read.
 */
async function countOthers(
  isCounted: (id: string) => boolean,
  request: FailingTestsRequest,
  context: CommandContext,
): Promise<number | undefined> {
  const { since: _, until: __, sort: ___, minFailureRate, ...selection } = request.values
  if (minFailureRate !== undefined) return undefined
  let count = 0
  const { isAvailable } = await readUnhealthyTests(selection, request, context, test => {
    if (!isCounted(idOf(test))) count++
  })
  return isAvailable ? count : undefined
}

/** Says how many flaky and broken tests the gate does not count. */
const describeOthers = (count: number): string =>
  `${pluralize(count, 'more test')} ${count === 1 ? 'is' : 'are'} flaky or broken, but did not fail in this range. The gate does not count ${count === 1 ? 'it' : 'them'}.`

/**
 * Returns the reason for a verdict: `3 tests failed, within the limit of 10; 2 ignored by the baseline`.
 *
 * @param isExcused whether an incomplete list is no reason to fail, because the service is unavailable
 */
function describeVerdict(
  failing: number,
  max: number,
  ignored: number,
  { hasStarted, isBroken }: FailingTestsEnd,
  isExcused: boolean,
): string {
  const isExceeded = failing > max
  const reasons = [
    hasStarted
      ? `${pluralize(failing, 'test')} failed, ${isExceeded ? 'over' : 'within'} the limit of ${formatInteger(max)}`
      : 'not checked',
  ]
  if (ignored > 0) reasons.push(`${formatInteger(ignored)} ignored by the baseline`)
  if (isExcused && !isExceeded)
    reasons.push('passed with an incomplete list because the service is unavailable')
  else if (isBroken && !isExceeded) reasons.push('the list is incomplete')
  return reasons.join('; ')
}

const verdictRecord: RecordFields = {
  names: ['ok', 'failing', 'max', 'baseline', 'complete', 'reason', 'notInWindow'],
  columns: [
    ['OK', 'ok'],
    ['FAILING', 'failing', 'number'],
    ['MAX', 'max', 'number'],
    ['REASON', 'reason'],
  ],
}

export const flakyGateCommand = defineCommand({
  command: 'flaky gate',
  summary: 'Check the number of failing tests against a limit',
  operation: listFailingTests,
  isComposition: true,
  // Without the params that shorten the list and so change the count.
  params: [
    ...(['repo', 'org', 'since', 'until', 'pageSize', 'maxPages', 'quarantined'] as const),
    ...(['minFailureRate', 'owner', 'name', 'path'] as const),
  ],
  operations: [listUnhealthyTests],
  exitKinds: ['check-failed'],
  fields: verdictRecord,
  output: {
    table: 'the result, in one line',
    json: '{"ok","failing","max","baseline","complete","reason","tests"}',
    ndjson: 'the same, on one line',
  },
  options: {
    max: option({
      name: 'max',
      value: 'n',
      summary: 'Fail if more than <n> tests failed; required',
      parse: integerParser(0, Number.MAX_SAFE_INTEGER),
    }),
    baseline: loadBaseline(
      option({
        name: 'baseline',
        value: 'file',
        summary: 'File with tests to ignore: one ID per line, or JSON or NDJSON from `flaky list`',
        file: true,
        parse: textParser('file name'),
      }),
    ),
    onUnavailable: choiceOption({
      name: 'on-unavailable',
      value: 'pass|fail',
      summary: 'If the service is unavailable: pass exits 0, fail exits 7',
      default: 'fail',
      choices: ['pass', 'fail'],
    }),
    windowOnly: windowOnlyInput,
  },
  examples: [
    'mergeq flaky gate --since 24h --max 10 --no-quarantined',
    'mergeq flaky gate --since 7d --max 0 --baseline known.ndjson --on-unavailable pass',
  ],
  async run({ max, baseline, onUnavailable, windowOnly }, context) {
    const { logger, printer } = context
    if (max === undefined) throw usageError('--max is required.', 'For example: --max 10')
    const request = await context.request()
    if (context.options.dryRun) return printDryRun(listFailingTests, [request], context)
    const range = rangeOf(request, context)
    const tests: JsonObject[] = []
    let ignored = 0
    const take = (test: JsonObject) => {
      if (baseline.has(idOf(test))) ignored++
      else tests.push(test)
    }
    const end = await readFailingTests('flaky gate', request, context, take, onUnavailable === 'pass')
    if (end === 'closed') return 0
    const { failure, isBroken, complete } = end
    const ids = new Set(tests.map(idOf))
    const others =
      windowOnly || failure !== undefined
        ? undefined
        : await countOthers(id => ids.has(id) || baseline.has(id), request, context)

    const failing = tests.length
    const isExceeded = failing > max
    const isExcused = failure?.kind === 'unavailable' && onUnavailable === 'pass'
    const ok = !isExceeded && (!isBroken || isExcused)
    const reason = describeVerdict(failing, max, ignored, end, isExcused)
    const verdict = {
      ...{ ok, failing, max, baseline: ignored, complete, reason },
      ...(others === undefined ? {} : { notInWindow: others }),
    }
    await printer.print({
      records: [verdict],
      document: ([first = {}]) =>
        context.options.fields.length > 0 ? first : { ...verdict, tests, window: windowOf(range, complete) },
      view: records => ({
        ...table(records, verdictRecord.columns),
        terminalView: () => linesView([[stateSpan(ok ? 'PASS' : 'FAIL'), `  ${reason}`]]),
      }),
    })
    await printer.end()
    await logNotes(end.notes, range, context)
    if (others !== undefined && others > 0) await logger.info(describeOthers(others))

    if (isExceeded) {
      if (isBroken && !isExcused) await logger.info(incompleteListError(failure, end.problem).message)
      throw new MergeqError('check-failed', `flaky gate: ${reason}.`, {
        hint: 'To list the tests, run `mergeq flaky list` with the same options.',
      })
    }
    if (isExcused) await logger.warn(`${failure.message} The gate passes because of --on-unavailable pass.`)
    else if (isBroken) throw incompleteListError(failure, end.problem, 'flaky gate')
    return 0
  },
})
