import type { ParsedArgs } from '../config/args.ts'
import type { SettingName, SettingValues } from '../config/input-settings.ts'
import type { ParseContext } from '../config/parse-context.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { Json } from '../json.ts'

/** An argument (`[pr...]`, `<test-id>`) or an option (`--priority <level>`) as data. */
export interface OptionDefinition {
  readonly syntax: string
  readonly summary: string
  readonly choices?: readonly string[]
  /** Some of the possible values. */
  readonly suggestions?: readonly string[]
  /** Whether it may be typed several times with different values. */
  readonly variadic?: boolean
  /** Accepted only for a good error message: neither help nor completion shows it. */
  readonly hidden?: boolean
  /** Whether the value is a file name, for completion. */
  readonly file?: boolean
}

/** An input of a command: the options and arguments that give it, and how they are read. */
export interface Input<T> {
  readonly definitions: readonly OptionDefinition[]
  /** The setting that gives the value where no option does. */
  readonly setting?: SettingName
  read(args: ParsedArgs, context: ParseContext): T | Promise<T>
  /** Splits what was typed into one set of arguments for each request. */
  split?(args: ParsedArgs, context: ParseContext): Promise<readonly ParsedArgs[]>
}

/** The inputs of a command, by name. */
export type Inputs = Readonly<Record<string, Input<unknown>>>
/** The values of inputs. */
export type InputValues<F extends Inputs> = {
  readonly [K in keyof F]: F[K] extends Input<infer T> ? T : never
}

/** The name of an option or argument: `--priority` of `--priority <level>`, `pr` of `[pr...]`. */
export const optionName = (syntax: string): string =>
  syntax.startsWith('-') ? (/--[a-z-]+/.exec(syntax)?.[0] ?? syntax) : syntax.replace(/[^a-z-]/g, '')

/** Runs a parser; an error that it throws begins with the name of the option. */
export function inContextOf<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw new MergeqError(error.kind, `${name}: ${error.message}`, error.details)
  }
}

/** An option with a value; undefined when it was not typed. */
export function option<T>(
  syntax: string,
  summary: string,
  parse: (word: string) => T,
  more: Pick<OptionDefinition, 'choices' | 'suggestions' | 'file'> = {},
): Input<T | undefined> {
  const name = optionName(syntax)
  return {
    definitions: [{ syntax, summary, ...more }],
    read: args => {
      const [word] = args.get(name) ?? []
      return word === undefined ? undefined : inContextOf(name, () => parse(word))
    },
  }
}

/** An option with a value that may be typed several times; undefined when it was not typed. */
export function repeatableOption<T>(
  syntax: string,
  summary: string,
  parse: (word: string) => T,
): Input<readonly T[] | undefined> {
  const name = optionName(syntax)
  return {
    definitions: [{ syntax, summary, variadic: true }],
    read: args => args.get(name)?.map(word => inContextOf(name, () => parse(word))),
  }
}

/** An option without a value. */
export const flag = (syntax: string, summary: string): Input<boolean> => ({
  definitions: [{ syntax, summary }],
  read: args => args.has(optionName(syntax)),
})

/** An option without a value and its `--no-` form; undefined when neither was typed. */
export function negatableFlag(name: string, summary: string): Input<boolean | undefined> {
  const [yes, no] = [`--${name}`, `--no-${name}`]
  return {
    definitions: [
      { syntax: yes, summary },
      { syntax: no, summary: `The opposite of ${yes}` },
    ],
    read: args => {
      if (args.has(yes) && args.has(no)) throw usageError(`${yes} and ${no} contradict each other.`)
      return args.has(yes) ? true : args.has(no) ? false : undefined
    },
  }
}

/** A required argument. */
export const argument = <T>(
  syntax: string,
  summary: string,
  parse: (word: string) => T,
  more: Pick<OptionDefinition, 'choices' | 'suggestions' | 'file'> = {},
): Input<T> => ({
  definitions: [{ syntax, summary, ...more }],
  read: args => parse(args.get(optionName(syntax))?.[0] ?? ''),
})

/** A constant that the command stands for. */
export const constant = <T extends Json>(value: T): Input<T> => ({ definitions: [], read: () => value })

/** The value of a setting, which must not be missing; the setting's option belongs to every command. */
export const settingInput = <N extends SettingName>(setting: N): Input<SettingValues[N]> => ({
  definitions: [],
  setting,
  read: (_, context) => context.require(setting),
})
