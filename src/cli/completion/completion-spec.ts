import type { Word } from '../inputs.ts'
import { nameOfWord } from '../inputs.ts'
import { groups } from '../help/groups.ts'
import { own, topicNames } from '../help/builtin-commands.ts'
import { isFlag, type Told } from '../help/command-doc.ts'

/** What may stand in the place of a value: words that are known, files, programs, or what the settings file holds. */
export interface Value {
  readonly words: readonly string[]
  readonly file: boolean
  readonly program: boolean
  /** A key of the stored settings whose values may stand there, or `profile`. */
  readonly stored?: string
  /** Whether it may stand there several times. */
  readonly repeats: boolean
}

/** A flag as a shell completes it. */
export interface Flag {
  readonly name: string
  readonly short?: string
  readonly summary: string
  readonly repeats: boolean
  /** The flag that says the opposite: it is not offered beside this one. */
  readonly opposite?: string
  readonly value?: Value
}

/** A place in the tree: what may follow the words of its path. */
export interface Place {
  readonly path: string
  readonly children: readonly (readonly [name: string, summary: string])[]
  readonly flags: readonly Flag[]
  readonly arguments: readonly Value[]
}

/** Everything that a completion script is made from. */
export interface Spec {
  readonly places: readonly Place[]
  /** Other names of a path: `pr status` of `pr get`. */
  readonly aliases: readonly (readonly [alias: string, path: string])[]
  readonly globals: readonly Flag[]
}

/** Flags whose values may be found among the stored settings. */
const stored: ReadonlyMap<string, string> = new Map([
  ['--profile', 'profile'],
  ['--repo', 'repo'],
  ['--target-branch', 'target-branch'],
  ['--org', 'org'],
  ['--base-url', 'base-url'],
])

function toValue({ spell, choices = [], offers = [], file = false }: Word): Value {
  const key = stored.get(nameOfWord(spell))
  return {
    words: [...choices, ...offers],
    file,
    program: spell.startsWith('<command'),
    repeats: spell.includes('...'),
    ...(key === undefined ? {} : { stored: key }),
  }
}

function flagOf(word: Word, names: readonly string[]): Flag {
  const { spell, summary, repeats = false } = word
  const name = nameOfWord(spell)
  const [, short] = /^(-\w), /.exec(spell) ?? []
  const opposite = name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')
  return {
    name,
    ...(short === undefined ? {} : { short }),
    summary,
    repeats,
    ...(names.includes(opposite) ? { opposite } : {}),
    ...(/--[a-z-]+ ./.test(spell) ? { value: toValue(word) } : {}),
  }
}

const flagsOf = (words: readonly Word[]): readonly Flag[] => {
  const flags = words.filter(isFlag)
  return flags.map(word =>
    flagOf(
      word,
      flags.map(({ spell }) => nameOfWord(spell)),
    ),
  )
}

const helpWord: Word = { spell: '-h, --help', summary: 'Print help' }
const versionWord: Word = { spell: '--version', summary: 'Print the version' }

/** The places below one of the tree, its own children first. */
function placesOf(leaves: readonly Told[]): readonly Place[] {
  const firsts = [...new Set(leaves.map(({ command }) => command.split(' ')[0] ?? ''))]
  const below = (group: string) =>
    leaves
      .filter(({ command }) => command.startsWith(`${group} `))
      .flatMap(({ command, alias, summary }) =>
        [command.slice(group.length + 1), ...(alias === undefined ? [] : [alias])].map(
          name => [name, summary] as const,
        ),
      )
  const top = firsts.map(
    first =>
      [first, groups[first] ?? leaves.find(({ command }) => command === first)?.summary ?? ''] as const,
  )
  const grouped = firsts.filter(first => Object.hasOwn(groups, first))
  const bare = { flags: [], arguments: [] }
  return [
    { path: '', children: top, flags: flagsOf([versionWord]), arguments: [] },
    ...grouped.map(group => ({ path: group, children: below(group), ...bare })),
    ...leaves.map(({ command, words }) => ({
      path: command,
      // `help` is followed by what stands elsewhere in the tree.
      children: command === 'help' ? [...top, ...topicNames.map(name => [name, 'A topic'] as const)] : [],
      flags: flagsOf(words),
      arguments:
        command === 'help' ? [] : words.filter(word => !isFlag(word) && word.hidden !== true).map(toValue),
    })),
    ...grouped.map(group => ({ path: `help ${group}`, children: below(group), ...bare })),
  ]
}

/** What the scripts of all shells are made from: the same tree, flags and values. */
export const specOf = (leaves: readonly Told[], globalWords: readonly Word[]): Spec => ({
  places: placesOf([...leaves, ...own]),
  aliases: leaves.flatMap(({ command, alias }) =>
    alias === undefined ? [] : [[command.replace(/\S+$/, alias), command] as const],
  ),
  globals: flagsOf([...globalWords, helpWord]),
})

/** What may stand in a place, by the key under which the scripts look it up. */
export type Offer = readonly [key: string, value: Value]

const hasOffer = ({ words, file, program, stored }: Value): boolean =>
  words.length > 0 || file || program || stored !== undefined

/**
 * Every value that something is known of: a flag's under `pr submit --priority`, a global flag's under `--repo`, an
 * argument's under `config get #1`, counted from 1; one that repeats has `#` alone.
 */
export const offersOf = ({ places, globals }: Spec): readonly Offer[] =>
  [
    ...globals.flatMap(({ name, value }): readonly Offer[] => (value === undefined ? [] : [[name, value]])),
    ...places.flatMap(({ path, flags, arguments: values }): readonly Offer[] => [
      ...flags.flatMap(({ name, value }): readonly Offer[] =>
        value === undefined ? [] : [[`${path} ${name}`, value]],
      ),
      ...values.map((value, index): Offer => [`${path} #${value.repeats ? '' : index + 1}`, value]),
    ]),
  ].filter(([, value]) => hasOffer(value))

/** A flag as the scripts note it: `-X|--method`, then `=` where it takes a value, `+` where it repeats, `!` where it has an opposite. */
export const tokenOf = ({ name, short, value, repeats, opposite }: Flag): string =>
  [
    short === undefined ? '' : `${short}|`,
    name,
    value === undefined ? '' : '=',
    repeats ? '+' : '',
    opposite === undefined ? '' : '!',
  ].join('')

/** What stands at the top of every script. */
export const origin = 'Made from the command tree of mergeq; `mergeq completion` prints it.'

/** Names and values of stored settings that are offered: whatever else stands in the file is left out. */
export const safeName = '[A-Za-z0-9][A-Za-z0-9._@+-]*'
export const safeValue = '[A-Za-z0-9][A-Za-z0-9._@+/:~-]*'
