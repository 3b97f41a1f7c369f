import { toMergeqError, usageHint } from '../base/errors.ts'
import { fieldsOf, findSimilarField } from '../command/fields.ts'
import { type Definition, isOption, oppositeOf, optionName } from '../command/inputs.ts'
import { isPullRequestReference } from '../values/pull-request.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { joinCommandLine, shellQuote, shellWord } from '../values/suggested-command.ts'
import {
  findCommand,
  isSentence,
  isWord,
  meaningOf,
  numberOfPr,
  type OtherWords,
  placesIn,
  sentencesAbout,
  wordsOf,
} from './other-words.ts'
import {
  globalOptions,
  helpOption,
  type ParsedCommandLine,
  parseCommandLine,
  versionOption,
} from './parse.ts'

export type Hint = string | undefined
export type Words = readonly string[]

export const usageOf = (path: Words): string =>
  `To see the usage, run: mergeq ${[...path, '--help'].join(' ')}`

export const optionsOf = ({ command }: ParsedCommandLine): readonly Definition[] => [
  ...(command?.definitions.filter(isOption) ?? []),
  ...globalOptions,
  versionOption,
  helpOption,
]

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

const wrongPullRequests = ({ args }: ParsedCommandLine): Words =>
  (args.get('pr') ?? []).filter(word => word !== '-' && !isPullRequestReference(word))

/** Returns a command line to paste; undefined if reading it finds a problem, or if it is long or may have a secret. */
export function formatLine(argv: Words, reading: ParsedCommandLine): Hint {
  const { problem, path, words, args } = reading
  const isRight =
    problem === undefined &&
    optionsOf(reading).every(
      option => !args.has(option.name) || isAccepted(option, args.get(option.name) ?? []),
    ) &&
    wrongPullRequests(reading).length === 0
  const mayHaveToken = path[0] === 'auth' && words.length > 0
  const isHidden = mayHaveToken || argv.join(' ').length > 500 || argv.some(word => hiddenText.test(word))
  // Without a setting there is nothing to update.
  const isComplete = !/^queue update(?: -b \S+)?$/.test(argv.join(' '))
  return isRight && !isHidden && isComplete ? joinCommandLine(argv) : undefined
}

function placesOf(argv: Words, words: Words): readonly number[] {
  const found: number[] = []
  for (const word of words) found.push(argv.indexOf(word, (found.at(-1) ?? -1) + 1))
  return found
}

export function replaceWords(argv: Words, typed: Words, words: Words): Words {
  const found = placesOf(argv, typed)
  return argv.flatMap((word, index) => (index === found[0] ? words : found.includes(index) ? [] : [word]))
}

const isConfirmation = (word: string): boolean => word === '--yes' || word === '-y'
const isNegative = (option: string): boolean => /^--(?:no|un(?!til))/.test(option)
const isNo = (value: string): boolean => /^(?:no|false|off|0)$/i.test(value)
const isYes = (value: string): boolean => /^(?:yes|true|on|1)$/i.test(value)

