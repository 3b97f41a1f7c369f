import { CommanderError, Command as Node, Option } from 'commander'
import { type CommandGroup, loadCommand, type RegisteredCommand } from '../command/command.ts'
import { type Definition, formatArgument, isOption } from '../command/inputs.ts'
import { settingDefinitions } from '../config/setting-definitions.ts'
import type { ParsedArgs } from '../config/settings.ts'

/** The options that every command accepts (docs/reference/cli.md, "Global options"). */
export const globalOptions: readonly Definition[] = [
  { name: '--repo', short: '-R', value: '[host/]owner/name', ...settingDefinitions.repo },
  {
    name: '--target-branch',
    short: '-b',
    value: 'branch',
    ...settingDefinitions.targetBranch,
    values: 'branches',
  },
  { name: '--org', value: 'slug', ...settingDefinitions.org },
  { name: '--base-url', value: 'url', ...settingDefinitions.baseUrl },
  { name: '--profile', value: 'name', ...settingDefinitions.profile, values: 'profiles' },
  { name: '--output', short: '-o', value: 'format', ...settingDefinitions.output },
  { name: '--json', summary: 'Same as --output json' },
  { name: '--fields', value: 'a,b.c', summary: 'Print only these fields' },
  { name: '--dry-run', summary: 'Show what would be sent or changed without doing it' },
  { name: '--timeout', value: 'duration', ...settingDefinitions.timeout },
  { name: '--retries', value: 'n', ...settingDefinitions.retries },
  { name: '--ca-file', value: 'pem', ...settingDefinitions.caFile, file: true },
  {
    name: '--quiet',
    short: '-q',
    summary: 'Print only warnings and errors on standard error; with --json, only errors',
  },
  { name: '--verbose', short: '-v', summary: 'Print requests, timing and the source of each setting' },
  { name: '--color', value: 'when', ...settingDefinitions.color },
  { name: '--no-input', summary: 'Never prompt; fail instead' },
]

/** What is wrong with a command line; `word` is as it was typed. */
type Problem =
  | { readonly kind: 'unknown-command' | 'unknown-option'; readonly word: string }
  | {
      readonly kind: 'missing-value'
      readonly option: Definition
      readonly next: string | undefined
    }
  | { readonly kind: 'repeated-option'; readonly option: Definition }
  | { readonly kind: 'missing-argument'; readonly argument: string }
  | { readonly kind: 'extra-argument'; readonly word: string }

/** A command line as the run, help, completion and corrections see it. */
export interface ParsedCommandLine {
  /** The words of the command or group, without aliases: `['pr', 'get']`; empty at the root. */
  readonly path: readonly string[]
  readonly command: RegisteredCommand | undefined
  /** The values of arguments and options, by their names; `-h` and `--help` count as two options. */
  readonly args: ParsedArgs
  /** The words after the path that are neither options nor their values; all unknown options, too. */
  readonly words: readonly string[]
  readonly asksFor: 'version' | 'help' | 'short help' | 'error' | 'run'
  /** What is wrong, even if the command line asks for help. */
  readonly problem: Problem | undefined
}

export const helpOption: Definition = {
  name: '--help',
  short: '-h',
  summary: 'Show short (-h) or complete help (--help); with --json, print it as JSON',
}
export const versionOption: Definition = { name: '--version', summary: 'Print the version' }

/** The options that every command and group accepts in addition; `-h` and `--help` mean different helps. */
const ordinaryOptions: readonly Definition[] = [
  { name: '-h', summary: helpOption.summary },
  { name: '--help', summary: helpOption.summary },
  versionOption,
]

const ignore = () => undefined

/**
 * Creates an option, which takes its value from the next word unless that begins with `-`; `-` and numbers are
 * values. Choices are declared, and checked where values of all sources are: docs/decisions/0011-commander-runs-commands.md.
 */
