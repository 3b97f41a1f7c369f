import type { ParamValues } from '../../api/operation.ts'
import { anyField, fieldNames, testRecord } from '../../api/operations/fields.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { type CommandRequest, defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import type { Input } from '../../cli/inputs.ts'
import { readPages } from '../../cli/stream-pages.ts'
import { formatInteger, pluralize, pluralizeFirst } from '../../domain/format.ts'
import { parseTimeRange } from '../../domain/values/time.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import { flakyListCommand } from './list.ts'
import type { FailedTest } from './match/junit.ts'
import { createMatcher, type TestMatch } from './match/known-tests.ts'
import { notesInWords } from './tests/notes.ts'
import { readUnhealthyTests, windowOnlyInput } from './tests/read-unhealthy.ts'
import { idColumn, nameColumn, ownerColumn, specsOf, type TestColumn, testTable } from './tests/test-table.ts'

/**
 * The verdicts on a failed test, worst first; `unknown` is a test that an incomplete list did not contain.
 */
const verdicts = ['new', 'unknown', 'known', 'quarantined'] as const
type Verdict = (typeof verdicts)[number]

/** The number of test cases in a JUnit XML file, and those that failed. */
interface JUnitResults {
  readonly file: string
  readonly cases: number
  readonly failed: readonly FailedTest[]
}

/** The JUnit XML files; throws a usage error for a file that is not JUnit XML. */
const filesArgument: Input<readonly JUnitResults[]> = {
  definitions: [
    {
      name: 'junit.xml',
      required: true,
      variadic: true,
      summary: 'JUnit XML files, or a directory of them (- for standard input)',
      file: true,
    },
  ],
  async read(args, context) {
    const paths = [...new Set(args.get('junit.xml') ?? [])]
    if (paths.includes('')) throw usageError('The name of a JUnit XML file must not be empty.')
    const { parseJUnit } = await import('./match/junit.ts')
    const results: JUnitResults[] = []
    const expanded = await Promise.all(paths.map(path => context.expandFiles(path, '.xml')))
    for (const path of new Set(expanded.flat())) {
      const file = path === '-' ? 'standard input' : path
      results.push({ file, ...(await parseJUnit(context.open(path), file)) })
    }
    return results
  },
}

function toVerdict({ test, isQuarantined }: TestMatch, complete: boolean): Verdict {
  if (test === undefined) return complete ? 'new' : 'unknown'
  return isQuarantined ? 'quarantined' : 'known'
}

/** A match, and whether the test of the service failed in the range. */
interface FoundTest extends TestMatch {
  readonly inWindow: boolean
}

/** Returns a failed test as `--json` lists it; `test` is the record of the service. */
const toRecord = (
  match: FoundTest,
  complete: boolean,
  { redact }: CommandContext['secrets'],
): JsonObject => ({
  verdict: toVerdict(match, complete),
  // A table may cut a name, and the redactor would not recognize a part of a secret.
  name: redact(match.failed.name),
  classname: match.failed.classname ?? null,
  parent: match.failed.suites[0] ?? null,
  file: match.failed.file ?? getString(match.test, 'file_path') ?? null,
  test: match.test ?? null,
  ...(match.inWindow ? {} : { inWindow: false }),
})

const columns = [
  ['TEST', 'name'],
  ['VERDICT', 'verdict', 'state'],
  ['ID', 'test.id', 'id'],
  ['RATE 7D', 'test.failure_rate_last_7d', 'number'],
  ['OWNERS', 'test.codeowners'],
  ['FILE', 'file'],
] as const

/** The columns on a terminal: a file and an ID are shown in full or not at all. */
const screenColumns: readonly TestColumn[] = [
  { title: 'VERDICT', format: 'state', path: 'verdict' },
  { title: 'RATE', format: 'rate', priority: 4, path: 'test.failure_rate_last_7d' },
  { ...ownerColumn, path: 'test.codeowners' },
  nameColumn,
  { title: 'FILE', format: 'id', priority: 8, needsRoom: 60, path: 'file' },
  { ...idColumn, path: 'test.id' },
]

/** A record is a failed test; `test` is the record of the service. */
const matchRecord: RecordFields = {
  names: [
    ...['verdict', 'name', 'classname', 'parent', 'file', 'test', 'inWindow'],
    ...fieldNames(testRecord).map(field => `test.${field}`),
    `test${anyField}`,
  ],
  columns: [...columns, ...specsOf(screenColumns)],
}

/**
 * Returns the failed tests with their matches: those that failed in the range, and for the others the flaky
 * and the broken tests that did not.
 */
async function findOthers(
  found: readonly TestMatch[],
  { values, overrides }: CommandRequest<ParamValues<typeof listFailingTests.params>>,
  context: CommandContext,
): Promise<readonly FoundTest[]> {
  const others = createMatcher(found.filter(({ test }) => test === undefined).map(({ failed }) => failed))
  const { repo, org, pageSize, maxPages } = values
  await readUnhealthyTests({ repo, org, pageSize, maxPages }, { overrides }, context, tests => {
    for (const test of tests) others.take(test)
  })
  const matches = new Map(others.matches().map(match => [match.failed, match]))
  return found.map(match => {
    const other = matches.get(match.failed)
    return other?.test === undefined ? { ...match, inWindow: true } : { ...other, inWindow: false }
  })
}

