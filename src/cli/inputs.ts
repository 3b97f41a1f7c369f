import type { ValueSource } from '../api/operation.ts'
import type { ParseContext, ParsedArgs, SettingName } from '../config/settings.ts'

/**
 * An argument or option as data. Help, the manual page, completion and the parser of the command line are
 * made from these fields.
 */
export interface OptionDefinition {
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
  /** The only values that are accepted. */
  readonly choices?: readonly string[] | undefined
  /** Some of the possible values. */
  readonly suggestions?: readonly string[] | undefined
  /** The values that completion looks up, in addition to `choices` and `suggestions`. */
  readonly values?: ValueSource | undefined
  /** Whether an argument must be given. */
  readonly required?: boolean
  /** Whether an option may be typed several times, or an argument takes several values. */
  readonly variadic?: boolean
  /** Accepted only for a good error message: neither help nor completion shows it. */
  readonly hidden?: boolean
  /** Whether the value is a file name, for completion. */
  readonly file?: boolean | undefined
  /** Whether the value is a program and its arguments, for completion. */
  readonly program?: boolean
  /** Whether the value is a word of the name of a command of mergeq, for completion. */
  readonly command?: boolean
}

/** What splits the arguments of a command into requests. */
interface SplitContext extends ParseContext {
  /**
   * Returns the pull request of a command that names none. If there is none, throws a usage error with the
   * reasons.
   */
  currentPullRequest(): Promise<string>
}

/** An input of a command: the options and arguments that give it, and how they are read. */
export interface Input<T> {
  readonly definitions: readonly OptionDefinition[]
  /** The setting that gives the value where no option does. */
  readonly setting?: SettingName
  read(args: ParsedArgs, context: ParseContext): T | Promise<T>
  /** Splits what was typed into one set of arguments for each request. */
  split?(args: ParsedArgs, context: SplitContext): Promise<readonly ParsedArgs[]>
}

/** The inputs of a command, by name. */
export type Inputs = Readonly<Record<string, Input<unknown>>>
/** The values that inputs read. */
export type InputValues<F extends Inputs> = {
  readonly [K in keyof F]: F[K] extends Input<infer T> ? T : never
}

/** Whether a definition is an option; otherwise it is an argument. */
export const isOption = ({ name }: OptionDefinition): boolean => name.startsWith('-')

/** Returns the flag that means the opposite: `--no-batch` of `--batch`, and the reverse. */
export const oppositeOf = (name: string): string =>
  name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')

/** Returns an argument as usage shows it: `<test-id>`, `[pr]` or `[pr...]`. */
export function formatArgument({ name, required, variadic }: OptionDefinition): string {
  const text = variadic === true ? `${name}...` : name
  return required === true ? `<${text}>` : `[${text}]`
}

/** An input that the command line alone gives. */
export interface TypedInput<T> extends Input<T> {
  read(args: ParsedArgs): T
}
