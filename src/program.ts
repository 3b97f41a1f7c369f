import { CommanderError, Command as Node, Option } from 'commander'
import type { Command, Runner } from './commands/command.ts'
import { commands } from './commands/commands.ts'
import { type Described, methodOf, type Row } from './contract/endpoint.ts'
import { rows } from './contract/endpoints.ts'
import { type Given, nameOfWord, type Word } from './contract/field.ts'
import { asFailure, Failure, usage } from './failure.ts'
import { groups } from './reference/groups.ts'
import { helpAfter } from './reference/help.ts'
import { topics } from './reference/topics.ts'
import { type Desk, openDesk, type Secrets } from './run/desk.ts'
import { readValues } from './run/prepare.ts'
import { run } from './run.ts'
import { globalWords, wantsJsonErrors } from './settings/options.ts'
import { contextOf, type Purpose } from './settings/settings.ts'
import { settingTable } from './settings/table.ts'
import { openRedactor } from './view/redactor.ts'
import { openVoice } from './view/voice.ts'
import type { Output, World } from './world/world.ts'

const setWord: Word = {
  spell: '--set <path=value>',
  summary: 'Add a field to the body: JSON or text, dots make nesting (repeatable)',
  repeats: true,
}

/** One leaf of the tree: what is typed for it, and what it does. */
interface Leaf extends Described {
  readonly words: readonly Word[]
  act(given: Given, world: World, secrets: Secrets, runner: Runner): Promise<number>
}

const wordsOf = ({ fields }: Described): readonly Word[] =>
  Object.values(fields).flatMap(({ words }) => words)

const sends = ({ route }: Row): readonly Word[] => (methodOf(route) === 'POST' ? [setWord] : [])

const leafOf = (row: Row): Leaf => ({
  ...row,
  words: [...wordsOf(row), ...sends(row)],
  act: (given, world, secrets) =>
    atDesk(given, world, secrets, { changes: row.changes !== false, makesProfile: false }, desk =>
      run(row, desk),
    ),
})

const handWritten = (command: Command): Leaf => ({
  ...command,
  words: [
    ...(command.on === undefined ? [] : [...wordsOf(command.on), ...sends(command.on)]),
    ...wordsOf(command),
  ],
  act: (given, world, secrets, runner) =>
    atDesk(given, world, secrets, purposeOf(command), async desk =>
      command.run(await readValues(command.fields, given, contextOf(desk.settings, world)), desk, runner),
    ),
})

const purposeOf = ({ on, makesProfile = false }: Command) => ({
  changes: (on?.changes ?? false) !== false,
  makesProfile,
})

async function atDesk(
  given: Given,
  world: World,
  secrets: Secrets,
  purpose: Omit<Purpose, 'say'>,
  work: (desk: Desk) => Promise<number>,
): Promise<number> {
  const desk = await openDesk(given, world, secrets, purpose)
  try {
    return await work(desk)
  } finally {
    await desk.close()
  }
}

const firstWord = ({ command }: Described): string => command.split(' ')[0] ?? ''

/** Every command, group by group: the rows, and those written by hand, which take a row's place where they bear its name. */
export const leaves: readonly Leaf[] = gathered([
  ...rows.map(row => {
    const instead = commands.find(({ command }) => command === row.command)
    return instead === undefined ? leafOf(row) : handWritten(instead)
  }),
  ...commands.filter(({ command }) => rows.every(row => row.command !== command)).map(handWritten),
])

function gathered(all: readonly Leaf[]): readonly Leaf[] {
  const groupsInOrder = [...new Set(all.map(firstWord))]
  return groupsInOrder.flatMap(group => all.filter(leaf => firstWord(leaf) === group))
}

/** Runs one command line and returns its exit code. Every failure ends here, told once. */
export async function program(outside: World): Promise<number> {
  const redactor = openRedactor()
  for (const token of [outside.env.MERGEQ_TOKEN, outside.env.TRUNK_API_TOKEN])
    redactor.hide(token?.trim() ?? '')
  const guarded = (output: Output) => redirected(output, text => output.write(redactor.redact(text)))
  const world = { ...outside, out: guarded(outside.out), err: guarded(outside.err) }
  const secrets: Secrets = { hide: redactor.hide, reveal: text => outside.out.write(text) }
  const given = new Map<string, string[]>()
  try {
    return await parse(world, given, secrets)
  } catch (error) {
    const failure = asFailure(world.interrupted.aborted ? world.interrupted.reason : error)
    const json = wantsJsonErrors(given, world.env.MERGEQ_OUTPUT)
    await openVoice(world.err, { quiet: false, verbose: false, json }).fail(failure)
    return failure.exit
  }
}

/** argv → given → the leaf that it names. */
async function parse(world: World, given: Map<string, string[]>, secrets: Secrets): Promise<number> {
  const shown: string[] = []
  let chosen: Leaf | undefined
  const root = new Node('mergeq')
    .description('The command line for a merge queue and its flaky tests')
    .version(world.runtime.version, '--version', 'Print the version')
    .configureHelp({ showGlobalOptions: true, helpWidth: Math.min(world.out.columns, 100) })
    .configureOutput({
      writeOut: text => shown.push(text),
      writeErr: text => shown.push(text),
      outputError: () => undefined,
    })
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'Print help')
  addWords(root, globalWords, given)
  for (const leaf of leaves) {
    const node = nodeFor(root, leaf.command).description(leaf.summary)
    if (leaf.alias !== undefined) node.alias(leaf.alias)
    addWords(node, leaf.words, given)
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
    root.parse([...world.argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw sentence(error)
    await world.out.write(shown.join(''))
    return 0
  }
  const runner: Runner = (argv, env, { terminal, out, err }) =>
    program({
      ...world,
      argv,
      env,
      out: { ...redirected(world.out, out), terminal },
      err: redirected(world.err, err),
    })
  if (chosen !== undefined) return chosen.act(given, world, secrets, runner)
  await world.out.write(shown.join(''))
  return 0
}

/** The same output, written to elsewhere; whether it is a terminal is asked only when it matters. */
const redirected = (output: Output, write: Output['write']): Output => ({
  get terminal() {
    return output.terminal
  },
  get columns() {
    return output.columns
  },
  write,
})

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

/** The node of a command; groups on the way are made when they are first met. */
function nodeFor(root: Node, command: string): Node {
  const [first = '', ...rest] = command.split(' ')
  const standing = root.commands.find(node => node.name() === first)
  const node = standing ?? root.command(first).helpCommand(false).helpOption('-h, --help', 'Print help')
  if (standing === undefined && rest.length > 0) node.configureHelp({ showGlobalOptions: false })
  if (rest.length === 0) return node
  if (standing === undefined) node.description(groups[first] ?? '')
  return nodeFor(node, rest.join(' '))
}

/** Declares words and notes each one as it is typed; one that is typed twice with different values is refused. */
function addWords(node: Node, words: readonly Word[], given: Map<string, string[]>): void {
  const names: string[] = []
  for (const { spell, summary, repeats } of words) {
    const name = nameOfWord(spell)
    if (!spell.startsWith('-')) {
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
  const [what = '', hint] = message.replace(/^error: /, '').split('\n')
  const why = what === '' || code === 'commander.help' ? 'that is not a command' : what
  return new Failure('usage', `${why.replace(/\.$/, '')}.`, {
    hint: hint?.replace(/^\((.*)\)$/, '$1') ?? 'See `mergeq --help`, or --help after any command.',
  })
}
