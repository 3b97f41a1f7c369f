import { type CommandGroup, loadCommands, type SecretOutput } from '../command/command.ts'
import { type Definition, isOption, oppositeOf } from '../command/inputs.ts'
import type { ParsedArgs } from '../config/settings.ts'
import type { Host } from '../host/host.ts'
import { sanitizeLine } from '../output/sanitize.ts'
import type { CompletionCandidate, ValueLookup } from './completion-values.ts'
import {
  globalOptions,
  helpOption,
  type ParsedCommandLine,
  parseCommandLine,
  versionOption,
} from './parse.ts'

/** What is valid at the cursor. */
export interface Completion {
  readonly candidates: readonly CompletionCandidate[]
  /** What the shell completes besides the candidates. */
  readonly directive: 'files' | 'commands' | 'nofiles'
  /** Further candidates, which `readValues` looks up. */
  readonly lookup?: ValueLookup
}

/** Stands at the cursor in the command line that is read: no word can contain it. */
const cursor = '\0'
const hasCursor = (word: string): boolean => word.includes(cursor)

/** Returns the words that can follow the path of a group, a command or the root (an empty path). */
async function listSubcommands(
  path: readonly string[],
  groups: readonly CommandGroup[],
): Promise<readonly CompletionCandidate[]> {
  if (path.length === 0) return groups.map(({ name, summary }) => ({ value: name, description: summary }))
  if (path.length > 1) return []
  const parent = `${path.join(' ')} `
  const commands = await loadCommands(groups.filter(({ name }) => name === path[0]))
  return commands
    .filter(({ command }) => command.startsWith(parent))
    .flatMap(({ command, alias, summary }) =>
      [command.slice(parent.length), alias ?? []].flat().map(value => ({ value, description: summary })),
    )
}

function listOptions(options: readonly Definition[], args: ParsedArgs): readonly CompletionCandidate[] {
  const names = options.map(({ name }) => name)
  const isTyped = (name: string) => names.includes(name) && args.has(name)
  return options
    .filter(
      ({ name, hidden, variadic }) =>
        hidden !== true && (variadic === true || !args.has(name)) && !isTyped(oppositeOf(name)),
    )
    .flatMap(({ name, short, summary }) =>
      [name, short ?? []].flat().map(value => ({ value, description: summary })),
    )
}

function complete(
  candidates: readonly CompletionCandidate[],
  current: string,
  directive: Completion['directive'] = 'nofiles',
): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(current)), directive }
}

const nothing: Completion = { candidates: [], directive: 'nofiles' }

/** Completes a value; `prefix` is the part of the current word before it: `--color=`. */
function completeValue(
  { choices = [], suggestions = [], values: source, program, file }: Definition,
  { args, words }: Pick<ParsedCommandLine, 'args' | 'words'>,
  current: string,
  prefix: string,
): Completion {
  const directive = program === true ? 'commands' : file === true ? 'files' : 'nofiles'
  const values = [...choices, ...suggestions].map(value => ({ value: `${prefix}${value}` }))
  const lookup = { prefix, current: current.slice(prefix.length), args, words }
  return {
    ...complete(values, current, directive),
    ...(source === undefined ? {} : { lookup: { source, ...lookup } }),
  }
}

/** Completes the argument at an index; that of `mergeq help` is also the next word of a command. */
async function completeArgument(
  index: number,
  reading: Pick<ParsedCommandLine, 'path' | 'command' | 'args' | 'words'>,
  groups: readonly CommandGroup[],
  current: string,
): Promise<Completion> {
  const { command, words } = reading
  const inputs = command?.definitions.filter(input => !isOption(input) && input.hidden !== true) ?? []
  const last = inputs.at(-1)
  const input = inputs[index] ?? (last?.variadic === true ? last : undefined)
  if (input?.command === true) {
    const topics = index === 0 ? (input.suggestions ?? []) : []
    return complete([...(await listSubcommands(words, groups)), ...topics.map(value => ({ value }))], current)
  }
  if (input === undefined) return nothing
  // The arguments of a command that mergeq runs are unknown: they may be files.
  return input.program === true && index >= inputs.length
    ? complete([], current, 'files')
    : completeValue(input, reading, current, '')
}

/** Returns what is valid at the cursor, after the words between `mergeq` and `current`; nothing after a mistake. */
export async function completeWords(
  words: readonly string[],
  current: string,
  groups: readonly CommandGroup[],
): Promise<Completion> {
  const [prefix = ''] = /^--[^=]+=/.exec(current) ?? []
  const start = prefix !== '' ? prefix : current.startsWith('-') ? '--' : ''
  const line = await parseCommandLine([...words, `${start}${cursor}`], groups)
  const { path, command, problem } = line
  const argument = line.words.findIndex(hasCursor)
  const args = new Map([...line.args].filter(([, values]) => !values.some(hasCursor)))
  const reading = { path, command, args, words: line.words.slice(0, Math.max(0, argument)) }
  const own = command?.definitions.filter(isOption) ?? []
  if (problem !== undefined && 'word' in problem && !hasCursor(problem.word)) return nothing
  switch (problem?.kind) {
    case 'missing-value':
    case 'repeated-option':
    case 'extra-argument':
      return nothing
    case 'unknown-option': {
      if (prefix !== '') return nothing
      const globals = [...globalOptions, helpOption, ...(path.length === 0 ? [versionOption] : [])]
      return complete([...listOptions(own, args), ...listOptions(globals, args)], current)
    }
  }
  const option = [...own, ...globalOptions].find(({ name }) => line.args.get(name)?.some(hasCursor))
  if (option !== undefined) {
    const typed = { ...reading, words: line.words }
    return completeValue(option, typed, current, prefix)
  }
  const subcommands = argument === 0 ? await listSubcommands(path, groups) : []
  return subcommands.length > 0
    ? complete(subcommands, current)
    : completeArgument(argument, reading, groups, current)
}

/** Whether a candidate can be a line of the protocol; a shell would misread any other. */
const isSingleLine = (value: string): boolean => value === sanitizeLine(value) && !value.startsWith(':')

/** Returns a line `value`, or `value<TAB>description`, for each candidate, then the line `:directive`. */
export const formatCompletion = ({ candidates, directive }: Completion): string =>
  [
    ...candidates
      .filter(({ value }) => isSingleLine(value))
      .map(({ value, description }) =>
        description === undefined ? value : `${value}\t${sanitizeLine(description)}`,
      ),
    `:${directive}`,
  ]
    .map(line => `${line}\n`)
    .join('')

/** Runs `mergeq __complete`, the hidden command behind the completion scripts. A failure prints nothing. */
export async function printCompletions(
  args: readonly string[],
  groups: readonly CommandGroup[],
  host: Host,
  secrets: SecretOutput,
): Promise<number> {
  try {
    const words = args[0] === '--' ? args.slice(1) : args
    // PowerShell cannot pass an empty argument to every program: its script passes two quotes instead.
    const current = words.at(-1)?.replace(/^""$/, '') ?? ''
    const completion = await completeWords(words.slice(0, -1), current, groups)
    const { candidates, lookup } = completion
    const values =
      lookup === undefined
        ? []
        : await (await import('./completion-values.ts')).readValues(lookup, host, secrets)
    await host.out.write(formatCompletion({ ...completion, candidates: [...candidates, ...values] }))
  } catch {
    // The shell then offers nothing.
  }
  return 0
}
