import type { Format } from '../domain/output-formats.ts'
import { formatJson, type Json, type JsonObject, parseJson, stringifyJson } from '../json.ts'
import {
  createJsonList,
  csv,
  csvHeader,
  type JsonList,
  markdownHead,
  markdownRows,
  ndjson,
  partLength,
  tsv,
  writeParts,
} from './formats.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import { renderLines } from './styled-text.ts'
import { wrapLines } from './text-width.ts'
import { cellsOf, type View, type Writer } from './view.ts'

/** A result that can be printed in any format. */
export interface Printable {
  readonly records: readonly JsonObject[]
  /** Returns what `--json` prints of the records. */
  document(records: readonly JsonObject[]): Json
  /** Returns the view of the records; called only for the formats that have rows. */
  view(records: readonly JsonObject[]): View
  /** Bytes that are printed unchanged in every format, and sanitized on a terminal. */
  readonly rawBody?: Uint8Array
}

/** Returns a single record as a result: `--json` prints it as an object, NDJSON on one line. */
export const singleRecord = (record: JsonObject, view: () => View): Printable => ({
  records: [record],
  document: ([first = {}]) => first,
  view,
})

/** Returns a text as a result: it is printed unchanged in every format. */
export const rawText = (rawBody: Uint8Array): Printable => ({
  records: [],
  document: () => null,
  view: () => ({ columns: [], rows: [] }),
  rawBody,
})

/** Selects fields of the records that are printed. */
export interface FieldSelection {
  /** The names as they were typed. */
  readonly names: readonly string[]
  /** Throws a usage error for a name that none of the first records has. Called with all records. */
  check(records: readonly JsonObject[]): void
  /** Returns a record with the selected fields only, nested as before. */
  pick(record: JsonObject): JsonObject
  /** Returns the table of the selected fields. `keepsFormats` formats each field as its column on a terminal. */
  view(records: readonly JsonObject[], keepsFormats: boolean): View
}

export interface PrinterOptions {
  readonly format: Format
  /** Whether a table is drawn for people; otherwise its rows are tab-separated. */
  readonly isDrawn: boolean
  /** The fields to print; all fields where it is undefined. */
  readonly selection: FieldSelection | undefined
  readonly terminal: boolean
  readonly columns: number
  readonly color: boolean
  /** The current time in milliseconds since 1970; relative times refer to it. */
  readonly now: number
  /** Returns a text without secrets: a text is cut after that. */
  redact?(text: string): string
  /** Returns whether the terminal has links; called when a table is printed. */
  hasLinks?(): Promise<boolean>
}

/** Prints the results of a command on standard output. */
export interface Printer {
  /** Prints a result. A table that is drawn is printed at the end. */
  print(printable: Printable): Promise<void>
  /** Creates a JSON list that is printed while it is read: the whole document or, with a `key`, a member of it. */
  list(key?: string): JsonList
  /** Prints the tables. */
  end(): Promise<void>
}

