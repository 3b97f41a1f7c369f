import { Command as CommanderCommand, CommanderError, Option } from 'commander'
import { usageError } from '../errors.ts'
import type { Host } from '../host/host.ts'
import type { CommandDescription } from './command.ts'
import { asksForFields, completeFieldsOption } from './fields/fields-option.ts'
import { globalOptions } from './global-options.ts'
import type { HelpRequest } from './help/render-help.ts'
import { formatArgument, isOption, type OptionDefinition } from './inputs.ts'
import type { CommandGroup, RegisteredCommand, RunnableCommand } from './registered-command.ts'
import { markOptionsEnd } from './typed-command.ts'

export type ParsedCommandLine =
  | { readonly command: RunnableCommand }
  | { readonly text: string }
  | { readonly helpRequest: HelpRequest }

/**
 * Parses `argv`, fills `args` with the arguments and options that were typed, and returns what the command
 * line asks for. Rejects with a usage error when the command line is invalid; `args` then holds what was
 * parsed before the error.
 *
 * @param groups all groups of commands
 * @param commands the commands of the groups that the command line names
 */
export async function parseCommandLine(
  { argv: typedWords, runtime }: Pick<Host, 'argv' | 'runtime'>,
  groups: readonly CommandGroup[],
  commands: readonly RegisteredCommand[],
  args: Map<string, string[]>,
): Promise<ParsedCommandLine> {
  const argv = markOptionsEnd(completeFieldsOption(typedWords), commands)
  const optionsEnd = argv.includes('--') ? argv.indexOf('--') : argv.length
  const isFieldList = asksForFields(argv)
  const texts: string[] = []
  const typed = new Set(argv)
  let [command, helpRequest]: [RunnableCommand?, HelpRequest?] = []
  const formatHelp = (node: CommanderCommand) => {
    helpRequest = {
      kind: 'help',
      args: getPath(node),
      isShort: !argv.slice(0, optionsEnd).includes('--help'),
    }
    return ''
  }
  const root = new CommanderCommand('mergeq')
    .version(runtime.version, '--version', 'Print the version')
    .configureHelp({ formatHelp })
    .configureOutput({
      writeOut: text => texts.push(text),
      writeErr: text => texts.push(text),
      outputError: () => undefined,
    })
    .exitOverride()
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .helpOption('-h, --help', 'Print help')
  const isOptionAsValue = createOptionAsValueTest(argv, commands, typed)
  const declare = (node: CommanderCommand, definitions: readonly OptionDefinition[]) =>
    declareOptions(node, definitions, args, isOptionAsValue)
  declare(root, globalOptions)
  for (const { name } of groups) addNode(root, name)
  for (const registered of commands) {
    const node = addCommandNode(root, registered.command)
    if (registered.alias !== undefined) node.alias(registered.alias)
    const definitions = isFieldList
      ? registered.definitions.map(definition => ({ ...definition, required: false }))
      : registered.definitions
    declare(
      node,
      isTyped(registered, typed) ? definitions : definitions.filter(definition => !isOption(definition)),
    )
    node.action((words: string | readonly string[] = []) => {
      if ('run' in registered) command = registered
      else helpRequest = { kind: registered.documentation, args: [words].flat() }
    })
  }
  try {
    root.parse([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0 && error.code !== 'commander.help') {
      const { toUsageError } = await import('./corrections/usage-error.ts')
      throw toUsageError(error, typedWords, { groups, commands })
    }
  }
  if (helpRequest !== undefined) return { helpRequest }
  return command === undefined ? { text: texts.join('') } : { command }
}

const getPath = (node: CommanderCommand): readonly string[] =>
  node.parent === null ? [] : [...getPath(node.parent), node.name()]

const isTyped = ({ command, alias = '' }: CommandDescription, typed: ReadonlySet<string>): boolean => {
  const [last = '', ...groups] = command.split(' ').toReversed()
  return groups.every(group => typed.has(group)) && (typed.has(last) || typed.has(alias))
}

function addCommandNode(root: CommanderCommand, command: string): CommanderCommand {
  const [first, ...rest] = command.split(' ')
  const group = root.commands.find(node => node.name() === first) ?? root
  return rest.length === 0 ? group : addNode(group, rest.join(' '))
}

const addNode = (parent: CommanderCommand, name: string): CommanderCommand =>
  parent.command(name).helpCommand(false).helpOption('-h, --help', 'Print help')

type OptionAsValueTest = (definition: OptionDefinition, value: string) => boolean

/** Returns the test for one command line. In `--org --json`, the organization is hardly named `--json`. */
function createOptionAsValueTest(
  argv: readonly string[],
  commands: readonly RegisteredCommand[],
  typed: ReadonlySet<string>,
): OptionAsValueTest {
  const end = argv.indexOf('--')
  const words = end < 0 ? argv : argv.slice(0, end)
  const isKnownOption = (value: string) => {
    const [name = ''] = value.split('=')
    const definitions = [
      ...commands.filter(command => isTyped(command, typed)).flatMap(command => command.definitions),
      ...globalOptions,
    ]
    return (
      ['-h', '--help', '--version'].includes(name) ||
      definitions.some(definition => getOptionNames(definition).includes(name))
    )
  }
  return (definition, value) =>
    value.startsWith('-') &&
    words.some((word, index) => getOptionNames(definition).includes(word) && words[index + 1] === value) &&
    isKnownOption(value)
}

const getOptionNames = (definition: OptionDefinition): readonly string[] =>
  isOption(definition) ? [definition.short ?? '', definition.name].filter(name => name !== '') : []

/** Returns an option in the notation of commander: `-R, --repo <name>`. */
const formatOption = (definition: OptionDefinition): string => {
  const names = getOptionNames(definition).join(', ')
  return definition.value === undefined ? names : `${names} <${definition.value}>`
}

/**
 * Declares arguments and options on a node and records each value in `args` while commander parses. Parsing
 * then throws a usage error for an option that is typed twice with different values, and for an option in the
 * place of a value.
 */
function declareOptions(
  node: CommanderCommand,
  definitions: readonly OptionDefinition[],
  args: Map<string, string[]>,
  isOptionAsValue: OptionAsValueTest,
): void {
  const argumentNames: string[] = []
  for (const definition of definitions) {
    const { name, summary, variadic } = definition
    if (!isOption(definition)) {
      node.argument(formatArgument(definition), summary)
      argumentNames.push(name)
      continue
    }
    node.addOption(new Option(formatOption(definition), summary))
    node.on(`option:${name.slice(2)}`, (value: string | null) => {
      const values = args.get(name) ?? []
      const added = value ?? 'true'
      if (typeof value === 'string' && isOptionAsValue(definition, value))
        throw usageError(
          `${name} needs a value, but ${value} is an option.`,
          `To use ${value} as the value, write: ${name}=${value}`,
        )
      if (variadic !== true && values.some(other => other !== added))
        throw usageError(`${name} was given twice with different values.`, `Use ${name} only once.`)
      if (variadic === true || values.length === 0) args.set(name, [...values, added])
    })
  }
  node.hook('preAction', (_, { processedArgs }) => {
    for (const [index, name] of argumentNames.entries()) {
      const value: unknown = processedArgs[index]
      if (typeof value === 'string') args.set(name, [value])
      if (Array.isArray(value) && value.length > 0) args.set(name, value.map(String))
    }
  })
}
