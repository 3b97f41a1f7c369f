import { anyField, fieldNames, testRecord } from '../../api/operations/fields.ts'
import { listFailingTests, listUnhealthyTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import type { Input } from '../../cli/inputs.ts'
import { formatInteger, pluralize, pluralizeFirst } from '../../domain/format.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { get, getString, type JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import type { FailedTest, JUnitResults } from './junit.ts'
import {
  type FailingTestsRequest,
  logNotes,
  rangeOf,
  readFailingTests,
  readUnhealthyTests,
  windowOf,
  windowOnlyInput,
} from './read-tests.ts'
import { idColumn, nameColumn, ownerColumn, specsOf, type TestColumn, testTable } from './test-lists.ts'

interface TestMatch {
  readonly failed: FailedTest
  readonly test: JsonObject | undefined
  /** Whether every test of the service that matches equally well is quarantined. */
  readonly isQuarantined: boolean
}

interface Candidate extends TestMatch {
  readonly similarity: number
}

/** Normalizes white space and accents, so that names that look equal are equal. */
const normalizeText = (name: string): string => name.normalize('NFC').replace(/\s+/g, ' ').trim()

const splitPath = (path: string): readonly string[] =>
  path
    .normalize('NFC')
    .split(/[\\/]+/)
    .filter(part => part !== '' && part !== '.')

/** Whether two paths name the same file; either path may start at a higher folder. */
function isSameFile(path: string, otherPath: string): boolean {
  const [longer = [], shorter = []] = [splitPath(path), splitPath(otherPath)].sort(
    (a, b) => b.length - a.length,
  )
  return shorter.length > 0 && longer.slice(-shorter.length).join('/') === shorter.join('/')
}

/**
 * Returns the similarity of two tests of the same name: class 4, suite 2 and file 1, summed up; 0 if nothing
 * matches. Tests of which only the name is known are similar.
 */
function similarityOf(failed: FailedTest, test: JsonObject): number {
  const isSameText = (a: string, b: string) => a !== '' && normalizeText(a) === normalizeText(b)
  const [classname = '', parent = '', file = ''] = ['classname', 'parent', 'file_path'].map(path =>
    getString(test, path),
  )
  const byClass = isSameText(failed.classname ?? '', classname) ? 4 : 0
  const bySuite = failed.suites.some(suite => isSameText(suite, parent)) ? 2 : 0
  const byFile = isSameFile(failed.file ?? '', file) ? 1 : 0
  const known = [failed.classname, failed.file, ...failed.suites, classname, parent, file]
  return byClass + bySuite + byFile || (known.some(text => (text ?? '') !== '') ? 0 : 1)
}

/**
 * Creates a matcher that compares failed tests with tests of the service by name and class, suite or file.
 * The most similar test counts; a failed test is quarantined only if all equally similar tests are. A failed
 * test that occurs in several files counts once.
 */
export function createMatcher(failedTests: readonly FailedTest[]) {
  const candidates = new Map<string, Candidate>()
  const idsByName = new Map<string, string[]>()
  for (const failed of failedTests) {
    const { name, classname, suites, file } = failed
    const id = JSON.stringify([name, classname, suites, file])
    if (candidates.has(id)) continue
    candidates.set(id, { failed, test: undefined, similarity: 0, isQuarantined: false })
    const key = normalizeText(name)
    const ids = idsByName.get(key)
    if (ids === undefined) idsByName.set(key, [id])
    else ids.push(id)
  }
  return {
    /** Compares a test of the service with the failed tests. */
    take(test: JsonObject): void {
      const isQuarantined = get(test, 'quarantined') === true
      for (const id of idsByName.get(normalizeText(getString(test, 'name') ?? '')) ?? []) {
        const candidate = candidates.get(id)
        if (candidate === undefined) continue
        const similarity = similarityOf(candidate.failed, test)
        const isBetter = similarity > candidate.similarity
        const endsQuarantine =
          similarity === candidate.similarity && similarity > 0 && candidate.isQuarantined && !isQuarantined
        if (isBetter || endsQuarantine) candidates.set(id, { ...candidate, similarity, test, isQuarantined })
      }
    },
    /** Returns the failed tests with their matches, in the order of the files. */
    matches: (): readonly TestMatch[] => [...candidates.values()],
  }
}

/**
 * The verdicts on a failed test, worst first; `unknown` is a test that an incomplete list did not contain.
 */
const verdicts = ['new', 'unknown', 'known', 'quarantined'] as const
type Verdict = (typeof verdicts)[number]

interface JUnitFile extends JUnitResults {
  readonly file: string
}

/** The JUnit XML files; throws a usage error for a file that is not JUnit XML. */
const filesArgument: Input<readonly JUnitFile[]> = {
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
    const { parseJUnit } = await import('./junit.ts')
    const results: JUnitFile[] = []
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
  { title: 'FILE', format: 'id', priority: 8, minTextWidth: 60, path: 'file' },
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
  request: FailingTestsRequest,
  context: CommandContext,
): Promise<readonly FoundTest[]> {
  const others = createMatcher(found.filter(({ test }) => test === undefined).map(({ failed }) => failed))
  const { repo, org, pageSize, maxPages } = request.values
  await readUnhealthyTests({ repo, org, pageSize, maxPages }, request, context, others.take)
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
    const request = await context.request()
    if (context.options.dryRun) return printDryRun(listFailingTests, [request], context)
    const range = rangeOf(request, context)
    for (const { file, cases } of files) if (cases === 0) await logger.warn(`${file} contains no test cases.`)
    const matcher = createMatcher(files.flatMap(({ failed }) => failed))
    // Without failures nothing is read.
    const end =
      matcher.matches().length === 0
        ? undefined
        : await readFailingTests('flaky match', request, context, matcher.take)
    if (end === 'closed') return 0
    const complete = end?.complete ?? true
    const found = matcher.matches().map(match => ({ ...match, inWindow: true }))
    const isUnmatched = found.some(({ test }) => test === undefined)
    const matches =
      windowOnly || !isUnmatched || end?.failure !== undefined
        ? found
        : await findOthers(found, request, context)

    const matchRecords = matches.map(match => toRecord(match, complete, context.secrets))
    const records = verdicts.flatMap(verdict => matchRecords.filter(record => record.verdict === verdict))
    const countOf = (verdict: Verdict) => matchRecords.filter(record => record.verdict === verdict).length
    const counts = Object.fromEntries(verdicts.map(verdict => [verdict, countOf(verdict)]))
    await printer.print({
      records,
      document: tests => ({
        counts: { failed: matchRecords.length, ...counts },
        tests,
        window: windowOf(range, complete),
      }),
      view: tests => ({ ...table(tests, columns), terminalView: () => testTable(tests, screenColumns) }),
    })
    await printer.end()
    await logNotes(end?.notes ?? [], range, context)
    const otherCount = matches.filter(({ inWindow }) => !inWindow).length
    if (otherCount > 0) await logger.info(describeOthers(otherCount))
    const countTexts = verdicts
      .filter(verdict => countOf(verdict) > 0)
      .map(verdict => `${formatInteger(countOf(verdict))} ${verdict}`)
    await logger.info(
      `${pluralizeFirst(matchRecords.length, 'failed test')}${countTexts.length > 0 ? `: ${countTexts.join(', ')}` : ''}.`,
    )

    if (countOf('unknown') > 0) throw incompleteListError(end?.failure, end?.problem, 'flaky match')
    if (end?.isBroken === true) await logger.info(incompleteListError(end.failure, end.problem).message)
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