/** Returns the nearest option, which is not the opposite. */
function similarOption(option: string, value: string, reading: ParsedCommandLine): Hint {
  const names = optionsOf(reading).flatMap(({ name, hidden }) =>
    hidden === true || !name.startsWith('--') ? [] : [name],
  )
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
function replace(
  word: string,
  next: string,
  reading: ParsedCommandLine,
  table: OtherWords,
): Replacement | undefined {
  const [name = '', value] = word.split(/=(.*)/s)
  const [given, takesNext] = [value ?? next, value === undefined]
  const named = reading.command?.definitions.find(option => option.name === `--${optionName(name)}`)
  if (named?.value !== undefined) return { words: [named.name, given], takesNext }
  if (named !== undefined)
    return { words: [isNo(given) ? oppositeOf(named.name) : named.name], takesNext: takesNext && isNo(given) }
  const names = optionsOf(reading).map(option => option.name)
  const find = (text: string) => meaningOf(table, placesIn(reading.path), text, names)
  const whole = isWord(word) ? undefined : find(`${name}=${given}`)
  const meant = whole ?? find(isWord(word) ? word : name) ?? similarOption(name, given, reading)
  if (meant === undefined || meant === 'none') return undefined
  // An option that has no place may have a value, but the only pull request is none.
  const isAlone = isPullRequestReference(next) && reading.words.filter(isWord).length === 1
  const isKept = (isWord(word) && !/\s/.test(word)) || (takesNext && next !== '' && isWord(next) && !isAlone)
  if (isSentence(meant)) return { words: isKept ? [word] : [], sentence: meant }
  if (meant === '') return { words: [value ?? []].flat() }
  const words = wordsOf(meant, isWord(word) ? word : name)
  if (isWord(meant)) return { words: [], command: words }
  const filled = words.map(each => (each === '<value>' ? given : each.replace('<n>', given)))
  const hasNumber = meant.includes('<n>') && !/^\d+$/.test(given)
  if (filled.join(' ') !== words.join(' '))
    return { words: hasNumber ? [words[0] ?? '', given] : filled, takesNext }
  if (whole !== undefined && meant.includes(' ')) return { words, takesNext }
  return { words: value === undefined || words.length > 1 || isWord(word) ? words : [`${meant}=${value}`] }
}

/** Returns what a flag with a value means: `--batch=off` is `--no-batch`, and `--wait=false` what is so without it. */
function replaceFlag(word: string, reading: ParsedCommandLine, table: OtherWords): Replacement | undefined {
  const [name = '', value = ''] = word.split(/=(.*)/s)
  const options = optionsOf(reading).map(option => option.name)
  if (isYes(value)) return { words: [name] }
  if (isNo(value)) return { words: options.filter(option => option === oppositeOf(name)) }
  const meant = meaningOf(table, placesIn(reading.path), word, options)
  return meant === undefined ? undefined : { words: wordsOf(meant.replace('<value>', value)) }
}

/**
 * Returns the command line that was meant: each word that its command does not know is replaced once, by what the table
 * says or by the nearest name, and all others stay as they were typed, but a confirmation, which is for what was typed.
 */
function fitLine(line: Words, reading: ParsedCommandLine, isOtherCommand: boolean, table: OtherWords) {
  const options = optionsOf(reading)
  const given = reading.command?.definitions.filter(definition => !isOption(definition)) ?? []
  // Without a group, all words may be right once the option is.
  const isOpen = reading.path.length === 0 || given.some(({ variadic }) => variadic)
  const expected = isOpen ? Number.POSITIVE_INFINITY : given.length
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
    const isFlag = option !== undefined && option.value === undefined && word.startsWith(`${option.name}=`)
    const isExtra = isWord(word) && ++positional > expected
    // A word after a flag says whether it is set.
    const opposite = oppositeOf(fitted.at(-1) ?? '')
    const isOfFlag = isExtra && options.some(({ name }) => name === opposite)
    let replacement: Replacement | undefined
    if (isFlag) replacement = replaceFlag(word, reading, table)
    else if (isOfFlag && isYes(word)) replacement = { words: [] }
    else if (isOfFlag && isNo(word)) {
      fitted.pop()
      replacement = { words: [opposite] }
    } else if (isUnknown || (isExtra && !isOfFlag && index !== mayBeValue))
      replacement = replace(word, next, reading, table)
    const isProgram = word === '--' || (isWord(word) && given.some(({ program }) => program))
    const takesNext =
      replacement?.takesNext ?? (!isFlag && option?.value !== undefined && !word.includes('='))
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

/** The pull requests of a text such as `5 6`, `5,6`, `05`, `PR-5` or `pr/5`; undefined for any other text. */
function pullRequestsIn(text: string): Words | undefined {
  if (!/^(?:[\s,;]*(?:gh-|(?:pr|pull|mr)[-/ #]?|[#!])?\d{1,10}(?=[\s,;]|$))+[\s,;]*$/i.test(text))
    return undefined
  return (text.match(/\d+/g) ?? []).map(number => String(Number(number)))
}

const units =
  /^(?:last |past )?(\d+|an?|one) ?(s|m|h|d|w)(?:ec(?:ond)?|in(?:ute)?|r|our|ay|eek)?s?(?: ago)?$/i

/** Returns the values of an option that has another form: `merged,failed`, `7 days`, `1 day ago`; undefined for a right one. */
function readableValues(option: Definition, value: string): Words | undefined {
  if (isAccepted(option, [value])) return undefined
  const [, count = '', unit = ''] = units.exec(value) ?? []
  const isList = option.variadic === true && value.includes(',')
  const values = isList ? value.split(/\s*,\s*/) : [`${/^\d/.test(count) ? count : 1}${unit.toLowerCase()}`]
  return (isList || count !== '') && isAccepted(option, values) ? values : undefined
}

function isAccepted({ parse, choices }: Definition, values: Words): boolean {
  try {
    parse?.(...values)
    return choices === undefined || values.every(value => choices.includes(value.toLowerCase()))
  } catch {
    return false
  }
}

/** Returns the option for what gh takes after `--json`: `number,title` are the fields `prNumber` and `prTitle`. */
function fieldsIn(text: string, { command, args }: ParsedCommandLine): Words | undefined {
  if (!/^[a-z][\w.]*(?:,[\w.]+)*$/i.test(text)) return undefined
  const known = (command && fieldsOf(command, args)?.names) ?? []
  const names = text.split(',').map(name => findSimilarField(name, known) ?? name)
  return ['--fields', names.join(',')]
}

/** Returns a command line with each value that people write in another form as mergeq reads it. */
function withReadableValues(line: Words, reading: ParsedCommandLine, table: OtherWords): Words {
  const options = optionsOf(reading).filter(({ value }) => value !== undefined)
  const wrong = wrongPullRequests(reading)
  const isOnly = reading.args.get('pr')?.length === 1
  const fixed: string[] = []
  for (let index = 0; index < line.length; index++) {
    const [word = '', next = ''] = [line[index], line[index + 1]]
    const option = options.find(
      ({ name, short }) => word === name || word === short || word.startsWith(`${name}=`),
    )
    if (option !== undefined) {
      const isJoined = word.includes('=')
      const values = readableValues(option, isJoined ? word.slice(option.name.length + 1) : next)
      fixed.push(
        ...(values?.flatMap(each => [option.name, each]) ?? line.slice(index, index + (isJoined ? 1 : 2))),
      )
      if (!isJoined) index++
    } else if (wrong.includes(word) && line[index - 1] === '--json') {
      fixed.push(...(fieldsIn(word, reading) ?? [word]))
    } else if (wrong.includes(word)) {
      const names = optionsOf(reading).map(({ name }) => name)
      const isName = isOnly && /^[\w./-]+$/.test(word)
      const habit = isName ? meaningOf(table, [reading.path.join(' ')], word, names) : undefined
      const isOptionOf = habit !== undefined && !isWord(habit)
      const flag = line[index - 1] ?? ''
      const withValue = isWord(flag)
        ? undefined
        : meaningOf(table, [reading.path.join(' ')], `${flag}=${word}`, names)
      if (withValue?.includes('<value>')) {
        fixed.splice(-1, 1, ...wordsOf(withValue.replace('<value>', word)))
        continue
      }
      fixed.push(...(pullRequestsIn(word) ?? (isOptionOf ? wordsOf(habit, word) : [word])))
    } else fixed.push(word)
  }
  return fixed
}

/** Returns the question whether a line was meant whose values are those of this one, in the form that mergeq reads. */
export async function askForValues(
  argv: Words,
  reading: ParsedCommandLine,
  table: OtherWords,
): Promise<Hint> {
  const ofGh = wrongPullRequests(reading).length > 0 ? await hintForGh(argv, reading, table) : undefined
  if (ofGh !== undefined) return ofGh
  const line = withReadableValues(argv, reading, table)
  const text =
    JSON.stringify(line) === JSON.stringify(argv)
      ? undefined
      : formatLine(line, await parseCommandLine(line, table.groups))
  return text && `Did you mean: ${text}`
}

/** Returns the hint for options of gh: `--json` with the names of fields, and `--jq` or `-q` with what jq selects. */
async function hintForGh(typed: Words, reading: ParsedCommandLine, table: OtherWords): Promise<Hint> {
  const argv = typed.flatMap(word => (/^--(?:json|jq)=/.test(word) ? word.split(/=(.*)/s, 2) : word))
  const indexOf = (...options: readonly string[]) =>
    argv.findIndex((word, at) => options.includes(word) && isWord(argv[at + 1] ?? '-x'))
  const json = indexOf('--json')
  // In mergeq, -q is --quiet.
  const isFilter = /^[\w.]*[.[(|]/.test(argv[argv.indexOf('-q') + 1] ?? '')
  const jq = isFilter ? indexOf('--jq', '-q') : indexOf('--jq')
  const isOf = (index: number, at: number) => index >= 0 && (at === index || at === index + 1)
  const show = async (line: Words) => formatLine(line, await parseCommandLine(line, table.groups))
  if (jq >= 0) {
    const rest = argv.filter((word, at) => !isOf(json, at) && !isOf(jq, at) && word !== '--json')
    const line = await show([...rest, '--json'])
    return line && `To select from the JSON, run: ${line} | jq ${shellQuote(argv[jq + 1] ?? '')}`
  }
  const fields = json < 0 ? undefined : fieldsIn(argv[json + 1] ?? '', reading)
  if (fields === undefined) return undefined
  const line = await show([...argv.slice(0, json), '--json', ...fields, ...argv.slice(json + 2)])
  return line && `To print only some fields, run: ${line}`
}

/**
 * Returns the question whether a command line was meant, if it can be typed; else whether an option or the command alone
 * was.
 *
 * @param isOtherCommand whether the command is another one than the typed one
 */
export async function askFor(argv: Words, isOtherCommand: boolean, table: OtherWords): Promise<string> {
  const typed = await parseCommandLine(argv, table.groups)
  const ofGh = await hintForGh(argv, typed, table)
  if (ofGh !== undefined) return ofGh
  const { line: fitted, sentences, asked } = fitLine(argv, typed, isOtherCommand, table)
  const [sentence, option = ''] = [sentences[0], asked[0]]
  if (sentence !== undefined && !isOtherCommand) return sentence
  const line = withReadableValues(fitted, await parseCommandLine(fitted, table.groups), table)
  const reading = await parseCommandLine(line, table.groups)
  // Nobody is asked to paste a confirmation.
  const isConfirmed = !isOtherCommand && asked.some(isConfirmation)
  const text = isConfirmed ? undefined : formatLine(line, reading)
  if (text !== undefined) return [`Did you mean: ${text}`, ...sentences].join('\n')
  if (isOtherCommand && typed.command !== undefined)
    return `Did you mean ${typed.path.join(' ')}?\n${usageOf(typed.path)}`
  return isOtherCommand || option === '' || reading.command?.command !== typed.command?.command
    ? usageOf(isOtherCommand ? typed.path : reading.path)
    : [`Did you mean ${option}?`, wrongValueOf(reading) ?? []].flat().join('\n')
}

/** Fills the words that were typed, and the options, into the commands of a sentence; undefined if words are missing. */
function fillSentence(sentence: string, words: Words, rest: Words): Hint {
  const count = new Set(sentence.match(/<[12]>/g)).size
  if (count === 0) return sentence
  if (words.length !== count) return undefined
  const filled = sentence.replace(/<([12])>/g, (_, number) => shellWord(words[number - 1] ?? ''))
  return filled.replace(/(?<=: )mergeq .*$/gm, line => [line, ...rest.map(shellWord)].join(' '))
}

/** Returns the hint for a line that another program's words were taken out of, or in another order. */
async function hintForLine(line: Words, table: OtherWords): Promise<Hint> {
  const reading = await parseCommandLine(line, table.groups)
  return reading.problem?.kind === 'unknown-command'
    ? hintForCommand(line, reading, table)
    : askFor(line, true, table)
}

/** Returns the hint for a word that names no command; only a misspelling of its own name becomes one that destroys something. */
export async function hintForCommand(
  argv: Words,
  reading: ParsedCommandLine,
  table: OtherWords,
): Promise<Hint> {
  const { path } = reading
  // After the name of a group, a word behind an option may be its value.
  const end = path.length === 0 ? -1 : reading.words.findIndex(word => !isWord(word))
  const words = reading.words.slice(0, end < 0 ? undefined : end).filter(isWord)
  const [first = '', second = ''] = words
  if (path.length === 0 && isPullRequestReference(first) && second !== '' && !isPullRequestReference(second))
    return hintForLine(replaceWords(argv, [first, second], [second, first]), table)
  const { meant, isGuess, typed, places } = findCommand(path, words, table)
  if (meant === undefined || meant === 'none') return undefined
  // What only the other program can do.
  const unknown = argv.flatMap(word =>
    isWord(word) ? [] : (meaningOf(table, [typed.join(' ')], word) ?? []),
  )
  if (unknown[0] !== undefined) return unknown[0]
  if (meant === '') return second === '' ? undefined : hintForLine(replaceWords(argv, [first], []), table)
  if (isSentence(meant)) {
    const after = words.slice(typed.length - path.length)
    const rest = argv.filter(word => !path.includes(word) && !words.includes(word))
    const isHidden = argv.some(word => hiddenText.test(word))
    const others = sentencesAbout(table, places, typed.at(-1) ?? '')
    return [meant, ...others].flatMap(each => fillSentence(each, isHidden ? [] : after, rest) ?? [])[0]
  }
  const line = replaceWords(argv, typed, wordsOf(meant, words[0])).map(word => word.replace(numberOfPr, ''))
  if (isGuess && (await parseCommandLine(line, table.groups)).command?.destructive === true) return undefined
  return askFor(line, true, table)
}