export const flakyMatchCommand = defineCommand({
  command: 'flaky match',
  summary: 'Classify failures in JUnit XML files as known, quarantined or new',
  operation: listFailingTests,
  isComposition: true,
  // Without filters: a hidden test would count as new.
  params: ['repo', 'org', 'since', 'until', 'pageSize', 'maxPages'],
  operations: [listUnhealthyTests],
  options: { files: filesArgument, windowOnly: windowOnlyInput },
  fields: matchRecord,
  exitKinds: ['check-failed'],
  output: {
    table: 'one row per failed test, new failures first',
    json: '{"counts":{"failed","new","unknown","known","quarantined"},"tests":[...],"window"}',
    ndjson: 'one failed test per line: {"verdict","name","classname","parent","file","test"}',
  },
  examples: [
    'mergeq flaky match junit.xml --since 7d',
    'mergeq flaky match build/test-results/test/*.xml --json',
    'npx vitest run --reporter=junit | mergeq flaky match -',
  ],
  async run({ files, windowOnly }, context) {
    const { printer, logger } = context
    const requests = await context.requests()
    if (context.options.dryRun) return printDryRun(listFailingTests, requests, context)
    const [request] = requests
    if (request === undefined) return 0
    const now = context.host.clock.now()
    const range = parseTimeRange(request.values.since, request.values.until, now)
    for (const { file, cases } of files) if (cases === 0) await logger.warn(`${file} contains no test cases.`)
    const matcher = createMatcher(files.flatMap(({ failed }) => failed))
    const pages = await listFailingTests.pagination?.(request.values, now)
    const hasFailures = matcher.matches().length > 0
    const failure =
      hasFailures && pages !== undefined
        ? await readPages(flakyListCommand, request, pages, context, tests => {
            for (const test of tests) matcher.take(test)
          })
        : undefined
    if (failure === 'closed') return 0
    const finish = hasFailures ? pages?.finish(failure?.message) : undefined
    const complete = finish?.complete ?? true
    const found = matcher.matches().map(match => ({ ...match, inWindow: true }))
    const isUnmatched = found.some(({ test }) => test === undefined)
    const matches =
      windowOnly || !isUnmatched || failure !== undefined ? found : await findOthers(found, request, context)
    const matchRecords = matches.map(match => toRecord(match, complete, context.secrets))
    const records = verdicts.flatMap(verdict => matchRecords.filter(record => record.verdict === verdict))
    const countOf = (verdict: Verdict) => matchRecords.filter(record => record.verdict === verdict).length
    const counts = Object.fromEntries(verdicts.map(verdict => [verdict, countOf(verdict)]))
    const { start, end } = range
    const window = { start: new Date(start).toISOString(), end: new Date(end).toISOString(), complete }
    await printer.print({
      records,
      document: tests => ({ counts: { failed: matchRecords.length, ...counts }, tests, window }),
      view: tests => ({ ...table(tests, columns), terminalView: () => testTable(tests, screenColumns) }),
    })
    await printer.end()
    for (const note of notesInWords(finish?.notes ?? [], range, context)) await logger.info(note)
    const otherCount = matches.filter(({ inWindow }) => !inWindow).length
    if (otherCount > 0) await logger.info(describeOthers(otherCount))
    const countTexts = verdicts
      .filter(verdict => countOf(verdict) > 0)
      .map(verdict => `${formatInteger(countOf(verdict))} ${verdict}`)
    await logger.info(
      `${pluralizeFirst(matchRecords.length, 'failed test')}${countTexts.length > 0 ? `: ${countTexts.join(', ')}` : ''}.`,
    )
    if (countOf('unknown') > 0) throw incompleteListError(failure, finish?.problem, 'flaky match')
    if (finish?.isBroken === true) await logger.info(incompleteListError(failure, finish.problem).message)
    if (countOf('new') > 0) throw newFailuresError(countOf('new'), matchRecords.length)
    return 0
  },
})

/** Says how many known tests did not fail in the range. */
const describeOthers = (count: number): string =>
  count === 1
    ? '1 failed test is known to be flaky or broken, but had not failed in this range before.'
    : `${formatInteger(count)} failed tests are known to be flaky or broken, but had not failed in this range before.`

function newFailuresError(newCount: number, failedCount: number): MergeqError {
  return new MergeqError(
    'check-failed',
    `flaky match: ${formatInteger(newCount)} of ${pluralize(failedCount, 'failed test')} ${newCount === 1 ? 'is' : 'are'} new (not in the list of failing tests for this range).`,
    { hint: 'Fix the new failures, or widen the range with --since 30d.' },
  )
}
