import { type MergeqError, usageError } from '../base/errors.ts'
import { globMatcher, type TextMatcher } from './glob.ts'
import { parsePullRequest } from './pull-request.ts'
import { parseRepository, type Repository, repositoryName } from './repository.ts'
import { hintWithSuggestion } from './similar-name.ts'
import { branchParser, choiceParser, isUuid, textParser } from './text.ts'
import { parseDuration, parseInterval, parseMoment, readInstant } from './time.ts'

/** The largest value of the service's integers (docs/reference/service.md, "Queue settings"). */
const maxInteger = 4_294_967_295

/** The largest number that JavaScript keeps exactly counts as no limit. */
const rangeOf = (min: number, max: number): string =>
  max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `${min} to ${max}`

const wholeNumber = (min: number, max: number): string =>
  `a whole number ${max === Number.MAX_SAFE_INTEGER ? 'of' : 'from'} ${rangeOf(min, max)}`

/** Accepts `min` to `max`, both inclusive, without leading zeros. Throws a usage error for any other text. */
export const integerParser =
  (min: number, max: number) =>
  (text: string): number => {
    if (!/^(?:0|[1-9]\d{0,15})$/.test(text) || Number(text) < min || Number(text) > max)
      throw usageError(`'${text}' is not ${wholeNumber(min, max)}.`)
    return Number(text)
  }

/** Accepts negative numbers and fractions, small ones as JavaScript writes them: `1e-7`. Throws a usage error for any other text. */
export function parseDecimal(text: string): number {
  if (!/^-?\d+(\.\d+)?(e-\d+)?$/.test(text)) throw usageError(`'${text}' is not a number.`)
  return Number(text)
}

/** Whether a double keeps all digits of a number: it does of 15, and not of `9007199254740993` or `1e400`. */
export function isExactNumber(text: string): boolean {
  const value = Number(text)
  if (String(value) === text) return true
  const digits = text
    .replace(/e.*$/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '')
  const isUnderflow = value === 0 && digits !== ''
  return digits.length <= 15 && Number.isFinite(value) && !isUnderflow
}

/** Throws a usage error for a JSON text with a number that a double would change. */
export function requireExactNumbers(json: string): void {
  // Escapes first: one pattern for whole strings would exhaust the stack for a long one.
  const withoutStrings = json.replace(/\\./gs, '').replace(/"[^"]*"/g, '')
  const numbers = withoutStrings.match(/-?\d[\d.eE+-]*/g) ?? []
  const inexact = numbers.find(number => !isExactNumber(number))
  if (inexact !== undefined)
    throw usageError(
      `the number ${inexact} cannot be represented exactly.`,
      `To send it as text, use a JSON string: "${inexact}"`,
    )
}

/**
 * A type of values. The command line parses what a person types with it; the library, queue files and the sandbox
 * check what a program or a file gives; help, completion and the published types describe it.
 */
export interface Type<T> {
  /** What a value must be, after "must be": `a whole number from 0 to 255`. */
  readonly expected: string
  /** An option with one value, one that may be repeated, `--x` alone, or `--x` with its opposite `--no-x`. */
  readonly form: 'value' | 'repeated' | 'switch' | 'flag'
  /** The placeholder of the value in help, without brackets; empty for a switch and a flag. */
  readonly placeholder: string
  /** The type of the value in TypeScript, for the published declarations. */
  readonly declaration: string
  /** The only values that are accepted. */
  readonly choices?: readonly string[]
  /** The smallest and the largest value of a number. */
  readonly range?: readonly [min: number, max: number]
  /** The smallest and the largest value in words: `1 to 100`, `at least 1`, `1s to 1d`. */
  readonly rangeText?: string
  /** Some of the possible values, for completion. */
  readonly suggestions?: readonly string[]
  /** Whether the value is the name of a file, for completion. */
  readonly isFile?: boolean
  /** Parses what a person types; for a switch and a flag, `true` or `false`. Throws a usage error for an invalid text. */
  parse(...texts: readonly string[]): T
  /** Checks a value of a program or a file. Throws a usage error for a value of another type and an invalid one. */
  check(value: unknown): T
}

export type ValueOf<Y> = Y extends Type<infer T> ? T : never

const isString = (value: unknown): value is string => typeof value === 'string'

/** How many characters of a wrong value an error shows. */
const maxShown = 80

/** A value as an error shows it: as JSON where it is JSON, else the name of its type. */
function showValue(value: unknown): string {
  try {
    const json = value instanceof Date ? undefined : JSON.stringify(value)
    return json?.slice(0, maxShown) ?? `A value of type ${typeof value}`
  } catch {
    return `A value of type ${typeof value}`
  }
}