function createOption({ name, short, value, summary, choices }: Definition): Option {
  const names = short === undefined ? name : `${short}, ${name}`
  const option = new Option(value === undefined ? names : `${names} [value]`, summary)
  return choices === undefined ? option : option.choices(choices).argParser(word => word)
}

/** Returns the word after an option without a value; undefined at the end of the line. */
function wordAfter({ name, short }: Definition, argv: readonly string[]): string | undefined {
  const isAt = (word: string, index: number) =>
    (word === name || (/^-[^-]/.test(word) && word.at(-1) === short?.at(-1))) &&
    (argv[index + 1] ?? '-').startsWith('-')
  return argv[argv.findIndex(isAt) + 1]
}

/** Whether commander takes a word of a command for an option: `-` and negative numbers are none. */
const looksLikeOption = (word: string): boolean =>
  /^-./s.test(word) && !/^-(?:\d+|\d*\.\d+)(?:e[+-]?\d+)?$/.test(word)

/** Returns what is wrong at a node, by the code of the error and by the words and arguments of the node. */
function problemOf({ code }: CommanderError, node: Node): Problem | undefined {
  const { args, registeredArguments, commands } = node
  const [first = ''] = args
  switch (code) {
    case 'commander.unknownCommand':
      return { kind: 'unknown-command', word: first }
    case 'commander.unknownOption':
      // Before the name of a command there are no other words.
      return {
        kind: 'unknown-option',
        word: commands.length > 0 ? first : (args.find(looksLikeOption) ?? ''),
      }
    case 'commander.missingArgument':
      return { kind: 'missing-argument', argument: registeredArguments[args.length]?.name() ?? '' }
    case 'commander.excessArguments':
      return { kind: 'extra-argument', word: args[registeredArguments.length] ?? '' }
    default:
      // A group alone.
      return undefined
  }
}

type RunnableCommandLine = ParsedCommandLine & { readonly command: RegisteredCommand }

