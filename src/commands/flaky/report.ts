import { incompleteListError } from '../../api/list.ts'
import { listFailingTests } from '../../api/operations/tests.ts'
import { usageError } from '../../base/errors.ts'
import { get, getString, type Json, type JsonObject } from '../../base/json.ts'
import { parseUrl } from '../../base/url.ts'
import { type Cli, command } from '../../command/command.ts'
import { option, optionInput } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { createRateFormat, type RateFormat } from '../../domain/failure-rates.ts'
import { ownersOf, testsByOwner } from '../../domain/owners.ts'
import { markdownCell, markdownHead } from '../../output/formats.ts'
import {
  type Annotation,
  annotationLines,
  escapeWorkflowCommands,
  sanitizeLine,
} from '../../output/sanitize.ts'
import { truncateCell } from '../../output/text-width.ts'
import { columns as outputColumns } from '../../output/view.ts'
import { formatInteger, pluralize } from '../../values/format.ts'
import { describeInWords, type TimeRange } from '../../values/time-range.ts'
import { choice, type Type } from '../../values/types.ts'
import { csvColumns, testTitle } from './shared/columns.ts'
import { logNotes, printSearch, rangeOf, readFailingTests } from './shared/read-tests.ts'

interface FailingTestReport {
  readonly tests: readonly JsonObject[]
  readonly complete: boolean
  readonly range: TimeRange
  /** Whether the range ended before now. */
  readonly isPast: boolean
  readonly owner?: string | undefined
  readonly listCommand: string
}

const formats = ['markdown', 'github'] as const
type ReportFormat = (typeof formats)[number]

export const renderReport = (
  report: FailingTestReport,
  format: ReportFormat,
  limit: number,
  by?: 'owner',
): Uint8Array =>
  format === 'github'
    ? annotationLines(createAnnotations(report, limit))
    : new TextEncoder().encode(renderMarkdown(report, limit, by))

/** The longest name and the longest message of an annotation, in columns. */
const [maxNameLength, maxMessageLength] = [200, 1_000]

const isQuarantined = (test: JsonObject): boolean => get(test, 'quarantined') === true

const statusOf = (test: JsonObject): string =>
  getString(test, 'status.value') ?? getString(test, 'status.reason') ?? ''

/** Returns a link to a ticket, with its ID, in which the URL ends. */
const ticketLink = (url = ''): string =>
  url === '' ? '-' : markdownLink(/([\w-]+)\/?$/.exec(url)?.[1] ?? 'ticket', url)

const rate7d = 'failure_rate_last_7d'

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

function renderMarkdown(
  { tests, complete, range, isPast, owner, listCommand }: FailingTestReport,
  limit: number,
  by: 'owner' | undefined,
): string {
  const rates = createRateFormat(tests)
  const quarantined = tests.filter(isQuarantined).length
  const ofOwner = owner === undefined ? '' : ` of ${markdownText(truncateName(owner))}`
  const parts = [
    `### ${pluralize(tests.length, 'failing test')}${ofOwner}, ${formatInteger(quarantined)} quarantined\n\nFrom ${describeInWords(range, false)}.`,
    isPast ? ` ${notOfRange}` : '',
    complete ? '\n' : ' **The list is incomplete: part of the range could not be read.**\n',
  ]
  if (by === 'owner') parts.push(renderSections(tests, limit, listCommand, rates))
  else {
    const shown = tests.slice(0, limit)
    if (shown.length > 0) parts.push(renderTable(shown, rates))
    if (tests.length > limit) parts.push(`\n${notShown(tests.length - limit)} ${listAdvice(listCommand)}\n`)
  }
  return parts.join('')
}

/** What a report of a range that ended before now says of its rates and counts. */
const notOfRange =
  'Status, owners, quarantine, rates and pull requests are those of today, not of this range.'

const renderTable = (tests: readonly JsonObject[], rates: RateFormat): string =>
  `\n${markdownHead(columns)}${tests.map(test => renderMarkdownRow(test, rates)).join('')}`

const noOwner = 'No owner'

