import { formatInteger, pluralize } from '../domain/format.ts'
import { get, getArray, getString, type Json, type JsonObject } from '../json.ts'
import { stringifyJson } from '../json-text.ts'
import { type Annotation, annotationLines } from './annotations.ts'
import { markdownCell, markdownHead } from './delimited.ts'
import { truncateCell } from './table.ts'
import { escapeWorkflowCommands } from './workflow-commands.ts'

/** Failing tests, the worst first, and what is told of them all. */
export interface FailingTestReport {
  readonly tests: readonly JsonObject[]
  /** Whether the range was read to its end. */
  readonly complete: boolean
  readonly start: string
  readonly end: string
}

export type ReportFormat = 'markdown' | 'github' | 'json'

/** Longer names are cut, in columns: a summary is for reading. */
const longestName = 200

interface ReportLimits {
  /** At most so many tests. */
  readonly rows: number
  /** At most so many characters, in all. */
  readonly characters: number
  /** Whether JSON is indented. */
  readonly pretty: boolean
}

/** A report in its format, made safe and ready to be written: never longer than allowed, never cut within a test. */
export function renderReport(
  triage: FailingTestReport,
  format: ReportFormat,
  { rows, characters, pretty }: ReportLimits,
): Uint8Array {
  const render = {
    markdown: (shown: number) => utf8.encode(markdown(triage, shown)),
    github: (shown: number) => annotationLines(annotations(triage, shown)),
    json: (shown: number) =>
      utf8.encode(`${escapeWorkflowCommands(stringifyJson(documentOf(triage, shown), pretty))}\n`),
  }[format]
  return largestThatFits(Math.min(rows, triage.tests.length), render, text => lengthOf(text) <= characters)
}

const utf8 = new TextEncoder()
const lengthOf = (bytes: Uint8Array): number => new TextDecoder().decode(bytes).length

/** What is rendered of as many as `most` things as fit; of none where not even one does. */
export function largestThatFits<T>(
  most: number,
  render: (shown: number) => T,
  fits: (rendered: T) => boolean,
): T {
  const whole = render(most)
  if (fits(whole)) return whole
  let [few, many] = [0, most]
  while (many - few > 1) {
    const middle = Math.floor((few + many) / 2)
    if (fits(render(middle))) few = middle
    else many = middle
  }
  return render(few)
}

const isQuarantined = (test: JsonObject): boolean => get(test, 'quarantined') === true

/** The document of `--format json`: the service's records, and how many are left out. */
function documentOf({ tests, complete, start, end }: FailingTestReport, shown: number): JsonObject {
  return {
    counts: { failing: tests.length, quarantined: tests.filter(isQuarantined).length },
    tests: tests.slice(0, shown),
    more: tests.length - shown,
    window: { start, end, complete },
  }
}

const statusOf = (test: JsonObject): string =>
  getString(test, 'status.value') ?? getString(test, 'status.reason') ?? ''

/** A test's name, and the variant of it where it has some. */
function nameOf(test: JsonObject): string {
  const [name = '-', variant = ''] = [getString(test, 'name'), getString(test, 'variant')]
  return variant === '' ? name : `${name} (${variant})`
}

const columns = [
  { title: 'test', format: 'plain' },
  { title: 'status', format: 'plain' },
  { title: 'rate 7d', format: 'number' },
  { title: 'prs 7d', format: 'number' },
  { title: 'quarantined', format: 'plain' },
  { title: 'owners', format: 'plain' },
  { title: 'ticket', format: 'plain' },
] as const

function markdown({ tests, complete, start, end }: FailingTestReport, shown: number): string {
  const quarantined = tests.filter(isQuarantined).length
  const parts = [
    `### ${pluralize(tests.length, 'failing test')}, ${formatInteger(quarantined)} quarantined\n\nFrom ${start} to ${end}.`,
    complete ? '\n' : ' **The list is incomplete: not all of that time could be read.**\n',
  ]
  if (shown > 0) parts.push('\n', markdownHead(columns), ...tests.slice(0, shown).map(markdownRow))
  if (tests.length > shown) parts.push(`\n${more(tests.length - shown)}\n`)
  return parts.join('')
}

const more = (left: number): string =>
  `${pluralize(left, 'more test')} ${left === 1 ? 'is' : 'are'} not shown: see \`mergeq flaky list\`.`

function markdownRow(test: JsonObject): string {
  const cells = [
    linked(clipped(nameOf(test)), getString(test, 'html_url')),
    plain(statusOf(test)),
    plain(get(test, 'failure_rate_last_7d')),
    plain(get(test, 'pull_requests_impacted_last_7d')),
    isQuarantined(test) ? 'yes' : 'no',
    plain(clipped(getArray(test, 'codeowners').join(', '))),
    getString(test, 'ticket.html_url') === undefined
      ? '-'
      : linked('ticket', getString(test, 'ticket.html_url')),
  ]
  return `| ${cells.join(' | ')} |\n`
}

const clipped = (text = ''): string => truncateCell(text, longestName)

/** A cell's text; colons that might begin a runner's command are held apart by a backslash that Markdown drops. */
const plain = (value: Json | undefined): string => (markdownCell(value) || '-').replace(/:(?=:)/g, ':\\')

/** A text that leads to an address, where that is one of the web. */
function linked(text: string, address = ''): string {
  const { protocol, href } = URL.canParse(address) ? new URL(address) : { protocol: '', href: '' }
  if (!/^https?:$/.test(protocol) || href.length > longestAddress) return plain(text)
  return `[${plain(text)}](${href.replace(/[^\w/:.?&=#%+,~-]|:(?=:)|#(?=#)/g, percented)})`
}

/** Longer addresses are left out, in characters. */
const longestAddress = 1_000

const percented = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`

function annotations({ tests, complete }: FailingTestReport, shown: number): readonly Annotation[] {
  const left = tests.length - shown
  const notes = [
    ...(complete ? [] : ['The list is incomplete: not all of the range could be read.']),
    ...(left > 0 ? [more(left)] : []),
  ]
  return [
    ...tests.slice(0, shown).map(annotationOf),
    ...notes.map(message => ({ level: 'notice', title: 'Failing tests', message }) as const),
  ]
}

function annotationOf(test: JsonObject): Annotation {
  const owners = getArray(test, 'codeowners').join(', ')
  const told = [
    statusOf(test),
    `failure rate over 7 days ${get(test, 'failure_rate_last_7d') ?? 'unknown'}`,
    `pull requests impacted ${get(test, 'pull_requests_impacted_last_7d') ?? 'unknown'}`,
    isQuarantined(test) ? 'quarantined' : 'not quarantined',
    clipped(owners === '' ? 'no owner' : `owned by ${owners}`),
    getString(test, 'html_url') ?? '',
    getString(test, 'ticket.html_url') ?? '',
  ]
  const file = getString(test, 'file_path')
  return {
    level: 'warning',
    ...(file === undefined ? {} : { file }),
    title: `Failing test: ${clipped(nameOf(test))}`,
    message: truncateCell(told.filter(text => text !== '').join('; '), longestMessage),
  }
}

/** Longer messages are cut, in columns. */
const longestMessage = 1_000
