import { type Operation, operationName } from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { maxPullRequestNumber, type Repository } from '../domain/values/parsers.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Targets } from './engine/queue.ts'
import { statusError } from './error-status.ts'
import { priorityNamed } from './records.ts'

/** What requests hold, read out of their bodies. Whatever cannot be read is refused with 400 and the field's name. */

const inBody = 'body.'

/** The body's fields that an operation needs, as the contract's rows say (service-api.md section 4). */
const needed: ReadonlyMap<string, readonly string[]> = new Map(
  serviceOperations.map(({ route, params }: Operation) => [
    operationName(route),
    Object.values(params).flatMap(({ required = false, location: place = '' }) =>
      required && place.startsWith(inBody) ? [place.slice(inBody.length)] : [],
    ),
  ]),
)

/** The value at a path, by its own keys alone: `{"pr.number":1}` has no `pr.number`. */
export const valueIn = (body: JsonObject, path: string): Json | undefined =>
  path
    .split('.')
    .reduce<Json | undefined>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      body,
    )

/** The JSON object of a body that has all fields which the operation needs. */
export function bodyOf(text: string, operation: string): JsonObject {
  const body = parsed(text)
  if (!isObject(body)) throw statusError(400, 'The body must be a JSON object.')
  const missing = (needed.get(operation) ?? []).filter(path => valueIn(body, path) === undefined)
  if (missing.length > 0) throw statusError(400, `The body lacks ${missing.join(', ')}.`)
  return body
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    throw statusError(400, 'The body is not JSON.')
  }
}

/** The text at a path, not empty. */
export function textIn(body: JsonObject, path: string): string {
  const value = valueIn(body, path)
  if (typeof value !== 'string' || value === '')
    throw statusError(400, `${path} must be text that is not empty.`)
  return value
}

/** The text at a path, or nothing when it is absent or null. */
export const textOrNoneIn = (body: JsonObject, path: string): string | undefined =>
  (valueIn(body, path) ?? undefined) === undefined ? undefined : textIn(body, path)

/** The repository of a request (service-api.md section 2.1). */
export const repositoryIn = (body: JsonObject): Repository => ({
  host: textIn(body, 'repo.host'),
  owner: textIn(body, 'repo.owner'),
  name: textIn(body, 'repo.name'),
})

/** The whole number at a path, between two bounds, both inclusive. */
export function wholeIn(body: JsonObject, path: string, least: number, most: number): number {
  const value = valueIn(body, path)
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw statusError(400, `${path} must be a whole number from ${least} to ${most}.`)
  return value
}

/** The number of a pull request: from 0, for targets from 1 (service-observed.md section 1.1). */
export const pullRequestIn = (body: JsonObject, least: 0 | 1 = 0): number =>
  wholeIn(body, 'pr.number', least, maxPullRequestNumber)

/** A yes or no, or nothing when it is absent. */
export function flagIn(body: JsonObject, path: string): boolean | undefined {
  const value = valueIn(body, path)
  if (value !== undefined && typeof value !== 'boolean')
    throw statusError(400, `${path} must be true or false.`)
  return value
}

/** A priority, by name or number; null asks for the default (service-observed.md section 2.1). */
export function priorityIn(body: JsonObject): number | 'default' | undefined {
  const value = body.priority
  if (value === undefined) return undefined
  if (value === null) return 'default'
  const named = typeof value === 'string' ? priorityNamed(value) : undefined
  return named ?? wholeIn(body, 'priority', 0, 255)
}

const isText = (value: Json): value is string => typeof value === 'string'

/** What a pull request impacts (service-api.md section 4.1). */
export function targetsIn({ impactedTargets }: JsonObject): Targets {
  if (impactedTargets === 'ALL') return impactedTargets
  if (Array.isArray(impactedTargets) && impactedTargets.every(isText)) return new Set(impactedTargets)
  throw statusError(400, 'impactedTargets must be a list of strings or "ALL".')
}

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** An instant in RFC 3339, in milliseconds since 1970. */
export function instantIn(body: JsonObject, path: string): number {
  const text = textIn(body, path)
  const instant = dateTime.test(text) ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(instant)) throw statusError(400, `${path} must be a date-time like 2026-01-05T09:30:00Z.`)
  return instant
}
