import type { Param, Params } from '../api/params.ts'
import { MergeqError } from '../base/errors.ts'
import { get, isObject, type Json, type JsonObject } from '../base/json.ts'
import type { Repository } from '../values/repository.ts'
import { repository, type Type } from '../values/types.ts'

export const statusError = (status: number, message: string): MergeqError =>
  new MergeqError('refused', message, { status })

/** Throws 400 for a text that is missing or empty. */
export function requireText(value: unknown, path: string): void {
  if (typeof value !== 'string' || value === '') throw statusError(400, `${path} must be a non-empty string.`)
}

/** Returns a value as its type reads it; throws 400 with its path for a bad or missing value. */
export function checkValue<T>(value: unknown, path: string, type: Type<T>): T {
  try {
    return type.check(value)
  } catch {
    throw statusError(400, `${path} must be ${type.expected}.`)
  }
}

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
const repositoryObject: Type<Repository> = {
  ...repository,
  expected: 'an object with host, owner and name',
  check: value => repository.check(typeof value === 'object' ? value : undefined),
}

/** Returns the type of a param as a body has its value. */
function typeInBody({ type, takesText = false }: Param<unknown>): Type<unknown> {
  if (type === repository) return repositoryObject
  const check = (value: unknown) => (typeof value === 'string' ? type.parse(value) : type.check(value))
  return takesText ? { ...type, check } : type
}

const bodyPrefix = 'body.'

/** Throws 400 for a bad or missing value. The sandbox's own: null counts as left out. */
export function readParams(params: Params, body: JsonObject): Readonly<Record<string, unknown>> {
  const fields = Object.entries(params)
    .filter(([, { location }]) => location?.startsWith(bodyPrefix))
    .map(([name, param]) => {
      const path = (param.location ?? '').slice(bodyPrefix.length)
      return { name, path, type: typeInBody(param), required: param.required, value: get(body, path) }
    })
  const missing = fields.filter(({ required, value }) => required && value === undefined)
  if (missing.length > 0)
    throw statusError(400, `The body must contain ${missing.map(({ path }) => path).join(', ')}.`)
  return Object.fromEntries(
    fields
      .filter(({ required, value }) => required || (value ?? undefined) !== undefined)
      .map(({ name, path, type, value }) => [name, checkValue(value, path, type)]),
  )
}
