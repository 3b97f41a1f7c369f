import { listFailingTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { defineCommand } from '../../cli/command.ts'
import { printDryRun } from '../../cli/confirm.ts'
import type { CommandContext } from '../../cli/context.ts'
import { choiceOption, option } from '../../cli/inputs.ts'
import { readPages } from '../../cli/stream-pages.ts'
import { integerParser } from '../../domain/values/numbers.ts'
import { parseTimeRange } from '../../domain/values/time.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ReportFormat } from '../../output/failing-test-report.ts'
import { rawText } from '../../output/printer.ts'
import { flakyListCommand } from './list.ts'
import { notesInWords } from './tests/notes.ts'

const formats = ['markdown', 'github'] as const

/** Lower limit for the length of a report, in characters: the note about omitted tests always fits. */
const minCharacters = 400

/**
 * Default limits of a report: a comment on GitHub has at most 65,536 characters, and GitHub shows ten
 * annotations for each step.
 */
const defaultLimits: Readonly<Record<ReportFormat, { readonly characters: number; readonly rows: number }>> =
  {
    markdown: { characters: 65_536, rows: Number.POSITIVE_INFINITY },
    github: { characters: Number.POSITIVE_INFINITY, rows: 10 },
  }

const formatOption = choiceOption({
  name: 'format',
  value: 'format',
  default: 'markdown',
  summary: 'Report format: markdown or github (annotations)',
  choices: formats,
})

/** Throws a usage error if an option asks for what only a list has: fields, or another format. */
function checkOutput(format: ReportFormat, { args, options }: CommandContext): void {
  if (options.fields.length > 0)
    throw usageError('A report does not support --fields.', 'To choose the columns, use `mergeq flaky list`.')
  const isOutputTyped = args.has('--json') || args.has('--output')
  if (!isOutputTyped || options.format === format) return
  throw usageError(
    `A report does not support --output ${options.format}.`,
    `Use --format with one of: ${formats.join(', ')}. To print the tests as JSON, run: mergeq flaky list --json`,
  )
}

export const flakyReportCommand = defineCommand({
  command: 'flaky report',
  summary: 'Report failing tests as Markdown or GitHub annotations',
  operation: listFailingTests,
  isComposition: true,
  output: 'Markdown or GitHub annotations, depending on --format',
  options: {
    format: formatOption,
    maxChars: option({
      name: 'max-chars',
      value: 'n',
      summary: `Maximum length in characters, at least ${minCharacters}`,
      defaultText: `${defaultLimits.markdown.characters} for markdown`,
      parse: integerParser(minCharacters, Number.MAX_SAFE_INTEGER),
    }),
  },
  examples: [
    'mergeq flaky report --since 7d >> "$GITHUB_STEP_SUMMARY"',
    'mergeq flaky report --format github --owner @acme/web',
    'mergeq flaky report --since 7d --max-chars 4000 --no-quarantined',
  ],
  async run({ format, maxChars }, context) {
    const { printer, logger, host } = context
    checkOutput(format, context)
    const requests = await context.requests()
    if (context.options.dryRun) return printDryRun(listFailingTests, requests, context)
    const [request] = requests
    if (request === undefined) return 0
    const { limit, sort = 'impact', ...values } = request.values
    const now = host.clock.now()
    const range = parseTimeRange(values.since, values.until, now)
    // The report applies the limit itself, because it states how many tests it omits.
    const pages = await listFailingTests.pagination?.({ ...values, sort, limit: undefined }, now)
    if (pages === undefined) return 0
    const tests: JsonObject[] = []
    const addTests = (records: readonly JsonObject[]) => {
      for (const record of records) tests.push(record)
    }
    const failure = await readPages(flakyListCommand, request, pages, context, addTests)
    if (failure === 'closed') return 0
    const finish = pages.finish(failure?.message)
    const { records, isBroken, complete, notes } = finish
    addTests(records)
    const { characters, rows } = defaultLimits[format]
    const { start, end } = range
    const { renderReport } = await import('../../output/failing-test-report.ts')
    const text = renderReport(
      { tests, complete, start: new Date(start).toISOString(), end: new Date(end).toISOString() },
      format,
      { rows: limit ?? rows, characters: maxChars ?? characters },
    )
    await printer.print(rawText(text, true))
    for (const note of notesInWords(notes, range, context)) await logger.info(note)
    if (isBroken) throw incompleteListError(failure, finish.problem, 'flaky report')
    return 0
  },
})
