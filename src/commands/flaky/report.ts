import { listFailingTests } from '../../api/operations/tests.ts'
import { incompleteListError } from '../../api/pages.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { option } from '../../cli/inputs.ts'
import { formatInteger, pluralize } from '../../domain/format.ts'
import { choice, integer, type Type } from '../../domain/values/types.ts'
import { usageError } from '../../errors.ts'
import { get, getArray, getString, type Json, type JsonObject } from '../../json.ts'
import { markdownCell, markdownHead } from '../../output/formats.ts'
import { type Annotation, annotationLines } from '../../output/sanitize.ts'
import { truncateCell } from '../../output/text-width.ts'
import { parseUrl } from '../../url.ts'
import { testTitle } from './list.ts'
import { logNotes, rangeOf, readFailingTests, windowOf } from './read-tests.ts'

/** A report of failing tests, ordered by severity. */
interface FailingTestReport {
  readonly tests: readonly JsonObject[]
  readonly complete: boolean
  /** The start and end of the time range, as ISO 8601 times. */
  readonly start: string
  readonly end: string
}

const formats = ['markdown', 'github'] as const
type ReportFormat = (typeof formats)[number]

interface ReportLimits {
  readonly rows: number
  /** The maximum length of the report, in characters. */
  readonly characters: number
}

/**
 * Returns a report in a format, with untrusted text escaped. It has as many whole tests as fit, and is never
 * longer than allowed.
 */
export function renderReport(
  report: FailingTestReport,
  format: ReportFormat,
  { rows, characters }: ReportLimits,
): Uint8Array {
  const render = (count: number): Uint8Array =>
    format === 'github'
      ? annotationLines(createAnnotations(report, count))
      : new TextEncoder().encode(renderMarkdown(report, count))
  const fits = (text: Uint8Array) => new TextDecoder().decode(text).length <= characters
  const most = Math.min(rows, report.tests.length, Math.ceil(characters / minRowLength))
  const whole = render(most)
  if (fits(whole)) return whole
  let [fitting, tooMany] = [0, most]
  while (tooMany - fitting > 1) {
    const middle = Math.floor((fitting + tooMany) / 2)
    if (fits(render(middle))) fitting = middle
    else tooMany = middle
  }
  return render(fitting)
}

/** No row of a report is shorter, in characters. */
const minRowLength = 30

/** The longest name and the longest message of an annotation, in columns. */
const [maxNameLength, maxMessageLength] = [200, 1_000]

/** The longest address of a link, in characters. */
const maxUrlLength = 1_000

const isQuarantined = (test: JsonObject): boolean => get(test, 'quarantined') === true

const statusOf = (test: JsonObject): string =>
  getString(test, 'status.value') ?? getString(test, 'status.reason') ?? ''

const nameOf = (test: JsonObject): string => testTitle(test) ?? '-'

const columns = [
  { title: 'test', format: 'plain' },
  { title: 'status', format: 'plain' },
  { title: 'rate 7d', format: 'number' },
  { title: 'prs 7d', format: 'number' },
  { title: 'quarantined', format: 'plain' },
  { title: 'owners', format: 'plain' },
  { title: 'ticket', format: 'plain' },
] as const

function renderMarkdown({ tests, complete, start, end }: FailingTestReport, count: number): string {
  const quarantined = tests.filter(isQuarantined).length
  const parts = [
    `### ${pluralize(tests.length, 'failing test')}, ${formatInteger(quarantined)} quarantined\n\nFrom ${start} to ${end}.`,
    complete ? '\n' : ' **The list is incomplete: part of the range could not be read.**\n',
  ]
  if (count > 0)
    parts.push('\n', markdownHead(columns), tests.slice(0, count).map(renderMarkdownRow).join(''))
  if (tests.length > count) parts.push(`\n${omittedNote(tests.length - count)}\n`)
  return parts.join('')
}

const omittedNote = (omitted: number): string =>
  `${pluralize(omitted, 'more test')} ${omitted === 1 ? 'is' : 'are'} not shown. To list all tests, run \`mergeq flaky list\`.`

function renderMarkdownRow(test: JsonObject): string {
  const cells = [
    markdownLink(truncateName(nameOf(test)), getString(test, 'html_url')),
    markdownText(statusOf(test)),
    markdownText(get(test, 'failure_rate_last_7d')),
    markdownText(get(test, 'pull_requests_impacted_last_7d')),
    isQuarantined(test) ? 'yes' : 'no',
    markdownText(truncateName(getArray(test, 'codeowners').join(', '))),
    getString(test, 'ticket.html_url') === undefined
      ? '-'
      : markdownLink('ticket', getString(test, 'ticket.html_url')),
  ]
  return `| ${cells.join(' | ')} |\n`
}

const truncateName = (text = ''): string => truncateCell(text, maxNameLength)