function renderSections(
  tests: readonly JsonObject[],
  limit: number,
  listCommand: string,
  rates: RateFormat,
): string {
  const sections = [...testsByOwner(tests, noOwner)]
  const texts = sections.map(([owner, owned]) => {
    const omitted = owned.length - limit
    const note = omitted > 0 ? `\n${notShown(omitted)}\n` : ''
    return `\n#### ${markdownText(truncateName(owner))}\n${renderTable(owned.slice(0, limit), rates)}${note}`
  })
  const isShortened = sections.some(([, owned]) => owned.length > limit)
  return `${texts.join('')}${isShortened ? `\n${listAdvice(listCommand)}\n` : ''}`
}

const notShown = (omitted: number): string =>
  `${pluralize(omitted, 'more test')} ${omitted === 1 ? 'is' : 'are'} not shown.`

const listAdvice = (listCommand: string): string => `To list all tests, run \`${listCommand}\`.`

function renderMarkdownRow(test: JsonObject, rates: RateFormat): string {
  const cells = [
    markdownLink(truncateName(nameOf(test)), getString(test, 'html_url')),
    markdownText(statusOf(test)),
    markdownText(rates.format(test, rate7d)),
    markdownText(get(test, 'pull_requests_impacted_last_7d')),
    isQuarantined(test) ? 'yes' : 'no',
    markdownText(truncateName(ownersOf(test).join(', '))),
    ticketLink(getString(test, 'ticket.html_url')),
  ]
  return `| ${cells.join(' | ')} |\n`
}

const truncateName = (text = ''): string => truncateCell(text, maxNameLength)

/** A backslash, which Markdown drops, separates colons that might begin a command of a CI runner. */
const markdownText = (value: Json | undefined): string =>
  (markdownCell(value) || '-').replace(/:(?=:)/g, ':\\')

/** Returns a Markdown link, or the text alone when the address is not a web address. */
function markdownLink(text: string, address = ''): string {
  const { protocol, href } = parseUrl(address) ?? { protocol: '', href: '' }
  if (!/^https?:$/.test(protocol)) return markdownText(text)
  return `[${markdownText(text)}](${href.replace(/[^\w/:.?&=#%+,~-]|:(?=:)|#(?=#)/g, percentEncode)})`
}

const percentEncode = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

function createAnnotations(
  { tests, complete, isPast, listCommand }: FailingTestReport,
  limit: number,
): readonly Annotation[] {
  const omitted = tests.length - limit
  const rates = createRateFormat(tests)
  const notes = [
    ...(complete ? [] : ['The list is incomplete: part of the range could not be read.']),
    ...(isPast ? [notOfRange] : []),
    ...(omitted > 0 ? [`${notShown(omitted)} ${listAdvice(listCommand)}`] : []),
  ]
  return [
    ...tests.slice(0, limit).map(test => createAnnotation(test, rates)),
    ...notes.map(message => ({ level: 'notice', title: 'Failing tests', message }) as const),
  ]
}

