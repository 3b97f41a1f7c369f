import { isChange, type Operation } from '../api/operation.ts'
import { anyField, fieldNames, outline, type RecordType } from '../api/operations/fields.ts'
import { receiptRecord } from '../api/operations/receipts.ts'
import { type MergeqError, usageError } from '../base/errors.ts'
import { get, isObject, type Json, type JsonObject } from '../base/json.ts'
import type { FieldSelection } from '../output/printer.ts'
import { type Column, columns, receiptColumns } from '../output/view.ts'
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

/**
 * Creates the selection of the fields that were typed, in their order. Throws a usage error for a name that no
 * record of the command has; its `check` throws it for a name that the first records do not have.
 *
 * @param fields the fields of the command; undefined where only the records say them
 */
export function selectFields(
  typed: readonly string[],
  fields: RecordFields = { names: [], columns: [], others: 'from-response' },
): FieldSelection {
  const unknown = typed.filter(name => !hasName(fields, name))
  if (unknown.length > 0 && fields.others === undefined) throw unknownFieldsError(unknown, fields.names)
  const formatOf = (name: string) => fields.columns.find(({ path }) => path === name)?.format ?? 'plain'
  let isChecked = unknown.length === 0 || fields.others === 'any'
  return {
    names: typed,
    check(records) {
      if (isChecked || records.length === 0) return
      isChecked = true
      const missing = unknown.filter(name => !records.some(record => hasField(record, name)))
      const others = new Set<string>()
      for (const record of records) collectNames(record, '', others)
      const extra = [...others].filter(
        name => name.length <= maxNameLength && !hasName(fields, name) && !missing.includes(name),
      )
      if (missing.length > 0) throw unknownFieldsError(missing, [...fields.names, ...extra])
    },
    pick: record => pickFields(record, typed),
    columns: keepsFormats =>
      columns(...typed.map(name => [name, name, keepsFormats ? formatOf(name) : 'plain'] as const)),
  }
}

/** Whether a name is that of a documented field. */
export const hasName = ({ names }: RecordFields, name: string): boolean =>
  names.some(known =>
    known.endsWith(anyField) ? name.startsWith(known.slice(0, 1 - anyField.length)) : known === name,
  )

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

/** The longest name of a field of a record that an error lists, in characters. */
const maxNameLength = 60

function unknownFieldsError(unknown: readonly string[], names: readonly string[]): MergeqError {
  const similar = new Set(unknown.flatMap(name => findSimilarField(name, names) ?? []))
  const quoted = unknown.map(name => `'${name}'`).join(', ')
  return usageError(
    `--fields: unknown ${unknown.length === 1 ? 'field' : 'fields'} ${quoted}.`,
    [
      ...(similar.size === 0 ? [] : [`Did you mean ${[...similar].join(', ')}?`]),
      names.length === 0 ? 'The response has no fields.' : `Fields: ${names.join(', ')}`,
    ].join('\n'),
  )
}

/** Returns the nearest name of a field. A name also counts by its last part: `reason` for `status.reason`. */
export function findSimilarField(name: string, names: readonly string[]): string | undefined {
  const lastPart = (path: string) => path.slice(path.lastIndexOf('.') + 1)
  const part = findSimilarName(name, [...new Set(names.map(lastPart))])
  return findSimilarName(name, names) ?? names.find(known => lastPart(known) === part)
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
