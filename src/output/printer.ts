import { get, type Json, type JsonObject } from '../json.ts'
import { stringifyJson, stringifyLines } from '../json-text.ts'
import { csv, markdownHead, markdownRows, titles, tsv } from './delimited.ts'
import { createJsonList, type JsonList, openArray } from './json-list.ts'
import { sanitizeLine, sanitizeLines } from './sanitize.ts'
import type { OpenTable } from './table.ts'
import { parts, receiptColumns, table, type View, widthRows } from './view.ts'

/** One answer, ready to print in any format. */
export interface Printable {
  readonly records: readonly JsonObject[]
  /** What `--json` prints of the records. */
  document(records: readonly JsonObject[]): Json
  /** The rows of the tables; made only when they are printed. */
  shape(records: readonly JsonObject[]): View
  /** Printed as it is in every format; sanitized on a terminal. */
  readonly rawBody?: Uint8Array
  /** `verbatim` is a text of our own in which all that came from outside was made safe: a terminal gets it as it is. */
  readonly isSafe?: boolean
}

/** How answers are printed. */
export interface PrinterOptions {
  readonly format: 'table' | 'json' | 'ndjson' | 'csv' | 'markdown'
  /** Whether `-o table` was said aloud: then a pipe gets the drawn table too. */
  readonly isTableForced: boolean
  readonly fields: readonly string[]
  readonly terminal: boolean
  readonly columns: number
  readonly color: boolean
  readonly now: number
}

/** Standard output, as far as printing needs it. */
export interface Writer {
  write(text: string | Uint8Array): Promise<void>
  /** Lets a signal be heard while a long list is written; rejects when one came. */
  pause?(): Promise<void>
}

export interface Printer {
  /** Prints an answer, or keeps it where a table must be drawn whole. */
  print(printable: Printable): Promise<void>
  /** Opens the one document of `--json` for a list that is printed while it is read. */
  list(key: string): JsonList
  /** Prints the records of one answer, a few at a time. */
  printAll(batches: Iterable<readonly JsonObject[]>, shape: Printable['shape']): Promise<void>
  /** Takes the head of CSV and Markdown as printed: by an earlier run, whose output goes on. */
  skipHeader(): void
  /** Prints what was kept. */
  end(): Promise<void>
}

/** Only the named fields of a record, nested as they were. */
function pick(record: JsonObject, fields: readonly string[]): JsonObject {
  const picked: Record<string, Json> = Object.create(null)
  for (const field of fields) {
    const value = get(record, field)
    if (value !== undefined)
      setNested(picked, Object.hasOwn(record, field) ? [field] : field.split('.'), value)
  }
  return picked
}

function setNested(target: Record<string, Json>, path: readonly string[], value: Json): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    target[key] = value
    return
  }
  const below: Record<string, Json> = Object.assign(Object.create(null), target[key])
  target[key] = below
  setNested(below, rest, value)
}

const utf8 = new TextDecoder()

