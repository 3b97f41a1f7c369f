import { toMergeqError, usageHint } from '../base/errors.ts'
import type { CommandGroup } from '../command/command.ts'
import { isOption, type OptionDefinition, oppositeOf, optionName } from '../command/inputs.ts'
import { isPullRequestReference } from '../values/pull-request.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { joinCommandLine } from '../values/suggested-command.ts'
import { findCommand, findMeant, isSentence, isWord, placesIn, wordsOf } from './other-words.ts'
import {
  globalOptions,
  helpOption,
  type ParsedCommandLine,
  parseCommandLine,
  versionOption,
} from './parse.ts'

export type Groups = readonly CommandGroup[]
export type Hint = string | undefined
export type Words = readonly string[]

/** Says how to see the usage of a command. */
export const usageOf = (path: Words): string =>
  `To see the usage, run: mergeq ${[...path, '--help'].join(' ')}`

/** The options of a command, with those of every command. */
export const optionsOf = ({ command }: ParsedCommandLine): readonly OptionDefinition[] => [
  ...(command?.definitions.filter(isOption) ?? []),
  ...globalOptions,
  ...[versionOption, helpOption],
]

/** Returns what is wrong with the value of an option. */
function wrongValueOf(reading: ParsedCommandLine): Hint {
  for (const { name, parse } of optionsOf(reading)) {
    const values = reading.args.get(name)
    if (values === undefined) continue
    try {
      parse?.(...values)
    } catch (error) {
      const { message, details } = toMergeqError(error)
      return details.hint === usageHint ? message : `${message}\n${details.hint}`
    }
  }
  return undefined
}

