import type { Format } from '../domain/output-formats.ts'
import { type Json, type JsonObject, stringifyJson } from '../json.ts'
import { createJsonList, csv, csvHeader, type JsonList, markdownHead, markdownRows, tsv } from './formats.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import type { TableRenderer } from './table.ts'
import { wrapLines } from './text-width.ts'
import { hasOnlyLines, hasOnlyRows, mergeViews, parts, sampleRows, type View, type Writer } from './view.ts'

/** A result that can be printed in any format. */
export interface Printable {
  readonly records: readonly JsonObject[]
  /** Returns what `--json` prints of the records. */
  document(records: readonly JsonObject[]): Json
  /** Returns the view of the records; called only for the formats that have rows. */
  view(records: readonly JsonObject[]): View
  /** Bytes that are printed unchanged in every format, and sanitized on a terminal. */
  readonly rawBody?: Uint8Array
  /** Whether `rawBody` is a text of mergeq with sanitized values: a terminal gets it unchanged. */
  readonly isSafe?: boolean
}

/** Returns a single record as a result: `--json` prints it as an object, NDJSON on one line. */
export const singleRecord = (record: JsonObject, view: () => View): Printable => ({
  records: [record],
  document: ([first = {}]) => first,
  view,
})

/** Returns a text as a result: it is printed unchanged in every format. */
export const rawText = (rawBody: Uint8Array, isSafe = false): Printable => ({
  records: [],
  document: () => null,
  view: () => ({ columns: [], rows: [] }),
  rawBody,
  isSafe,
})

/** Selects fields of the records that are printed. */
export interface FieldSelection {
  /** The names as they were typed. */
  readonly names: readonly string[]
  /** Returns a record with the selected fields only, nested as before. */
  pick(record: JsonObject): JsonObject
  /**
   * Returns the table of the selected fields: a row for each record or, if a column of the table was named,
   * the rows of the table. `keepsFormats` formats each field as its column on a terminal.
   */
  view(records: readonly JsonObject[], createView: Printable['view'], keepsFormats: boolean): View
}

/** How results are printed. */
export interface PrinterOptions {
  readonly format: Format
  /** Whether a table is drawn for people; otherwise its rows are tab-separated. */
  readonly isDrawn: boolean
  /** Whether `--output` was typed: a single result is then a table, too. */
  readonly isOutputTyped: boolean
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
  /** Prints a result, or keeps it until `end` where a table must be complete first. */
  print(printable: Printable): Promise<void>
  /** Creates the JSON document of a list that is printed while it is read. */
  list(key: string): Omit<JsonList, 'isOpen'>
  /** Prints the records of a single result in batches. */
  printAll(batches: Iterable<readonly JsonObject[]>, createView: Printable['view']): Promise<void>
  /** Prints the results that were kept. */
  end(): Promise<void>
}

const utf8 = new TextDecoder()

