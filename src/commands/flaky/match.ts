import type { Field } from '../../cli/inputs.ts'
import { list } from '../../api/operations/failing-tests.ts'
import { Failure, usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { readRuns } from '../../cli/invocation.ts'
import { gather, incomplete } from '../../cli/stream-pages.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { contextOf } from '../../config/config.ts'
import { type JsonObject, textAt } from '../../json.ts'
import { count, marked, table } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import type { FailedTest } from './match/junit.ts'
import { type Match, openMatching } from './match/known-tests.ts'

/** What a failed test is; `unknown` where it was not found and not everything could be read. From bad to good. */
const verdicts = ['new', 'unknown', 'known', 'quarantined'] as const
type Verdict = (typeof verdicts)[number]

const files: Field<readonly string[]> = {
  words: [
    { spell: '<junit.xml...>', summary: 'JUnit XML files (- is standard input)', repeats: true, file: true },
  ],
  read(given) {
    const names = [...new Set(given.get('junitxml') ?? [])]
    if (names.includes('')) throw usage('The name of a JUnit XML file must not be empty.')
    return names
  },
}

/** The tests that failed in the files. What cannot be read as JUnit XML is refused before anything is sent. */
async function readFiles(names: readonly string[], desk: Desk): Promise<readonly FailedTest[]> {
  const { readJunit } = await import('./match/junit.ts')
  const context = contextOf(desk.settings, desk)
  const failed: FailedTest[] = []
  for (const name of names) {
    const file = name === '-' ? 'standard input' : name
    const results = await readJunit(context.open(name), file)
    if (results.cases === 0) await desk.voice.warn(`${file} holds no test case.`)
    for (const one of results.failed) failed.push(one)
  }
  return failed
}

function verdictOf({ test, isQuarantined }: Match, complete: boolean): Verdict {
  if (test === undefined) return complete ? 'new' : 'unknown'
  return isQuarantined ? 'quarantined' : 'known'
}

/** A failed test as `--json` lists it; `test` is the service's own record. */
const recordOf = (match: Match, complete: boolean, { redact }: Desk['secrets']): JsonObject => ({
  verdict: verdictOf(match, complete),
  // A name may be cut in a table: what must not show is hidden before.
  name: redact(match.failed.name),
  classname: match.failed.classname ?? null,
  parent: match.failed.suites[0] ?? null,
  file: match.failed.file ?? textAt(match.test, 'file_path') ?? null,
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
const { range, pageSize, maxPages } = list.fields

/** `flaky match`: which of the tests that failed here are known to fail. */
export const match = command({
  command: 'flaky match',
  summary: 'Tell which failures in JUnit XML files are known, quarantined or new',
  on: { ...list, fields: { range, pageSize, maxPages } },
  fields: { files },
  ends: ['check-failed'],
  prints: {
    table: 'a row for each test that failed, what is new first',
    json: '{"counts":{"failed","new","unknown","known","quarantined"},"tests":[...],"window"}',
    ndjson: 'one failed test a line: {"verdict","name","classname","parent","file","test"}',
  },
  examples: [
    'mergeq flaky match junit.xml --since 7d',
    'mergeq flaky match build/test-results/test/*.xml --json',
    'npx vitest run --reporter=junit | mergeq flaky match -',
  ],
  async run({ files: names }, desk) {
    const { options, printer, voice } = desk
    const matching = openMatching(await readFiles(names, desk))
    const runs = await readRuns(list, desk)
    const [run] = runs
    if (options.dryRun || run === undefined) return rehearse(list, runs, desk)
    const pages = list.pages?.(run.values)
    const isNeeded = matching.matches().length > 0
    const failure =
      isNeeded && pages !== undefined
        ? await gather(list, run, pages, desk, tests => {
            for (const test of tests) matching.take(test)
          })
        : undefined
    if (failure === 'gone') return 0
    const finish = isNeeded ? pages?.finish(failure?.message) : undefined
    const complete = finish?.complete ?? true
    const found = matching.matches().map(one => recordOf(one, complete, desk.secrets))
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
    for (const note of finish?.notes ?? []) await voice.note(note)
    const told = verdicts
      .filter(verdict => number(verdict) > 0)
      .map(verdict => `${marked(number(verdict))} ${verdict}`)
    await voice.note(
      `${count(found.length, 'test')} failed here${told.length > 0 ? `: ${told.join(', ')}` : ''}.`,
    )
    if (number('unknown') > 0) throw incomplete('flaky match', failure)
    return number('new') > 0 ? refused(number('new'), found.length) : 0
  },
})

/** New failures are what a match says no to. */
function refused(news: number, all: number): never {
  throw new Failure(
    'check-failed',
    `flaky match: ${marked(news)} of ${count(all, 'failed test')} ${news === 1 ? 'is' : 'are'} new: not among the tests that failed in that time.`,
    { hint: 'Mend what is new, or look further back with --since 30d.' },
  )
}
