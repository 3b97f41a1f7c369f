import { get, getArray, isObject, type Json, type JsonObject } from '../json.ts'
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
  view(
    records: readonly JsonObject[],
    createView: (records: readonly JsonObject[]) => View,
    keepsFormats: boolean,
  ): View
}

const valueIn = (record: JsonObject | undefined, { path, column }: SelectedField): Json | undefined =>
  get(record, path ?? column?.path ?? '')

/**
 * Creates the selection of fields, in their order. `rowsIn` is the field of a record that lists what the rows
 * of the table are made from; without it each record has a row.
 */
export function createFieldSelection(
  fields: readonly SelectedField[],
  rowsIn: string | undefined,
): FieldSelection {
  const paths = fields.flatMap(({ path }) => path ?? [])
  const rowsOf = (
    records: readonly JsonObject[],
    createView: (records: readonly JsonObject[]) => View,
  ): View['rows'] => {
    const perRecord = () => records.map(record => fields.map(field => valueIn(record, field)))
    if (fields.every(({ column }) => column === undefined)) return perRecord()
    const whole = createView(records)
    const indexes = fields.map(({ column }) =>
      whole.columns.findIndex(({ title }) => title === column?.title),
    )
    // A table with names and values has a row for each field, and not for each record.
    if (rowsIn === undefined && indexes.every(index => index < 0)) return perRecord()
    const items = rowsIn === undefined ? records : records.flatMap(record => getArray(record, rowsIn))
    return whole.rows.map((row, rowIndex) => {
      // The rows of a list that a record contains repeat the other fields of the record.
      const record = records[whole.rows.length === records.length ? rowIndex : 0]
      return fields.map((field, index) => {
        if (field.column === undefined) return valueIn(record, field)
        const cell = indexes[index] ?? -1
        return cell < 0 ? get(items[rowIndex], field.column.path) : row[cell]
      })
    })
  }
  return {
    names: fields.map(({ name }) => name),
    pick: record => pickFields(record, paths),
    view: (records, createView, keepsFormats) => ({
      columns: fields.map(({ name, format }) => ({ title: name, format: keepsFormats ? format : 'plain' })),
      rows: rowsOf(records, createView),
    }),
  }
}

/** Returns a record with the named fields only, nested as before. */
export function pickFields(record: JsonObject, fields: readonly string[]): JsonObject {
  const selected: Record<string, Json> = Object.create(null)
  for (const field of fields) {
    const value = get(record, field)
    if (value !== undefined)
      setNested(selected, Object.hasOwn(record, field) ? [field] : field.split('.'), value)
  }
  return selected
}

function setNested(target: Record<string, Json>, path: readonly string[], value: Json): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    target[key] = value
    return
  }
  const selected = target[key]
  // A list that is selected as a whole contains the fields of its items.
  if (selected !== undefined && !isObject(selected)) return
  const child: Record<string, Json> = Object.assign(Object.create(null), selected)
  target[key] = child
  setNested(child, rest, value)
}