const wrongType = (value: unknown, expected: string): MergeqError =>
  usageError(`${showValue(value)} is not ${expected}.`)

/** What a type is made from whose values are typed as one text. */
interface TextualType<T>
  extends Pick<
    Type<T>,
    'expected' | 'placeholder' | 'choices' | 'range' | 'rangeText' | 'suggestions' | 'isFile'
  > {
  /** By default `string`. */
  readonly declaration?: string
  /** Whether a program gives the value as a text or, where it says so, as a number. */
  readonly accepts?: 'string' | 'number' | 'string or number'
  parse(text: string): T
}

export function textual<T>({ accepts = 'string', parse, ...type }: TextualType<T>): Type<T> {
  return {
    form: 'value',
    declaration: 'string',
    ...type,
    parse: (text = '') => parse(text),
    check(value) {
      if (!accepts.includes(typeof value)) throw wrongType(value, type.expected)
      return parse(String(value))
    },
  }
}

/** Whole numbers from `min` to `max`, both inclusive; by default up to the largest integer of the service. */
export const integer = (min: number, max = maxInteger): Type<number> =>
  textual({
    expected: wholeNumber(min, max),
    placeholder: 'n',
    declaration: 'number',
    accepts: 'number',
    range: [min, max],
    rangeText: rangeOf(min, max),
    parse: integerParser(min, max),
  })

export const decimal = (placeholder: string): Type<number> =>
  textual({
    expected: 'a number',
    placeholder,
    declaration: 'number',
    accepts: 'number',
    parse: parseDecimal,
  })

/** Any visible text; errors call the value `valueName`. */
export const text = (valueName: string, placeholder: string = valueName): Type<string> =>
  textual({ expected: 'a string', placeholder, parse: textParser(valueName) })

export const branch: Type<string> = textual({
  expected: 'a string',
  placeholder: 'branch',
  parse: branchParser('branch'),
})

/** Any text, also an empty one. */
export const anyText: Type<string> = textual({
  expected: 'a string',
  placeholder: 'text',
  parse: text => text,
})

export const fileName = (placeholder = 'file'): Type<string> => ({
  ...text('file name', placeholder),
  isFile: true,
})

/** A type of durations, in milliseconds; a program gives a text or milliseconds. */
export function durational<T>(textualType: TextualType<T>): Type<T> {
  const { check, ...type } = textual(textualType)
  return {
    ...type,
    declaration: 'number | string',
    check: value => check(typeof value === 'number' ? `${value}ms` : value),
  }
}

export const duration: Type<number> = durational({
  expected: 'a duration',
  placeholder: 'duration',
  parse: parseDuration,
})

/** The time between two polls, from 1 second to 1 day. */
export const interval: Type<number> = durational({
  expected: 'a duration from 1s to 1d',
  placeholder: 'duration',
  rangeText: '1s to 1d',
  parse: parseInterval,
})

/** One of the choices, in any case; the value is spelled as in `choices`. */
export const choice = <const C extends string>(choices: readonly C[], placeholder: string): Type<C> =>
  textual({
    expected: `one of ${choices.join(', ')}`,
    placeholder,
    declaration: choices.map(name => `'${name}'`).join(' | '),
    choices,
    parse: choiceParser(choices),
  })

/** One of the choices, in any case; the value is in upper case, as the service spells it. */
export const upperCaseChoice = (choices: readonly string[], placeholder: string): Type<string> => ({
  ...mapped(choice(choices, placeholder), name => name.toUpperCase()),
  declaration: choices.flatMap(name => [`'${name}'`, `'${name.toUpperCase()}'`]).join(' | '),
})

/** The values of a type, each replaced by what `change` returns. */
export const mapped = <T, U>(type: Type<T>, change: (value: T) => U): Type<U> => ({
  ...type,
  parse: (...texts) => change(type.parse(...texts)),
  check: value => change(type.check(value)),
})

/** `true` or `false`: an option and its opposite. */
export const boolean: Type<boolean> = {
  expected: 'true or false',
  form: 'flag',
  placeholder: '',
  declaration: 'boolean',
  parse: text => text === 'true',
  check(value) {
    if (typeof value !== 'boolean') throw wrongType(value, 'true or false')
    return value
  },
}

/** `true` or `false`: an option without an opposite. */
export const toggle: Type<boolean> = { ...boolean, form: 'switch' }

/** `true`, or nothing: an option without an opposite. A program may give `false`, which counts as nothing. */
export const onlyTrue: Type<true | undefined> = mapped(toggle, value => value || undefined)

