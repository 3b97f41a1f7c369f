import type { Operation } from '../api/operation.ts'
import type { Param } from '../api/params.ts'
import { type Caller, valueFromSettings } from '../api/resolve.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { usageError, withName } from '../base/errors.ts'
import type { Config, ParseContext, ParsedArgs, SettingName } from '../config/settings.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { type Type, toggle } from '../values/types.ts'

/** What completion looks up while a line is typed (docs/reference/cli.md, "Completion"). */
export type ValueSource = 'pull-requests' | 'branches' | 'profiles' | 'owners'

/** An argument or option as data, which help, manual page, completion and parser are made from. */
export interface Definition {
  /** The name as it is typed, `--priority`; of an argument the name in help, `pr`. */
  readonly name: string
  /** The short name of an option: `-y`. */
  readonly short?: string
  /** The placeholder for the value of an option, without brackets: `level`; absent for a flag. */
  readonly value?: string
  readonly summary: string
  /** The text that replaces the value when the option is not typed: the option's parser accepts it. */
  readonly default?: string | undefined
  /** Describes a default that depends on a setting, the command or another option. */
  readonly defaultText?: string | undefined
  readonly choices?: readonly string[] | undefined
  /** The smallest and the largest value: `1 to 100`. */
  readonly range?: string | undefined
  /** Some of the possible values. */
  readonly suggestions?: readonly string[] | undefined
  /** The values that completion looks up, in addition to `choices` and `suggestions`. */
  readonly values?: ValueSource | undefined
  /** Whether the argument, or the option, must be typed. */
  readonly required?: boolean
  /** Whether an option may be typed several times, or an argument takes several values. */
  readonly variadic?: boolean
  /** Accepted only for a good error message: neither help nor completion shows it. */
  readonly hidden?: boolean
  /** Whether few need it: `-h` leaves it out, and `--help` lists it last. */
  readonly advanced?: boolean | undefined
  /** Whether the value is a file name, for completion. */
  readonly file?: boolean | undefined
  /** Whether the value is a program and its arguments, for completion. */
  readonly program?: boolean
  /** Whether the value is a word of the name of a command of mergeq, for completion. */
  readonly command?: boolean
  /** Throws a usage error for invalid values. */
  parse?(this: void, ...words: string[]): unknown
}

/** What inputs are read with. */
export interface InputContext extends ParseContext {
  /**
   * Returns the pull request of a command that names none; one that was guessed is marked, and a change of it asks
   * where its operation demands that. If there is none, throws a usage error with the reasons.
   */
  currentPullRequest(args: ParsedArgs): Promise<PullRequest>
  /** The main operation of the command. */
  readonly operation: Operation | undefined
  /** Returns the client for the service. */
  client(): ServiceClient
}

/** An input of a command: the options and arguments that give it, and how they are read. */
export interface Input<T> {
  readonly definitions: readonly Definition[]
  /** The setting that gives the value where no option does. */
  readonly setting?: SettingName
  read(args: ParsedArgs, context: InputContext): T | Promise<T>
}

export type Inputs = Readonly<Record<string, Input<unknown>>>

/** Whether a definition is an option; otherwise it is an argument. */
export const isOption = ({ name }: Definition): boolean => name.startsWith('-')

/** Returns the flag that means the opposite: `--no-batch` of `--batch`, and the reverse. */
export const oppositeOf = (name: string): string =>
  name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')

/** An option as it is typed, an argument as usage shows it: `<pr>`. */
export const wordOf = (name: string): string => (name.startsWith('-') ? name : `<${name}>`)

/** Returns an argument as usage shows it: `<test-id>`, `[pr]` or `[pr...]`. */
export function formatArgument({ name, required, variadic }: Definition): string {
  const text = variadic === true ? `${name}...` : name
  return required === true ? `<${text}>` : `[${text}]`
}

/** An option or required argument that is never sent, so without the location of a `Param`; its key gives its name. */
export interface Option<T> extends Pick<Param<T>, 'type' | 'summary' | 'required' | 'defaultText'> {
  /** The name of the option, without dashes, where it is not that of the key: `state` for `states`. */
  readonly option?: string
  /** The short name, without the dash: `y`. */
  readonly short?: string
  /** The text that is used where the option is not typed. */
  readonly default?: string
  /** A value for the error of an option that must be typed. Something required that has none is an argument. */
  readonly example?: string
  /** The values that completion looks up. */
  readonly values?: ValueSource
  /** Whether few need the option: `-h` leaves it out, and `--help` lists it last. */
  readonly advanced?: boolean
}

/** How an option is typed, besides its type and its summary. */
type HowTyped = Omit<Option<unknown>, 'type' | 'summary' | 'required'>

/** How the params of operations and methods are typed, where it is not said by their names and types. */
const paramDetails: Readonly<Record<string, HowTyped>> = {
  head: { values: 'branches' },
  owner: { values: 'owners' },
  includeTimeline: { option: 'timeline' },
  includeEstimatedTimeToMerge: { option: 'eta' },
  states: { option: 'state' },
  requiredStatuses: { option: 'required-status' },
  pageSize: { advanced: true },
  pageToken: { advanced: true },
  maxPages: { advanced: true },
}

