import { CommanderError, Command as Node, Option } from 'commander'
import { allCommands, type RegisteredCommand } from '../commands/index.ts'
import { MergeqError, usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { CommandDescription } from './command.ts'
import { globalOptions } from './global-options.ts'
import { builtinCommands } from './help/builtin-commands.ts'
import { findHelpRequest } from './help/help-request.ts'
import type { HelpRequest } from './help/render-help.ts'
import { type OptionDefinition, optionName } from './inputs.ts'

/** What a command line asks for: a command, a text to print, or something of the reference. */
export type ParsedCommandLine =
  | { readonly leaf: RegisteredCommand }
  | { readonly text: string }
  | { readonly asked: HelpRequest }

/** argv → given, and the leaf that it names. A command line that is wrong is a usage failure. */
export function parseCommandLine(
  { argv, runtime }: Pick<Host, 'argv' | 'runtime'>,
  args: Map<string, string[]>,
): ParsedCommandLine {
  const help = findHelpRequest(argv, allCommands, globalOptions)
  for (const [name, value] of help?.flags ?? []) args.set(name, [value])
  if (help !== undefined) return { asked: help.asked }
  const shown: string[] = []
  const typed = new Set(argv)
  let [chosen, asked]: [RegisteredCommand?, HelpRequest?] = []
  const formatHelp = (node: Node) => {
    asked = { about: 'help', words: pathOf(node) }
    return ''
  }
  const root = new Node('mergeq')
    .version(runtime.version, '--version', 'Print the version')
    .configureHelp({ formatHelp })
    .configureOutput({
      writeOut: text => shown.push(text),
      writeErr: text => shown.push(text),
      outputError: () => undefined,
    })
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Print help')
  const add = (node: Node, words: readonly OptionDefinition[]) => addWords(node, words, args, swallowed)
  const swallowed = optionsTakenAsValues(argv, typed)
  add(root, globalOptions)
  for (const leaf of allCommands) {
    // A group that is not typed needs no commands, and a command that is not typed no flags: that is most of the tree.
    const [group = '', ...below] = leaf.command.split(' ')
    if (below.length > 0 && !typed.has(group)) {
      groupFor(root, group)
      continue
    }
    const node = nodeFor(root, leaf.command)
    if (leaf.alias !== undefined) node.alias(leaf.alias)
    add(node, isNamed(leaf, typed) ? leaf.words : leaf.words.filter(isArgument))
    node.action(() => {
      chosen = leaf
    })
  }
  for (const { command: about, words } of builtinCommands) {
    const node = nodeFor(root, about)
    add(node, words)
    node.action((word: string | readonly string[] = []) => {
      asked = { about, words: [word].flat() }
    })
  }
  try {
    root.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw sentence(error)
  }
  if (asked !== undefined) return { asked }
  return chosen === undefined ? { text: shown.join('') } : { leaf: chosen }
}

/** The words that name a command in the tree. */
const pathOf = (node: Node): readonly string[] =>
  node.parent === null ? [] : [...pathOf(node.parent), node.name()]

const isArgument = ({ syntax }: OptionDefinition): boolean => !syntax.startsWith('-')

/** Whether the words of a command, or its alias, are among those that were typed. */
const isNamed = ({ command, alias = '' }: CommandDescription, typed: ReadonlySet<string>): boolean => {
  const [last, ...before] = command.split(' ').toReversed()
  return before.every(word => typed.has(word)) && (typed.has(last ?? '') || typed.has(alias))
}

/** The node of a command. */
function nodeFor(root: Node, command: string): Node {
  const [first = '', ...rest] = command.split(' ')
  const node = rest.length === 0 ? root : groupFor(root, first)
  return bare(node, rest.length === 0 ? first : rest.join(' '))
}

/** The node of a group, made when it is first met. */
function groupFor(root: Node, name: string): Node {
  return root.commands.find(node => node.name() === name) ?? bare(root, name)
}

const bare = (parent: Node, name: string): Node =>
  parent.command(name).helpCommand(false).helpOption('-h, --help', 'Print help')

/** Whether a value of an option is itself spelled like an option, and was typed as a word of its own. */
type Swallowed = (spell: string, value: string) => boolean

/** The test for a command line: `--org --json` hardly means the organization `--json`. */
function optionsTakenAsValues(argv: readonly string[], typed: ReadonlySet<string>): Swallowed {
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  const isOption = (value: string) => {
    const [name = ''] = value.split('=')
    const known = [
      ...allCommands.filter(leaf => isNamed(leaf, typed)).flatMap(leaf => leaf.words),
      ...globalOptions,
    ]
    return (
      /^-(h|-help|-version)$/.test(name) || known.some(({ syntax }) => spellingsOf(syntax).includes(name))
    )
  }
  return (spell, value) =>
    value.startsWith('-') &&
    words.some((word, index) => spellingsOf(spell).includes(word) && words[index + 1] === value) &&
    isOption(value)
}

/** `-R` and `--repo` of `-R, --repo <name>`; nothing of an argument. */
const spellingsOf = (spell: string): readonly string[] => spell.match(/(?<!\S)--?[a-z-]+/gi) ?? []

/**
 * Declares words and notes each one as it is typed; one that is typed twice with different values is refused, and so is
 * an option that stands where a value should.
 */
function addWords(
  node: Node,
  words: readonly OptionDefinition[],
  args: Map<string, string[]>,
  swallowed: Swallowed,
): void {
  const names: string[] = []
  for (const { syntax, summary, variadic } of words) {
    const name = optionName(syntax)
    if (isArgument({ syntax, summary })) {
      node.argument(syntax, summary)
      names.push(name)
      continue
    }
    node.addOption(new Option(syntax, summary))
    node.on(`option:${name.slice(2)}`, (value: string | null) => {
      const before = args.get(name) ?? []
      const word = value ?? 'true'
      if (typeof value === 'string' && swallowed(syntax, value))
        throw usageError(
          `${name} needs a value, and ${value} is an option.`,
          `If ${value} is the value, type ${name}=${value}.`,
        )
      if (variadic !== true && before.some(other => other !== word))
        throw usageError(`${name} was given twice with different values.`, 'Leave one of them out.')
      if (variadic === true || before.length === 0) args.set(name, [...before, word])
    })
  }
  node.hook('preAction', (_, { processedArgs }) => {
    for (const [index, name] of names.entries()) {
      const word: unknown = processedArgs[index]
      if (typeof word === 'string') args.set(name, [word])
      if (Array.isArray(word) && word.length > 0) args.set(name, word.map(String))
    }
  })
}

/** What is wrong with a command line, in our words: commander says `error: ...` and perhaps `(Did you mean ...?)`. */
function sentence({ message, code }: CommanderError): MergeqError {
  const [what = '', hint] = message
    .replace(/^error: /, '')
    .replace(/'(-[^'=]*)=.*'/s, "'$1'")
    .split('\n')
  const why = what === '' || code === 'commander.help' ? 'that is not a command' : what
  return new MergeqError('usage', `${why.replace(/\.$/, '')}.`, {
    hint: hint?.replace(/^\((.*)\)$/, '$1') ?? 'See `mergeq --help`, or --help after any command.',
  })
}
