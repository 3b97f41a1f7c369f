import { globalOptions } from './global-options.ts'
import type { OptionDefinition } from './inputs.ts'

export interface NamedCommand {
  readonly command: string
  readonly alias?: string
  readonly definitions: readonly OptionDefinition[]
}

export interface TypedWord {
  readonly word: string
  readonly index: number
}

export interface TypedCommand<C extends NamedCommand> {
  readonly words: readonly TypedWord[]
  /** The command; undefined if the words name a group, no known command, or nothing. */
  readonly command?: C
  readonly pathLength: number
  /** The index of the `--`, or of the first word of a command to run: options end before it. */
  readonly optionsEnd: number
}

const namesOf = ({ command, alias }: NamedCommand): readonly string[] =>
  alias === undefined ? [command] : [command, command.replace(/\S+$/, alias)]

/** Whether an option takes its value from the next word: `--repo x` and `-R x`, not `--repo=x` or `-Rx`. */
function takesNextWord(word: string, definitions: readonly OptionDefinition[]): boolean {
  if (word.startsWith('--'))
    return definitions.some(({ name, value }) => name === word && value !== undefined)
  for (const [index, letter] of [...word.slice(1)].entries()) {
    const definition = definitions.find(({ short }) => short === `-${letter}`)
    if (definition === undefined) return false
    if (definition.value !== undefined) return index === word.length - 2
  }
  return false
}

/**
 * Finds the words of a command line and the command that they name. An unknown option counts as an option
 * without a value. After the first word of an argument that is a command to run, all words belong to that
 * command (docs/reference/cli.md, "Commands").
 */
export function findTypedCommand<C extends NamedCommand>(
  argv: readonly string[],
  commands: readonly C[],
): TypedCommand<C> {
  const words: TypedWord[] = []
  let [command, pathLength]: [C | undefined, number] = [undefined, 0]
  let index = 0
  for (; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--') break
    if (/^-./.test(word)) {
      if (takesNextWord(word, [...(command?.definitions ?? []), ...globalOptions])) index++
      continue
    }
    if (command?.definitions.some(({ program }) => program === true) === true) break
    words.push({ word, index })
    if (words.length > 2) continue
    const path = words.map(({ word }) => word).join(' ')
    const found = commands.find(candidate => namesOf(candidate).includes(path))
    if (found !== undefined) [command, pathLength] = [found, words.length]
  }
  return { words, pathLength, optionsEnd: index, ...(command === undefined ? {} : { command }) }
}

/**
 * Returns a command line with a `--` before the first word of a command to run, where none was typed: all
 * words from there on are arguments.
 */
export function markOptionsEnd(
  argv: readonly string[],
  commands: readonly NamedCommand[],
): readonly string[] {
  const { optionsEnd } = findTypedCommand(argv, commands)
  return optionsEnd >= argv.length || argv[optionsEnd] === '--' ? argv : argv.toSpliced(optionsEnd, 0, '--')
}
