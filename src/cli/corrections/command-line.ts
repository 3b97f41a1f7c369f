import { joinCommandLine } from '../../domain/suggested-command.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import { findTypedCommand, type NamedCommand, type TypedWord } from '../typed-command.ts'
import type { CommandCorrection } from './correct-command.ts'

/** Options that a person may follow with a secret: a hint does not repeat such a command line. */
const secretOption = /^--?[\w-]*(?:token|password|passwd|secret|key|bearer|header)(?:=|$)/i

/** Maximum length of a command line in a hint, in characters. */
const maxLength = 500

/** Whether a hint may repeat these words: they are short, on one line, and name no secret. */
const isRepeatable = (words: readonly string[]): boolean =>
  words.join(' ').length <= maxLength &&
  !words.some(
    word => /[\u0000-\u001F\u007F-\u009F]/.test(word) || secretOption.test(word) || /^-H/.test(word),
  )

export const formatCommandLine = (words: readonly string[]): string | undefined =>
  isRepeatable(words) ? joinCommandLine(words) : undefined

/** Commands that take no arguments and are about a queue: a word after them is its branch. */
const queueCommands = /^queue (?:get|create|update|delete|pause|resume|drain|watch|export)$/

function optionsForArgument(target: string, argument: string): readonly string[] {
  if (queueCommands.test(target)) return ['-b']
  return target === 'pr get' && argument !== '-' && !isPullRequestReference(argument) ? ['--head'] : []
}

function insertOptions(
  argv: readonly string[],
  pathEnd: number,
  target: string,
  options: readonly string[],
  commands: readonly NamedCommand[],
): readonly string[] {
  const { command, words, pathLength } = findTypedCommand(argv, commands)
  // Where the command is not loaded, it is not known which options take a value.
  const argument = command === undefined ? words.find(({ index }) => index === pathEnd) : words[pathLength]
  if (argument === undefined) return argv.toSpliced(pathEnd, 0, ...options)
  return argv.toSpliced(argument.index, 0, ...options, ...optionsForArgument(target, argument.word))
}

/**
 * Returns a command line with the right command and everything else that was typed. Nothing is repeated after
 * `mergeq auth` and `mergeq --version`; undefined if the rest must not be repeated.
 *
 * @param words the words of the command line that are neither options nor their values
 * @param commands the commands of the groups that were typed
 */
export function correctedLine(
  argv: readonly string[],
  words: readonly TypedWord[],
  { target, replaced }: CommandCorrection,
  commands: readonly NamedCommand[],
): string | undefined {
  const targetWords = target.split(' ')
  if (/^(?:auth |--version)/.test(target)) return formatCommandLine(targetWords)
  const path = targetWords.filter(word => !word.startsWith('-'))
  const replacedAt = new Set(words.slice(0, replaced).map(({ index }) => index))
  const start = words[0]?.index ?? 0
  const corrected = argv.flatMap((word, index) => [
    ...(index === start ? path : []),
    ...(replacedAt.has(index) ? [] : [word]),
  ])
  const options = targetWords.slice(path.length)
  return formatCommandLine(insertOptions(corrected, start + path.length, path.join(' '), options, commands))
}
