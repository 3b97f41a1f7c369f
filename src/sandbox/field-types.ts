import { maxInteger } from '../domain/values/numbers.ts'
import type { Json, JsonObject } from '../json.ts'
import { statusError } from './status-error.ts'

export interface FieldType<T> {
  readonly expected: string
  /** Returns the typed value; undefined for a value that the type does not accept. */
  parse(value: Json): T | undefined
}

export const booleanField: FieldType<boolean> = {
  expected: 'true or false',
  parse: value => (typeof value === 'boolean' ? value : undefined),
}

/** `max` is by default the largest number of the service (docs/reference/service.md, "Queue settings"). */
export const integerField = (min: number, max = maxInteger): FieldType<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: value =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max ? value : undefined,
})

/** Requests may use either case (docs/reference/service.md, "Case of states"). */
export const choiceField = <const Choice extends string>(
  ...choices: readonly Choice[]
): FieldType<Choice> => ({
  expected: `one of ${choices.join(', ')}`,
  parse: value => choices.find(choice => typeof value === 'string' && value.toLowerCase() === choice),
})

export const nonEmptyTextField: FieldType<string> = {
  expected: 'a non-empty string',
  parse: value => (typeof value === 'string' && value !== '' ? value : undefined),
}

export const isString = (value: Json): value is string => typeof value === 'string'

export const stringListField: FieldType<readonly string[]> = {
  expected: 'a list of strings',
  parse: value => (Array.isArray(value) && value.every(isString) ? value : undefined),
}

/** Reads a field; an absent field has the default value. Throws 400 with the field's name for a bad value. */
export function readField<T>(document: JsonObject, name: string, type: FieldType<T>, defaultValue: T): T {
  const value = Object.hasOwn(document, name) ? document[name] : undefined
  return value === undefined ? defaultValue : checkField(value, name, type)
}

/** Returns a value as its type reads it; throws 400 with the field's name for a bad or missing value. */
export function checkField<T>(value: Json | undefined, name: string, { expected, parse }: FieldType<T>): T {
  const parsed = value === undefined ? undefined : parse(value)
  if (parsed === undefined) throw statusError(400, `${name} must be ${expected}.`)
  return parsed
}
