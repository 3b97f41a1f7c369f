import { flag } from '../../cli/inputs.ts'
import { list } from '../../api/operations/failing-tests.ts'
import { integer, oneOf, text } from '../../domain/values/parsers.ts'
import { asFailure, Failure, usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { readRuns } from '../../cli/invocation.ts'
import { gather, incomplete } from '../../cli/stream-pages.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { contextOf } from '../../config/config.ts'
import { type JsonObject, textAt } from '../../json.ts'
import { count, marked, table } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import { readBaseline } from './gate/baseline.ts'

/** What a gate needs of `flaky list`: where, when, and its filters. What cuts a list would cut what is counted, and what was counted by an earlier run is gone. */
const { limit, pageToken, sort, resumeFile, ...filters } = list.fields

const answers = ['pass', 'fail'] as const

/** The text of the baseline, from a file or standard input. */
async function baselineFrom(file: string | undefined, desk: Desk): Promise<ReadonlySet<string>> {
  if (file === undefined) return new Set()
  const decoder = new TextDecoder()
  let read = ''
  for await (const piece of contextOf(desk.settings, desk).open(file))
    read += decoder.decode(piece, { stream: true })
  return readBaseline(read + decoder.decode(), file === '-' ? 'standard input' : file)
}

/** `flaky gate`: a gate on how many tests fail. */
export const gate = command({
  command: 'flaky gate',
  summary: 'Check how many tests failed in a range of time: 0 if few enough, 21 if more',
  on: { ...list, fields: filters },
  ends: ['check-failed'],
  prints: {
    table: 'the reason, in one line',
    json: '{"ok","failing","max","baseline","complete","reason","tests"}',
    ndjson: 'the same on one line',
  },
  fields: {
    max: flag('--max <n>', 'At most so many failing tests', integer(0, Number.MAX_SAFE_INTEGER)),
    baseline: flag(
      '--baseline <file>',
      'Tests that do not count: their ids, one a line, or what `flaky list` printed as JSON or NDJSON',
      text('file name'),
      { file: true },
    ),
    onUnavailable: flag(
      '--on-unavailable <pass|fail>',
      'What to do when the service cannot be reached: pass with 0, or fail with 7 (default fail)',
      oneOf(answers),
      { choices: answers },
    ),
  },
  examples: [
    'mergeq flaky gate --since 24h --max 10 --no-quarantined',
    'mergeq flaky gate --since 7d --max 0 --baseline known.ndjson --on-unavailable pass',
  ],
  async run({ max, baseline, onUnavailable }, desk) {
    if (max === undefined) throw usage('No maximum was given.', 'For example --max 10, or --max 0.')
    const known = await baselineFrom(baseline, desk)
    const runs = await readRuns(list, desk)
    const [run] = runs
    if (desk.options.dryRun || run === undefined) return rehearse(list, runs, desk)
    const pages = list.pages?.(run.values)
    if (pages === undefined) return 0
    const tests: JsonObject[] = []
    let skipped = 0
    const met = await gather(list, run, pages, desk, records => {
      for (const record of records) {
        if (known.has((textAt(record, 'id') ?? '').toLowerCase())) skipped++
        else tests.push(record)
      }
    }).catch(error => {
      const failure = asFailure(error)
      if (failure.kind !== 'unavailable' || onUnavailable !== 'pass') throw failure
      return failure
    })
    if (met === 'gone') return 0
    const isPassed = met?.kind === 'unavailable' && onUnavailable === 'pass'
    const { complete, broken, notes } = pages.finish(met?.message)
    const isOver = tests.length > max
    const ok = !isOver && (!broken || isPassed)
    const { start, end } = run.values.range
    const window = { start: new Date(start).toISOString(), end: new Date(end).toISOString(), complete }
    const counted = `${count(tests.length, 'test')} failed, ${isOver ? 'more than' : 'at most'} ${marked(max)}`
    const told = [
      pages.begun() ? counted : 'not checked',
      ...(skipped > 0 ? [`${marked(skipped)} of the baseline not counted`] : []),
      ...(broken && !isPassed && !isOver ? ['the list is incomplete'] : []),
      ...(isPassed && !isOver ? ['passed without the whole list, as the service is unavailable'] : []),
    ]
    const reason = told.join('; ')
    const verdict = { ok, failing: tests.length, max, baseline: skipped, complete, reason }
    await desk.printer.print({
      records: [verdict],
      document: ([one = {}]) => ({
        ...(desk.options.fields.length > 0 ? one : { ...verdict, tests, window }),
      }),
      shape: records => ({
        ...table(records, [
          ['OK', 'ok'],
          ['FAILING', 'failing', 'number'],
          ['MAX', 'max', 'number'],
          ['REASON', 'reason'],
        ]),
        sentence: ok ? `${reason}.` : '',
      }),
    })
    await desk.printer.end()
    for (const note of notes) await desk.voice.note(note)
    if (isOver)
      throw new Failure('check-failed', `flaky gate: ${reason}.`, {
        hint: 'See which: mergeq flaky list, with the same flags.',
      })
    if (isPassed)
      await desk.voice.warn(`${met?.message ?? ''} The gate passes, as --on-unavailable pass says.`)
    else if (broken) throw incomplete('flaky gate', met)
    return 0
  },
})
