import type { Operation } from '../../api/operation.ts'
import { receiptFields } from '../../api/receipt.ts'
import { type ColumnSpec, receiptColumns } from '../../output/view.ts'

/** What `--fields` can select from the records of a command (docs/reference/cli.md, "Selecting fields"). */
export interface RecordFields {
  /**
   * The dotted names of the fields. A name that ends with `.<name>` matches every field of an object.
   */
  readonly names: readonly string[]
  /**
   * The columns of the table, on a pipe and on a terminal, each with the path of its value in the record
   * that its row is made from. A path that is not in `names` is a column that no field has.
   */
  readonly columns: readonly ColumnSpec[]
  /** The field that lists what the rows are made from; without it each record has a row. */
  readonly rowsIn?: string
  /**
   * Which other names are valid: `at-hand`, those that a record of the response has; `any`, every name, for
   * a change, which must not end with a usage error after it was sent. Without it none is.
   */
  readonly others?: 'at-hand' | 'any'
}

/**
 * The fields of a command: known in advance, or, for a command that calls any operation, by what was typed.
 */
export type FieldsDefinition = RecordFields | ((typed: TypedArgs) => RecordFields)

/** The arguments and options that were typed. */
type TypedArgs = ReadonlyMap<string, readonly string[]>

/** The fields of a receipt. */
export const receiptRecord: RecordFields = { names: receiptFields, columns: receiptColumns }

/** Returns the fields of what the service responds to a read: it may add fields. */
export const serviceRecord = (
  { fields = [] }: Pick<Operation, 'fields'>,
  columns: readonly ColumnSpec[],
  rowsIn?: string,
): RecordFields => ({
  names: fields,
  columns,
  ...(rowsIn === undefined ? {} : { rowsIn }),
  others: 'at-hand',
})

/** Returns the fields of a command that prints records of several kinds. */
export const combineFields = (...all: readonly RecordFields[]): RecordFields => ({
  names: [...new Set(all.flatMap(({ names }) => names))],
  columns: all
    .flatMap(({ columns }) => columns)
    .filter(([title], index, columns) => columns.findIndex(([other]) => other === title) === index),
})
