import type { ParamValues } from '../../api/operation.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { type CommandRequest, defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { choiceOption, type Input, option } from '../../cli/inputs.ts'
import { readPages } from '../../cli/stream-pages.ts'
import { formatInteger, pluralize } from '../../domain/format.ts'
import { integerParser } from '../../domain/values/numbers.ts'
import { textParser } from '../../domain/values/text.ts'
import { parseTimeRange } from '../../domain/values/time.ts'
import { MergeqError, toMergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { stateSpan } from '../../output/styled-text.ts'
import { linesView, table } from '../../output/view.ts'
import { readBaseline } from './gate/baseline.ts'
import { flakyListCommand } from './list.ts'
import { notesInWords } from './tests/notes.ts'
import { readUnhealthyTests, windowOnlyInput } from './tests/read-unhealthy.ts'

/** The params of `flaky list` without those that shorten the list and so change the count. */
const params = [
  ...(['repo', 'org', 'since', 'until', 'pageSize', 'maxPages', 'quarantined'] as const),
  ...(['minFailureRate', 'owner', 'name', 'path'] as const),
]

const unavailableChoices = ['pass', 'fail'] as const

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

/**
 * Returns how many flaky and broken tests did not fail in the range; undefined where the service does not
 * list them. Their records have no failure rates, so with a minimum rate nothing is read.
 */
async function countOthers(
  isCounted: (id: string) => boolean,
  { values, overrides }: CommandRequest<ParamValues<typeof listFailingTests.params>>,
  context: CommandContext,
): Promise<number | undefined> {
  const { since: _, until: __, sort: ___, minFailureRate, ...selection } = values
  if (minFailureRate !== undefined) return undefined
  let count = 0
  const { isAvailable } = await readUnhealthyTests(selection, { overrides }, context, tests => {
    count += tests.filter(test => !isCounted((getString(test, 'id') ?? '').toLowerCase())).length
  })
  return isAvailable ? count : undefined
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
  params,
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
      choices: unavailableChoices,
    }),
    windowOnly: windowOnlyInput,
  },
  examples: [
    'mergeq flaky gate --since 24h --max 10 --no-quarantined',
    'mergeq flaky gate --since 7d --max 0 --baseline known.ndjson --on-unavailable pass',
  ],
  async run({ max, baseline, onUnavailable, windowOnly }, context) {
    if (max === undefined) throw usageError('--max is required.', 'For example: --max 10')
    const requests = await context.requests()
    if (context.options.dryRun) return printDryRun(listFailingTests, requests, context)
    const [request] = requests
    const now = context.host.clock.now()
    const pages = request && (await listFailingTests.pagination?.(request.values, now))
    if (request === undefined || pages === undefined) return 0
    const range = parseTimeRange(request.values.since, request.values.until, now)
    const tests: JsonObject[] = []
    let baselineCount = 0
    const readError = await readPages(flakyListCommand, request, pages, context, records => {
      for (const record of records) {
        if (baseline.has((getString(record, 'id') ?? '').toLowerCase())) baselineCount++
        else tests.push(record)
      }
    }).catch(error => {
      const failure = toMergeqError(error)
      if (failure.kind !== 'unavailable' || onUnavailable !== 'pass') throw failure
      return failure
    })
    if (readError === 'closed') return 0
    const isPassed = readError?.kind === 'unavailable' && onUnavailable === 'pass'
    const finish = pages.finish(readError?.message)
    const { complete, isBroken, notes } = finish
    const isExceeded = tests.length > max
    const ok = !isExceeded && (!isBroken || isPassed)
    const { start, end } = range
    const window = { start: new Date(start).toISOString(), end: new Date(end).toISOString(), complete }
    const countText = `${pluralize(tests.length, 'test')} failed, ${isExceeded ? 'over' : 'within'} the limit of ${formatInteger(max)}`
    const reasons = [
      pages.hasStarted() ? countText : 'not checked',
      ...(baselineCount > 0 ? [`${formatInteger(baselineCount)} ignored by the baseline`] : []),
      ...(isBroken && !isPassed && !isExceeded ? ['the list is incomplete'] : []),
      ...(isPassed && !isExceeded
        ? ['passed with an incomplete list because the service is unavailable']
        : []),
    ]
    const reason = reasons.join('; ')
    const ids = new Set(tests.map(test => (getString(test, 'id') ?? '').toLowerCase()))
    const others =
      windowOnly || readError !== undefined
        ? undefined
        : await countOthers(id => ids.has(id) || baseline.has(id), request, context)
    const verdict = {
      ...{ ok, failing: tests.length, max, baseline: baselineCount, complete, reason },
      ...(others === undefined ? {} : { notInWindow: others }),
    }
    await context.printer.print({
      records: [verdict],
      document: ([first = {}]) => ({
        ...(context.options.fields.length > 0 ? first : { ...verdict, tests, window }),
      }),
      view: records => ({
        ...table(records, verdictRecord.columns),
        terminalView: () => linesView([[stateSpan(ok ? 'PASS' : 'FAIL'), `  ${reason}`]]),
      }),
    })
    await context.printer.end()
    for (const note of notesInWords(notes, range, context)) await context.logger.info(note)
    if (others !== undefined && others > 0) await context.logger.info(describeOthers(others))
    if (isBroken && isExceeded && !isPassed)
      await context.logger.info(incompleteListError(readError, finish.problem).message)
    if (isExceeded)
      throw new MergeqError('check-failed', `flaky gate: ${reason}.`, {
        hint: 'To list the tests, run `mergeq flaky list` with the same options.',
      })
    if (isPassed)
      await context.logger.warn(
        `${readError?.message ?? ''} The gate passes because of --on-unavailable pass.`,
      )
    else if (isBroken) throw incompleteListError(readError, finish.problem, 'flaky gate')
    return 0
  },
})

/** Says how many flaky and broken tests the gate does not count. */
const describeOthers = (count: number): string =>
  `${pluralize(count, 'more test')} ${count === 1 ? 'is' : 'are'} flaky or broken, but did not fail in this range. The gate does not count ${count === 1 ? 'it' : 'them'}.`
