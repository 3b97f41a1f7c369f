import type { Params } from '../api/operation.ts'
import { MergeqError } from '../base/errors.ts'
import { isObject, type Json, type JsonObject } from '../base/json.ts'
import { repository, type Type } from '../values/types.ts'

export const statusError = (status: number, message: string): MergeqError =>
  new MergeqError('refused', message, { status })

/** A type whose values requests contain; its `check` throws an error for another value. */
export type FieldType<T> = Pick<Type<T>, 'expected' | 'check'>

/** A type that the operations do not have; `check` returns undefined for a value that is not accepted. */
export const fieldType = <T>(expected: string, check: (value: unknown) => T | undefined): FieldType<T> => ({
  expected,
  check(value) {
    const checked = check(value)
    if (checked === undefined) throw statusError(400, `The value must be ${expected}.`)
    return checked
  },
})

export const nonEmptyText = fieldType('a non-empty string', value =>
  typeof value === 'string' && value !== '' ? value : undefined,
)

/** Returns a value as its type reads it; throws 400 with its path for a bad or missing value. */
export function checkValue<T>(value: unknown, path: string, type: FieldType<T>): T {
  try {
    return type.check(value)
  } catch {
    throw statusError(400, `${path} must be ${type.expected}.`)
  }
}

/** Returns the value at a path such as `pr.number`. A key that itself contains a dot never matches. */
const getField = (body: JsonObject, path: string): Json | undefined =>
  path
    .split('.')
    .reduce<Json | undefined>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      body,
    )

/** Parses the body of a request; throws 400 unless it is a JSON object. */
export function parseBody(text: string): JsonObject {
  let body: Json
  try {
    body = JSON.parse(text)
  } catch {
    throw statusError(400, 'The body is not valid JSON.')
  }
  if (!isObject(body)) throw statusError(400, 'The body must be a JSON object.')
  return body
}

/** A program may name a repository by a text; in a request it is an object. */
const repositoryObject = fieldType('an object with host, owner and name', value =>
  typeof value === 'object' ? repository.check(value) : undefined,
)

const bodyPrefix = 'body.'

/** Throws 400 for a bad or missing value. The sandbox's own: null counts as left out. */
export function readParams(params: Params, body: JsonObject): Readonly<Record<string, unknown>> {
  const fields = Object.entries(params)
    .filter(([, { location }]) => location?.startsWith(bodyPrefix))
    .map(([name, { location = '', type, required = false }]) => {
      const path = location.slice(bodyPrefix.length)
      return { name, path, type, required, value: getField(body, path) }
    })
  const missing = fields.filter(({ required, value }) => required && value === undefined)
  if (missing.length > 0)
    throw statusError(400, `The body must contain ${missing.map(({ path }) => path).join(', ')}.`)
  return Object.fromEntries(
    fields
      .filter(({ required, value }) => required || (value ?? undefined) !== undefined)
      .map(({ name, path, type, value }) => [
        name,
        checkValue<unknown>(value, path, type === repository ? repositoryObject : type),
      ]),
  )
}
