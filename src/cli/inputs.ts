import type { Repository } from '../domain/values/repository.ts'
import { isMergeqError, MergeqError, usageError } from '../errors.ts'
import type { EncodedChunks, Json } from '../json.ts'

/** One word that a person may type: an argument (`[pr...]`, `<test-id>`) or a flag (`--priority <level>`). */
export interface OptionDefinition {
  readonly syntax: string
  readonly summary: string
  readonly choices?: readonly string[]
  /** Some of the words that may stand here, where others may too. */
  readonly suggestions?: readonly string[]
  /** May be typed several times with different values. */
  readonly variadic?: boolean
  /** Taken only to be refused well: neither help nor completion names it. */
  readonly hidden?: boolean
  /** The value is a file: what completes it. */
  readonly file?: boolean
}

/** What was typed, by the word's name (`pr`, `--priority`); a flag without a value holds `true`. */
export type ParsedArgs = ReadonlyMap<string, readonly string[]>

/** The inputs that need not be typed, each found where CLI.md section 3 says. */
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

/** The flag that gives each of them, where one does. */
export const settingFlags = {
  repo: '--repo',
  targetBranch: '--target-branch',
  org: '--org',
  sha: '--sha',
  forkedRun: '--forked-run',
  pr: undefined,
  testRun: undefined,
} as const satisfies Readonly<Record<SettingName, string | undefined>>

/** What a field may ask while it reads. */
export interface ParseContext {
  /** The value of a setting, or undefined when nothing gives one. */
  setting<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The value of a setting; a usage failure that says what was tried when nothing gives one. */
  require<N extends SettingName>(name: N): Promise<SettingValues[N]>
  /** The value only if a flag or the environment gives it. */
  explicit<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The moment of the run, in milliseconds since 1970. */
  readonly now: number
  /** The bytes of a file, or of standard input for `-`. */
  open(path: string): AsyncIterable<Uint8Array>
  /** Shows a person how far work that takes long has come. */
  withSpinner<T>(text: () => string, work: () => Promise<T>): Promise<T>
}

/**
 * Where a value lands in the request: a path in the body, the whole body or query, or a header that stands in for
 * the token's (service-observed.md section 2.4).
 */
export type ParamLocation = 'body' | 'query' | `body.${string}` | `credential.${string}`

/** What stands in a request: JSON, some of it perhaps encoded already. */
export type BodyValue = Json | EncodedChunks | { readonly [key: string]: BodyValue | undefined }

/** One input of an operation: the words that give it, how they are read, and where it lands on the wire. */
export interface Input<T> {
  readonly definitions: readonly OptionDefinition[]
  readonly setting?: SettingName
  readonly location?: ParamLocation
  /** Further paths of the body that it gives where it was typed: `--set` may not give them then. */
  readonly fills?: readonly string[]
  /** The service refuses a request without it (service-api.md section 4). */
  readonly required?: boolean
  read(args: ParsedArgs, context: ParseContext): T | Promise<T>
  /** What goes to `at`; the value itself where this is left out. Undefined sends nothing. */
  encode?(value: T): BodyValue | undefined
  /** Splits what was typed into one run for each pull request. */
  split?(args: ParsedArgs, context: ParseContext): Promise<readonly ParsedArgs[]>
}

export type Inputs = Readonly<Record<string, Input<unknown>>>
export type InputValues<F extends Inputs> = {
  readonly [K in keyof F]: F[K] extends Input<infer T> ? T : never
}

/** The name under which a word is given: `--priority` of `--priority <level>`, `pr` of `[pr...]`. */
export const optionName = (spell: string): string =>
  spell.startsWith('-') ? (/--[a-z-]+/.exec(spell)?.[0] ?? spell) : spell.replace(/[^a-z-]/g, '')

/** Runs a parser so that what it refuses is refused in the name of the word. */
export function inContextOf<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!isMergeqError(error)) throw error
    throw new MergeqError(error.kind, `${name}: ${error.message}`, error.details)
  }
}

type Target = { readonly location?: ParamLocation; readonly fills?: readonly string[] }

/** A flag with a value; undefined when it was not typed. */
export function option<T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  more: Target & Pick<OptionDefinition, 'choices' | 'suggestions' | 'file'> = {},
): Input<T | undefined> {
  const { location, fills, ...rest } = more
  const name = optionName(spell)
  return {
    definitions: [{ syntax: spell, summary, ...rest }],
    ...(location === undefined ? {} : { location }),
    ...(fills === undefined ? {} : { fills }),
    read: args => {
      const [word] = args.get(name) ?? []
      return word === undefined ? undefined : inContextOf(name, () => parse(word))
    },
  }
}

/** A flag with a value that may be typed several times; undefined when it was not typed. */
export function repeatableOption<T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  more: Target = {},
): Input<readonly T[] | undefined> {
  const name = optionName(spell)
  return {
    definitions: [{ syntax: spell, summary, variadic: true }],
    ...more,
    read: args => args.get(name)?.map(word => inContextOf(name, () => parse(word))),
  }
}

/** A flag without a value. What it sends, when typed, is `sends`; nothing otherwise. */
export const flag = (
  spell: string,
  summary: string,
  more: Target & { readonly sends?: Json } = {},
): Input<boolean> => ({
  definitions: [{ syntax: spell, summary }],
  ...(more.location === undefined ? {} : { location: more.location }),
  read: args => args.has(optionName(spell)),
  encode: value => (value ? (more.sends ?? true) : undefined),
})

/** A flag and its `--no-` form; undefined when neither was typed. */
export function negatableFlag(name: string, summary: string, more: Target = {}): Input<boolean | undefined> {
  const [yes, no] = [`--${name}`, `--no-${name}`]
  return {
    definitions: [
      { syntax: yes, summary },
      { syntax: no, summary: `The opposite of ${yes}` },
    ],
    ...more,
    read: args => {
      if (args.has(yes) && args.has(no)) throw usageError(`${yes} and ${no} contradict each other.`)
      return args.has(yes) ? true : args.has(no) ? false : undefined
    },
  }
}

/** An argument that must be typed. */
export const argument = <T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  {
    location,
    required,
    ...rest
  }: Target & { readonly required?: boolean } & Pick<
      OptionDefinition,
      'choices' | 'suggestions' | 'file'
    > = {},
): Input<T> => ({
  definitions: [{ syntax: spell, summary, ...rest }],
  ...(location === undefined ? {} : { location }),
  ...(required === undefined ? {} : { required }),
  read: args => parse(args.get(optionName(spell))?.[0] ?? ''),
})

/** A value that is not typed: always the same. */
export const constant = <T extends Json>(value: T, at: ParamLocation): Input<T> => ({
  definitions: [],
  location: at,
  read: () => value,
})

/** A value that a setting gives, which must be there; its flag stands with every command. */
export const settingInput = <N extends SettingName>(
  setting: N,
  at: ParamLocation,
  wire?: (value: SettingValues[N]) => Json,
): Input<SettingValues[N]> => ({
  definitions: [],
  setting,
  location: at,
  required: true,
  read: (_, context) => context.require(setting),
  ...(wire === undefined ? {} : { encode: wire }),
})
