import { listFailingTests } from '../../api/operations/failing-tests.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Input } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { collectPages, incompleteError } from '../../cli/stream-pages.ts'
import { createParseContext } from '../../config/config.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { formatInteger, pluralize, table } from '../../output/view.ts'
import type { FailedTest } from './match/junit.ts'
import { createMatcher, type TestMatch } from './match/known-tests.ts'

/** What a failed test is; `unknown` where it was not found and not everything could be read. From bad to good. */
const verdicts = ['new', 'unknown', 'known', 'quarantined'] as const
type Verdict = (typeof verdicts)[number]

const files: Input<readonly string[]> = {
  definitions: [
    {
      syntax: '<junit.xml...>',
      summary: 'JUnit XML files (- is standard input)',
      variadic: true,
      file: true,
    },
  ],
  read(args) {
    const names = [...new Set(args.get('junitxml') ?? [])]
    if (names.includes('')) throw usageError('The name of a JUnit XML file must not be empty.')
    return names
  },
}

/** The tests that failed in the files. What cannot be read as JUnit XML is refused before anything is sent. */
async function readFiles(names: readonly string[], context: CommandContext): Promise<readonly FailedTest[]> {
  const { parseJUnit } = await import('./match/junit.ts')
  const inputs = createParseContext(context.settings, context)
  const failed: FailedTest[] = []
  for (const name of names) {
    const file = name === '-' ? 'standard input' : name
    const results = await parseJUnit(inputs.open(name), file)
    if (results.cases === 0) await context.logger.warn(`${file} holds no test case.`)
    for (const one of results.failed) failed.push(one)
  }
  return failed
}

function verdictOf({ test, isQuarantined }: TestMatch, complete: boolean): Verdict {
  if (test === undefined) return complete ? 'new' : 'unknown'
  return isQuarantined ? 'quarantined' : 'known'
}

/** A failed test as `--json` lists it; `test` is the service's own record. */
const recordOf = (
  match: TestMatch,
  complete: boolean,
  { redact }: CommandContext['secrets'],
): JsonObject => ({
  verdict: verdictOf(match, complete),
  // A name may be cut in a table: what must not show is hidden before.
  name: redact(match.failed.name),
  classname: match.failed.classname ?? null,
  parent: match.failed.suites[0] ?? null,
  file: match.failed.file ?? getString(match.test, 'file_path') ?? null,
  test: match.test ?? null,
})

const columns = [
  ['TEST', 'name'],
  ['VERDICT', 'verdict', 'state'],
  ['ID', 'test.id', 'id'],
  ['RATE 7D', 'test.failure_rate_last_7d', 'number'],
  ['OWNERS', 'test.codeowners'],
  ['FILE', 'file'],
] as const

/** The window of `flaky list`; its filters would make new what they hide. */
const { range, pageSize, maxPages } = listFailingTests.inputs

/** `flaky match`: which of the tests that failed here are known to fail. */
export const match = defineCommand({
  command: 'flaky match',
  summary: 'Tell which failures in JUnit XML files are known, quarantined or new',
  operation: { ...listFailingTests, inputs: { range, pageSize, maxPages } },
  inputs: { files },
  exitKinds: ['check-failed'],
  output: {
    table: 'a row for each test that failed, what is new first',
    json: '{"counts":{"failed","new","unknown","known","quarantined"},"tests":[...],"window"}',
    ndjson: 'one failed test a line: {"verdict","name","classname","parent","file","test"}',
  },
  examples: [
    'mergeq flaky match junit.xml --since 7d',
    'mergeq flaky match build/test-results/test/*.xml --json',
    'npx vitest run --reporter=junit | mergeq flaky match -',
  ],
  async run({ files: names }, context) {
    const { options, printer, logger } = context
    const matching = createMatcher(await readFiles(names, context))
    const runs = await readInvocations(listFailingTests, context)
    const [run] = runs
    if (options.dryRun || run === undefined) return printDryRun(listFailingTests, runs, context)
    const pages = listFailingTests.pagination?.(run.values)
    const isNeeded = matching.matches().length > 0
    const failure =
      isNeeded && pages !== undefined
        ? await collectPages(listFailingTests, run, pages, context, tests => {
            for (const test of tests) matching.take(test)
          })
        : undefined
    if (failure === 'gone') return 0
    const finish = isNeeded ? pages?.finish(failure?.message) : undefined
    const complete = finish?.complete ?? true
    const found = matching.matches().map(one => recordOf(one, complete, context.secrets))
    const records = verdicts.flatMap(verdict => found.filter(one => one.verdict === verdict))
    const number = (verdict: Verdict) => found.filter(one => one.verdict === verdict).length
    const counts = Object.fromEntries(verdicts.map(verdict => [verdict, number(verdict)]))
    const { start, end } = run.values.range
    const window = { start: new Date(start).toISOString(), end: new Date(end).toISOString(), complete }
    await printer.print({
      records,
      document: tests => ({ counts: { failed: found.length, ...counts }, tests, window }),
      shape: tests => table(tests, columns),
    })
    await printer.end()
    for (const note of finish?.notes ?? []) await logger.info(note)
    const told = verdicts
      .filter(verdict => number(verdict) > 0)
      .map(verdict => `${formatInteger(number(verdict))} ${verdict}`)
    await logger.info(
      `${pluralize(found.length, 'test')} failed here${told.length > 0 ? `: ${told.join(', ')}` : ''}.`,
    )
    if (number('unknown') > 0) throw incompleteError('flaky match', failure)
    return number('new') > 0 ? refused(number('new'), found.length) : 0
  },
})

/** New failures are what a match says no to. */
function refused(news: number, all: number): never {
  throw new MergeqError(
    'check-failed',
    `flaky match: ${formatInteger(news)} of ${pluralize(all, 'failed test')} ${news === 1 ? 'is' : 'are'} new: not among the tests that failed in that time.`,
    { hint: 'Mend what is new, or look further back with --since 30d.' },
  )
}