/** Creates a printer that writes results to `writer` in the selected format. */
export function createPrinter(writer: Writer, options: PrinterOptions): Printer {
  const { format, selection, isDrawn } = options
  const pretty = options.terminal
  const selectFields = (records: readonly JsonObject[]) =>
    selection === undefined ? records : records.map(selection.pick)
  const viewOf = (printable: Printable): View => {
    if (selection !== undefined) return selection.view(printable.records, isDrawn)
    const view = printable.view(printable.records)
    return isDrawn ? (view.terminalView?.() ?? view) : view
  }
  /** The tables that are drawn at the end; a table without lines around it continues the table before it. */
  const tables: TableOfViews[] = []
  let isHeaderWritten = false

  const readTableOptions = async () => ({ ...options, links: (await options.hasLinks?.()) ?? false })
  const writeHeader = async (text: string) => {
    if (!isHeaderWritten) await writer.write(text)
    isHeaderWritten = true
  }
  const draw = async (view: View) => {
    if (view.sentence !== undefined) await writer.write(sentenceText(view.sentence, options))
    else if (hasOnlyLines(view) && tables.length === 0)
      await writer.write(renderLines(view.heading ?? [], await readTableOptions()))
    else addTable(tables, view)
  }
  const printRecords = async (printable: Printable): Promise<void> => {
    switch (format) {
      case 'table': {
        const view = viewOf(printable)
        if (isDrawn) return draw(view)
        return writeParts(writer, view.rows, rows => tsv({ ...view, rows }, options.color))
      }
      case 'json':
        return writer.write(`${stringifyJson(printable.document(selectFields(printable.records)), pretty)}\n`)
      case 'ndjson':
        return writeParts(writer, selectFields(printable.records), ndjson)
      case 'csv': {
        const { columns, rows } = viewOf(printable)
        await writeHeader(await csv([selection?.names ?? csvHeader(columns)]))
        return writeParts(writer, rows, part => csv(part.map(row => cellsOf(columns, row))))
      }
      case 'markdown': {
        const { columns, rows } = viewOf(printable)
        await writeHeader(markdownHead(columns))
        return writeParts(writer, rows, part => markdownRows({ columns, rows: part }))
      }
    }
  }
  return {
    async print(printable) {
      const { rawBody, records } = printable
      selection?.check(records)
      if (rawBody === undefined || selection !== undefined) await printRecords(printable)
      else await writeBody(writer, rawBody, options.terminal)
    },
    list(key) {
      const list = createJsonList(writer, pretty, key)
      return {
        ...list,
        async add(records) {
          selection?.check(records)
          await list.add(selectFields(records))
        },
      }
    },
    async end() {
      if (tables.length === 0) return
      const { renderView } = await import('./table.ts')
      const tableOptions = await readTableOptions()
      let pieces = 0
      for (const view of tables)
        for (const piece of renderView(view, tableOptions)) {
          await writer.write(piece)
          if (++pieces % partLength === 0) await writer.pause?.()
        }
    },
  }
}

/** The largest body whose JSON is indented on a terminal, in bytes. */
const maxIndented = 1024 * 1024
/** The size of the parts in which a body is written, in bytes. */
const partSize = 64 * 1024

/** Writes a body unchanged or, for a terminal, as safe text, with a JSON body indented. */
async function writeBody(writer: Writer, body: Uint8Array, terminal: boolean): Promise<void> {
  if (terminal && body.length <= maxIndented) return writer.write(readable(new TextDecoder().decode(body)))
  const decoder = new TextDecoder()
  for (let from = 0; from < body.length; from += partSize) {
    if (from > 0) await writer.pause?.()
    const part = body.subarray(from, from + partSize)
    await writer.write(terminal ? sanitizeLines(decoder.decode(part, { stream: true })) : part)
  }
}

/** Returns a body for a terminal: JSON is indented, and the last line ends. */
function readable(body: string): string {
  const text = parseJson(body) === undefined ? body : formatJson(body, true)
  return sanitizeLines(text.endsWith('\n') ? text : `${text}\n`)
}

/** A view with the rows of all views that continue it. */
type TableOfViews = View & { readonly rows: View['rows'][number][] }

function addTable(tables: TableOfViews[], view: View): void {
  const last = tables.at(-1)
  const isApart = view.heading !== undefined || view.footer !== undefined
  if (isApart || last === undefined || last.footer !== undefined)
    tables.push({ ...view, rows: [...view.rows] })
  else for (const row of view.rows) last.rows.push(row)
}

/** Whether a view is lines without a table: nothing in it depends on later results. */
const hasOnlyLines = ({ columns, rows, footer }: View): boolean =>
  columns.length === 0 && rows.length === 0 && footer === undefined

/** Returns a sentence for a terminal. A failed change has an empty one: its error is printed instead. */
function sentenceText(
  sentence: string,
  { terminal, columns, redact = text => text }: PrinterOptions,
): string {
  const line = redact(sanitizeLine(sentence))
  return line === '' ? '' : `${terminal ? wrapLines(line, columns) : line}\n`
}
