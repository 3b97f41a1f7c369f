import { isChange, type Operation, receiptFields } from '../api/operation.ts'
import { anyField, fieldNames } from '../api/operations/fields.ts'
import { findSimilarName } from '../domain/similar-name.ts'
import { type MergeqError, usageError } from '../errors.ts'
import { get, getArray, isObject, type Json, type JsonObject } from '../json.ts'
import type { FieldSelection, Printable } from '../output/printer.ts'
import { type ColumnFormat, type ColumnSpec, receiptColumns, type View } from '../output/view.ts'

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

/** A field that `--fields` selects. */
interface SelectedField {
  /** The name as it was typed: the title of its column. */
  readonly name: string
  /** The path of the value in a record; undefined for a column of the table that no field has. */
  readonly path?: string
  /** The column of the table that was named, and the path of its value in what its row is made from. */
  readonly column?: { readonly title: string; readonly path: string }
  readonly format: ColumnFormat
}

/**
 * Creates the selection of the fields that were typed, in their order. Throws a usage error for a name that no
 * record of the command has; its `check` throws it for a name that the first records do not have.
 *
 * @param fields the fields of the command; undefined where only the records say them
 */
export function selectFields(
  typed: readonly string[],
  fields: RecordFields = { names: [], columns: [], others: 'from-response' },
  isJson: boolean,
): FieldSelection {
  const found = typed.map(name => findField(name, fields, isJson))
  const unknown = typed.filter((_, index) => found[index] === undefined)
  if (unknown.length > 0 && fields.others === undefined) throw unknownFieldsError(unknown, fields, isJson)
  const selected = typed.map(
    (name, index): SelectedField => found[index] ?? { name, path: name, format: 'plain' },
  )
  const paths = selected.flatMap(({ path }) => path ?? [])
  let isChecked = unknown.length === 0 || fields.others === 'any'
  return {
    names: typed,
    check(records) {
      if (isChecked || records.length === 0) return
      isChecked = true
      const missing = unknown.filter(name => !records.some(record => hasField(record, name)))
      const others = new Set<string>()
      for (const record of records) collectNames(record, '', others)
      if (missing.length > 0) throw unknownFieldsError(missing, fields, isJson, [...others])
    },
    pick: record => pickFields(record, paths),
    view: (records, createView, keepsFormats) => ({
      columns: selected.map(({ name, format }) => ({ title: name, format: keepsFormats ? format : 'plain' })),
      rows: selectCells(selected, fields.rowsIn, records, createView),
    }),
  }
}

const includesField = (names: readonly string[], name: string): boolean =>
  names.some(known =>
    known.endsWith(anyField) ? name.startsWith(known.slice(0, 1 - anyField.length)) : known === name,
  )

const normalizeHeading = (heading: string): string => heading.toLowerCase().replaceAll(/[\s_]+/g, ' ')

/**
 * Returns the field that a name selects: a field, else a column of the table in any case and with `_` for a
 * space, else a field in another case. Undefined if there is none. JSON has only columns with a field.
 */
function findField(
  name: string,
  { names, columns, rowsIn }: RecordFields,
  isJson: boolean,
): SelectedField | undefined {
  const byName = (path: string): SelectedField => {
    const column = rowsIn === undefined ? columns.find(([, columnPath]) => columnPath === path) : undefined
    return { name, path, format: column?.[2] ?? 'plain' }
  }
  const column = columns.find(([title]) => normalizeHeading(title) === normalizeHeading(name))
  // A table has no objects: a name of an object and of a column with a part of it is the column.
  const isPart = !isJson && column?.[1].startsWith(`${name}.`) === true
  if (includesField(names, name) && !isPart) return byName(name)
  if (column !== undefined) {
    const [title, columnPath, format = 'plain'] = column
    const path = rowsIn === undefined ? columnPath : `${rowsIn}.${columnPath}`
    const isField = includesField(names, path)
    if (isField || !isJson)
      return { name, ...(isField ? { path } : {}), column: { title, path: columnPath }, format }
  }
  const known = names.find(known => known.toLowerCase() === name.toLowerCase())
  return known === undefined ? undefined : byName(known)
}

/** Whether a name selects a field or a column of records. */
export const isNameIn = (fields: RecordFields, name: string): boolean =>
  findField(name, fields, false) !== undefined

const valueIn = (record: JsonObject | undefined, { path, column }: SelectedField): Json | undefined =>
  get(record, path ?? column?.path ?? '')

/**
 * Returns the rows of the selected fields. `rowsIn` is the field of a record that lists what the rows of the
 * table are made from; without it each record has a row.
 */
