import type { Param } from '../api/operation.ts'
import { type Type, toggle } from '../domain/values/types.ts'
import { usageError, withName } from '../errors.ts'
import type { Input, Inputs, OptionDefinition, TypedInput } from './inputs.ts'

/** An option or a required argument of a command that is never sent; its key gives its name. */
export interface CommandOption<T>
  extends Pick<Param<T>, 'type' | 'summary' | 'required' | OptionDetail | 'opposite'> {
  /** The short name, without the dash: `y`. */
  readonly short?: string
}

type OptionDetail = 'option' | 'default' | 'defaultText' | 'values'

type OptionDetails = Pick<CommandOption<unknown>, OptionDetail | 'short'>

/** An option. Without a default, its value is undefined where it is not typed. */
export function option<T>(
  type: Type<T>,
  summary: string,
  details: OptionDetails & { readonly default: string },
): CommandOption<T>
export function option<T>(
  type: Type<T>,
  summary: string,
  details?: OptionDetails,
): CommandOption<T | undefined>
export function option<T>(
  type: Type<T>,
  summary: string,
  details: OptionDetails = {},
): CommandOption<T | undefined> {
  return { type, summary, ...details }
}

/** An option without a value: true where it is typed, else false. */
export const flag = (
  summary: string,
  details: Pick<OptionDetails, 'option' | 'short'> = {},
): CommandOption<boolean> => ({ type: toggle, summary, default: 'false', ...details })

/** A required argument. */
export const argument = <T>(type: Type<T>, summary: string): CommandOption<T> => ({
  type,
  summary,
  required: true,
})

/** The options of a command, by their keys; an input reads more than its own words. */
export type Options = Readonly<Record<string, Input<unknown> | CommandOption<unknown>>>

type OptionValue<O> = O extends Input<infer T> ? T : O extends CommandOption<infer T> ? T : never

export type OptionValues<X extends Options> = { readonly [K in keyof X]: OptionValue<X[K]> }

export const optionInputs = (options: Options): Inputs =>
  Object.fromEntries(
    Object.entries(options).map(([key, entry]) => [
      key,
      'definitions' in entry ? entry : typedInput(key, entry),
    ]),
  )

/** The name of an option, without dashes before it: `test-id` for `testId`. */
export const optionName = (key: string, param?: Pick<Param<unknown>, 'option'>): string =>
  param?.option ?? key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** The input that the command line alone gives: an option or, if it is required, an argument. */
export function typedInput<T>(key: string, option: CommandOption<T>): TypedInput<T>
export function typedInput(key: string, option: CommandOption<unknown>): TypedInput<unknown> {
  const { type, summary, short, required } = option
  const name = optionName(key, option)
  const dashed = `--${name}`
  const described = { name: dashed, summary, ...(short === undefined ? {} : { short: `-${short}` }) }
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
        definitions: [described, { name: opposite, summary: option.opposite ?? `Opposite of ${dashed}` }],
        read(args) {
          const isTyped = args.has(dashed)
          const isRefused = args.has(opposite)
          if (isTyped && isRefused) throw usageError(`${dashed} and ${opposite} cannot be used together.`)
          return isTyped || isRefused ? type.parse(String(isTyped)) : undefined
        },
      }
    }
  }
  const definition: OptionDefinition = {
    ...described,
    choices: type.choices,
    suggestions: type.suggestions,
    file: type.isFile,
    default: option.default,
    defaultText: option.defaultText,
    values: option.values,
  }
  if (required === true)
    return {
      definitions: [{ ...definition, name, required }],
      read: args => type.parse(...(args.get(name) ?? [])),
    }
  return {
    definitions: [{ ...definition, value: type.placeholder, variadic: type.form === 'repeated' }],
    read(args) {
      const words = args.get(dashed) ?? (option.default === undefined ? undefined : [option.default])
      return words === undefined ? undefined : withName(dashed, () => type.parse(...words))
    },
  }
}

/** The settings whose options every command has. */
const globalSettings: readonly string[] = ['repo', 'targetBranch', 'org']

/**
 * The input of a param: its setting, a required argument where no setting gives a required value, else an option.
 */
export function paramInput<T>(key: string, param: Param<T>): Input<T>
export function paramInput(key: string, param: Param<unknown>): Input<unknown> {
  const { setting, settingFrom, required = false } = param
  if (setting === undefined) return typedInput(key, param)
  const { definitions } = typedInput(key, { ...param, required: false })
  return {
    definitions: globalSettings.includes(setting) ? [] : definitions,
    setting,
    read(_, { settings }) {
      if (settingFrom !== undefined) return settings.readFrom(settingFrom, setting)
      return required ? settings.require(setting) : settings.read(setting)
    },
  }
}
