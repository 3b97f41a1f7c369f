import { formatJson, type JsonObject, parseJson, stringifyJson } from '../base/json.ts'
import { createJsonList, ndjson, rowWriters, writeParts } from './formats.ts'
import type { OutputFormat } from './output-formats.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import { renderLines } from './styled-text.ts'
import { wrapLines } from './text-width.ts'
import { type Column, type Result, type Screen, screenOf, type Table, tableOf, type Writer } from './view.ts'

/** Selects fields of the records that are printed. */
export interface FieldSelection {
  /** The names as they were typed. */
  readonly names: readonly string[]
  /** Throws a usage error for a name that none of the first records has. Called with all records. */
  check(records: readonly JsonObject[]): void
  /** Returns a record with the selected fields only, nested as before. */
  pick(record: JsonObject): JsonObject
  /** Returns a column for each field. `keepsFormats` formats each field as its column on a terminal. */
  columns(keepsFormats: boolean): readonly Column[]
}

export interface PrinterOptions {
  readonly format: OutputFormat
  /** Whether a table is drawn for people; otherwise its rows are tab-separated. */
  readonly isDrawn: boolean
  readonly selection: FieldSelection | undefined
  readonly terminal: boolean
  readonly columns: number
  readonly color: boolean
  /** The current time in milliseconds since 1970; relative times refer to it. */
  now(): number
  /** Returns a text without secrets: a text is cut after that. */
  redact?(text: string): string
  /** Returns whether the terminal has links; called when a table is printed. */
  hasLinks?(): Promise<boolean>
}

export type Printer = ReturnType<typeof createPrinter>

/** Creates what prints the results of a command on standard output. */
export function createPrinter(writer: Writer, options: PrinterOptions) {
  const { format, selection, isDrawn } = options
  const pretty = options.terminal
  const selectFields = (records: readonly JsonObject[]) =>
    selection === undefined ? records : records.map(selection.pick)
  const rowsOf = (result: Result): Table =>
    selection === undefined ? tableOf(result) : { columns: selection.columns(isDrawn), rows: result.records }
  /** The tables that are drawn at the end; a table without lines around it continues the table before it. */
  const tables: DrawnTable[] = []
  let isHeaderWritten = false
  let hasDrawn = false

  const readTableOptions = async () => ({
    ...options,
    now: options.now(),
    links: (await options.hasLinks?.()) ?? false,
  })
  const writeHeader = async (text: string) => {
    if (!isHeaderWritten) await writer.write(text)
    isHeaderWritten = true
  }
  const draw = async ({ isSeparate = false, ...own }: Screen) => {
    const screen = isSeparate && hasDrawn ? { ...own, heading: ['', ...(own.heading ?? [])] } : own
    hasDrawn = true
    if (screen.sentence !== undefined) await writer.write(sentenceText(screen.sentence, options))
    else if (hasOnlyLines(screen) && tables.length === 0)
      await writer.write(renderLines(screen.heading ?? [], await readTableOptions()))
    else addTable(tables, screen)
  }
  const printRecords = async (result: Result): Promise<void> => {
    const { records, document = list => list } = result
    switch (format.prints) {
      case 'document':
        return writer.write(`${stringifyJson(document(selectFields(records)), pretty)}\n`)
      case 'records':
        return writeParts(writer, selectFields(records), ndjson)
      case 'rows': {
        if (isDrawn) return draw(selection === undefined ? screenOf(result) : rowsOf(result))
        const { head, body } = rowWriters[format.name]
        const { columns, rows } = rowsOf(result)
        if (head !== undefined) await writeHeader(await head(columns, selection?.names))
        return writeParts(writer, rows, part => body(columns, part, options.color))
      }
    }
  }
  const add = async (result: Result) => {
    const { raw, records } = result
    selection?.check(records)
    if (raw === undefined || selection !== undefined) await printRecords(result)
    else await writeBody(writer, raw, options.terminal)
  }
  const drawTables = async () => {
    if (tables.length === 0) return
    const { renderScreen } = await import('./table.ts')
    const tableOptions = await readTableOptions()
    for (const screen of tables.splice(0))
      for (const part of renderScreen(screen, tableOptions)) {
        await writer.write(part)
        await writer.pause?.()
      }
  }
  // A format whose rows have an end writes it here.
  const end = drawTables
  return {
    /** Prints a result that is the only one. */
    async print(result: Result): Promise<void> {
      await add(result)
      await end()
    },
    /** Prints one of several results. Tables that are drawn are joined, and printed at the end. */
    add,
    /** Prints one of several results that arrive over time: a table is drawn at once. */
    async addNow(result: Result): Promise<void> {
      await add(result)
      await drawTables()
    },
    /** Prints the tables of the results that were added. */
    end,
    /**
     * Creates a list that is printed while it is read. Where the format prints a document, the list is the document
     * or, with a `key`, a member of it; `end` then writes the other members, and `isOpen` says whether it has not ended.
     */
    list(key?: string): Omit<ReturnType<typeof createJsonList>, 'add'> & { readonly add: typeof add } {
      if (format.prints !== 'document') return { add, end, isOpen: () => false }
      const list = createJsonList(writer, pretty, key)
      return {
        ...list,
        async add({ records }) {
          selection?.check(records)
          await list.add(selectFields(records))
        },
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

/** A table with the lines around it, and the rows of all tables that continue it. */
type DrawnTable = Screen & { readonly rows: JsonObject[] }

function addTable(tables: DrawnTable[], screen: Screen): void {
  const { heading, footer, rows = [] } = screen
  const last = tables.at(-1)
  const isApart = heading !== undefined || footer !== undefined
  if (isApart || last === undefined || last.footer !== undefined) tables.push({ ...screen, rows: [...rows] })
  else for (const row of rows) last.rows.push(row)
}

/** Whether a screen is lines without a table: nothing in it depends on later results. */
const hasOnlyLines = ({ columns = [], rows = [], footer }: Screen): boolean =>
  columns.length === 0 && rows.length === 0 && footer === undefined

/** Returns a sentence for a terminal. A failed change has an empty one: its error is printed instead. */
function sentenceText(
  sentence: string,
  { terminal, columns, redact = text => text }: PrinterOptions,
): string {
  const line = redact(sanitizeLine(sentence))
  return line === '' ? '' : `${terminal ? wrapLines(line, columns) : line}\n`
}
