// What a user adds to the body of a request: `--set` of the command line, `set` of the library.
import { usageError } from '../base/errors.ts'
import { type Json, scanJson } from '../base/json.ts'
import { requireExactNumbers } from '../values/types.ts'
import type { Operation } from './operation.ts'
import { type Param, pullRequestNumber } from './params.ts'

/** A value at a path of the body, set last: it replaces what a param sends there. */
export interface BodyOverride {
  readonly path: readonly string[]
  readonly value: Json
}

/** What a user adds to the bodies of one operation (docs/reference/cli.md, "Fields that mergeq does not know"). */
export interface AddedFields {
  readonly route: Operation['route']
  readonly fields: readonly BodyOverride[]
}

/** Returns what the user of a client adds to the bodies of an operation. */
export const addedFields = (
  { added }: { readonly added?: AddedFields | undefined },
  { route }: Pick<Operation, 'route'>,
): readonly BodyOverride[] => (added?.route === route ? added.fields : [])

const isAt = ({ location }: Param<unknown>, path: readonly string[]): boolean =>
  location?.startsWith('body.') === true && overlaps(location.split('.').slice(1), path)

const overlaps = (one: readonly string[], other: readonly string[]): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key)

/** Whether a body always has the param, so that overrides must not set it: what a request is about, and what it needs. */
export const isAlwaysSent = ({ required = false, type }: Param<unknown>): boolean =>
  required || type === pullRequestNumber

/**
 * Throws a usage error for a path that is given twice, or that a param sets already.
 *
 * @param source what gives the overrides, in messages: `--set`
 * @param setters the params that were given, each with what gave it: `--priority`
 */
export function checkOverrides(
  source: string,
  overrides: readonly BodyOverride[],
  setters: readonly { readonly name: string; readonly param: Param<unknown> }[],
): void {
  for (const [index, { path }] of overrides.entries()) {
    const name = path.join('.')
    if (overrides.slice(0, index).some(other => overlaps(other.path, path)))
      throw usageError(`${source} was given twice for ${name}.`, 'Use each path only once.')
    const setter = setters.find(({ param }) => isAt(param, path))
    if (setter !== undefined)
      throw usageError(
        `${source} ${name} conflicts with ${setter.name}, which sets the same field.`,
        `Use only ${setter.name}.`,
      )
  }
}

/**
 * Parses `path=value`: dots separate the keys; the value is JSON if it parses as JSON, else a string. Throws a
 * usage error for another form, and for a number that would be sent changed.
 */
export function parseOverride(word: string): BodyOverride {
  const equals = word.indexOf('=')
  const path = word.slice(0, equals).split('.')
  if (equals < 1 || path.includes(''))
    throw usageError(
      `'${word}' does not have the form <path>=<value>.`,
      'For example: concurrency=5 or pr.number=7',
    )
  const value = word.slice(equals + 1)
  if (path.length > maxPathLength || scanJson(value).isDeep)
    throw usageError(`'${word.slice(0, 80)}…' has too many levels.`)
  return { path, value: parseValue(value) }
}

const maxPathLength = 100

function parseValue(word: string): Json {
  let value: Json
  try {
    value = JSON.parse(word)
  } catch {
    return word
  }
  requireExactNumbers(word)
  return value
}
