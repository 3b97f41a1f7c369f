import { type DocumentedCommand, documentOption } from '../help/command-doc.ts'
import type { HelpGroup } from '../help/help-text.ts'
import { describeOption } from '../help/help-text.ts'
import { topicNames } from '../help/topic-names.ts'
import { isOption, type OptionDefinition } from '../inputs.ts'

/** The completions of a value: known words, files, programs, or values from the stored settings. */
export interface CompletionValue {
  readonly words: readonly string[]
  readonly file: boolean
  readonly program: boolean
  /** The key of the stored settings whose values are offered, or `profile` for the names of the profiles. */
  readonly stored?: string
  /** Whether several values may follow each other. */
  readonly variadic: boolean
}

/** An option as shells complete it. */
export interface CompletionOption {
  readonly name: string
  readonly short?: string
  readonly summary: string
  /** Whether the option may be typed several times. */
  readonly repeatable: boolean
  /** The option with the opposite meaning, which is not offered after this option. */
  readonly opposite?: string
  readonly value?: CompletionValue
}

/** A name that can follow in a command line, with its summary. */
type NamedSummary = readonly [name: string, summary: string]

/** The root of the tree of commands, a group or a command, with everything that may follow its path. */
export interface CompletionNode {
  readonly path: string
  readonly children: readonly NamedSummary[]
  readonly options: readonly CompletionOption[]
  readonly arguments: readonly CompletionValue[]
}

/** Everything from which a completion script is generated. */
export interface CompletionSpec {
  readonly nodes: readonly CompletionNode[]
  /** The aliases of paths: `pr status` for `pr get`. */
  readonly aliases: readonly (readonly [alias: string, path: string])[]
  readonly globalOptions: readonly CompletionOption[]
}

/** The options whose values are completed from the stored settings, with the key of the setting. */
const storedSettingKeys: ReadonlyMap<string, string> = new Map([
  ['--profile', 'profile'],
  ['--repo', 'repo'],
  ['--target-branch', 'target-branch'],
  ['--org', 'org'],
  ['--base-url', 'base-url'],
])

function toCompletionValue({
  name,
  choices = [],
  suggestions = [],
  file = false,
  program = false,
  variadic = false,
}: OptionDefinition): CompletionValue {
  const stored = storedSettingKeys.get(name)
  return {
    words: [...choices, ...suggestions],
    file,
    program,
    variadic,
    ...(stored === undefined ? {} : { stored }),
  }
}

function toCompletionOption(definition: OptionDefinition, optionNames: readonly string[]): CompletionOption {
  const { name, short, value, variadic = false } = definition
  const opposite = name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')
  return {
    name,
    ...(short === undefined ? {} : { short }),
    summary: describeOption(documentOption(definition)),
    repeatable: variadic,
    ...(optionNames.includes(opposite) ? { opposite } : {}),
    ...(value === undefined ? {} : { value: toCompletionValue(definition) }),
  }
}

const toCompletionOptions = (definitions: readonly OptionDefinition[]): readonly CompletionOption[] => {
  const options = definitions.filter(isOption)
  const names = options.map(({ name }) => name)
  return options.map(definition => toCompletionOption(definition, names))
}

const helpOption: OptionDefinition = { name: '--help', short: '-h', summary: 'Print help' }
const versionOption: OptionDefinition = { name: '--version', summary: 'Print the version' }

/** Returns the root, then the groups, the commands, and the groups below `help`. */
function createNodes(
  groups: readonly HelpGroup[],
  commands: readonly DocumentedCommand[],
): readonly CompletionNode[] {
  const listSubcommands = (group: string) =>
    commands
      .filter(({ command }) => command.startsWith(`${group} `))
      .flatMap(({ command, alias, summary }) =>
        [command.slice(group.length + 1), ...(alias === undefined ? [] : [alias])].map(
          (name): NamedSummary => [name, summary],
        ),
      )
  const topLevel = groups.map(({ name, summary }): NamedSummary => [name, summary])
  const groupNames = groups.filter(({ isCommand }) => isCommand !== true).map(({ name }) => name)
  const childrenOnly = { options: [], arguments: [] }
  return [
    { path: '', children: topLevel, options: toCompletionOptions([versionOption]), arguments: [] },
    ...groupNames.map(group => ({ path: group, children: listSubcommands(group), ...childrenOnly })),
    ...commands.map(({ command, definitions }) => ({
      path: command,
      // `help` is followed by the name of a command, a group or a topic.
      children:
        command === 'help' ? [...topLevel, ...topicNames.map((name): NamedSummary => [name, 'A topic'])] : [],
      options: toCompletionOptions(definitions),
      arguments:
        command === 'help'
          ? []
          : definitions
              .filter(definition => !isOption(definition) && definition.hidden !== true)
              .map(toCompletionValue),
    })),
    ...groupNames.map(group => ({
      path: `help ${group}`,
      children: listSubcommands(group),
      ...childrenOnly,
    })),
  ]
}

/** Returns the spec from which the completion scripts of all shells are generated. */
export const createCompletionSpec = (
  groups: readonly HelpGroup[],
  commands: readonly DocumentedCommand[],
  globalOptions: readonly OptionDefinition[],
): CompletionSpec => ({
  nodes: createNodes(groups, commands),
  aliases: commands.flatMap(({ command, alias }) =>
    alias === undefined ? [] : [[command.replace(/\S+$/, alias), command] as const],
  ),
  globalOptions: toCompletionOptions([...globalOptions, helpOption]),
})

/** The completions of a value, with the key under which the scripts look them up. */
export type Suggestion = readonly [key: string, value: CompletionValue]

const hasCompletions = ({ words, file, program, stored }: CompletionValue): boolean =>
  words.length > 0 || file || program || stored !== undefined

/**
 * Returns every value that has completions. The key is `pr submit --priority` for an option of a command,
 * `--repo` for a global option, `config get #1` for the first argument of a command, and `pr get #` for
 * arguments that may follow each other.
 */
export const listSuggestions = ({ nodes, globalOptions }: CompletionSpec): readonly Suggestion[] =>
  [
    ...globalOptions.flatMap(({ name, value }): readonly Suggestion[] =>
      value === undefined ? [] : [[name, value]],
    ),
    ...nodes.flatMap(({ path, options, arguments: values }): readonly Suggestion[] => [
      ...options.flatMap(({ name, value }): readonly Suggestion[] =>
        value === undefined ? [] : [[`${path} ${name}`, value]],
      ),
      ...values.map((value, index): Suggestion => [`${path} #${value.variadic ? '' : index + 1}`, value]),
    ]),
  ].filter(([, value]) => hasCompletions(value))

/**
 * Returns an option in the notation that the scripts parse: `-X|--method`, then `=` if the option takes a
 * value, `+` if it may be repeated, `!` if it has an opposite.
 */
export const toOptionToken = ({ name, short, value, repeatable, opposite }: CompletionOption): string =>
  [
    short === undefined ? '' : `${short}|`,
    name,
    value === undefined ? '' : '=',
    repeatable ? '+' : '',
    opposite === undefined ? '' : '!',
  ].join('')

/** The comment at the top of every script. */
export const generatedNote = 'Made from the command tree of mergeq; `mergeq completion` prints it.'

/** Regular expression for names of profiles that are offered: none of them has a meaning for a shell. */
export const safeName = '[A-Za-z0-9][A-Za-z0-9._@+-]*'
/** Regular expression for stored values that are offered: none of them has a meaning for a shell. */
export const safeValue = '[A-Za-z0-9][A-Za-z0-9._@+/:~-]*'