/** Opens standard output for one run: every answer goes through here, in the format that was asked for. */
export function createPrinter(sink: Writer, style: PrinterOptions): Printer {
  const { format, fields } = style
  const pretty = style.terminal
  const picked = ({ records }: Pick<Printable, 'records'>) =>
    fields.length === 0 ? records : records.map(record => pick(record, fields))
  const isDrawn = format === 'table' && (style.terminal || style.isTableForced)
  const shapeOf = (printable: Printable): View => {
    if (fields.length > 0)
      return table(
        printable.records,
        fields.map(field => [field, field]),
      )
    const shape = printable.shape(printable.records)
    return isDrawn ? (shape.terminalView?.() ?? shape) : withPassages(shape)
  }
  let kept: View[] = []
  /** Whether what was kept is one table that can be drawn before its end is known, and how many rows it has. */
  let [isOneTable, rowsKept] = [true, 0]
  let open: OpenTable | undefined
  let headed = false

  const drawRows = async (table: OpenTable, rows: View['rows']) => {
    for (const piece of table.draw(rows)) await sink.write(piece)
  }

  /** Keeps what is drawn at the end; a table of many rows is drawn from then on as they come. */
  const keep = async (shape: View) => {
    const isPlain = shape.heading === undefined && shape.textBlocks === undefined
    if (open !== undefined && isPlain) return drawRows(open, shape.rows)
    open = undefined
    isOneTable = kept.length === 0 ? shape.textBlocks === undefined : isOneTable && isPlain
    kept.push(shape)
    rowsKept += shape.rows.length
    if (!isOneTable || rowsKept < widthRows) return
    const { openTable } = await import('./table.ts')
    for (const whole of gathered(kept)) {
      open = openTable(whole, style)
      await sink.write(open.start)
      await drawRows(open, whole.rows)
    }
    kept = []
    rowsKept = 0
  }

  const printTable = async (shape: View) => {
    if (isDrawn) {
      // A change that failed has no sentence: its failure is told on standard error.
      if (shape.sentence !== undefined)
        await sink.write(shape.sentence === '' ? '' : `${sanitizeLine(shape.sentence)}\n`)
      else await keep(shape)
    } else if (shape.raw !== undefined) await sink.write(shape.raw)
    else {
      const paint = style.color ? (await import('./table.ts')).colorizeState : undefined
      for await (const rows of parts(shape.rows, sink.pause))
        await sink.write(tsv({ ...shape, rows }, paint && (text => paint(text, true))))
    }
  }
  const head = async (text: () => string | Promise<string>) => {
    if (!headed) await sink.write(await text())
    headed = true
  }
  const printer: Printer = {
    async print(printable) {
      if (printable.rawBody !== undefined && fields.length === 0)
        await sink.write(
          style.terminal && printable.isSafe !== true
            ? sanitizeLines(utf8.decode(printable.rawBody))
            : printable.rawBody,
        )
      else if (format === 'json')
        await sink.write(`${stringifyJson(printable.document(picked(printable)), pretty)}\n`)
      else if (format === 'ndjson')
        for await (const part of parts(picked(printable), sink.pause)) await sink.write(stringifyLines(part))
      else if (format === 'csv') {
        const { columns, rows } = shapeOf(printable)
        await head(() => csv([fields.length === 0 ? titles(columns) : fields]))
        for await (const part of parts(rows, sink.pause)) await sink.write(await csv(part))
      } else if (format === 'markdown') {
        const shape = shapeOf(printable)
        await head(() => markdownHead(shape.columns))
        for await (const rows of parts(shape.rows, sink.pause))
          await sink.write(markdownRows({ ...shape, rows }))
      } else await printTable(shapeOf(printable))
    },
    async printAll(batches, shape) {
      const array = openArray(text => sink.write(text), pretty)
      for (const records of batches) {
        if (format === 'json') await array.add(picked({ records }))
        else await printer.print({ records, document: () => null, shape })
        // Signals and the spinner have their turn.
        await new Promise(resolve => setImmediate(resolve))
      }
      if (format === 'json') await array.end()
      // The head of a table without rows.
      else await printer.print({ records: [], document: () => null, shape })
    },
    list(key) {
      const listing = createJsonList(sink, key, pretty)
      return { ...listing, add: records => listing.add(picked({ records })) }
    },
    skipHeader() {
      headed = true
    },
    async end() {
      if (kept.length === 0) return
      const { drawPieces } = await import('./table.ts')
      for (const shape of gathered(kept))
        for (const piece of drawPieces(shape, style)) await sink.write(piece)
    },
  }
  return printer
}

/** Passages as rows, for the formats that are nothing but rows. */
const withPassages = (shape: View): View => ({
  ...shape,
  rows: [
    ...shape.rows,
    ...(shape.textBlocks ?? []).map(({ title, head, text }) => [title, `${head}: ${text}`]),
  ],
})

/** Answers with the same columns and nothing around them become one table. */
function gathered(shapes: readonly View[]): readonly View[] {
  const [first, ...rest] = shapes
  if (first === undefined || rest.some(({ heading, textBlocks }) => heading ?? textBlocks)) return shapes
  return [{ ...first, rows: shapes.flatMap(({ rows }) => rows) }]
}

/** A receipt as a row: `pr, ok, delivery, message` (CLI.md section 4.2). */
export const receiptView = (receipt: JsonObject, sentence: string): View => ({
  columns: receiptColumns,
  rows: [[receipt.pr, receipt.ok, receipt.delivery, receipt.message ?? sentence]],
  sentence,
})