/** An option. With neither a default nor an example, its value is undefined where it is not typed. */
export function option<T>(
  type: Type<T>,
  summary: string,
  details: HowTyped & ({ readonly default: string } | { readonly example: string }),
): Option<T>
export function option<T>(type: Type<T>, summary: string, details?: HowTyped): Option<T | undefined>
export function option<T>(type: Type<T>, summary: string, details: HowTyped = {}): Option<T | undefined> {
  return { type, summary, required: details.example !== undefined, ...details }
}

/** An option without a value: true where it is typed, else false. */
export const flag = (summary: string, details: Pick<HowTyped, 'option' | 'short'> = {}): Option<boolean> => ({
  type: toggle,
  summary,
  default: 'false',
  ...details,
})

/** A required argument. */
export const argument = <T>(type: Type<T>, summary: string): Option<T> => ({
  type,
  summary,
  required: true,
})

/** The options of a command, by their keys; an input reads more than its own words. */
export type Options = Readonly<Record<string, Input<unknown> | Option<unknown>>>

export type OptionValues<X extends Options> = {
  readonly [K in keyof X]: X[K] extends Input<infer T> | Option<infer T> ? T : never
}

export const optionInputs = (options: Options): Inputs =>
  Object.fromEntries(
    Object.entries(options).map(([key, entry]) => [
      key,
      'definitions' in entry ? entry : optionInput(key, entry),
    ]),
  )

/** Returns a name in kebab case: `test-id` for `testId`. */
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** The name of the option of a param or setting, without dashes before it. */
export const optionName = (key: string): string => paramDetails[key]?.option ?? kebabCase(key)

/** The option of a param or setting, as messages name it; `--no-quarantined` for a flag that is false. */
export const flagName = (key: string, value?: unknown): string =>
  `--${value === false ? 'no-' : ''}${optionName(key)}`

/** The input that the command line alone gives: an option or, if it is required and has no example, an argument. */
export function optionInput<T>(key: string, option: Option<T>): Input<T> & { read(args: ParsedArgs): T }
export function optionInput(
  key: string,
  option: Option<unknown>,
): Input<unknown> & { read(args: ParsedArgs): unknown } {
  const { type, short, required = false, example } = option
  const name = option.option ?? optionName(key)
  const dashed = `--${name}`
  const { advanced } = option
  const described = {
    name: dashed,
    summary: required && example !== undefined ? `${option.summary}; required` : option.summary,
    advanced,
    ...(short === undefined ? {} : { short: `-${short}` }),
  }
  switch (type.form) {
    case 'switch':
      return {
        definitions: [described],
        read(args) {
          const word = args.has(dashed) ? 'true' : option.default
          return word === undefined ? undefined : type.parse(word)
        },
      }
    case 'flag': {
      const opposite = `--no-${name}`
      return {
        definitions: [described, { name: opposite, summary: `Opposite of ${dashed}`, advanced }],
        read(args) {
          const isTyped = args.has(dashed)
          const isRefused = args.has(opposite)
          if (isTyped && isRefused) throw usageError(`${dashed} and ${opposite} cannot be used together.`)
          return isTyped || isRefused ? type.parse(String(isTyped)) : undefined
        },
      }
    }
  }
  const definition: Definition = {
    ...described,
    choices: type.choices,
    range: type.rangeText,
    suggestions: type.suggestions,
    file: type.isFile,
    default: option.default,
    defaultText: option.defaultText,
    values: option.values,
  }
  if (required && example === undefined)
    return {
      definitions: [{ ...definition, name, required }],
      read: args => type.parse(...(args.get(name) ?? [])),
    }
  const parse = (...words: string[]) => withName(dashed, () => type.parse(...words))
  return {
    definitions: [
      {
        ...definition,
        value: type.placeholder,
        variadic: type.form === 'repeated',
        required,
        parse,
      },
    ],
    read(args) {
      const words = args.get(dashed) ?? (option.default === undefined ? undefined : [option.default])
      if (words === undefined && required)
        throw usageError(`${dashed} is required.`, `For example: ${dashed} ${example}`)
      return words === undefined ? undefined : parse(...words)
    },
  }
}

/** The settings whose options every command has. */
const globalSettings: readonly string[] = ['repo', 'targetBranch', 'org']

/** The command line as the caller of an operation: errors name options. */
export const callerOf = (settings: Config): Caller => ({ settings, nameOf: flagName, prefix: '' })

/** The input of a param: its setting, a required argument where no setting gives a required value, else an option. */
export function paramInput<T>(key: string, param: Param<T>): Input<T>
export function paramInput(key: string, param: Param<unknown>): Input<unknown> {
  const { setting } = param
  const option = { ...param, ...paramDetails[key] }
  if (setting === undefined) return optionInput(key, option)
  const { definitions } = optionInput(key, { ...option, required: false })
  return {
    definitions: globalSettings.includes(setting) ? [] : definitions,
    setting,
    read: (_, { settings }) => valueFromSettings(key, param, callerOf(settings)),
  }
}

/** What a command reads, by the names of its inputs. */
export type Values = Readonly<Record<string, unknown>>

/** Reads inputs in their order, those that a setting can give last: the pull request may have to be looked up. */
export async function readInputs(inputs: Inputs, args: ParsedArgs, context: InputContext): Promise<Values> {
  const entries: [string, unknown][] = []
  const all = Object.entries(inputs)
  for (const [name, input] of [
    ...all.filter(([, { setting }]) => setting === undefined),
    ...all.filter(([, { setting }]) => setting !== undefined),
  ])
    entries.push([name, await input.read(args, context)])
  return Object.fromEntries(entries)
}