/** Creates a printer that writes results to `writer` in the selected format. */
export function createPrinter(writer: Writer, options: PrinterOptions): Printer {
  const { format, selection, isDrawn } = options
  const pretty = options.terminal
  const selectFields = ({ records }: Pick<Printable, 'records'>) =>
    selection === undefined ? records : records.map(selection.pick)
  const viewOf = (printable: Printable): View => {
    if (selection !== undefined) return selection.view(printable.records, printable.view, isDrawn)
    const view = printable.view(printable.records)
    return isDrawn ? (view.terminalView?.() ?? view) : withTextBlocks(view)
  }
  let keptViews: View[] = []
  /**
   * Whether the kept views form a single table whose rows can be printed before all of them are known; and
   * their number of rows.
   */
  let [isOneTable, keptRows] = [true, 0]
  let tableRenderer: TableRenderer | undefined
  let isHeaderWritten = false

  const readTableOptions = async () => ({ ...options, links: (await options.hasLinks?.()) ?? false })
  const writeRows = async (table: TableRenderer, rows: View['rows']) => {
    for (const piece of table.draw(rows)) await writer.write(piece)
  }

  /**
   * Keeps a view until the end; the rows of a long table are printed as they arrive once its widths are
   * known.
   */
  const keep = async (view: View) => {
    const isPlain = hasOnlyRows(view)
    if (tableRenderer !== undefined && isPlain) return writeRows(tableRenderer, view.rows)
    tableRenderer = undefined
    isOneTable =
      keptViews.length === 0
        ? view.textBlocks === undefined && view.footer === undefined
        : isOneTable && isPlain
    keptViews.push(view)
    keptRows += view.rows.length
    if (!isOneTable || keptRows < sampleRows) return
    const { createTableRenderer } = await import('./table.ts')
    const tableOptions = await readTableOptions()
    for (const merged of mergeViews(keptViews)) {
      tableRenderer = createTableRenderer(merged, tableOptions)
      await writer.write(tableRenderer.start)
      await writeRows(tableRenderer, merged.rows)
    }
    keptViews = []
    keptRows = 0
  }

  const printTable = async (view: View) => {
    if (isDrawn) {
      if (view.sentence !== undefined) await writer.write(sentenceText(view.sentence, options))
      else if (hasOnlyLines(view) && keptViews.length === 0) {
        const { renderLines } = await import('./render-line.ts')
        await writer.write(renderLines(view.heading ?? [], await readTableOptions()))
      } else await keep(view)
    } else if (view.raw !== undefined) await writer.write(view.raw)
    else {
      const colorize = options.color ? (await import('./render-line.ts')).colorizeState : undefined
      for await (const rows of parts(view.rows, writer.pause))
        await writer.write(tsv({ ...view, rows }, colorize && (text => colorize(text, true))))
    }
  }
  const writeHeader = async (text: () => string | Promise<string>) => {
    if (!isHeaderWritten) await writer.write(await text())
    isHeaderWritten = true
  }
  const printRecords = async (printable: Printable): Promise<void> => {
    switch (format) {
      case 'table':
        return printTable(viewOf(printable))
      case 'json':
        return writer.write(`${stringifyJson(printable.document(selectFields(printable)), pretty)}\n`)
      case 'ndjson':
        for await (const part of parts(selectFields(printable), writer.pause))
          await writer.write(part.map(record => `${stringifyJson(record)}\n`).join(''))
        return
      case 'csv': {
        const { columns, rows } = viewOf(printable)
        await writeHeader(() => csv([selection?.names ?? csvHeader(columns)]))
        for await (const part of parts(rows, writer.pause)) await writer.write(await csv(part))
        return
      }
      case 'markdown': {
        const view = viewOf(printable)
        await writeHeader(() => markdownHead(view.columns))
        for await (const rows of parts(view.rows, writer.pause))
          await writer.write(markdownRows({ ...view, rows }))
        return
      }
      default:
        // The compiler reports a format that has no case above.
        format satisfies never
    }
  }
  const printer: Printer = {
    async print(printable) {
      if (printable.rawBody !== undefined && selection === undefined)
        await writer.write(
          options.terminal && printable.isSafe !== true
            ? sanitizeLines(utf8.decode(printable.rawBody))
            : printable.rawBody,
        )
      else await printRecords(printable)
    },
    async printAll(batches, createView) {
      const list = createJsonList(writer, pretty)
      try {
        for (const records of batches) {
          if (format === 'json') await list.add(selectFields({ records }))
          else await printer.print({ records, document: () => null, view: createView })
          // Let signals be handled and the spinner be drawn.
          await new Promise(resolve => setImmediate(resolve))
        }
      } catch (error) {
        if (list.isOpen()) await list.end().catch(() => undefined)
        throw error
      }
      if (format === 'json') await list.end()
      // Prints the header of a table without rows.
      else await printer.print({ records: [], document: () => null, view: createView })
    },
    list(key) {
      const list = createJsonList(writer, pretty, key)
      return { ...list, add: records => list.add(selectFields({ records })) }
    },
    async end() {
      const [first] = keptViews
      if (first === undefined) return
      const isSingle = keptViews.length === 1 && !options.isOutputTyped
      const single = isSingle ? first.singleView?.(options.now) : undefined
      const { renderView } = await import('./table.ts')
      const tableOptions = await readTableOptions()
      for (const view of single === undefined ? mergeViews(keptViews) : [single])
        for (const piece of renderView(view, tableOptions)) await writer.write(piece)
    },
  }
  return printer
}

/** Returns a view with its text blocks as rows, for formats that have rows only. */
const withTextBlocks = (view: View): View =>
  // Without text blocks the rows are not touched: a view may compute them when they are read.
  view.textBlocks === undefined
    ? view
    : {
        ...view,
        rows: [...view.rows, ...view.textBlocks.map(({ title, head, text }) => [title, `${head}: ${text}`])],
      }

/** Returns a sentence for a terminal. A failed change has an empty one: its error is printed instead. */
function sentenceText(
  sentence: string,
  { terminal, columns, redact = text => text }: PrinterOptions,
): string {
  const line = redact(sanitizeLine(sentence))
  return line === '' ? '' : `${terminal ? wrapLines(line, columns) : line}\n`
}
