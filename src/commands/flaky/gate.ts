import { listFailingTests } from '../../api/operations/failing-tests.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { option } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { collectPages, incompleteError } from '../../cli/stream-pages.ts'
import { createParseContext } from '../../config/config.ts'
import { choiceParser, integerParser, textParser } from '../../domain/values/parsers.ts'
import { MergeqError, toMergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { formatInteger, pluralize, table } from '../../output/view.ts'
import { readBaseline } from './gate/baseline.ts'

/** What a gate needs of `flaky list`: where, when, and its filters. What cuts a list would cut what is counted, and what was counted by an earlier run is gone. */
const { limit, pageToken, sort, resumeFile, ...filters } = listFailingTests.inputs

const answers = ['pass', 'fail'] as const

/** The text of the baseline, from a file or standard input. */
async function baselineFrom(file: string | undefined, context: CommandContext): Promise<ReadonlySet<string>> {
  if (file === undefined) return new Set()
  const decoder = new TextDecoder()
  let read = ''
  for await (const piece of createParseContext(context.settings, context).open(file))
    read += decoder.decode(piece, { stream: true })
  return readBaseline(read + decoder.decode(), file === '-' ? 'standard input' : file)
}

/** `flaky gate`: a gate on how many tests fail. */
export const gate = defineCommand({
  command: 'flaky gate',
  summary: 'Check how many tests failed in a range of time: 0 if few enough, 21 if more',
  operation: { ...listFailingTests, inputs: filters },
  exitKinds: ['check-failed'],
  output: {
    table: 'the reason, in one line',
    json: '{"ok","failing","max","baseline","complete","reason","tests"}',
    ndjson: 'the same on one line',
  },
  inputs: {
    max: option('--max <n>', 'At most so many failing tests', integerParser(0, Number.MAX_SAFE_INTEGER)),
    baseline: option(
      '--baseline <file>',
      'Tests that do not count: their ids, one a line, or what `flaky list` printed as JSON or NDJSON',
      textParser('file name'),
      { file: true },
    ),
    onUnavailable: option(
      '--on-unavailable <pass|fail>',
      'What to do when the service cannot be reached: pass with 0, or fail with 7 (default fail)',
      choiceParser(answers),
      { choices: answers },
    ),
  },
  examples: [
    'mergeq flaky gate --since 24h --max 10 --no-quarantined',
    'mergeq flaky gate --since 7d --max 0 --baseline known.ndjson --on-unavailable pass',
  ],
  async run({ max, baseline, onUnavailable }, context) {
    if (max === undefined) throw usageError('No maximum was given.', 'For example --max 10, or --max 0.')
    const known = await baselineFrom(baseline, context)
    const runs = await readInvocations(listFailingTests, context)
    const [run] = runs
    if (context.options.dryRun || run === undefined) return printDryRun(listFailingTests, runs, context)
    const pages = listFailingTests.pagination?.(run.values)
    if (pages === undefined) return 0
    const tests: JsonObject[] = []
    let skipped = 0
    const met = await collectPages(listFailingTests, run, pages, context, records => {
      for (const record of records) {
        if (known.has((getString(record, 'id') ?? '').toLowerCase())) skipped++
        else tests.push(record)
      }
    }).catch(error => {
      const failure = toMergeqError(error)
      if (failure.kind !== 'unavailable' || onUnavailable !== 'pass') throw failure
      return failure
    })
    if (met === 'gone') return 0
    const isPassed = met?.kind === 'unavailable' && onUnavailable === 'pass'
    const { complete, isBroken, notes } = pages.finish(met?.message)
    const isOver = tests.length > max
    const ok = !isOver && (!isBroken || isPassed)
    const { start, end } = run.values.range
    const window = { start: new Date(start).toISOString(), end: new Date(end).toISOString(), complete }
    const counted = `${pluralize(tests.length, 'test')} failed, ${isOver ? 'more than' : 'at most'} ${formatInteger(max)}`
    const told = [
      pages.hasStarted() ? counted : 'not checked',
      ...(skipped > 0 ? [`${formatInteger(skipped)} of the baseline not counted`] : []),
      ...(isBroken && !isPassed && !isOver ? ['the list is incomplete'] : []),
      ...(isPassed && !isOver ? ['passed without the whole list, as the service is unavailable'] : []),
    ]
    const reason = told.join('; ')
    const verdict = { ok, failing: tests.length, max, baseline: skipped, complete, reason }
    await context.printer.print({
      records: [verdict],
      document: ([one = {}]) => ({
        ...(context.options.fields.length > 0 ? one : { ...verdict, tests, window }),
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
    await context.printer.end()
    for (const note of notes) await context.logger.info(note)
    if (isOver)
      throw new MergeqError('check-failed', `flaky gate: ${reason}.`, {
        hint: 'See which: mergeq flaky list, with the same flags.',
      })
    if (isPassed)
      await context.logger.warn(`${met?.message ?? ''} The gate passes, as --on-unavailable pass says.`)
    else if (isBroken) throw incompleteError('flaky gate', met)
    return 0
  },
})
