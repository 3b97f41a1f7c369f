import type { Repository } from '../domain/values/parsers.ts'
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

/**
 * The typed values, by the name of their argument or option (`pr`, `--priority`); a flag has the value
 * `true`.
 */
export type ParsedArgs = ReadonlyMap<string, readonly string[]>

/** The values that need not be typed; CLI.md section 3 says where each is found. */
export interface SettingValues {
  readonly repo: Repository
  readonly targetBranch: string
  readonly org: string
  readonly pr: string
  readonly sha: string
  readonly testRun: string
  readonly forkedRun: string
}
export type SettingName = keyof SettingValues

/** The option for each setting; undefined where there is none. */
export const settingFlags = {
  repo: '--repo',
  targetBranch: '--target-branch',
  org: '--org',
  sha: '--sha',
  forkedRun: '--forked-run',
  pr: undefined,
  testRun: undefined,
} as const satisfies Readonly<Record<SettingName, string | undefined>>

/** What an input can use while it is read. */
export interface ParseContext {
  /** The value of a setting, or undefined when nothing gives one. */
  setting<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The value of a setting; rejects with a usage error that says what was tried when nothing gives one. */
  require<N extends SettingName>(name: N): Promise<SettingValues[N]>
  /** The value of a setting if an option or the environment gives it. */
  explicit<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The start of the command, in milliseconds since 1970. */
  readonly now: number
  /** The bytes of a file, or of standard input for `-`. */
  open(path: string): AsyncIterable<Uint8Array>
  /** Shows a spinner with a text while the work takes long. */
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
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