/**
 * Returns the Markdown text of a value. A backslash, which Markdown drops, separates colons that might
 * begin a command of a CI runner.
 */
const markdownText = (value: Json | undefined): string =>
  (markdownCell(value) || '-').replace(/:(?=:)/g, ':\\')

/** Returns a Markdown link, or the text alone when the address is not a web address. */
function markdownLink(text: string, address = ''): string {
  const { protocol, href } = parseUrl(address) ?? { protocol: '', href: '' }
  if (!/^https?:$/.test(protocol) || href.length > maxUrlLength) return markdownText(text)
  return `[${markdownText(text)}](${href.replace(/[^\w/:.?&=#%+,~-]|:(?=:)|#(?=#)/g, percentEncode)})`
}

const percentEncode = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

function createAnnotations({ tests, complete }: FailingTestReport, count: number): readonly Annotation[] {
  const omitted = tests.length - count
  const notes = [
    ...(complete ? [] : ['The list is incomplete: part of the range could not be read.']),
    ...(omitted > 0 ? [omittedNote(omitted)] : []),
  ]
  return [
    ...tests.slice(0, count).map(createAnnotation),
    ...notes.map(message => ({ level: 'notice', title: 'Failing tests', message }) as const),
  ]
}

function createAnnotation(test: JsonObject): Annotation {
  const owners = getArray(test, 'codeowners').join(', ')
  const details = [
    statusOf(test),
    `failure rate over 7 days ${get(test, 'failure_rate_last_7d') ?? 'unknown'}`,
    `pull requests impacted ${get(test, 'pull_requests_impacted_last_7d') ?? 'unknown'}`,
    isQuarantined(test) ? 'quarantined' : 'not quarantined',
    truncateName(owners === '' ? 'no owner' : `owned by ${owners}`),
    getString(test, 'html_url') ?? '',
    getString(test, 'ticket.html_url') ?? '',
  ]
  const file = getString(test, 'file_path')
  return {
    level: 'warning',
    ...(file === undefined ? {} : { file }),
    title: `Failing test: ${truncateName(nameOf(test))}`,
    message: truncateCell(details.filter(text => text !== '').join('; '), maxMessageLength),
  }
}

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

const jsonHint = 'To print the tests as JSON, run: mergeq flaky list --json'

const anyFormat = choice(formats, 'format')

const reportFormat: Type<ReportFormat> = {
  ...anyFormat,
  parse(text = '') {
    if (text.toLowerCase() === 'json') throw usageError('A report cannot be JSON.', jsonHint)
    return anyFormat.parse(text)
  },
}

/** Throws a usage error if an option asks for what only a list has: fields, or another format. */
function checkOutput(format: ReportFormat, { args, options }: CommandContext): void {
  if (options.fields.length > 0)
    throw usageError('A report does not support --fields.', 'To choose the columns, use `mergeq flaky list`.')
  const isOutputTyped = args.has('--json') || args.has('--output')
  if (!isOutputTyped || options.format === format) return
  throw usageError(
    `A report does not support --output ${options.format}.`,
    `Use --format with one of: ${formats.join(', ')}. ${jsonHint}`,
  )
}

export const flakyReportCommand = defineCommand({
  command: 'flaky report',
  summary: 'Report failing tests as Markdown or GitHub annotations',
  operation: listFailingTests,
  isComposition: true,
  output: 'Markdown or GitHub annotations, depending on --format',
  options: {
    format: option(reportFormat, 'Report format: markdown or github (annotations)', {
      default: 'markdown',
    }),
    maxChars: option(integer(minCharacters, Number.MAX_SAFE_INTEGER), 'Maximum length in characters', {
      defaultText: `${defaultLimits.markdown.characters} for markdown`,
    }),
  },
  examples: [
    'mergeq flaky report --since 7d >> "$GITHUB_STEP_SUMMARY"',
    'mergeq flaky report --format github --owner @acme/web',
    'mergeq flaky report --since 7d --max-chars 4000 --no-quarantined',
  ],
  check: ({ format }, context) => checkOutput(format, context),
  async run({ format, maxChars }, context) {
    const request = await context.request()
    const tests: JsonObject[] = []
    const { limit, sort = 'impact', ...values } = request.values
    const end = await readFailingTests(
      {
        command: 'flaky report',
        // The report applies the limit itself, because it states how many tests it omits.
        request: { ...request, values: { ...values, sort } },
        take: test => tests.push(test),
      },
      context,
    )
    const { rows, characters } = defaultLimits[format]
    const window = windowOf(rangeOf(request, context), end.complete)
    const text = renderReport({ tests, ...window }, format, {
      rows: limit ?? rows,
      characters: maxChars ?? characters,
    })
    await context.host.out.write(text)
    await logNotes(end, context)
    if (end.isBroken) throw incompleteListError(end.failure, end.problem, 'flaky report')
    return 0
  },
})
