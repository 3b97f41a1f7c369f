import { Failure, isFailure, usage } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Repository } from '../domain/values/parsers.ts'

/** One word that a person may type: an argument (`[pr...]`, `<test-id>`) or a flag (`--priority <level>`). */
export interface Word {
  readonly spell: string
  readonly summary: string
  readonly choices?: readonly string[]
  /** Some of the words that may stand here, where others may too. */
  readonly offers?: readonly string[]
  /** May be typed several times with different values. */
  readonly repeats?: boolean
  /** Taken only to be refused well: neither help nor completion names it. */
  readonly hidden?: boolean
  /** The value is a file: what completes it. */
  readonly file?: boolean
}

/** What was typed, by the word's name (`pr`, `--priority`); a flag without a value holds `true`. */
export type Given = ReadonlyMap<string, readonly string[]>

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
export const flagOf = {
  repo: '--repo',
  targetBranch: '--target-branch',
  org: '--org',
  sha: '--sha',
  forkedRun: '--forked-run',
  pr: undefined,
  testRun: undefined,
} as const satisfies Readonly<Record<SettingName, string | undefined>>

/** What a field may ask while it reads. */
export interface Context {
  /** The value of a setting, or undefined when nothing gives one. */
  setting<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The value of a setting; a usage failure that says what was tried when nothing gives one. */
  need<N extends SettingName>(name: N): Promise<SettingValues[N]>
  /** The value only if a flag or the environment gives it. */
  told<N extends SettingName>(name: N): Promise<SettingValues[N] | undefined>
  /** The moment of the run, in milliseconds since 1970. */
  readonly now: number
  /** The bytes of a file, or of standard input for `-`. */
  open(path: string): AsyncIterable<Uint8Array>
  /** Shows a person how far work that takes long has come. */
  during<T>(text: () => string, work: () => Promise<T>): Promise<T>
}

/**
 * Where a value lands in the request: a path in the body, the whole body or query, or a header that stands in for
 * the token's (service-observed.md section 2.4).
 */
export type Place = 'body' | 'query' | `body.${string}` | `credential.${string}`

/** JSON that was encoded and counted while its input was read; over the limit it is counted, not kept. */
export interface Encoded {
  readonly encoded: readonly Uint8Array[]
  readonly bytes: number
}

/** What stands in a request: JSON, some of it perhaps encoded already. */
export type Wire = Json | Encoded | { readonly [key: string]: Wire | undefined }

/** One input of an operation: the words that give it, how they are read, and where it lands on the wire. */
export interface Field<T> {
  readonly words: readonly Word[]
  readonly setting?: SettingName
  readonly at?: Place
  /** Further paths of the body that it gives where it was typed: `--set` may not give them then. */
  readonly fills?: readonly string[]
  /** The service refuses a request without it (service-api.md section 4). */
  readonly needed?: boolean
  read(given: Given, context: Context): T | Promise<T>
  /** What goes to `at`; the value itself where this is left out. Undefined sends nothing. */
  wire?(value: T): Wire | undefined
  /** Splits what was typed into one run for each pull request. */
  each?(given: Given, context: Context): Promise<readonly Given[]>
}

export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** The name under which a word is given: `--priority` of `--priority <level>`, `pr` of `[pr...]`. */
export const nameOfWord = (spell: string): string =>
  spell.startsWith('-') ? (/--[a-z-]+/.exec(spell)?.[0] ?? spell) : spell.replace(/[^a-z-]/g, '')

/** Runs a parser so that what it refuses is refused in the name of the word. */
export function under<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!isFailure(error)) throw error
    throw new Failure(error.kind, `${name}: ${error.message}`, error.details)
  }
}

type At = { readonly at?: Place; readonly fills?: readonly string[] }

/** A flag with a value; undefined when it was not typed. */
export function flag<T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  more: At & Pick<Word, 'choices' | 'offers' | 'file'> = {},
): Field<T | undefined> {
  const { at, fills, ...rest } = more
  const name = nameOfWord(spell)
  return {
    words: [{ spell, summary, ...rest }],
    ...(at === undefined ? {} : { at }),
    ...(fills === undefined ? {} : { fills }),
    read: given => {
      const [word] = given.get(name) ?? []
      return word === undefined ? undefined : under(name, () => parse(word))
    },
  }
}

/** A flag with a value that may be typed several times; undefined when it was not typed. */
export function flags<T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  more: At = {},
): Field<readonly T[] | undefined> {
  const name = nameOfWord(spell)
  return {
    words: [{ spell, summary, repeats: true }],
    ...more,
    read: given => given.get(name)?.map(word => under(name, () => parse(word))),
  }
}

/** A flag without a value. What it sends, when typed, is `sends`; nothing otherwise. */
export const on = (
  spell: string,
  summary: string,
  more: At & { readonly sends?: Json } = {},
): Field<boolean> => ({
  words: [{ spell, summary }],
  ...(more.at === undefined ? {} : { at: more.at }),
  read: given => given.has(nameOfWord(spell)),
  wire: value => (value ? (more.sends ?? true) : undefined),
})

/** A flag and its `--no-` form; undefined when neither was typed. */
export function either(name: string, summary: string, more: At = {}): Field<boolean | undefined> {
  const [yes, no] = [`--${name}`, `--no-${name}`]
  return {
    words: [
      { spell: yes, summary },
      { spell: no, summary: `The opposite of ${yes}` },
    ],
    ...more,
    read: given => {
      if (given.has(yes) && given.has(no)) throw usage(`${yes} and ${no} contradict each other.`)
      return given.has(yes) ? true : given.has(no) ? false : undefined
    },
  }
}

/** An argument that must be typed. */
export const argument = <T>(
  spell: string,
  summary: string,
  parse: (word: string) => T,
  {
    at,
    needed,
    ...rest
  }: At & { readonly needed?: boolean } & Pick<Word, 'choices' | 'offers' | 'file'> = {},
): Field<T> => ({
  words: [{ spell, summary, ...rest }],
  ...(at === undefined ? {} : { at }),
  ...(needed === undefined ? {} : { needed }),
  read: given => parse(given.get(nameOfWord(spell))?.[0] ?? ''),
})

/** A value that is not typed: always the same. */
export const always = <T extends Json>(value: T, at: Place): Field<T> => ({
  words: [],
  at,
  read: () => value,
})

/** A value that a setting gives, which must be there; its flag stands with every command. */
export const fromSetting = <N extends SettingName>(
  setting: N,
  at: Place,
  wire?: (value: SettingValues[N]) => Json,
): Field<SettingValues[N]> => ({
  words: [],
  setting,
  at,
  needed: true,
  read: (_, context) => context.need(setting),
  ...(wire === undefined ? {} : { wire }),
})
