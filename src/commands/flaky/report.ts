import { type Field, flag } from '../../cli/inputs.ts'
import { list } from '../../api/operations/failing-tests.ts'
import { integer, oneOf } from '../../domain/values/parsers.ts'
import { usage } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { readRuns } from '../../cli/invocation.ts'
import { gather, incomplete } from '../../cli/stream-pages.ts'
import { rehearse } from '../../cli/run-operation.ts'
import type { ReportFormat } from '../../output/failing-test-report.ts'
import type { JsonObject } from '../../json.ts'
import { command } from '../../cli/command.ts'

const formats = ['markdown', 'github', 'json'] as const

/** A report is at least so long: what it says of the tests left out always fits. */
const shortest = 400

/**
 * What a report holds at most where nothing else is said: a comment on GitHub takes 65,536 characters, and of the
 * annotations of one step GitHub shows ten.
 */
const habits: Readonly<Record<ReportFormat, { readonly characters: number; readonly rows: number }>> = {
  markdown: { characters: 65_536, rows: Number.POSITIVE_INFINITY },
  github: { characters: Number.POSITIVE_INFINITY, rows: 10 },
  json: { characters: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY },
}

const format: Field<ReportFormat | undefined> = flag(
  '--format <format>',
  'markdown for a summary, github for annotations, or json (default markdown)',
  oneOf(formats),
  { choices: formats },
)

/** The format of the report; what `-o` says aloud must not contradict it. */
function formatOf(chosen: ReportFormat | undefined, { given, options }: Desk): ReportFormat {
  const output = options.format === 'ndjson' ? 'json' : options.format
  if (options.fields.length > 0)
    throw usage('A report has its own columns.', '--fields goes with `mergeq flaky list`.')
  const isAloud = given.has('--json') || given.has('--output')
  const said = formats.find(one => one === output)
  if (isAloud && (said === undefined || (chosen ?? said) !== said))
    throw usage(
      `--output ${output} is not the format of this report.`,
      `Leave it out, and say --format ${formats.join(', ')}.`,
    )
  return chosen ?? said ?? 'markdown'
}

/** What `flaky list` takes; a report is printed at once, so there is nothing to resume. */
const { resumeFile: _, ...words } = list.fields

/** `flaky report`: triage of the failing tests, the worst first. */
export const report = command({
  command: 'flaky report',
  summary: 'Sum up the failing tests for a CI job: Markdown, annotations on files, or JSON',
  on: { ...list, fields: words },
  prints: 'Markdown, annotations or one JSON document, as --format says (or -o markdown, --json)',
  fields: {
    format,
    maxChars: flag(
      '--max-chars <n>',
      `At most so many characters, at least ${shortest} (default 65536 for markdown)`,
      integer(shortest, Number.MAX_SAFE_INTEGER),
    ),
  },
  examples: [
    'mergeq flaky report --since 7d >> "$GITHUB_STEP_SUMMARY"',
    'mergeq flaky report --format github --owner @acme/web',
    'mergeq flaky report --since 7d --max-chars 4000 --no-quarantined',
  ],
  async run({ format: chosen, maxChars }, desk) {
    const { options, printer, voice, world } = desk
    const format = formatOf(chosen, desk)
    const runs = await readRuns(list, desk)
    const [run] = runs
    if (options.dryRun || run === undefined) return rehearse(list, runs, desk)
    const { limit, sort = 'impact', ...values } = run.values
    // The report cuts the list itself: it says how many more there are.
    const pages = list.pages?.({ ...values, sort, limit: undefined })
    if (pages === undefined) return 0
    const tests: JsonObject[] = []
    const keep = (records: readonly JsonObject[]) => {
      for (const record of records) tests.push(record)
    }
    const failure = await gather(list, run, pages, desk, keep)
    if (failure === 'gone') return 0
    const { records, broken, complete, notes } = pages.finish(failure?.message)
    keep(records)
    const { characters, rows } = habits[format]
    const { start, end } = values.range
    const { report: made } = await import('../../output/failing-test-report.ts')
    const text = made(
      { tests, complete, start: new Date(start).toISOString(), end: new Date(end).toISOString() },
      format,
      { rows: limit ?? rows, characters: maxChars ?? characters, pretty: world.out.terminal },
    )
    await printer.print({
      records: [],
      document: () => null,
      shape: () => ({ columns: [], rows: [] }),
      verbatim: text,
      isSafe: true,
    })
    for (const note of notes) await voice.note(note)
    if (broken) throw incomplete('flaky report', failure)
    return 0
  },
})
