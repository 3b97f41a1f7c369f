import { settingOption } from '../../domain/queue-settings.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import { type MergeqError, usageError } from '../../errors.ts'
import { shells } from '../completion/shells.ts'
import { globalOptions } from '../global-options.ts'
import { isOption } from '../inputs.ts'
import { findTypedCommand, type NamedCommand, type TypedCommand } from '../typed-command.ts'
import { correctedLine, formatCommandLine } from './command-line.ts'
import { type CommandCorrection, correctCommand, type KnownCommands } from './correct-command.ts'
import { hintForOption, looksLikeFields } from './correct-option.ts'

interface ParserError {
  readonly message: string
  readonly code: string
}

const askForLine = (line: string | undefined): string | undefined =>
  line === undefined ? undefined : `Did you mean: ${line}`

/** Returns the hint; undefined if it repeats the command line that was typed, which is wrong. */
function withoutTypedLine(hint: string | undefined, argv: readonly string[]): string | undefined {
  const line = formatCommandLine(argv)
  return line !== undefined && hint?.endsWith(`: ${line}`) === true ? undefined : hint
}

function lineForSetting(
  argv: readonly string[],
  words: TypedCommand<NamedCommand>['words'],
  correction: CommandCorrection,
  { commands }: KnownCommands,
): string | undefined {
  const [, , setting] = words
  if (setting === undefined) return undefined
  const option = `--${settingOption(setting.word)}`
  const update = commands.find(({ command }) => command === correction.target)
  const isSetting = update?.definitions.some(({ name, value }) => name === option && value !== undefined)
  return isSetting === true
    ? correctedLine(argv.with(setting.index, option), words, correction, commands)
    : undefined
}

function hintForCommand(
  argv: readonly string[],
  { words }: Pick<TypedCommand<NamedCommand>, 'words'>,
  known: KnownCommands,
): string | undefined {
  const texts = words.map(({ word }) => word)
  const correction = correctCommand(texts, known)
  if (correction === undefined) return undefined
  const [, , setting, value] = words
  if (correction.target === 'queue update' && setting !== undefined && value !== undefined)
    return askForLine(lineForSetting(argv, words, correction, known) ?? `mergeq ${correction.target}`)
  return askForLine(correctedLine(argv, words, correction, known.commands) ?? `mergeq ${correction.target}`)
}

function hintForArgument(
  argv: readonly string[],
  typed: TypedCommand<NamedCommand>,
  known: KnownCommands,
): string | undefined {
  const { command, words, pathLength } = typed
  const number = command?.definitions.filter(definition => !isOption(definition)).length ?? 0
  const extra = words[pathLength + number]
  if (command === undefined || extra === undefined) return undefined
  if (argv[extra.index - 1] === '--json' && looksLikeFields(extra.word)) {
    const line = formatCommandLine(argv.toSpliced(extra.index, 0, '--fields'))
    return line === undefined ? undefined : `To print only some fields, run: ${line}`
  }
  const isPullRequest = isPullRequestReference(extra.word)
  const correction =
    command.command === 'metrics'
      ? correctCommand(['metrics', extra.word], known)
      : command.command === 'queue get' && isPullRequest
        ? { target: 'pr get', replaced: pathLength }
        : command.command.startsWith('queue ') && !isPullRequest
          ? { target: command.command, replaced: pathLength }
          : undefined
  return correction === undefined
    ? undefined
    : askForLine(correctedLine(argv, words, correction, known.commands))
}

const groupOf = ({ words: [first] }: TypedCommand<NamedCommand>, { groups }: KnownCommands) =>
  groups.find(({ name }) => name === first?.word)?.name

/**
 * Returns the usage error for words that name no command; undefined if they name one, or a group. Its hint is
 * the command line that was probably meant, with everything else that was typed, or the command that lists
 * the commands.
 */
export function unknownCommandError(argv: readonly string[], known: KnownCommands): MergeqError | undefined {
  const typed = findTypedCommand(argv, known.commands)
  const group = groupOf(typed, known)
  const unknown = typed.command === undefined ? typed.words[group === undefined ? 0 : 1] : undefined
  if (unknown === undefined) return undefined
  return usageError(
    `unknown command '${unknown.word}'.`,
    withoutTypedLine(hintForCommand(argv, typed, known), argv) ??
      `To list the commands, run: mergeq ${[group ?? [], '--help'].flat().join(' ')}`,
  )
}

/**
 * Returns the usage error for an error of the parser. Its hint is the command line that was probably meant,
 * with everything else that was typed, or the command that shows the usage.
 */
export function toUsageError(
  { message, code }: ParserError,
  argv: readonly string[],
  known: KnownCommands,
): MergeqError {
  const unknownCommand = unknownCommandError(argv, known)
  if (unknownCommand !== undefined) return unknownCommand
  const typed = findTypedCommand(argv, known.commands)
  const topic = typed.command?.command ?? groupOf(typed, known) ?? []
  const usage = `To see the usage, run: mergeq ${[topic, '--help'].flat().join(' ')}`
  const problem = message
    .replace(/^error: /, '')
    .replace(/^option '(?:-\w, )?(--[\w-]+) (.+)' argument missing$/s, '$1 needs a value: $2')
    .replace(/'(-[^'=]*)=.*'/s, "'$1'")
    .split('\n')[0]
    ?.replace(/\.$/, '')
  const text =
    problem === undefined || problem === '' || code === 'commander.help' ? 'unknown command' : problem
  const [, option = ''] = /^unknown option '(-[^'=]*)/.exec(text) ?? []
  const isKnown = [...(typed.command?.definitions ?? []), ...globalOptions].some(
    ({ name }) => name === option,
  )
  const hint =
    code === 'commander.unknownOption'
      ? hintForOption(option, argv, typed, known.commands)
      : code === 'commander.excessArguments'
        ? hintForArgument(argv, typed, known)
        : code === 'commander.missingArgument' && typed.command?.command === 'completion'
          ? `Specify the shell: ${shells.join(', ')}. For bash, run: source <(mergeq completion bash)`
          : undefined
  return usageError(isKnown ? `${option} takes no value.` : `${text}.`, withoutTypedLine(hint, argv) ?? usage)
}

/** Undefined if no command or topic is similar. */
export function hintForHelp(words: readonly string[], known: KnownCommands): string | undefined {
  const correction = correctCommand(words, known) ?? correctCommand([words.join('-')], known)
  const target = correction?.target.replace(/^help /, '')
  if (target === undefined || target.startsWith('-')) return undefined
  const line = formatCommandLine(['help', ...target.split(' ').filter(word => !word.startsWith('-'))])
  return line === undefined ? undefined : `Did you mean: ${line}`
}
