import { isChange, type Operation } from '../api/operation.ts'
import { type Field, fieldNames, fieldOf, list, outline, type RecordType } from '../api/operations/fields.ts'
import { receiptRecord } from '../api/receipts.ts'
import { type Column, receiptColumns } from '../output/view.ts'
import { findSimilarName } from '../values/similar-name.ts'

/** The formats in the words of help: one text for every format, or a text for each. */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

/** The records of a command. What is left out is that of its operation. */
interface PrintedRecords {
  /** What it prints with --json: one of these documents, or several after each other. */
  readonly documents?: readonly (RecordType | Field)[]
  /** What it prints with the other formats, and what `--fields` selects from, where these are not the documents. */
  readonly records?: readonly RecordType[]
  /** The columns of the table. */
  readonly columns?: readonly Column[]
  /** Whether the records come from the service, which may add fields. */
  readonly isOpen?: boolean
}

/**
 * What a command prints on standard output: what `--fields` knows, the JSON schemas and the help are made from it. Formats
 * without a text of their own have the rows of the table.
 */
export interface Prints extends PrintedRecords {
  /** One text for every format, in the place of the others. */
  readonly text?: string
  /** The table in the words of help; without it, the texts are those of the operation. */
  readonly table?: string
  /** The document of --json; by default, the outline of the first one. */
  readonly json?: string
  /** What is said behind the outline of the document. */
  readonly note?: string
  /** By default, the same on one line. */
  readonly ndjson?: string
  /** What it prints where one of some options is typed. */
  readonly with?: PrintedRecords & { readonly options: readonly string[] }
  /** Finds what `--fields` can select, where that depends on the words that were typed. */
  fields?(typed: TypedArgs): RecordFields
}

/** What `--fields` can select from the records of a command (docs/reference/cli.md, "Selecting fields"). */
export interface RecordFields {
  /** The dotted names of the fields. A name that ends in `.<name>` stands for every field of an object. */
  readonly names: readonly string[]
  /** The columns of the table: a field has the format of the column with its path. */
  readonly columns: readonly Column[]
  /**
   * Which names are valid in addition to `names`: with `from-response`, those of the records in the response; with
   * `any`, all, because a change must not end with a usage error after it was sent. Without it, none are.
   */
  readonly others?: 'from-response' | 'any' | undefined
}

type TypedArgs = ReadonlyMap<string, readonly string[]>

/** A command, as far as what it prints follows from it. */
export interface PrintingCommand {
  readonly operation?: Operation
  readonly prints?: string | Prints
}

/** The fields of records, of which a command prints one or several; the columns have their formats. */
export const fieldsOfRecords = (
  records: readonly RecordType[],
  columns: readonly Column[] = [],
  others?: RecordFields['others'],
): RecordFields => ({
  // Few runs ask for them.
  get names() {
    return [...new Set(records.flatMap(fieldNames))]
  },
  columns,
  others,
})

/** What a command says itself of what it prints. */
export const ownPrints = ({ prints = {} }: PrintingCommand): Prints =>
  typeof prints === 'string' ? { text: prints, documents: [] } : prints

/** Returns what the records of a command are that sends an operation and says nothing itself. */
function recordsOfOperation(operation: Operation): PrintedRecords {
  const { response, document = response, decoder } = operation
  const documents = [document ?? []].flat()
  const records = [response ?? []].flat()
  if (isChange(operation))
    return {
      documents: [...documents, receiptRecord],
      records: [...records, receiptRecord],
      columns: receiptColumns,
    }
  return decoder.expects === 'text'
    ? { documents: documents.map(each => list(each)), records }
    : { documents, records, isOpen: true }
}

/** Returns the records of a command: its own, or those of its operation. */
export function recordsOf(command: PrintingCommand, own: PrintedRecords): PrintedRecords {
  const { operation } = command
  return own.documents !== undefined || operation === undefined
    ? own
    : { ...recordsOfOperation(operation), ...own }
}

/** Returns what `--fields` can select from what a command prints; undefined where only its records say it. */
export function fieldsOf(command: PrintingCommand, typed: TypedArgs): RecordFields | undefined {
  const { fields, with: others, ...usual } = ownPrints(command)
  if (fields !== undefined) return fields(typed)
  const isOther = others?.options.some(name => typed.has(name))
  const printed = recordsOf(command, isOther ? { ...usual, ...others } : usual)
  const { documents = [], records = documents.flatMap(each => fieldOf(each).record ?? []) } = printed
  return records.length === 0
    ? undefined
    : fieldsOfRecords(records, printed.columns, printed.isOpen ? 'from-response' : undefined)
}

/** Returns the nearest name of a field. A name also counts by its last part: `reason` for `status.reason`. */
export function findSimilarField(name: string, names: readonly string[]): string | undefined {
  const lastPart = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const part = findSimilarName(name, [...new Set(names.map(lastPart))])
  return findSimilarName(name, names) ?? names.find(known => lastPart(known) === part)
}

/** Returns what a command prints, in the words of help: its own, or those that follow from its operation. */
export function outputOf(command: PrintingCommand): OutputDoc {
  const { operation } = command
  const own = ownPrints(command)
  if (own.text !== undefined) return own.text
  const prints = own.table === undefined && operation !== undefined ? wordsOfOperation(operation) : own
  const { table, note, documents = [], ndjson = 'the same, on one line' } = prints
  if (table === undefined) return 'nothing'
  const outlines = documents.slice(0, 1).map(outlineOf)
  const { json = [...outlines, note ?? []].flat().join('; ') } = prints
  return { table, json, ndjson }
}

function outlineOf(document: RecordType | Field): string {
  const { record, isList } = fieldOf(document)
  const text = record && outline(record)
  return isList ? `[${text}]` : `${text}`
}

/** Returns the words for what a command prints that sends an operation and says nothing itself. */
function wordsOfOperation(operation: Operation): Prints {
  if (operation.pages !== undefined)
    return {
      table: 'one row per record',
      json: 'one document from the service with all records, and the time range covered',
      ndjson: 'one record per line, as it arrives',
    }
  if (operation.decoder.expects === 'text' && operation.response !== undefined)
    return {
      table: 'a summary on a terminal; on a pipe, the unchanged text from the service',
      json: `a list of ${outline(operation.response)}`,
      ndjson: 'one sample per line',
    }
  if (operation.decoder.expects === 'json')
    return {
      table: 'a table on a terminal; on a pipe, tab-separated rows',
      json: 'the document from the service, one per request',
      ndjson: 'one document per line',
    }
  return {
    table: 'one sentence; on a pipe, a row with pr, ok, delivery (how sure the result is), message',
    json: `the result of the change (a receipt): ${outline(receiptRecord)}`,
  }
}