/** Reads a command line and loads its command, which `run` runs as the action of commander. */
export async function parseCommandLine(
  argv: readonly string[],
  groups: readonly CommandGroup[],
  run?: (reading: RunnableCommandLine) => Promise<void>,
): Promise<ParsedCommandLine> {
  const args = new Map<string, string[]>()
  const path: string[] = []
  let command: RegisteredCommand | undefined
  let problem: Problem | undefined
  /** Takes an option; its value is null if it is missing, and undefined if the option has none. */
  const take = (option: Definition, value: string | null | undefined) => {
    const values = args.get(option.name) ?? []
    // `-b=dev` is read like `--target-branch=dev`.
    const isJoined = value?.startsWith('=') === true && argv.includes(`${option.short}${value}`)
    const added = (isJoined ? value?.slice(1) : value) ?? 'true'
    if (value === null) problem ??= { kind: 'missing-value', option, next: wordAfter(option, argv) }
    else if (option.variadic === true || values.length === 0) args.set(option.name, [...values, added])
    else if (!values.includes(added)) problem ??= { kind: 'repeated-option', option }
  }
  // Every node has the global options: each is made once.
  const options = new Map<Definition, Option>()
  const declare = (node: Node, definitions: readonly Definition[]) => {
    for (const definition of definitions) {
      if (!isOption(definition)) {
        node.argument(formatArgument(definition), definition.summary)
        continue
      }
      const option = options.get(definition) ?? createOption(definition)
      options.set(definition, option)
      // The values that commander stores are not used: it makes `batch: true` of `--no-batch`.
      node.addOption(option).on(`option:${option.name()}`, value => take(definition, value))
    }
  }
  const usualOptions = [...globalOptions, ...ordinaryOptions]
  /** Whether a node is followed by the name of one of its commands, so that no options are typed before that. */
  const comesNext = (all: readonly (readonly string[])[]) =>
    argv.slice(0, path.length).every(word => !word.startsWith('-')) &&
    all.flat().includes(argv[path.length] ?? '')
  /** Declares the commands that are typed, by their names and aliases; a node without commands takes any word. */
  const declareCommands = (node: Node, all: readonly (readonly string[])[]) => {
    if (!comesNext(all)) declare(node, usualOptions)
    const typed = all.filter(names => names.some(name => argv.includes(name)))
    for (const [name = '', ...aliases] of typed.length > 0 ? typed : all.slice(0, 1))
      node.command(name).aliases(aliases)
  }
  let last = new Node('mergeq')
  /** Returns what was read so far: all of it once commander has split the words. */
  const read = (): ParsedCommandLine => {
    const words = last.args
    const definitions: readonly Definition[] = command?.definitions ?? []
    for (const [index, { name, variadic }] of definitions
      .filter(definition => !isOption(definition))
      .entries()) {
      const values = words.slice(index, variadic === true ? undefined : index + 1)
      if (values.length > 0) args.set(name, values)
    }
    const end = argv.indexOf('--')
    // The words of a program that `pr targets` runs.
    if (end >= 0 && args.has('--exec')) args.set('--', argv.slice(end + 1))
    const isVersion = path.length === 0 && words.length === 1 && words[0] === 'version'
    const asksFor = isVersion ? 'version' : requestIn(args, command, problem)
    return { path, command, args, words, problem, asksFor }
  }
  /** Declares the options, arguments and commands of a node, which comes next on the command line. */
  const enter = async (node: Node) => {
    last = node
    node.helpCommand(false).hook('preSubcommand', (_, child) => enter(child))
    if (node.parent === null) {
      declareCommands(
        node,
        groups.map(({ name }) => [name]),
      )
      return
    }
    path.push(node.name())
    const { summary = '', commands = [] } = groups.find(({ name }) => name === path[0]) ?? {}
    const word = path.slice(1).join(' ')
    const file = commands.find(({ name }) => name === word)
    if (file === undefined) {
      declareCommands(
        node.description(summary),
        commands.map(({ name, alias }) => [name, ...[alias ?? []].flat()]),
      )
      return
    }
    const found = await loadCommand(file)
    command = found
    declare(node, [...usualOptions, ...found.definitions])
    // After the first word of a command to run, all words belong to that command.
    node
      .description(found.summary)
      .passThroughOptions(found.definitions.some(({ program }) => program === true))
      .action(async () => {
        const reading = read()
        if (reading.asksFor === 'run') await run?.({ ...reading, command: found })
      })
  }
  await enter(
    last
      .enablePositionalOptions()
      .helpOption(false)
      .showSuggestionAfterError(false)
      .exitOverride()
      .configureHelp({ formatHelp: () => '' })
      // Nothing is printed, and the outputs of the process are not opened to ask for their width and colors.
      .configureOutput({
        writeErr: ignore,
        outputError: ignore,
        getErrHelpWidth: () => 80,
        getErrHasColors: () => false,
      }),
  )
  try {
    await last.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    problem ??= problemOf(error, last)
  }
  return read()
}

/** Help wins over mistakes once the command is known, except over a missing value and a repeated option. */
function requestIn(
  args: ParsedArgs,
  command: RegisteredCommand | undefined,
  problem: Problem | undefined,
): ParsedCommandLine['asksFor'] {
  if (problem?.kind === 'missing-value' || problem?.kind === 'repeated-option') return 'error'
  if (args.has('--version')) return 'version'
  const asksForHelp = args.has('--help') || args.has('-h')
  if (problem !== undefined && !(asksForHelp && command !== undefined)) return 'error'
  if (asksForHelp) return args.has('--help') ? 'help' : 'short help'
  return command === undefined ? 'short help' : 'run'
}

/** Returns the name of the format that was typed, in lower case: it may be unknown. Undefined without one. */
export const flagFormat = (args: ParsedArgs): string | undefined =>
  args.has('--json') ? 'json' : args.get('--output')?.[0]?.toLowerCase()
