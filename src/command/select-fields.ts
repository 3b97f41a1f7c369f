import { anyField } from '../api/operations/fields.ts'
import { type MergeqError, usageError } from '../base/errors.ts'
import { get, isObject, type Json, type JsonObject } from '../base/json.ts'
import type { FieldSelection } from '../output/printer.ts'
import { findSimilarField, type RecordFields } from './fields.ts'

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
      typed.map(name => ({ title: name, path: name, format: keepsFormats ? formatOf(name) : 'plain' })),
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
