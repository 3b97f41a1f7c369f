import { isChange, type Operation, receiptFields } from '../api/operation.ts'
import { fieldNames } from '../api/operations/fields.ts'
import { type ColumnSpec, receiptColumns } from '../output/view.ts'

/** What `--fields` can select from the records of a command (docs/reference/cli.md, "Selecting fields"). */
export interface RecordFields {
  /** The dotted names of the fields. A name that ends in `.<name>` stands for every field of an object. */
  readonly names: readonly string[]
  /**
   * The columns of the table, on a pipe and on a terminal, each with a path into the record that its row is
   * made from. A path that is not in `names` belongs to a column that JSON does not have.
   */
  readonly columns: readonly ColumnSpec[]
  /** The field with the list from which the rows are made; without it, there is a row for each record. */
  readonly rowsIn?: string
  /**
   * Which names are valid in addition to `names`: with `from-response`, those of the records in the response; with
   * `any`, all, because a change must not end with a usage error after it was sent. Without it, none are.
   */
  readonly others?: 'from-response' | 'any'
}

/** The fields of a command, or a function that finds them, for a command that calls any operation. */
export type FieldsDefinition = RecordFields | ((typed: TypedArgs) => RecordFields)

type TypedArgs = ReadonlyMap<string, readonly string[]>

export const receiptRecord: RecordFields = { names: receiptFields, columns: receiptColumns }

/** Returns what `--fields` can select from what a command prints; undefined where only its records say it. */
export function fieldsOf(
  { fields, operation }: { readonly fields?: FieldsDefinition; readonly operation?: Operation },
  typed: TypedArgs,
): RecordFields | undefined {
  if (fields === undefined && operation !== undefined && isChange(operation)) return receiptRecord
  return typeof fields === 'function' ? fields(typed) : fields
}

/** Records of the service may have further fields, because the service can add some. */
export const serviceRecord = (
  { response }: Pick<Operation, 'response'>,
  columns: readonly ColumnSpec[],
  rowsIn?: string,
): RecordFields => ({
  names: response === undefined ? [] : fieldNames(response),
  columns,
  ...(rowsIn === undefined ? {} : { rowsIn }),
  others: 'from-response',
})

export const combineFields = (...all: readonly RecordFields[]): RecordFields => ({
  names: [...new Set(all.flatMap(({ names }) => names))],
  columns: all
    .flatMap(({ columns }) => columns)
    .filter(([title], index, columns) => columns.findIndex(([other]) => other === title) === index),
})
