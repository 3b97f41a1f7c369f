import type { ParsedArgs } from '../../config/args.ts'
import { globalOptions } from '../global-options.ts'
import type { DocumentedCommand } from '../help/command-doc.ts'
import type { HelpGroup } from '../help/help-text.ts'
import type { ValueSource } from '../inputs.ts'
import { type CompletionInput, toCompletionInput } from './completion-input.ts'
import { listFieldNames } from './field-names.ts'
import { readTypedWords, type TypedWords } from './typed-words.ts'

export type CompletableCommand = Pick<
  DocumentedCommand,
  'command' | 'alias' | 'summary' | 'definitions' | 'operations' | 'fields'
>

export interface CompletionCandidate {
  readonly value: string
  readonly description?: string
}

/**
 * What the shell does in addition to offering the candidates: it completes the names of files or of commands,
 * adds no space after the candidate, or does nothing.
 */
type CompletionDirective = 'files' | 'commands' | 'nospace' | 'nofiles'

export interface ValueLookup {
  readonly source: ValueSource
  /** The part of the current word before the value: `--repo=`, or empty. */
  readonly prefix: string
  readonly current: string
  readonly args: ParsedArgs
  readonly positionals: readonly string[]
}

export interface Completion {
  readonly candidates: readonly CompletionCandidate[]
  readonly directive: CompletionDirective
  readonly lookup?: ValueLookup
}

const helpOption: CompletionInput = toCompletionInput({
  name: '--help',
  short: '-h',
  summary: 'Show help',
})
const versionOption: CompletionInput = toCompletionInput({
  name: '--version',
  summary: 'Print the version',
})

function listSubcommands(
  groups: readonly HelpGroup[],
  commands: readonly CompletableCommand[],
  path: string,
): readonly CompletionCandidate[] {
  if (path === '') return groups.map(({ name, summary }) => ({ value: name, description: summary }))
  const prefix = `${path} `
  const found = new Map<string, string>()
  for (const { command, alias, summary } of commands) {
    if (!command.startsWith(prefix)) continue
    const [name = '', ...rest] = command.slice(prefix.length).split(' ')
    if (rest.length > 0) continue
    found.set(name, summary)
    if (alias !== undefined) found.set(alias, summary)
  }
  return [...found].map(([value, description]) => ({ value, description }))
}

const oppositeName = (name: string): string =>
  name.startsWith('--no-') ? name.replace('--no-', '--') : name.replace('--', '--no-')

function listOptionNames(
  options: readonly CompletionInput[],
  given: ParsedArgs,
): readonly CompletionCandidate[] {
  const hasOpposite = (name: string) => options.some(option => option.name === oppositeName(name))
  return options
    .filter(
      ({ name, isHidden, isVariadic }) =>
        !isHidden &&
        (isVariadic || !given.has(name)) &&
        !(hasOpposite(name) && given.has(oppositeName(name))),
    )
    .flatMap(({ name, short, summary }) =>
      [name, ...(short === undefined ? [] : [short])].map(value => ({ value, description: summary })),
    )
}

function complete(
  candidates: readonly CompletionCandidate[],
  current: string,
  directive: CompletionDirective = 'nofiles',
): Completion {
  const fitting = candidates.filter(({ value }) => value.startsWith(current))
  const isUnfinished = fitting.length > 0 && fitting.every(({ value }) => /[/:=]$/.test(value))
  return { candidates: fitting, directive: directive === 'nofiles' && isUnfinished ? 'nospace' : directive }
}

/** Completes the names of fields; a further name may follow after a comma, so no space is added. */
function completeFields(
  commands: readonly CompletableCommand[],
  { path, inputs, positionals, given }: TypedWords,
  current: string,
  prefix: string,
): Completion {
  const command = commands.find(candidate => candidate.command === path)
  if (command === undefined) return complete([], current)
  const names = inputs.filter(({ isOption }) => !isOption).map(({ name }) => name)
  const typed = positionals.map((word, index) => [names[index] ?? '', [word]] as const)
  const fields = listFieldNames(command, current.slice(prefix.length), new Map([...given, ...typed]))
  return complete(
    fields.map(name => ({ value: `${prefix}${name}` })),
    current,
    'nospace',
  )
}

const completeValue = (
  { values, source, isFile, isCommandLine }: CompletionInput,
  { given, positionals }: TypedWords,
  current: string,
  prefix = '',
): Completion => ({
  ...complete(
    values.map(value => ({ value: `${prefix}${value}` })),
    current,
    isCommandLine ? 'commands' : isFile ? 'files' : 'nofiles',
  ),
  ...(source === undefined
    ? {}
    : { lookup: { source, prefix, current: current.slice(prefix.length), args: given, positionals } }),
})

function completeArgument(
  groups: readonly HelpGroup[],
  commands: readonly CompletableCommand[],
  typed: TypedWords,
  current: string,
): Completion {
  const { path, positionals, inputs } = typed
  const commandArguments = inputs.filter(({ isOption, isHidden }) => !isOption && !isHidden)
  const last = commandArguments.at(-1)
  const argument = commandArguments[positionals.length] ?? (last?.isVariadic ? last : undefined)
  if (path === 'help') {
    const topics = positionals.length === 0 ? (argument?.values ?? []) : []
    const subcommands = listSubcommands(groups, commands, positionals.join(' '))
    return complete([...subcommands, ...topics.map(value => ({ value }))], current)
  }
  if (argument === undefined) return complete([], current)
  return argument.isCommandLine && positionals.length >= commandArguments.length
    ? complete([], current, 'files')
    : completeValue(argument, typed, current)
}

/**
 * Returns what is valid at the cursor.
 *
 * @param commands the commands of the groups that `words` or `current` name
 * @param words the words between `mergeq` and the current word, without quotes
 * @param current the word at the cursor, up to the cursor; empty if no word has been started
 */
export function completeWords(
  groups: readonly HelpGroup[],
  commands: readonly CompletableCommand[],
  words: readonly string[],
  current: string,
): Completion {
  const globals = [...globalOptions.map(toCompletionInput), helpOption]
  const typed = readTypedWords(groups, commands, globals, words)
  const options = typed.inputs.filter(({ isOption }) => isOption)
  const completeOption = (option: CompletionInput, prefix = '') =>
    option.name === '--fields'
      ? completeFields(commands, typed, current, prefix)
      : completeValue(option, typed, current, prefix)
  if (typed.pending !== undefined) return completeOption(typed.pending)
  if (!typed.isOptionsEnd && current.startsWith('-')) {
    const [prefix, name = ''] = /^(--[^=]+)=/.exec(current) ?? []
    if (prefix !== undefined) {
      const option = [...options, ...globals].find(option => option.name === name && option.takesValue)
      return option === undefined ? complete([], current) : completeOption(option, prefix)
    }
    const rootOptions = typed.path === '' ? [versionOption] : []
    return complete(
      [options, [...globals, ...rootOptions]].flatMap(list => listOptionNames(list, typed.given)),
      current,
    )
  }
  const subcommands =
    typed.isOptionsEnd || typed.positionals.length > 0 ? [] : listSubcommands(groups, commands, typed.path)
  return subcommands.length > 0
    ? complete(subcommands, current)
    : completeArgument(groups, commands, typed, current)
}
