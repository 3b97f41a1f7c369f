import { get, getString, type Json, type JsonObject } from '../base/json.ts'
import { isSameLogin } from '../values/login.ts'
import type { OutputFormat } from './output-formats.ts'
import type { StyledLine } from './styled-text.ts'

/**
 * How a column is formatted on a terminal. `state` has a sign and a color, `time` is relative (`3m ago`),
 * `age` is the time since then (`4m`), `number` is aligned to the right, `pr` has a
 * number sign, and none of these is ever cut; nor is `id`. `text` takes the width that is left, at least 24
 * columns, and `plain` at least 8; both are cut at the end. `prose` wraps: between words, and inside a word
 * that is longer than the column, but not inside a URL.
 */
export type ColumnFormat = 'plain' | 'state' | 'time' | 'age' | 'number' | 'pr' | 'id' | 'text' | 'prose'

export interface Column {
  /** A missing value in a column without a title is an empty cell instead of `-`. */
  readonly title: string
  /** The path of the value in the record that a row is made from. */
  readonly path: string
  readonly format: ColumnFormat
  /** Returns the value of a row, where that is not the value at the path. */
  show?(row: JsonObject): Json | undefined
  /** The highest goes first on a narrow terminal, and any that is empty. A column without a number always stays. */
  readonly priority?: number
  /** Whether the column, which has a priority, is left out where texts would get less than 80 characters. */
  readonly yieldsToText?: boolean
  /** The value that most records have: a column with a priority and no other value is left out, too. */
  readonly usual?: string
  /** The name in the header of CSV, where that is not the title. */
  readonly csvName?: string
  /** The end of a text that stays where the text is cut. */
  readonly keptEnd?: RegExp
  /** Returns the URL that a value of the column links to, on a terminal that has links. */
  link?(value: Json | undefined): string | undefined
}

/** A result that can be printed in every format. */
export interface Result {
  /** What NDJSON prints, and what `--fields` selects from. */
  readonly records: readonly JsonObject[]
  /** Returns what JSON prints of the records; by default their list. */
  document?(records: readonly JsonObject[]): Json
  /** The columns of the rows, for the formats that have rows. */
  readonly columns: readonly Column[]
  /** What the rows are made from; by default the records. */
  readonly rows?: readonly JsonObject[]
  /** Returns what is drawn for a person; by default the table of the rows. Called only where it is drawn. */
  screen?(): Screen
  /** Bytes that are printed unchanged in every format, and sanitized on a terminal. */
  readonly raw?: Uint8Array
}

/** What is drawn for a person: a sentence, or lines, a table and more lines, as far as there are any. */
export interface Screen {
  readonly sentence?: string
  readonly heading?: readonly StyledLine[]
  readonly columns?: readonly Column[]
  readonly rows?: readonly JsonObject[]
  readonly footer?: readonly StyledLine[]
  /** Whether a blank line stands between it and what was drawn before. */
  readonly isSeparate?: boolean
}

export type Table = Required<Pick<Screen, 'columns' | 'rows'>>

export const tableOf = ({ columns, records, rows = records }: Result): Table => ({ columns, rows })

export const screenOf = (result: Result): Screen => result.screen?.() ?? tableOf(result)

/** A single record as a part of a result: JSON prints it as an object. */
export const singleRecord = (record: JsonObject): Pick<Result, 'records' | 'document'> => ({
  records: [record],
  document: ([first = {}]) => first,
})

/** Returns a text as a result: it is printed unchanged in every format. */
export const rawText = (raw: Uint8Array): Result => ({ records: [], columns: [], raw })

/**
 * Every field that has a column: of records, and of rows that are made for a table. Without a title, the heading is its name
 * in capitals; without a format, it is plain.
 */
