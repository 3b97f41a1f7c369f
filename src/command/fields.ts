import { isChange, type Operation } from '../api/operation.ts'
import { fieldNames, outline, type RecordType } from '../api/operations/fields.ts'
import { receiptRecord } from '../api/operations/receipts.ts'
import { type Column, receiptColumns } from '../output/view.ts'
import { findSimilarName } from '../values/similar-name.ts'

/**
 * What the command prints on standard output: one text for every format, or a text for each. Other formats
 * have the rows of the table.
 */
export type OutputDoc = string | Readonly<Record<'table' | 'json' | 'ndjson', string>>

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
  readonly others?: 'from-response' | 'any'
}

/** The fields of a command, or a function that finds them, where they depend on what was typed. */
export type FieldsDefinition = RecordFields | ((typed: TypedArgs) => RecordFields)

type TypedArgs = ReadonlyMap<string, readonly string[]>

/** The fields of records, of which a command prints one or several; the columns have their formats. */
export const fieldsOfRecords = (
  records: readonly (RecordType | undefined)[],
  columns: readonly Column[] = [],
  others?: RecordFields['others'],
): RecordFields => ({
  // Few runs ask for them.
  get names() {
    return [...new Set(records.flatMap(record => (record === undefined ? [] : fieldNames(record))))]
  },
  columns,
  ...(others === undefined ? {} : { others }),
})

/** The fields of a record of the service, which may have further ones, because the service can add some. */
export const serviceFields = (record: RecordType | undefined, columns?: readonly Column[]): RecordFields =>
  fieldsOfRecords([record], columns, 'from-response')

export const receiptFields = fieldsOfRecords([receiptRecord], receiptColumns)

/** Returns what `--fields` can select from what a command prints; undefined where only its records say it. */
export function fieldsOf(
  { fields, operation }: { readonly fields?: FieldsDefinition; readonly operation?: Operation },
  typed: TypedArgs,
): RecordFields | undefined {
  if (fields === undefined && operation !== undefined && isChange(operation)) return receiptFields
  return typeof fields === 'function' ? fields(typed) : fields
}

/** Returns the nearest name of a field. A name also counts by its last part: `reason` for `status.reason`. */
export function findSimilarField(name: string, names: readonly string[]): string | undefined {
  const lastPart = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const part = findSimilarName(name, [...new Set(names.map(lastPart))])
  return findSimilarName(name, names) ?? names.find(known => lastPart(known) === part)
}

/** Returns what a command prints: what it says itself, or what follows from its first operation. */
export function outputOf(operation: Operation | undefined, prints: OutputDoc | undefined): OutputDoc {
  if (prints !== undefined || operation === undefined) return prints ?? 'nothing'
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
    ndjson: 'the same, on one line',
  }
}
