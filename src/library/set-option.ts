import { type BodyOverride, overlaps } from '../api/body-overrides.ts'
import type { Params } from '../api/param.ts'
import { usageError } from '../errors.ts'
import type { Json } from '../json.ts'
import { type OptionReader, optionReader } from './option-readers.ts'

/** Whether a value is JSON: no function, no Date, no number that JSON cannot write. */
function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return true
  if (typeof value === 'number') return Number.isFinite(value)
  return Array.isArray(value)
    ? value.every(isJson)
    : isJsonObject(value) && Object.values(value).every(isJson)
}

const isJsonObject = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Reads the option `set`: fields of the body by their dotted paths. */
export const readSet: OptionReader<readonly BodyOverride[]> = optionReader(
  '{ [path: string]: Json }',
  (value): value is Readonly<Record<string, Json>> => isJsonObject(value) && isJson(value),
  fields =>
    Object.entries(fields).map(([name, value]) => {
      const path = name.split('.')
      if (path.includes(''))
        throw usageError(
          `'${name}' is not a valid path in the body.`,
          'For example: pr.number or concurrency',
        )
      return { path, value }
    }),
)

/** Throws a usage error for a path that `set` gives twice, or that an option gives already. */
export function checkOverrides(
  caller: string,
  overrides: readonly BodyOverride[],
  params: Params,
  options: ReadonlyMap<string, string>,
): void {
  for (const [index, { path }] of overrides.entries()) {
    const name = path.join('.')
    if (overrides.slice(0, index).some(other => overlaps(other.path, path)))
      throw usageError(`${caller}: set contains ${name} twice.`, 'Use each path only once.')
    for (const [option, param] of options) {
      const { location = '', fills = [] } = params[param] ?? {}
      const paths = [...(location.startsWith('body.') ? [location.slice('body.'.length)] : []), ...fills]
      if (paths.some(one => overlaps(one.split('.'), path)))
        throw usageError(
          `${caller}: set ${name} conflicts with ${option}, which sets the same field.`,
          'Use only one of them.',
        )
    }
  }
}
