import { get, type Json, type JsonObject } from '../base/json.ts'
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
  /** Whether it is dim: what identifies is read after what happened. */
  readonly isDim?: boolean
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

const plain = { format: 'plain' } as const
const pr = { format: 'pr' } as const
const id = { format: 'id' } as const
const dimId = { format: 'id', isDim: true } as const
const state = { format: 'state' } as const
const time = { format: 'time' } as const
const number = { format: 'number' } as const
const text = { format: 'text' } as const
const prose = { format: 'prose' } as const

/** Every field that has a column: of records, and of rows that are made for a table. The usual title is its name in capitals. */
export const fieldColumns = {
  actor: plain,
  after: state,
  again: plain,
  at: plain,
  before: plain,
  beforeOf: number,
  bisection: plain,
  branch: id,
  by: plain,
  changed: plain,
  check: id,
  codeowners: { title: 'OWNERS', ...plain },
  cycleConclusion: { title: 'CONCLUSION', ...state },
  delivery: plain,
  depth: number,
  did: { title: 'RESULT', ...plain },
  elapsedSeconds: { title: 'SECONDS', ...number },
  endedAt: { title: 'ENDED', ...time },
  failed: { title: 'FAILED 1H', ...number },
  failing: number,
  failingChecks: plain,
  failure_rate_last_7d: { title: 'RATE 7D', ...number },
  field: plain,
  file: plain,
  file_path: { title: 'FILE', ...plain },
  fix: plain,
  found: plain,
  from: plain,
  group: { title: '', ...id },
  hook: id,
  html_url: { title: 'LINK', ...plain },
  id: dimId,
  isCurrentlySubmittedToQueue: { title: 'SUBMITTED', ...plain },
  key: plain,
  kind: plain,
  label: { title: 'MEASURE', ...text },
  labels: plain,
  line: prose,
  live: prose,
  max: number,
  mayBeMerged: plain,
  measure: id,
  merged: { title: 'MERGED 1H', ...number },
  message: prose,
  mode: plain,
  name: plain,
  notReady: number,
  of: number,
  ofUnit: plain,
  ok: plain,
  origin: plain,
  outcome: plain,
  owner: plain,
  position: number,
  pr: pr,
  prAuthor: { title: 'AUTHOR', ...plain },
  priorityName: { title: 'PRIORITY', ...plain },
  priorityValue: { title: 'VALUE', ...number },
  prNumber: { title: 'PR', ...pr },
  profile: id,
  prTitle: { title: 'TITLE', ...text },
  pull_requests_impacted_last_7d: { title: 'PRS 7D', ...number },
  quarantine_setting: { title: 'SETTING', ...plain },
  quarantined: plain,
  reason: plain,
  repo: { title: 'REPOSITORY', ...id },
  result: plain,
  run: { title: 'TEST RUN', ...dimId },
  selected: plain,
  series: prose,
  serviceReason: plain,
  setting: id,
  shown: { title: 'VALUE', ...id },
  shownBefore: { title: 'BEFORE', ...id },
  since: plain,
  source: plain,
  stacked: plain,
  state: state,
  stateChangedAt: { title: 'SINCE', ...time },
  status: state,
  'status.reason': { title: 'REASON', ...plain },
  'status.value': { title: 'STATUS', ...state },
  status_last_updated_at: { title: 'SINCE', ...time },
  summary: { title: 'REASON', ...prose },
  targetBranch: { title: 'BRANCH', ...id },
  test_case_id: { title: 'ID', ...dimId },
  testing: number,
  testingDurationMs: { title: 'MS', ...number },
  testRunId: { title: 'TEST RUN', ...dimId },
  'ticket.html_url': { title: 'TICKET', ...plain },
  timestamp: { title: 'WHEN', ...time },
  to: state,
  unit: plain,
  url: plain,
  value: plain,
  variant: plain,
  verdict: state,
  would: prose,
} as const satisfies Readonly<Record<string, Partial<Column>>>

export type Field = keyof typeof fieldColumns

export const column = (path: Field, options: Partial<Column> = {}): Column => ({
  title: nameInCapitals(path),
  path,
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

export interface Writer {
  write(text: string | Uint8Array): Promise<void>
  /** Lets signals be handled while a long list is written; rejects with the reason of an interruption. */
  pause?(): Promise<void>
}
