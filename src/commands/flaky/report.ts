import { listFailingTests } from '../../api/operations/failing-tests.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { type Input, option } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { collectPages, incompleteError } from '../../cli/stream-pages.ts'
import { choiceParser, integerParser } from '../../domain/values/parsers.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import type { ReportFormat } from '../../output/failing-test-report.ts'
import { flakyList } from './list.ts'

const formats = ['markdown', 'github', 'json'] as const

/** A report is at least so long: what it says of the tests left out always fits. */
const shortest = 400

/**
 * What a report holds at most where nothing else is said: a comment on GitHub takes 65,536 characters, and of the
 * annotations of one step GitHub shows ten.
 */
const defaultLimits: Readonly<Record<ReportFormat, { readonly characters: number; readonly rows: number }>> =
  {
    markdown: { characters: 65_536, rows: Number.POSITIVE_INFINITY },
    github: { characters: Number.POSITIVE_INFINITY, rows: 10 },
    json: { characters: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY },
  }

const format: Input<ReportFormat | undefined> = option(
  '--format <format>',
  'markdown for a summary, github for annotations, or json (default markdown)',
  choiceParser(formats),
  { choices: formats },
)

/** The format of the report; what `-o` says aloud must not contradict it. */
function formatOf(chosen: ReportFormat | undefined, { args, options }: CommandContext): ReportFormat {
  const output = options.format === 'ndjson' ? 'json' : options.format
  if (options.fields.length > 0)
    throw usageError('A report has its own columns.', '--fields goes with `mergeq flaky list`.')
  const isAloud = args.has('--json') || args.has('--output')
  const said = formats.find(one => one === output)
  if (isAloud && (said === undefined || (chosen ?? said) !== said))
    throw usageError(
      `--output ${output} is not the format of this report.`,
      `Leave it out, and say --format ${formats.join(', ')}.`,
    )
  return chosen ?? said ?? 'markdown'
}

/** What `flaky list` takes; a report is printed at once, so there is nothing to resume. */
const { resumeFile: _, ...words } = flakyList.inputs

/** `flaky report`: triage of the failing tests, the worst first. */
export const report = defineCommand({
  command: 'flaky report',
  summary: 'Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON',
  request: { ...flakyList, inputs: words },
  output: 'Markdown, annotations or one JSON document, as --format says (or -o markdown, --json)',
  inputs: {
    format,
    maxChars: option(
      '--max-chars <n>',
      `At most so many characters, at least ${shortest} (default 65536 for markdown)`,
      integerParser(shortest, Number.MAX_SAFE_INTEGER),
    ),
  },
  examples: [
    'mergeq flaky report --since 7d >> "$GITHUB_STEP_SUMMARY"',
    'mergeq flaky report --format github --owner @acme/web',
    'mergeq flaky report --since 7d --max-chars 4000 --no-quarantined',
  ],
  async run({ format: chosen, maxChars }, context) {
    const { options, printer, logger, host } = context
    const format = formatOf(chosen, context)
    const runs = await readInvocations(flakyList, context)
    const [run] = runs
    if (options.dryRun || run === undefined) return printDryRun(listFailingTests, runs, context)
    const { limit, sort = 'impact', ...values } = run.values
    // The report cuts the list itself: it says how many more there are.
    const pages = listFailingTests.pagination?.({ ...values, sort, limit: undefined })
    if (pages === undefined) return 0
    const tests: JsonObject[] = []
    const keep = (records: readonly JsonObject[]) => {
      for (const record of records) tests.push(record)
    }
    const failure = await collectPages(flakyList, run, pages, context, keep)
    if (failure === 'gone') return 0
    const { records, isBroken, complete, notes } = pages.finish(failure?.message)
    keep(records)
    const { characters, rows } = defaultLimits[format]
    const { start, end } = values.range
    const { renderReport: made } = await import('../../output/failing-test-report.ts')
    const text = made(
      { tests, complete, start: new Date(start).toISOString(), end: new Date(end).toISOString() },
      format,
      { rows: limit ?? rows, characters: maxChars ?? characters, pretty: host.out.terminal },
    )
    await printer.print({
      records: [],
      document: () => null,
      shape: () => ({ columns: [], rows: [] }),
      rawBody: text,
      isSafe: true,
    })
    for (const note of notes) await logger.info(note)
    if (isBroken) throw incompleteError('flaky report', failure)
    return 0
  },
})
