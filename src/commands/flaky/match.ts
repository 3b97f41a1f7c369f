import { incompleteListError } from '../../api/list.ts'
import {
  type Infer,
  list,
  nested,
  nullable,
  optional,
  outline,
  ownRecord,
  usual,
} from '../../api/operations/fields.ts'
import { testRecord } from '../../api/operations/test-records.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { isOutage, MergeqError, usageError } from '../../base/errors.ts'
import { getString, type JsonObject } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { expandFiles, openInput } from '../../command/input-files.ts'
import { flag, type Input, option } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { createRateFormat, type RateFormat } from '../../domain/failure-rates.ts'
import { type Column, columns } from '../../output/view.ts'
import { formatInteger, joinTruncated, pluralize } from '../../values/format.ts'
import { parseDuration } from '../../values/time.ts'
import { describeWhen } from '../../values/time-range.ts'
import { choice, text } from '../../values/types.ts'
import type { JUnitResults } from './match/junit-document.ts'
import { createMatcher, mergeTests, type TestMatch } from './match/same-test.ts'
import { idColumn, nameColumn, ownerColumn, rateColumn, shortId } from './shared/columns.ts'
import {
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

/**
 * The verdicts on a test, worst first; `unknown` is one that an incomplete list did not contain, and `flaky` one that
 * passed in a later attempt, with `--retried pass`.
 */
const verdicts = ['new', 'unknown', 'known', 'quarantined', 'flaky'] as const
type Verdict = (typeof verdicts)[number]

interface Report extends JUnitResults {
  readonly file: string
}

interface ReadReports {
  readonly reports: readonly Report[]
  /** How many files of directories were not read because they are no JUnit XML. */
  readonly others: number
}

const filesArgument: Input<ReadReports> = {
  definitions: [
    {
      name: 'junit.xml',
      required: true,
      variadic: true,
      summary: 'JUnit XML files, or directories with them, at any depth (- for standard input)',
      file: true,
    },
  ],
  async read(args, context) {
    const paths = [...new Set(args.get('junit.xml') ?? [])]
    if (paths.includes('')) throw usageError('The name of a JUnit XML file must not be empty.')
    const { parseJUnit } = await import('./match/junit.ts')
    const reports: Report[] = []
    let others = 0
    const expanded = await Promise.all(paths.map(path => expandFiles(path, ['.xml'], context)))
    for (const path of new Set(expanded.flat())) {
      const isNamed = paths.includes(path)
      if (!isNamed && isHidden(path)) continue
      const file = path === '-' ? 'standard input' : path
      const documents = await parseJUnit(openInput(path, context), file, !isNamed)
      if (documents === undefined) others++
      else
        for (const [index, document] of documents.entries())
          reports.push({ ...document, file: index === 0 ? file : `${file}, document ${index + 1}` })
    }
    if (reports.length === 0)
      throw usageError(`${paths.join(', ')} contains no JUnit XML file.`, describeOthers(others))
    return { reports, others }
  },
}

const isHidden = (path: string): boolean => /(^|[\\/])\.[^\\/]*$/.test(path)

const describeOthers = (count: number): string =>
  `${pluralize(count, 'other XML file')} ${count === 1 ? 'was' : 'were'} left out: the root element is not <testsuites> or <testsuite>.`

function toVerdict({ test, isQuarantined }: TestMatch, complete: boolean): Verdict {
  if (test === undefined) return complete ? 'new' : 'unknown'
  return isQuarantined ? 'quarantined' : 'known'
}

const toRecord = (
  { failed, test, isInWindow = true }: Pick<TestMatch, 'failed'> & Partial<TestMatch>,
  verdict: Verdict,
  { redact }: Cli['secrets'],
): Infer<typeof matchRecord> => ({
  verdict,
  // A table may cut a name, and the redactor would not recognize a part of a secret.
  name: redact(failed.name),
  classname: failed.classname ?? null,
  parent: failed.suite ?? null,
  file: failed.file ?? getString(test, 'file_path') ?? null,
  test: test ?? null,
  ...(isInWindow ? {} : { inWindow: false }),
})

const matchColumns = columns(
  ['name', { title: 'TEST' }],
  'verdict',
  ['failure_rate_last_7d', { path: 'test.failure_rate_last_7d' }],
  ['codeowners', { path: 'test.codeowners' }],
  'file',
  ['id', { path: 'test.id' }],
  ['variant', { path: 'test.variant' }],
)

/** The columns on a terminal: a file and an ID are shown in full or not at all. */
const screenColumns = (rates: RateFormat): readonly Column[] => [
  ...columns('verdict'),
  { ...rateColumn(rates, 'test.failure_rate_last_7d'), priority: 4 },
  { ...idColumn, path: 'test.id', show: shortId('test.id') },
  { ...ownerColumn, path: 'test.codeowners' },
  nameColumn,
  ...columns(['file', { format: 'id', priority: 8, yieldsToText: true }]),
]

/** Whether a report has no test cases, and neither says so nor may be so. */
const isUnexplained = ({ cases, saysEmpty }: Report, allowEmpty: boolean): boolean =>
  cases === 0 && !saysEmpty && !allowEmpty

/** Throws an error if a report is that of a run that did not finish, or if no report has a test case. */
async function checkWhole(
  reports: readonly Report[],
  allowEmpty: boolean,
  { command, logger }: Cli,
): Promise<void> {
  const problems = reports.filter(({ problem }) => problem !== undefined)
  for (const { file, problem } of problems) await logger.warn(`${file}: ${problem}.`)
  const isCrashed = problems.length > 0 || reports.every(({ cases }) => cases === 0)
  const empty = reports.filter(report => isUnexplained(report, allowEmpty)).length
  if (!isCrashed && empty === 0) return
  throw new MergeqError('check-failed', `${command}: the test run has not finished, or it crashed.`, {
    hint: isCrashed
      ? 'The reports do not show all of its results. See its log.'
      : `${pluralize(empty, 'report')} ${empty === 1 ? 'has' : 'have'} no test cases. See its log, or add --allow-empty if reports may be empty.`,
  })
}

const describeRetried = (count: number, retried: 'fail' | 'pass'): string =>
  retried === 'pass'
    ? `${pluralize(count, 'test')} failed, and passed in a later attempt.`
    : `${pluralize(count, 'failed test')} passed in a later attempt; --retried pass accepts that.`

function describeOtherClasses(matches: readonly TestMatch[]): string | undefined {
  const named = matches.flatMap(({ failed, test, otherClass }) =>
    test === undefined && otherClass !== undefined ? `${failed.name} (${otherClass})` : [],
  )
  if (named.length === 0) return undefined
  return `The service knows the name, file and suite of ${pluralize(named.length, 'failed test')} in another class: ${joinTruncated(named)}.`
}

const widerRange = '30d'

/** A failed test; `test` is the record of the service. */
const matchRecord = ownRecord({
  verdict: 'string',
  name: 'string',
  classname: 'string | null',
  parent: 'string | null',
  file: 'string | null',
  test: usual({ ...nullable(nested(testRecord)), isOpen: true }),
  inWindow: optional('boolean'),
})

const reportRecord = ownRecord({
  counts: ownRecord({
    failed: 'number',
    ...Object.fromEntries(verdicts.map(verdict => [verdict, 'number'])),
  }),
  tests: list(matchRecord),
  window: windowRecord,
})

// Without filters: a hidden test would count as new.
const { repo, org, since, until, pageSize, maxPages } = listFailingTests.params
const listTests = { ...listFailingTests, params: { repo, org, since, until, pageSize, maxPages } }

export const definition = command({
  name: 'flaky match',
  summary: 'Classify failures in JUnit XML files as known, quarantined or new',
  alsoSends: [listFailingTests, listUnhealthyTests],
  options: {
    ...paramsOf(listTests),
    files: filesArgument,
    allowEmpty: flag('Allow files without test cases, if others have some'),
    allow: option(
      choice(['known', 'quarantined'], 'known|quarantined'),
      'Failures to accept: those of quarantined tests, or of all tests that are known to fail',
      { default: 'quarantined' },
    ),
    retried: option(
      choice(['fail', 'pass'], 'fail|pass'),
      'A test that failed, and passed when the same report has it again: fail or pass',
      { default: 'fail' },
    ),
    variant: option(text('variant', 'name'), 'Compare with the tests of this variant only'),
    onUnavailable: onUnavailableOption,
    windowOnly: windowOnlyInput,
  },
  set: setOf(listTests),
  exits: ['check-failed'],
  prints: {
    table: 'one row per failed test, new failures first',
    json: outline(reportRecord, 'counts', 'tests'),
    ndjson: `one failed test per line: ${outline(matchRecord)}`,
    documents: [reportRecord],
    records: [matchRecord],
    columns: matchColumns,
  },
  examples: [
    'mergeq flaky match junit.xml --since 7d',
    'mergeq flaky match junit.xml --allow known --on-unavailable pass',
    'mergeq flaky match build/test-results/test/*.xml --json',
    'npx vitest run --reporter=junit | mergeq flaky match -',
  ],
  async run({ files, allowEmpty, allow, retried, variant, onUnavailable, windowOnly, ...values }, cli) {
    const { printer, logger } = cli
    const { reports, others } = files
    if (others > 0) await logger.info(describeOthers(others))
    for (const { file, remarks } of reports)
      for (const remark of remarks) await logger.warn(`${file}: ${remark}.`)
    for (const report of reports.filter(({ cases }) => cases === 0)) {
      const message = `${report.file} contains no test cases.`
      if (isUnexplained(report, allowEmpty)) await logger.warn(message)
      else await logger.info(message)
    }
    const failed = mergeTests(reports.flatMap(report => report.failed))
    const passedLater = failed.filter(test => test.passedLater)
    const { take: takeAny, matches } = createMatcher(
      retried === 'pass' ? failed.filter(test => !test.passedLater) : failed,
    )
    const rates = createRateFormat()
    const take = (test: JsonObject, isInWindow = true) => {
      rates.see(test)
      if (variant === undefined || getString(test, 'variant') === variant) takeAny(test, isInWindow)
    }
    if (cli.options.dryRun && matches.length > 0) return printSearch(values, cli)
    const toleratesOutage = onUnavailable === 'pass'
    // Without failures nothing is read.
    const end = matches.length === 0 ? undefined : await readFailingTests(cli, values, take, toleratesOutage)
    const isExcused = end?.failure !== undefined && isOutage(end.failure) && toleratesOutage
    const complete = end?.complete ?? true
    const isUnmatched = matches.some(({ test }) => test === undefined)
    if (isUnmatched && !windowOnly && end?.failure === undefined)
      await readUnhealthyTests(cli, values, test => take(test, false))

    const records = [
      ...matches.map(match => toRecord(match, toVerdict(match, complete), cli.secrets)),
      ...(retried === 'pass' ? passedLater : []).map(test =>
        toRecord({ failed: test }, 'flaky', cli.secrets),
      ),
    ]
    const withVerdict = (verdict: Verdict) => records.filter(record => record.verdict === verdict)
    const counts = Object.fromEntries(verdicts.map(verdict => [verdict, withVerdict(verdict).length]))
    const tests = verdicts.flatMap(withVerdict)
    const range = rangeOf(values, cli)
    await printer.print({
      records: tests,
      document: listed => ({
        counts: { failed: matches.length, ...counts },
        tests: listed,
        window: windowOf(range, complete),
      }),
      columns: matchColumns,
      screen: () => ({ columns: screenColumns(rates), rows: tests }),
    })
    if (end !== undefined && end.pages > 0) await logNotes(end, cli)
    const notInWindow = matches.filter(({ isInWindow }) => !isInWindow).length
    if (notInWindow > 0)
      await logger.info(
        `${pluralize(notInWindow, 'failed test')} ${notInWindow === 1 ? 'is' : 'are'} known to be flaky or broken, but had not failed in this range before.`,
      )
    const otherClasses = describeOtherClasses(matches)
    if (otherClasses !== undefined) await logger.info(otherClasses)
    if (passedLater.length > 0) await logger.info(describeRetried(passedLater.length, retried))
    if (matches.length === 0) await logger.info('No failed tests.')

    if (withVerdict('unknown').length > 0 && !isExcused) throw incompleteListError(end ?? {}, cli.command)
    if (end?.isBroken === true && !isExcused) await logger.info(incompleteListError(end).message)
    await checkWhole(reports, allowEmpty, cli)
    const newTests = withVerdict('new').length
    const knownTests = allow === 'known' ? 0 : withVerdict('known').length
    if (newTests + knownTests === 0) {
      if (isExcused)
        await logger.warn(
          `${end.failure?.message} ${end.pages === 0 ? 'Nothing was read. ' : ''}The match passes because of --on-unavailable pass.`,
        )
      return 0
    }
    const when = describeWhen(range, values.until === undefined, values.since)
    const isWide = range.end - range.start >= parseDuration(widerRange)
    const [problem, hint] =
      knownTests > 0
        ? [
            'not quarantined',
            'Fix the failures, or quarantine the tests. To pass all tests that are known to fail, add --allow known.',
          ]
        : [
            `new (did not fail ${when})`,
            `Fix the new failures${isWide ? '' : `, or widen the range with --since ${widerRange}`}.`,
          ]
    const refused = newTests + knownTests
    throw new MergeqError(
      'check-failed',
      `${cli.command}: ${formatInteger(refused)} of ${pluralize(matches.length, 'failed test')} ${refused === 1 ? 'is' : 'are'} ${problem}.`,
      { hint, isShown: cli.results === 'screen' },
    )
  },
})
