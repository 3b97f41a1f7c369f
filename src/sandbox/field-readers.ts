import { maxInteger } from '../domain/values/numbers.ts'
import type { Json, JsonObject } from '../json.ts'
import { statusError } from './status-error.ts'

/** How a value is read, and what it must be if it cannot. */
export interface Reader<T> {
  readonly must: string
  read(value: Json): T | undefined
}

/** Yes or no. */
export const booleanReader: Reader<boolean> = {
  must: 'true or false',
  read: value => (typeof value === 'boolean' ? value : undefined),
}

/** A whole number from a least one on (service-observed.md section 3.1). */
export const integerReader = (least: number): Reader<number> => ({
  must: `a whole number from ${least} to ${maxInteger}`,
  read: value =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= maxInteger
      ? value
      : undefined,
})

/** One of a few words; requests may use either case (service-observed.md section 1.4). */
export const choiceReader = <const W extends string>(...words: readonly W[]): Reader<W> => ({
  must: `one of ${words.join(', ')}`,
  read: value => words.find(word => typeof value === 'string' && value.toLowerCase() === word),
})

/** Text that says something. */
export const textReader: Reader<string> = {
  must: 'text that is not empty',
  read: value => (typeof value === 'string' && value !== '' ? value : undefined),
}

const isString = (value: Json): value is string => typeof value === 'string'

/** Strings, any number of them. */
export const stringListReader: Reader<readonly string[]> = {
  must: 'a list of strings',
  read: value => (Array.isArray(value) && value.every(isString) ? value : undefined),
}

/** The value of a field, or what was before; a value that cannot be read is refused with 400 and its name. */
export function readField<T>(document: JsonObject, key: string, { must, read }: Reader<T>, before: T): T {
  const value = Object.hasOwn(document, key) ? document[key] : undefined
  if (value === undefined) return before
  const found = read(value)
  if (found === undefined) throw statusError(400, `${key} must be ${must}.`)
  return found
}
