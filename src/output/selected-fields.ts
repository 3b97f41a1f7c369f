import { get, getArray, type Json, type JsonObject } from '../json.ts'
import { pickFields } from './pick-fields.ts'
import type { ColumnFormat, View } from './view.ts'

/** A field that `--fields` selects. */
export interface SelectedField {
  /** The name as it was typed: the title of its column. */
  readonly name: string
  /** The path of the value in a record; undefined for a column of the table that no field has. */
  readonly path?: string | undefined
  /** The column of the table that was named, and the path of its value in what its row is made from. */
  readonly column?: { readonly title: string; readonly path: string }
  /** The format of the field on a terminal. */
  readonly format: ColumnFormat
}

/** The fields that `--fields` selects, in their order. */
export interface FieldSelection {
  readonly fields: readonly SelectedField[]
  /** The field of a record that lists what the rows are made from; undefined where each record has a row. */
  readonly rowsIn?: string | undefined
}

/** Returns a record with the selected fields only, nested as before. */
export const pickSelected = (record: JsonObject, { fields }: FieldSelection): JsonObject =>
  pickFields(
    record,
    fields.flatMap(({ path }) => path ?? []),
  )

/**
 * Returns the table of the selected fields: a row for each record or, if a column of the table was named, the
 * rows of the table. `keepsFormats` formats each field as its column on a terminal.
 */
export function viewSelected(
  records: readonly JsonObject[],
  createView: (records: readonly JsonObject[]) => View,
  { fields, rowsIn }: FieldSelection,
  keepsFormats: boolean,
): View {
  const columns = fields.map(({ name, format }) => ({
    title: name,
    format: keepsFormats ? format : ('plain' as const),
  }))
  const valueIn = (record: JsonObject | undefined, { path, column }: SelectedField) =>
    get(record, path ?? column?.path ?? '')
  const perRecord = () => records.map(record => fields.map(field => valueIn(record, field)))
  if (fields.every(({ column }) => column === undefined)) return { columns, rows: perRecord() }
  const whole = createView(records)
  const indexes = fields.map(({ column }) => whole.columns.findIndex(({ title }) => title === column?.title))
  // A table with names and values has a row for each field, and not for each record.
  if (rowsIn === undefined && indexes.every(index => index < 0)) return { columns, rows: perRecord() }
  const items = rowsIn === undefined ? records : records.flatMap(record => getArray(record, rowsIn))
  const rows = whole.rows.map((row, rowIndex) => {
    // The rows of a list that a record contains repeat the other fields of the record.
    const record = records[whole.rows.length === records.length ? rowIndex : 0]
    return fields.map((field, index): Json | undefined => {
      if (field.column === undefined) return valueIn(record, field)
      const cell = indexes[index] ?? -1
      return cell < 0 ? get(items[rowIndex], field.column.path) : row[cell]
    })
  })
  return { columns, rows }
}