function createAnnotation(test: JsonObject, rates: RateFormat): Annotation {
  const owners = ownersOf(test).join(', ')
  const details = [
    statusOf(test),
    `failure rate over 7 days ${rates.format(test, rate7d) ?? 'unknown'}`,
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

/** How many tests a report shows; GitHub shows ten annotations for each step. */
const defaultLimits: Readonly<Record<ReportFormat, number>> = { markdown: 100, github: 10 }

const jsonHint = 'To print the tests as JSON, use flaky list --json.'

const anyFormat = choice(formats, 'format')

const reportFormat: Type<ReportFormat> = {
  ...anyFormat,
  parse(text = '') {
    if (text.toLowerCase() === 'json') throw usageError('A report cannot be JSON.', jsonHint)
    return anyFormat.parse(text)
  },
}

/** Throws a usage error if an option asks for what only a list has: fields, or another format. */
function checkOutput(format: ReportFormat, cli: Cli): void {
  const { args, options } = cli
  if (options.fields.length > 0)
    throw usageError('A report does not support --fields.', 'To choose the columns, use flaky list.')
  if (isCsv(cli) && args.has('--format'))
    throw usageError(`--format ${format} cannot be CSV.`, 'Use only one of --format and --output.')
  const isOutputTyped = args.has('--json') || args.has('--output')
  if (isOutputTyped && ![format, 'csv'].includes(options.format.name))
    throw usageError(
      `A report does not support --output ${options.format.name}.`,
      `Use --format with one of: ${formats.join(', ')}, or --output csv. ${jsonHint}`,
    )
}

/** Whether CSV was typed; a report ignores `MERGEQ_OUTPUT`. */
const isCsv = ({ args, options }: Cli): boolean => args.has('--output') && options.format.name === 'csv'

/** By owner, the first column is the owner, with the first tests of each. */
function printCsv(tests: readonly JsonObject[], limit: number, by: 'owner' | undefined, { printer }: Cli) {
  if (by === undefined) return printer.print({ records: tests.slice(0, limit), columns: csvColumns })
  const records = [...testsByOwner(tests, noOwner)].flatMap(([owner, owned]) =>
    owned.slice(0, limit).map(test => ({ ...test, owner })),
  )
  return printer.print({ records, columns: ownedColumns })
}

const ownedColumns = [...outputColumns('owner'), ...csvColumns]

function listCommandOf({ args, settings }: Cli): string {
  const flags = ['--quarantined', '--no-quarantined'].filter(name => args.has(name))
  const options = ['--since', '--until', '--owner', '--name', '--path', '--min-failure-rate', '--sort']
  const command = settings.commandLine(['flaky', 'list', ...flags], {}, options)
  return escapeWorkflowCommands(sanitizeLine(command))
}

export const definition = command({
  name: 'flaky report',
  summary: 'Report failing tests as Markdown, GitHub annotations or CSV',
  alsoSends: [listFailingTests],
  options: {
    ...paramsOf(listFailingTests),
    limit: optionInput('limit', {
      ...listFailingTests.params.limit,
      summary: 'Maximum number of tests; with --by owner, in each section',
      defaultText: `${defaultLimits.markdown}, or ${defaultLimits.github} for github; all for -o csv`,
    }),
    format: option(reportFormat, 'Report format: markdown or github (annotations)', {
      default: 'markdown',
    }),
    by: option(
      choice(['owner'], 'owner'),
      'Write a section for each owner; for CSV, a row for each owner of a test',
    ),
  },
  set: setOf(listFailingTests),
  prints: 'Markdown or GitHub annotations, depending on --format; CSV with -o csv',
  examples: [
    'mergeq flaky report --since 7d >> "$GITHUB_STEP_SUMMARY"',
    'mergeq flaky report --format github --owner @acme/web',
    'mergeq flaky report --since 7d --by owner --limit 5 --no-quarantined',
    'mergeq flaky report --since 7d --by owner -o csv > owners.csv',
  ],
  async run({ format, by, limit, sort = 'impact', ...values }, cli) {
    checkOutput(format, cli)
    if (by !== undefined && format === 'github')
      throw usageError('--by is for Markdown and CSV only.', 'Each annotation names its owners.')
    // The report applies the limit itself, because it states how many tests it omits.
    const listed = { ...values, sort }
    if (cli.options.dryRun) return printSearch(listed, cli)
    const tests: JsonObject[] = []
    const end = await readFailingTests(cli, listed, test => tests.push(test))
    const isPast = values.until !== undefined
    const report = {
      tests,
      isPast,
      range: rangeOf(listed, cli),
      complete: end.complete,
      owner: values.owner,
      listCommand: listCommandOf(cli),
    }
    if (isCsv(cli)) await printCsv(tests, limit ?? tests.length, by, cli)
    else await cli.host.out.write(renderReport(report, format, limit ?? defaultLimits[format], by))
    await logNotes(end, cli)
    if (isCsv(cli) && isPast) await cli.logger.info(notOfRange)
    if (end.isBroken) throw incompleteListError(end, cli.command)
    return 0
  },
})