export const fieldColumns = {
  actor: {},
  after: { format: 'state' },
  again: {},
  at: {},
  before: {},
  beforeOf: { format: 'number' },
  bisection: {},
  branch: { format: 'id' },
  by: {},
  changed: {},
  check: { format: 'id' },
  codeowners: { title: 'OWNERS' },
  cycleConclusion: { title: 'CONCLUSION', format: 'state' },
  delivery: {},
  depth: { format: 'number' },
  did: { title: 'RESULT' },
  elapsedSeconds: { title: 'SECONDS', format: 'number' },
  endedAt: { title: 'ENDED', format: 'time' },
  failed: { title: 'FAILED 1H', format: 'number' },
  failing: { format: 'number' },
  failingChecks: {},
  failure_rate_last_7d: { title: 'RATE 7D', format: 'number' },
  field: {},
  file: {},
  file_path: { title: 'FILE' },
  fix: {},
  found: {},
  from: {},
  group: { title: '', format: 'id' },
  hook: { format: 'id' },
  html_url: { title: 'LINK' },
  id: { format: 'id' },
  isCurrentlySubmittedToQueue: { title: 'SUBMITTED' },
  key: {},
  kind: {},
  label: { title: 'MEASURE', format: 'text' },
  labels: {},
  line: { format: 'prose' },
  live: { format: 'prose' },
  max: { format: 'number' },
  mayBeMerged: {},
  measure: { format: 'id' },
  merged: { title: 'MERGED 1H', format: 'number' },
  message: { format: 'prose' },
  mode: {},
  name: {},
  notReady: { format: 'number' },
  of: { format: 'number' },
  ofUnit: {},
  ok: {},
  origin: {},
  outcome: {},
  owner: {},
  position: { format: 'number' },
  pr: { format: 'pr' },
  prAuthor: { title: 'AUTHOR' },
  priorityName: { title: 'PRIORITY' },
  priorityValue: { title: 'VALUE', format: 'number' },
  prNumber: { title: 'PR', format: 'pr' },
  profile: { format: 'id' },
  prTitle: { title: 'TITLE', format: 'text' },
  pull_requests_impacted_last_7d: { title: 'PRS 7D', format: 'number' },
  quarantine_setting: { title: 'SETTING' },
  quarantined: {},
  reason: {},
  repo: { title: 'REPOSITORY', format: 'id' },
  result: {},
  run: { title: 'TEST RUN', format: 'id' },
  selected: {},
  series: { format: 'prose' },
  serviceReason: {},
  setting: { format: 'id' },
  shown: { title: 'VALUE', format: 'id' },
  shownBefore: { title: 'BEFORE', format: 'id' },
  since: {},
  source: {},
  stacked: {},
  state: { format: 'state' },
  stateChangedAt: { title: 'SINCE', format: 'time' },
  status: { format: 'state' },
  'status.reason': { title: 'REASON' },
  'status.value': { title: 'STATUS', format: 'state' },
  status_last_updated_at: { title: 'SINCE', format: 'time' },
  summary: { title: 'REASON', format: 'prose' },
  targetBranch: { title: 'BRANCH', format: 'id' },
  test_case_id: { title: 'ID', format: 'id' },
  'test.codeowners': { title: 'OWNERS' },
  'test.failure_rate_last_7d': { title: 'RATE 7D', format: 'number' },
  'test.id': { title: 'ID', format: 'id' },
  'test.variant': { title: 'VARIANT' },
  testing: { format: 'number' },
  testingDurationMs: { title: 'MS', format: 'number' },
  testRunId: { title: 'TEST RUN', format: 'id' },
  'ticket.html_url': { title: 'TICKET' },
  timestamp: { title: 'WHEN', format: 'time' },
  to: { format: 'state' },
  unit: {},
  url: {},
  value: {},
  variant: {},
  verdict: { format: 'state' },
  would: { format: 'prose' },
} as const satisfies Readonly<Record<string, Partial<Column>>>

export type Field = keyof typeof fieldColumns

export const column = (path: Field, options: Partial<Column> = {}): Column => ({
  title: nameInCapitals(path),
  path,
  format: 'plain',
  ...fieldColumns[path],
  ...options,
})

