import { type Operation, operationName } from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { maxPullRequestNumber } from '../domain/values/pull-request.ts'
import type { Repository } from '../domain/values/repository.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { TargetSet } from './engine/queue.ts'
import { booleanField, checkField, integerField, isString, nonEmptyTextField } from './field-types.ts'
import { findPriority } from './response-records.ts'
import type { QueueRef } from './sandbox-state.ts'
import { statusError } from './status-error.ts'

/**
 * Readers of request bodies. Each throws status 400 with the name of the field for a value that it does not
 * accept.
 */

const bodyPrefix = 'body.'

const requiredFields: ReadonlyMap<string, readonly string[]> = new Map(
  serviceOperations.map(({ route, params }: Operation) => [
    operationName(route),
    Object.values(params).flatMap(({ required = false, location = '' }) =>
      required && location.startsWith(bodyPrefix) ? [location.slice(bodyPrefix.length)] : [],
    ),
  ]),
)

/** Returns the value at a path such as `pr.number`. A key that itself contains a dot never matches. */
export const getField = (body: JsonObject, path: string): Json | undefined =>
  path
    .split('.')
    .reduce<Json | undefined>(
      (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      body,
    )

/** Throws 400 unless the body is a JSON object with all fields that the operation requires. */
export function parseBody(text: string, operation: string): JsonObject {
  const body = parseJson(text)
  if (!isObject(body)) throw statusError(400, 'The body must be a JSON object.')
  const missing = (requiredFields.get(operation) ?? []).filter(path => getField(body, path) === undefined)
  if (missing.length > 0) throw statusError(400, `The body must contain ${missing.join(', ')}.`)
  return body
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    throw statusError(400, 'The body is not valid JSON.')
  }
}

export const readText = (body: JsonObject, path: string): string =>
  checkField(getField(body, path), path, nonEmptyTextField)

export const readOptionalText = (body: JsonObject, path: string): string | undefined =>
  (getField(body, path) ?? undefined) === undefined ? undefined : readText(body, path)

export const readRepository = (body: JsonObject): Repository => ({
  host: readText(body, 'repo.host'),
  owner: readText(body, 'repo.owner'),
  name: readText(body, 'repo.name'),
})

export const readQueueRef = (body: JsonObject): QueueRef => ({
  repo: readRepository(body),
  targetBranch: readText(body, 'targetBranch'),
})

export const readInteger = (body: JsonObject, path: string, min: number, max: number): number =>
  checkField(getField(body, path), path, integerField(min, max))

/** From 1 for setImpactedTargets, otherwise from 0 (docs/reference/service.md, "Common fields"). */
export const readPullRequestNumber = (body: JsonObject, min: 0 | 1 = 0): number =>
  readInteger(body, 'pr.number', min, maxPullRequestNumber)

export function readOptionalBoolean(body: JsonObject, path: string): boolean | undefined {
  const value = getField(body, path)
  return value === undefined ? undefined : checkField(value, path, booleanField)
}

/**
 * Reads a priority, a name or a number from 0 to 255; null is the default priority
 * (docs/reference/service.md, "submitPullRequest").
 */
export function readPriority(body: JsonObject): number | 'default' | undefined {
  const value = body.priority
  if (value === undefined) return undefined
  if (value === null) return 'default'
  const named = typeof value === 'string' ? findPriority(value) : undefined
  return named ?? readInteger(body, 'priority', 0, 255)
}

export function readTargets({ impactedTargets }: JsonObject): TargetSet {
  if (impactedTargets === 'ALL') return impactedTargets
  if (Array.isArray(impactedTargets) && impactedTargets.every(isString)) return new Set(impactedTargets)
  throw statusError(400, 'impactedTargets must be a list of strings or "ALL".')
}

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** Reads an RFC 3339 date-time; returns milliseconds since 1970. */
export function readTime(body: JsonObject, path: string): number {
  const text = readText(body, path)
  const time = dateTime.test(text) ? Date.parse(text.toUpperCase().replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(time)) throw statusError(400, `${path} must be a date-time like 2026-01-05T09:30:00Z.`)
  return time
}