/** Lists of the values of a type: an option that may be repeated. */
export const listOf = <T>(type: Type<T>): Type<readonly T[]> => ({
  ...type,
  expected: 'a list of strings',
  form: 'repeated',
  declaration: `readonly ${/[ |]/.test(type.declaration) ? `(${type.declaration})` : type.declaration}[]`,
  parse: (...texts) => texts.map(text => type.parse(text)),
  check(value) {
    if (!Array.isArray(value) || !value.every(isString)) throw wrongType(value, 'a list of strings')
    return value.map(item => type.check(item))
  },
})

/** The priorities that have a name, from the most urgent to the least urgent. */
const priorities = ['urgent', 'high', 'medium', 'low']

/** A priority: a name in lower case, or a number from 0 (first) to 255 (last), as the service expects them. */
export const priority: Type<string | number> = textual({
  expected: 'urgent, high, medium, low, or a whole number from 0 to 255',
  placeholder: 'level',
  declaration: `${priorities.map(name => `'${name}'`).join(' | ')} | number`,
  suggestions: priorities,
  accepts: 'string or number',
  parse(text) {
    if (priorities.includes(text.toLowerCase())) return text.toLowerCase()
    if (/^(?:0|[1-9]\d{0,2})$/.test(text) && Number(text) <= 255) return Number(text)
    throw usageError(
      `'${text}' is not a priority.`,
      hintWithSuggestion(
        text,
        priorities,
        'Use urgent, high, medium, low, or a number from 0 to 255 (0 is the most urgent).',
      ),
    )
  },
})

/** The reference of a pull request: its number, `#123` or its URL, which also names the repository. */
export const pullRequest: Type<string> = textual({
  expected: 'a pull request',
  placeholder: 'pr',
  declaration: 'PullRequestReference',
  accepts: 'string or number',
  parse(reference) {
    parsePullRequest(reference)
    return reference
  },
})

/** A repository, as `[host/]owner/name` or as an object. */
export const repository: Type<Repository> = {
  ...textual({
    expected: 'a repository',
    placeholder: '[host/]owner/name',
    declaration: 'Repository | string',
    parse: parseRepository,
  }),
  check(value) {
    if (isString(value)) return parseRepository(value)
    if (!isRepository(value)) throw wrongType(value, 'a repository')
    const parsed = parseRepository(repositoryName(value))
    if (parsed.owner !== value.owner)
      throw usageError(
        `'${repositoryName(value)}' is not a repository.`,
        'The host must contain a dot, for example github.com.',
      )
    return parsed
  },
}

export const isRepository = (value: unknown): value is Repository =>
  typeof value === 'object' &&
  value !== null &&
  ['host', 'owner', 'name'].every(key => isString(Reflect.get(value, key)))

export const testId: Type<string> = textual({
  expected: 'a test ID, which is a UUID',
  placeholder: 'test',
  declaration: 'string',
  parse(text) {
    if (isUuid(text)) return text
    throw usageError(`'${text}' is not a test ID.`, 'A test ID is a UUID.')
  },
})

const maxGlobLength = 500

/** A glob: in a path, `*` and `?` do not match a slash; `**` matches everything. */
export const glob = (isPath: boolean): Type<TextMatcher> =>
  textual({
    expected: 'a glob',
    placeholder: 'glob',
    parse(text) {
      if (text.length > maxGlobLength)
        throw usageError(`The pattern is longer than ${maxGlobLength} characters.`)
      return globMatcher(textParser('pattern')(text), isPath)
    },
  })

/** A date and time with an offset (RFC 3339), in milliseconds since 1970. */
export const instant: Type<number> = textual({
  expected: 'a date-time like 2026-01-05T09:30:00Z',
  placeholder: 'time',
  parse(text) {
    const time = text.includes(':') ? readInstant(text) : undefined
    if (time === undefined) throw usageError(`'${text}' is not ${instant.expected}.`)
    return time
  },
})

/** An instant, or a duration before now. Its value is the text: `parseMoment` counts from the start of the command. */
export const moment: Type<string> = {
  ...textual({
    expected: 'a date and time, or a duration before now',
    placeholder: 'duration|time',
    declaration: 'Moment',
    parse(word) {
      parseMoment(word, 0)
      return word
    },
  }),
  check(value) {
    if (value instanceof Date && Number.isNaN(value.getTime())) throw usageError('The date is invalid.')
    if (!isString(value) && !(value instanceof Date)) throw wrongType(value, moment.expected)
    return moment.parse(isString(value) ? value : value.toISOString())
  },
}