/** Returns the columns of fields, each as its path, or with what other columns of its field do not have. */
export const columns = (
  ...definitions: readonly (Field | readonly [path: Field, options: Partial<Column>])[]
): readonly Column[] =>
  definitions.map(definition => (typeof definition === 'string' ? column(definition) : column(...definition)))

/** Returns the name of a field in capitals: `notReady` is `NOT READY`. */
const nameInCapitals = (name: string): string =>
  name
    .replaceAll(/[a-z0-9](?=[A-Z])/g, '$& ')
    .replaceAll('_', ' ')
    .toUpperCase()

const cellOf = ({ path, show }: Column, row: JsonObject): Json | undefined =>
  show === undefined ? get(row, path) : show(row)

export const cellsOf = (shown: readonly Column[], row: JsonObject): readonly (Json | undefined)[] =>
  shown.map(column => cellOf(column, row))

/** Returns columns as a person reads them: a time is how long ago it was. */
export const withAges = (shown: readonly Column[]): readonly Column[] =>
  shown.map(column => (column.format === 'time' ? { ...column, title: 'AGO', format: 'age' } : column))

/** Returns columns of which those of pull requests link to their pages. */
export const withLinks = (shown: readonly Column[], urlOf: (pr: number) => string): readonly Column[] =>
  shown.map(column =>
    column.format === 'pr'
      ? { ...column, link: value => (typeof value === 'number' ? urlOf(value) : undefined) }
      : column,
  )

/** Returns columns that begin with `*` for the pull requests of a user; the same ones without a user. */
export function withMark(shown: readonly Column[], user: string | undefined): readonly Column[] {
  if (user === undefined) return shown
  const show = (row: JsonObject) => (isSameLogin(getString(row, 'prAuthor'), user) ? '*' : '')
  // Left out where no row has it, and never because of the width.
  return [{ title: '', path: 'prAuthor', format: 'id', priority: 0, show }, ...shown]
}

/** A row of a table about one thing. */
export type Fact = readonly [field: string, value: Json]

/** Returns a table of facts. Long values wrap. */
export const factTable = (facts: readonly Fact[]): Table => ({
  columns: columns('field', ['value', { format: 'prose' }]),
  rows: facts.map(([field, value]) => ({ field, value })),
})

/** The columns of a receipt (docs/reference/cli.md, "Tables"). */
export const receiptColumns = columns('pr', 'ok', 'delivery', 'message')

/** Where a pull request is, in rows and CSV. */
export const placeColumns = columns(
  ['repo', { csvName: 'repo' }],
  ['targetBranch', { csvName: 'targetBranch' }],
  'url',
)

/** Returns the columns of rows, which also say where the pull request is, except in a document. */
export const withPlaceColumns = (own: readonly Column[], format: OutputFormat): readonly Column[] =>
  format.isForDocuments ? own : [...own, ...placeColumns]

/** The columns of a table of pull requests on a terminal. */
export const pullRequestColumns = columns(
  'prNumber',
  'state',
  ['stateChangedAt', { title: 'FOR', format: 'age', priority: 1 }],
  ['priorityName', { priority: 2, usual: 'medium' }],
  ['prAuthor', { priority: 3 }],
  'prTitle',
)

/** The same where pull requests may have merged or left: when their state began. */
export const anyPullRequestColumns: readonly Column[] = pullRequestColumns.map(column =>
  column.title === 'FOR' ? { ...column, title: 'AGO' } : column,
)

export const pullRequestCsvColumns: readonly Column[] =
  'prNumber state stateChangedAt prAuthor priorityName prTitle'
    .split(' ')
    .map(path => ({ title: path, path, format: 'plain', csvName: path }))

export interface Writer {
  write(text: string | Uint8Array): Promise<void>
  /** Lets signals be handled while a long list is written; rejects with the reason of an interruption. */
  pause?(): Promise<void>
}
