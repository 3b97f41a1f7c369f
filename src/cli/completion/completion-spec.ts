import { builtinCommands, topicNames } from '../help/builtin-commands.ts'
import { type DocumentedCommand, isOption } from '../help/command-doc.ts'
import { groups } from '../help/groups.ts'
import { type OptionDefinition, optionName } from '../inputs.ts'

/** What may stand in the place of a value: words that are known, files, programs, or what the settings file holds. */
export interface CompletionValue {
  readonly words: readonly string[]
  readonly file: boolean
  readonly program: boolean
  /** A key of the stored settings whose values may stand there, or `profile`. */
  readonly stored?: string
  /** Whether it may stand there several times. */
  readonly repeats: boolean
}

/** A flag as a shell completes it. */
export interface CompletionOption {
  readonly name: string
  readonly short?: string
  readonly summary: string
  readonly repeats: boolean
  /** The flag that says the opposite: it is not offered beside this one. */
  readonly opposite?: string
  readonly value?: CompletionValue
}

/** A place in the tree: what may follow the words of its path. */
export interface CompletionPlace {
  readonly path: string
  readonly children: readonly (readonly [name: string, summary: string])[]
  readonly flags: readonly CompletionOption[]
  readonly arguments: readonly CompletionValue[]
}

/** Everything that a completion script is made from. */
export interface CompletionSpec {
  readonly places: readonly CompletionPlace[]
  /** Other names of a path: `pr status` of `pr get`. */
  readonly aliases: readonly (readonly [alias: string, path: string])[]
  readonly globals: readonly CompletionOption[]
}

/** Flags whose values may be found among the stored settings. */
const stored: ReadonlyMap<string, string> = new Map([
  ['--profile', 'profile'],
  ['--repo', 'repo'],
  ['--target-branch', 'target-branch'],
  ['--org', 'org'],
  ['--base-url', 'base-url'],
])

function toValue({
  syntax,
  choices = [],
  suggestions = [],
  file = false,
}: OptionDefinition): CompletionValue {
  const key = stored.get(optionName(syntax))
  return {
    words: [...choices, ...suggestions],
    file,
    program: syntax.startsWith('<command'),
    repeats: syntax.includes('...'),
    ...(key === undefined ? {} : { stored: key }),
  }
}

function flagOf(word: OptionDefinition, names: readonly string[]): CompletionOption {
  const { syntax, summary, variadic = false } = word
  const name = optionName(syntax)
  const [, short] = /^(-\w), /.exec(syntax) ?? []
  const opposite = name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')
  return {
    name,
    ...(short === undefined ? {} : { short }),
    summary,
    repeats: variadic,
    ...(names.includes(opposite) ? { opposite } : {}),
    ...(/--[a-z-]+ ./.test(syntax) ? { value: toValue(word) } : {}),
  }
}

const flagsOf = (words: readonly OptionDefinition[]): readonly CompletionOption[] => {
  const flags = words.filter(isOption)
  return flags.map(word =>
    flagOf(
      word,
      flags.map(({ syntax }) => optionName(syntax)),
    ),
  )
}

const helpWord: OptionDefinition = { syntax: '-h, --help', summary: 'Print help' }
const versionWord: OptionDefinition = { syntax: '--version', summary: 'Print the version' }

/** The places below one of the tree, its own children first. */
function placesOf(leaves: readonly DocumentedCommand[]): readonly CompletionPlace[] {
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
        command === 'help' ? [] : words.filter(word => !isOption(word) && word.hidden !== true).map(toValue),
    })),
    ...grouped.map(group => ({ path: `help ${group}`, children: below(group), ...bare })),
  ]
}

/** What the scripts of all shells are made from: the same tree, flags and values. */
export const completionSpec = (
  leaves: readonly DocumentedCommand[],
  globalWords: readonly OptionDefinition[],
): CompletionSpec => ({
  places: placesOf([...leaves, ...builtinCommands]),
  aliases: leaves.flatMap(({ command, alias }) =>
    alias === undefined ? [] : [[command.replace(/\S+$/, alias), command] as const],
  ),
  globals: flagsOf([...globalWords, helpWord]),
})

/** What may stand in a place, by the key under which the scripts look it up. */
export type Suggestion = readonly [key: string, value: CompletionValue]

const hasOffer = ({ words, file, program, stored }: CompletionValue): boolean =>
  words.length > 0 || file || program || stored !== undefined

/**
 * Every value that something is known of: a flag's under `pr submit --priority`, a global flag's under `--repo`, an
 * argument's under `config get #1`, counted from 1; one that repeats has `#` alone.
 */
export const suggestionsOf = ({ places, globals }: CompletionSpec): readonly Suggestion[] =>
  [
    ...globals.flatMap(({ name, value }): readonly Suggestion[] =>
      value === undefined ? [] : [[name, value]],
    ),
    ...places.flatMap(({ path, flags, arguments: values }): readonly Suggestion[] => [
      ...flags.flatMap(({ name, value }): readonly Suggestion[] =>
        value === undefined ? [] : [[`${path} ${name}`, value]],
      ),
      ...values.map((value, index): Suggestion => [`${path} #${value.repeats ? '' : index + 1}`, value]),
    ]),
  ].filter(([, value]) => hasOffer(value))

/** A flag as the scripts note it: `-X|--method`, then `=` where it takes a value, `+` where it repeats, `!` where it has an opposite. */
export const optionToken = ({ name, short, value, repeats, opposite }: CompletionOption): string =>
  [
    short === undefined ? '' : `${short}|`,
    name,
    value === undefined ? '' : '=',
    repeats ? '+' : '',
    opposite === undefined ? '' : '!',
  ].join('')

/** What stands at the top of every script. */
export const generatedNote = 'Made from the command tree of mergeq; `mergeq completion` prints it.'

/** Names and values of stored settings that are offered: whatever else stands in the file is left out. */
export const safeName = '[A-Za-z0-9][A-Za-z0-9._@+-]*'
export const safeValue = '[A-Za-z0-9][A-Za-z0-9._@+/:~-]*'
