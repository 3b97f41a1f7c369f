import { CommanderError, Command as Node, Option } from 'commander'
import { type Leaf, leaves } from './commands/leaves.ts'
import type { Described } from './contract/endpoint.ts'
import { nameOfWord, type Word } from './contract/field.ts'
import { Failure, usage } from './failure.ts'
import { groups } from './reference/groups.ts'
import { helpAfter } from './reference/help.ts'
import { topics } from './reference/topics.ts'
import { globalWords } from './settings/options.ts'
import { settingTable } from './settings/table.ts'
import type { World } from './world/world.ts'

/** What a command line asks for: a command, or a text to print. */
export type Parsed = { readonly leaf: Leaf } | { readonly text: string }

/** argv → given, and the leaf that it names. A command line that is wrong is a usage failure. */
export function parse(
  { argv, out, runtime }: Pick<World, 'argv' | 'out' | 'runtime'>,
  given: Map<string, string[]>,
): Parsed {
  const shown: string[] = []
  const helpWidth = Math.min(out.columns, 100)
  const typed = new Set(argv)
  let chosen: Leaf | undefined
  const root = new Node('mergeq')
    .description('The command line for a merge queue and its flaky tests')
    .version(runtime.version, '--version', 'Print the version')
    .configureHelp({ showGlobalOptions: true, helpWidth })
    .configureOutput({
      writeOut: text => shown.push(text),
      writeErr: text => shown.push(text),
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Print help')
  addWords(root, globalWords, given)
  for (const leaf of leaves) {
    // A group that is not typed needs no commands, and a command that is not typed no flags: that is most of the tree.
    const [group = '', ...below] = leaf.command.split(' ')
    if (below.length > 0 && !typed.has(group)) {
      groupFor(root, group)
      continue
    }
    const node = nodeFor(root, leaf.command).description(leaf.summary)
    node.configureHelp({ showGlobalOptions: true, helpWidth })
    if (leaf.alias !== undefined) node.alias(leaf.alias)
    addWords(node, isNamed(leaf, typed) ? leaf.words : leaf.words.filter(isArgument), given)
    node.addHelpText('after', () => helpAfter(leaf))
    node.action(() => {
      chosen = leaf
    })
  }
  root
    .command('help')
    .argument('[word...]', `A command, or one of ${Object.keys(topics).join(', ')}`)
    .description('Print the help of a command, or a topic')
    .action((words: readonly string[]) => {
      const topic = topicOf(words)
      if (topic === undefined) nodeOf(root, words).outputHelp()
      else shown.push(topic)
    })
  try {
    root.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw sentence(error)
  }
  return chosen === undefined ? { text: shown.join('') } : { leaf: chosen }
}

const topicOf = ([word = '', ...rest]: readonly string[]): string | undefined =>
  rest.length === 0 && Object.hasOwn(topics, word) ? topics[word]?.(Object.values(settingTable)) : undefined

/** The command that the words name. */
function nodeOf(root: Node, words: readonly string[]): Node {
  let node = root
  for (const word of words) {
    const below = node.commands.find(one => one.name() === word || one.aliases().includes(word))
    if (below === undefined)
      throw usage(
        `There is no command or topic '${words.join(' ')}'.`,
        `Topics: ${Object.keys(topics).join(', ')}.`,
      )
    node = below
  }
  return node
}

const isArgument = ({ spell }: Word): boolean => !spell.startsWith('-')

/** Whether the words of a command, or its alias, are among those that were typed. */
const isNamed = ({ command, alias = '' }: Described, typed: ReadonlySet<string>): boolean => {
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
  const standing = root.commands.find(node => node.name() === name)
  return (
    standing ??
    bare(root, name)
      .configureHelp({ showGlobalOptions: false })
      .description(groups[name] ?? '')
  )
}

const bare = (parent: Node, name: string): Node =>
  parent.command(name).helpCommand(false).helpOption('-h, --help', 'Print help')

/** Declares words and notes each one as it is typed; one that is typed twice with different values is refused. */
function addWords(node: Node, words: readonly Word[], given: Map<string, string[]>): void {
  const names: string[] = []
  for (const { spell, summary, repeats } of words) {
    const name = nameOfWord(spell)
    if (isArgument({ spell, summary })) {
      node.argument(spell, summary)
      names.push(name)
      continue
    }
    node.addOption(new Option(spell, summary))
    node.on(`option:${name.slice(2)}`, (value: string | null) => {
      const before = given.get(name) ?? []
      const word = value ?? 'true'
      if (repeats !== true && before.some(other => other !== word))
        throw usage(`${name} was given twice with different values.`, 'Leave one of them out.')
      if (repeats === true || before.length === 0) given.set(name, [...before, word])
    })
  }
  node.hook('preAction', (_, { processedArgs }) => {
    for (const [index, name] of names.entries()) {
      const word: unknown = processedArgs[index]
      if (typeof word === 'string') given.set(name, [word])
      if (Array.isArray(word) && word.length > 0) given.set(name, word.map(String))
    }
  })
}

/** What is wrong with a command line, in our words: commander says `error: ...` and perhaps `(Did you mean ...?)`. */
function sentence({ message, code }: CommanderError): Failure {
  const [what = '', hint] = message
    .replace(/^error: /, '')
    .replace(/'(-[^'=]*)=.*'/s, "'$1'")
    .split('\n')
  const why = what === '' || code === 'commander.help' ? 'that is not a command' : what
  return new Failure('usage', `${why.replace(/\.$/, '')}.`, {
    hint: hint?.replace(/^\((.*)\)$/, '$1') ?? 'See `mergeq --help`, or --help after any command.',
  })
}
