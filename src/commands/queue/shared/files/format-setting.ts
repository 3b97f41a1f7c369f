import { type Json, stringifyJson } from '../../../../base/json.ts'

/** Formats a value for a plan: text as it is, everything else as JSON. */
export const formatValue = (value: Json | undefined): string =>
  typeof value === 'string' ? value : stringifyJson(value ?? null)

/** Formats a value for people: yes or no, a list with commas, `none` for nothing, `-` for no value. */
export function formatSetting(value: Json | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(formatSetting).join(', ')
  return value === undefined ? '-' : formatValue(value)
}
