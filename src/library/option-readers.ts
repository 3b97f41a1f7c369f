import { hintWithSuggestion } from '../domain/similar-name.ts'
import { parseMoment } from '../domain/time-range.ts'
import { parsePullRequest } from '../domain/values/pull-request.ts'
import { parseRepository, type Repository, repositoryName } from '../domain/values/repository.ts'
import { isMergeqError, usageError, usageHint } from '../errors.ts'

/**
 * Checks the value of an option and returns what is sent for it. Throws a usage error, which begins with the
 * name of the option, for a value of the wrong type and for an invalid value.
 */
export type OptionReader<T> = (value: unknown, name: string) => T

export type OptionReaders = Readonly<Record<string, OptionReader<unknown>>>

/** The values of options; an option that was left out is undefined. */
export type OptionValues<R extends OptionReaders> = {
  readonly [K in keyof R]?: ReturnType<R[K]> | undefined
}

/** Returns a reader of the values of a TypeScript type; `parse` throws a usage error for an invalid value. */
export const optionReader =
  <V, T>(type: string, hasType: (value: unknown) => value is V, parse: (value: V) => T): OptionReader<T> =>
  (value, name) => {
    if (!hasType(value))
      throw usageError(`${name} must be of type ${type}.`, 'Change the value, or omit the option.')
    try {
      return parse(value)
    } catch (error) {
      if (!isMergeqError(error)) throw error
      const { message, details } = error
      const hint = details.hint === usageHint ? `Use a valid ${type}, or omit the option.` : details.hint
      throw usageError(`${name}: ${message}`, hint)
    }
  }

const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isStringOrNumber = (value: unknown): value is string | number => isString(value) || isNumber(value)
const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isString)

export const readBoolean: OptionReader<boolean> = optionReader(
  'boolean',
  (value): value is boolean => typeof value === 'boolean',
  value => value,
)

/** Reads a text; `parse` throws a usage error for an invalid one. */
export const textReader = <T>(parse: (text: string) => T): OptionReader<T> =>
  optionReader('string', isString, parse)

/** Reads a number that `parse` accepts in decimal digits. */
export const numberReader = (parse: (digits: string) => number): OptionReader<number> =>
  optionReader('number', isNumber, value => parse(String(value)))

export const readFiniteNumber: OptionReader<number> = optionReader('number', isNumber, value => {
  if (!Number.isFinite(value)) throw usageError(`${value} is not a finite number.`)
  return value
})

/** Reads a number, or a text that `parse` accepts. */
export const numberOrTextReader = <T>(parse: (text: string) => T): OptionReader<T> =>
  optionReader('number | string', isStringOrNumber, value => parse(String(value)))

export const listReader = <T>(parse: (text: string) => T): OptionReader<readonly T[]> =>
  optionReader('readonly string[]', isStrings, values => values.map(parse))

const parseTarget = (name: string): string => {
  if (name === '') throw usageError('A target must not be empty.')
  return name
}

export const readTargetList: OptionReader<readonly string[]> = listReader(parseTarget)

/** Reads impacted targets: `ALL` or a list. */
export const readTargets: OptionReader<'ALL' | readonly string[]> = optionReader(
  "'ALL' | readonly string[]",
  (value): value is 'ALL' | readonly string[] => value === 'ALL' || isStrings(value),
  value => (value === 'ALL' ? value : value.map(parseTarget)),
)

/** Reads a text, or false. */
export const textOrFalseReader = <T>(parse: (text: string) => T): OptionReader<T | false> =>
  optionReader(
    'string | false',
    (value): value is string | false => isString(value) || value === false,
    value => (value === false ? value : parse(value)),
  )

/** Reads a pull request, and returns its text. */
export const readPullRequest: OptionReader<string> = numberOrTextReader(text => {
  parsePullRequest(text)
  return text
})

/** Reads a moment, an instant or a duration that is subtracted from now, and returns its text. */
export const readMoment: OptionReader<string> = optionReader(
  'Date | string',
  (value): value is Date | string => isString(value) || value instanceof Date,
  value => {
    if (value instanceof Date && Number.isNaN(value.getTime())) throw usageError('The date is invalid.')
    const text = value instanceof Date ? value.toISOString() : value
    parseMoment(text, 0)
    return text
  },
)

const isRepository = (value: unknown): value is Repository =>
  typeof value === 'object' &&
  value !== null &&
  ['host', 'owner', 'name'].every(key => isString(Reflect.get(value, key)))

/** Reads a repository, and returns its name as `host/owner/name`. */
export const readRepository: OptionReader<string> = optionReader(
  'string | { host: string, owner: string, name: string }',
  (value): value is string | Repository => isString(value) || isRepository(value),
  value => {
    const text = isString(value) ? value : repositoryName(value)
    const parsed = parseRepository(text)
    if (!isString(value) && (parsed.host !== value.host || parsed.owner !== value.owner))
      throw usageError(
        `'${text}' is not a repository.`,
        'The host must contain a dot, for example github.com.',
      )
    return text
  },
)

/**
 * Returns the checked values of the options of a function. Throws a usage error for an unknown option and for
 * a value that its reader refuses.
 *
 * @param caller the name of the function, for messages
 */
export function readOptions<R extends OptionReaders>(
  caller: string,
  options: unknown,
  readers: R,
): OptionValues<R> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw usageError(`${caller}: the options must be an object.`, 'Pass the options by name.')
  const values: [string, unknown][] = []
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (reader === undefined)
      throw usageError(
        `${caller}: unknown option ${name}.`,
        hintWithSuggestion(name, Object.keys(readers), `Use one of: ${Object.keys(readers).join(', ')}.`),
      )
    values.push([name, reader(value, `${caller}: ${name}`)])
  }
  // Each value has been returned by the reader of its name.
  return Object.fromEntries(values) as OptionValues<R>
}
