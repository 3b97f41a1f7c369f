import { get, isObject, type Json, type JsonObject } from '../json.ts'

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