function selectCells(
  fields: readonly SelectedField[],
  rowsIn: string | undefined,
  records: readonly JsonObject[],
  createView: Printable['view'],
): View['rows'] {
  const perRecord = () => records.map(record => fields.map(field => valueIn(record, field)))
  if (fields.every(({ column }) => column === undefined)) return perRecord()
  const whole = createView(records)
  const indexes = fields.map(({ column }) => whole.columns.findIndex(({ title }) => title === column?.title))
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

/** Returns a record with the named fields only, nested as before. */
function pickFields(record: JsonObject, fields: readonly string[]): JsonObject {
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

const titlesOf = ({ names, columns, rowsIn }: RecordFields, isJson: boolean): readonly string[] =>
  columns
    .filter(([, path]) => !isJson || includesField(names, rowsIn === undefined ? path : `${rowsIn}.${path}`))
    .map(([title]) => title)

/** The longest name of a field of a record that an error lists, in characters. */
const maxNameLength = 60

/**
 * Returns the usage error for unknown names; it lists the fields and the columns.
 *
 * @param others further fields, which the records at hand have
 */
function unknownFieldsError(
  unknown: readonly string[],
  fields: RecordFields,
  isJson: boolean,
  others: readonly string[] = [],
): MergeqError {
  const extra = others.filter(
    name => name.length <= maxNameLength && !includesField(fields.names, name) && !unknown.includes(name),
  )
  const names = [...fields.names, ...extra]
  const titles = [...new Set(titlesOf(fields, isJson))]
  const similar = unknown.flatMap(name => findSimilarField(name, [...names, ...titles]) ?? [])
  const [first = '', ...rest] = unknown
  return usageError(
    rest.length === 0
      ? `--fields: unknown field '${first}'.`
      : `--fields: unknown fields ${unknown.map(name => `'${name}'`).join(', ')}.`,
    [
      ...(similar.length === 0 ? [] : [`Did you mean ${[...new Set(similar)].join(', ')}?`]),
      ...(names.length === 0 ? ['The response has no fields.'] : [`Fields: ${names.join(', ')}`]),
      ...(titles.length === 0 ? [] : [`Columns: ${titles.join(', ')}`]),
    ].join('\n'),
  )
}

/** The names of fields with gh and others, and the names here: the first that a command has is meant. */
export const fieldSynonyms: ReadonlyMap<string, readonly string[]> = new Map([
  ['number', ['prNumber', 'pr', 'PR']],
  ['title', ['prTitle', 'name']],
  ['author', ['prAuthor', 'codeowners']],
  ['status', ['state', 'outcome']],
  ['name', ['branch', 'prTitle']],
  ['headRefOid', ['prSha']],
  ['sha', ['prSha']],
  ['baseRefName', ['prBaseBranch', 'targetBranch']],
  ['createdAt', ['stateChangedAt']],
  ['updatedAt', ['stateChangedAt']],
  ['mergedAt', ['stateChangedAt']],
  ['closedAt', ['stateChangedAt']],
  ['mergeable', ['readiness.gitHubMergeability']],
  ['url', ['html_url']],
])

/** A name also counts by its last part: `reason` for `status.reason`. */
function findSimilarField(name: string, names: readonly string[]): string | undefined {
  const synonym = fieldSynonyms.get(name)?.find(known => names.includes(known))
  if (synonym !== undefined) return synonym
  const candidates = names.filter(known => !known.endsWith(anyField))
  const lastPart = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const whole = findSimilarName(name, candidates)
  if (whole !== undefined) return whole
  const part = findSimilarName(lastPart(name), candidates.map(lastPart))
  return candidates.find(candidate => lastPart(candidate) === part)
}

const maxNames = 200

function hasField(value: Json | undefined, path: string): boolean {
  if (Array.isArray(value)) return value.some(item => hasField(item, path))
  if (!isObject(value)) return false
  if (Object.hasOwn(value, path)) return true
  const dot = path.indexOf('.')
  const key = path.slice(0, Math.max(0, dot))
  return dot > 0 && Object.hasOwn(value, key) && hasField(value[key], path.slice(dot + 1))
}

function collectNames(value: Json | undefined, prefix: string, names: Set<string>): void {
  if (Array.isArray(value)) for (const item of value.slice(0, 1)) collectNames(item, prefix, names)
  if (!isObject(value)) return
  for (const [key, child] of Object.entries(value)) {
    if (names.size >= maxNames) return
    names.add(`${prefix}${key}`)
    collectNames(child, `${prefix}${key}.`, names)
  }
}