/** Control characters, and an address with a user name. */
const hiddenText = /[\u0000-\u001F\u007F-\u009F]|:\/\/[^/?#\s]*@/

/** Returns a command line to paste; undefined if reading it finds a problem, or if it is long or may have a secret. */
export function formatLine(argv: Words, reading: ParsedCommandLine): Hint {
  const { problem, path, words, args } = reading
  const isRight =
    problem === undefined &&
    wrongValueOf(reading) === undefined &&
    (args.get('pr') ?? []).every(word => word === '-' || isPullRequestReference(word))
  const mayHaveToken = path[0] === 'auth' && words.length > 0
  const isHidden = mayHaveToken || argv.join(' ').length > 500 || argv.some(word => hiddenText.test(word))
  // Without a setting there is nothing to update.
  const isComplete = !/^queue update(?: -b \S+)?$/.test(argv.join(' '))
  return isRight && !isHidden && isComplete ? joinCommandLine(argv) : undefined
}

/** Returns where the words are on a command line, one after the other. */
function placesOf(argv: Words, words: Words): readonly number[] {
  const found: number[] = []
  for (const word of words) found.push(argv.indexOf(word, (found.at(-1) ?? -1) + 1))
  return found
}

/** Returns the command line with other words in the place of typed words. */
export function replaceWords(argv: Words, typed: Words, words: Words): Words {
  const found = placesOf(argv, typed)
  return argv.flatMap((word, index) => (index === found[0] ? words : found.includes(index) ? [] : [word]))
}

const isConfirmation = (word: string): boolean => word === '--yes' || word === '-y'
const isNegative = (option: string): boolean => /^--(?:no|un(?!til))/.test(option)
const isNo = (value: string): boolean => /^(?:no|false|off)$/i.test(value)

/** Returns the nearest option; a misspelt one is neither a global option nor the opposite. */
function similarOption(option: string, value: string, { command, path }: ParsedCommandLine): Hint {
  const own = path.length === 0 ? [versionOption, helpOption] : (command?.definitions ?? [])
  const names = own.flatMap(({ name, hidden }) => (hidden === true || !name.startsWith('--') ? [] : [name]))
  const similar = option.startsWith('--') ? findSimilarName(option, names) : undefined
  // `--quarantine=no` means the opposite of `--quarantined`.
  return isNo(value) || isNegative(option) !== isNegative(similar ?? '') ? undefined : similar
}

/** What takes the place of a word: words, a command, or only a sentence; perhaps of the next word, too. */
interface Replacement {
  readonly words: Words
  readonly command?: Words
  readonly sentence?: string
  readonly takesNext?: boolean
}

/** Returns what an unknown option or one argument too many means: by its name, by the table, or else by its spelling. */
function replace(word: string, next: string, reading: ParsedCommandLine): Replacement | undefined {
  const [name = '', value] = word.split(/=(.*)/s)
  const [given, takesNext] = [value ?? next, value === undefined]
  const named = reading.command?.definitions.find(option => option.name === `--${optionName(name)}`)
  if (named?.value !== undefined) return { words: [named.name, given], takesNext }
  if (named !== undefined)
    return { words: [isNo(given) ? oppositeOf(named.name) : named.name], takesNext: takesNext && isNo(given) }
  const names = optionsOf(reading).map(option => option.name)
  const find = (text: string) => findMeant(placesIn(reading.path), text, names)
  const whole = isWord(word) ? undefined : find(`${name}=${given}`)
  const meant = whole ?? find(isWord(word) ? word : name) ?? similarOption(name, given, reading)
  if (meant === undefined || meant === 'none') return undefined
  // An option that has no place may have a value, but the only pull request is none.
  const isAlone = isPullRequestReference(next) && reading.words.filter(isWord).length === 1
  const isKept = isWord(word) || (takesNext && next !== '' && isWord(next) && !isAlone)
  if (isSentence(meant)) return { words: isKept ? [word] : [], sentence: meant }
  if (meant === '') return { words: [value ?? []].flat() }
  const words = wordsOf(meant, isWord(word) ? word : name)
  if (isWord(meant)) return { words: [], command: words }
  const number = words[1]?.replace('<n>', given)
  if (number !== words[1] && number !== undefined)
    return { words: [words[0] ?? '', /^\d+$/.test(given) ? number : given], takesNext }
  if (whole !== undefined) return { words, takesNext }
  return { words: value === undefined || words.length > 1 || isWord(word) ? words : [`${meant}=${value}`] }
}

/**
 * Returns the command line that was meant: each word that its command does not know is replaced once, by what the table
 * says or by the nearest name, and all others stay as they were typed, but a confirmation, which is for what was typed.
 */
function fitLine(line: Words, reading: ParsedCommandLine, isOtherCommand: boolean) {
  const options = optionsOf(reading)
  const given = reading.command?.definitions.filter(definition => !isOption(definition)) ?? []
  const expected = given.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : given.length
  const ofPath = placesOf(line, reading.path)
  const fitted: string[] = []
  const sentences: string[] = []
  const asked: string[] = []
  let command = reading.path
  let at = 0
  let positional = 0
  let mayBeValue = 0
  for (let index = 0; index < line.length; index++) {
    const [word = '', next = ''] = [line[index], line[index + 1]]
    if (index === ofPath[0]) at = fitted.length
    if (ofPath.includes(index)) continue
    const option = options.find(
      ({ name, short }) => name === word.split('=')[0] || short === word.slice(0, 2),
    )
    const isUnknown = !isWord(word) && option === undefined && word !== '--'
    const isExtra = isWord(word) && ++positional > expected
    // A word after a flag says whether it is set.
    const opposite = oppositeOf(fitted.at(-1) ?? '')
    const isOfFlag = isExtra && options.some(({ name }) => name === opposite)
    const replacement =
      isOfFlag && isNo(word)
        ? { words: [String(fitted.pop() && opposite)] }
        : isUnknown || (isExtra && !isOfFlag && index !== mayBeValue)
          ? replace(word, next, reading)
          : undefined
    const isProgram = word === '--' || (isWord(word) && given.some(({ program }) => program))
    const takesNext = replacement?.takesNext ?? (option?.value !== undefined && !word.includes('='))
    const end = isProgram ? line.length : index + (takesNext ? 2 : 1)
    const words = replacement?.words ?? line.slice(index, end)
    const isDropped = replacement === undefined || isOtherCommand
    fitted.push(...words.filter(each => !(isDropped && isConfirmation(each))))
    sentences.push(...[replacement?.sentence ?? []].flat())
    command = replacement?.command ?? command
    if (isUnknown) mayBeValue = end
    if (isUnknown && replacement !== undefined) asked.push(words.join(' '))
    index = end - 1
  }
  return { line: [...fitted.slice(0, at), ...command, ...fitted.slice(at)], sentences, asked }
}

/**
 * Returns the question whether a command line was meant, if it can be typed; else whether an option was, or how to see
 * the usage of the command.
 *
 * @param isOtherCommand whether the command is another one than the typed one
 */
export async function askFor(argv: Words, isOtherCommand: boolean, groups: Groups): Promise<string> {
  const typed = await parseCommandLine(argv, groups)
  const { line, sentences, asked } = fitLine(argv, typed, isOtherCommand)
  const [sentence, option = ''] = [sentences[0], asked[0]]
  if (sentence !== undefined && !isOtherCommand) return sentence
  const reading = await parseCommandLine(line, groups)
  const text = formatLine(line, reading)
  if (text !== undefined) return [`Did you mean: ${text}`, ...sentences].join('\n')
  return isOtherCommand || option === '' || reading.command?.command !== typed.command?.command
    ? usageOf(isOtherCommand ? typed.path : reading.path)
    : [`Did you mean ${option}?`, wrongValueOf(reading) ?? []].flat().join('\n')
}

/** Returns the hint for a word that names no command; a misspelt one never becomes one that destroys something. */
export async function hintForCommand(argv: Words, reading: ParsedCommandLine, groups: Groups): Promise<Hint> {
  const { path, words } = reading
  const [word = '', next = ''] = words.filter(isWord)
  const { meant, isGuess, typed } = findCommand(path, word, next, groups)
  if (meant === undefined || meant === 'none' || isSentence(meant))
    return meant === 'none' ? undefined : meant
  const line = replaceWords(argv, typed, wordsOf(meant, word))
  if (isGuess && (await parseCommandLine(line, groups)).command?.destructive === true) return undefined
  return askFor(line, true, groups)
}
