import { findSimilarName } from '../domain/similar-name.ts'
import { joinCommandLine, shellQuote } from '../domain/suggested-command.ts'
import { isPullRequestReference } from '../domain/values/pull-request.ts'
import { type MergeqError, toMergeqError, usageError, usageHint } from '../errors.ts'
import type { CommandGroup } from '../run/command.ts'
import { fieldsOf, findSimilarField } from '../run/fields.ts'
import { isOption, type OptionDefinition, oppositeOf, optionName } from '../run/inputs.ts'
import { otherWords } from './other-words.ts'
import {
  globalOptions,
  helpOption,
  type ParsedCommandLine,
  parseCommandLine,
  versionOption,
} from './parse.ts'

type Groups = readonly CommandGroup[]
type Hint = string | undefined
type Words = readonly string[]

interface Mistake extends ParsedCommandLine {
  readonly argv: Words
  readonly groups: Groups
}

const isWord = (word: string): boolean => !/^-./.test(word)

const isFile = (word: string): boolean => /\.(?:ya?ml|json)$/i.test(word)

/** Returns what the table says about a word in one of the places, of which the first counts. */
function findMeant(places: Words, typed: string, options: Words = []): Hint {
  const isTyped = (word: string) =>
    word === typed ||
    (word === '<word>' && isWord(typed)) ||
    (word === '<pr>' && isPullRequestReference(typed)) ||
    (word === '<file>' && isFile(typed))
  const isPossible = (meant: string) =>
    isWord(typed) || isWord(meant) || options.includes(wordsOf(meant)[0] ?? '')
  const rows = otherWords.filter(([, words, meant]) => words.split(' ').some(isTyped) && isPossible(meant))
  return places.flatMap(place => rows.filter(row => row[0].split(', ').includes(place)))[0]?.[2]
}

/** Returns the words of what is meant, with the typed word in the place of `*`. */
const wordsOf = (meant: string, typed = ''): Words =>
  meant.split(' ').map(word => (word === '*' ? typed.replace(/^--/, '') : word))

/** Returns the places of the words and options of a command. */
const placesIn = ([group, ...verb]: Words): Words => [[group, ...verb].join(' '), `${group} *`, '*']

const isName = (meant: string): boolean => meant !== 'none' && !/^[A-Z]/.test(meant)

/** Control characters, and an address with a user name. */
const hiddenText = /[\u0000-\u001F\u007F-\u009F]|:\/\/[^/?#\s]*@/

/** Returns a command line to paste; undefined if reading it finds a problem, or if it is long or may have a secret. */
async function formatLine(argv: Words, groups: Groups): Promise<Hint> {
  const reading = await parseCommandLine(argv, groups)
  const { problem, path, words, args } = reading
  const pullRequests = args.get('pr') ?? []
  const isRight =
    problem === undefined &&
    wrongValueOf(reading) === undefined &&
    pullRequests.every(word => word === '-' || isPullRequestReference(word))
  const mayHaveToken = path[0] === 'auth' && words.length > 0
  const isHidden = mayHaveToken || argv.join(' ').length > 500 || argv.some(word => hiddenText.test(word))
  return isRight && !isHidden ? joinCommandLine(argv) : undefined
}

/** Returns the command line with other words in the place of typed words. */
function replaceWords(argv: Words, typed: Words, words: Words): Words {
  const found: number[] = []
  for (const word of typed) found.push(argv.indexOf(word, (found.at(-1) ?? -1) + 1))
  return argv.flatMap((word, index) => (index === found[0] ? words : found.includes(index) ? [] : [word]))
}

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

/** Returns the question whether an option was meant: the command line with it or, if that is wrong, the option. */
async function askForOption(line: Words, option: string, groups: Groups): Promise<string> {
  const text = await formatLine(line, groups)
  if (text !== undefined) return `Did you mean: ${text}`
  const wrongValue = wrongValueOf(await parseCommandLine(line, groups))
  return [`Did you mean ${option}?`, wrongValue ?? []].flat().join('\n')
}

const usageOf = (path: Words): string => `To see the usage, run: mergeq ${[...path, '--help'].join(' ')}`

/**
 * Returns the question whether a command line was meant. No word that was typed is missing in it; if one has no place,
 * returns how to see the usage. A confirmation is for what was typed, and left out.
 */
async function askForLine(argv: Words, groups: Groups): Promise<string> {
  const line = await fitLine(argv, groups)
  const { path, args } = await parseCommandLine(line, groups)
  const text = args.has('--yes') ? undefined : await formatLine(line, groups)
  // Without a setting there is nothing to update.
  const isComplete = text !== undefined && !/ queue update(?: -b \S+)?$/.test(text)
  return isComplete ? `Did you mean: ${text}` : usageOf(path)
}

/** Returns a command line without options that its command does not have, and with other words as options. */
async function fitLine(argv: Words, groups: Groups): Promise<Words> {
  let line = argv
  // Each step places or removes a word that was typed.
  for (const _ of argv) {
    const reading = await parseCommandLine(line, groups)
    const fitted = fitOption(line, reading) ?? fitWord(line, reading)
    if (fitted === undefined) break
    line = fitted
  }
  return line
}

/**
 * Returns a command line without its confirmation, or with what the table says in the place of the first unknown
 * option, or without that option; undefined if the option is misspelt or may have a value.
 */
function fitOption(argv: Words, reading: ParsedCommandLine): Words | undefined {
  const { problem, path, words, args } = reading
  const unconfirmed = argv.filter(word => word !== '--yes' && word !== '-y')
  if (args.has('--yes') && unconfirmed.length < argv.length) return unconfirmed
  if (problem?.kind !== 'unknown-option') return undefined
  const typed = problem.word
  const [option = '', value] = typed.split(/=(.*)/s)
  const names = optionsOf(reading).map(({ name }) => name)
  const next = argv[argv.indexOf(typed) + 1]
  const meant = findMeant(placesIn(path), option, names)
  if (meant?.startsWith('-') === true) return replaceWords(argv, [typed], optionWords(meant, typed))
  const hasNoValue =
    value !== undefined ||
    next === undefined ||
    !isWord(next) ||
    (isPullRequestReference(next) && words.filter(isWord).length === 1)
  const canBeLeftOut = argv.includes(typed) && hasNoValue && findSimilarName(option, names) === undefined
  return canBeLeftOut ? replaceWords(argv, [typed], []) : undefined
}

/** Returns the words of an option that is meant, with the value after `=` of the typed one. */
function optionWords(meant: string, typed: string): Words {
  const [option = '', value] = typed.split(/=(.*)/s)
  const words = wordsOf(meant, option)
  return value === undefined || words.length > 1 ? words : [`${meant}=${value}`]
}

/** Returns the words of an option whose value is a number with a unit; what is no number alone stays as it was typed. */
function optionWithNumber(meant: string, typed: string): Words {
  const [option = '', value = ''] = wordsOf(meant)
  return [option, /^\d+$/.test(typed) ? value.replace('<n>', typed) : typed]
}

/** Returns the first word that a command does not take. */
function extraWordOf({ command, words }: ParsedCommandLine): string {
  const count = command?.definitions.filter(definition => !isOption(definition)).length ?? 0
  return words.filter(isWord)[count] ?? ''
}

/** Returns a command line with the first word that a command does not take as an option, such as the name of a queue. */
function fitWord(argv: Words, reading: ParsedCommandLine): Words | undefined {
  if (reading.problem?.kind !== 'extra-argument') return undefined
  const word = extraWordOf(reading)
  if (word === '') return undefined
  const meant = findMeant(placesIn(reading.path), word)
  const line = settingAsOption(argv, reading) ?? branchesAsOptions(argv, reading)
  return line ?? (meant?.startsWith('-') ? replaceWords(argv, [word], wordsOf(meant, word)) : undefined)
}

/** Returns the hint for what was meant by a word after the path. */
async function hintFor(meant: Hint, word: string, { argv, groups, path }: Mistake): Promise<Hint> {
  if (meant === undefined || !isName(meant)) return meant === 'none' ? undefined : meant
  const words = wordsOf(meant, word)
  return isWord(meant)
    ? askForLine(replaceWords(argv, [...path, word], words), groups)
    : askForOption(replaceWords(argv, [word], words), words.join(' '), groups)
}

/** Returns the commands of a group, or all groups, by the word that is typed. */
function commandsOf(group: string, groups: Groups): readonly (readonly [string, string])[] {
  if (group === '') return groups.map(({ name }) => [name, name])
  const { commands = [] } = groups.find(({ name }) => name === group) ?? {}
  return commands.flatMap(({ name, alias }) =>
    [name, alias ?? []].flat().map(word => [word, `${group} ${name}`] as const),
  )
}

/** Returns the group that a word names: `pr` for a pull request, for `pr`, and for `prs`. */
function groupOf(word: string): string {
  if (isPullRequestReference(word) || findMeant([''], word) === 'pr') return 'pr'
  return word.replace(/s$/, '')
}

/**
 * Returns what was probably meant by a word that names no command: what the table says, else the nearest name. A word
 * is looked up in the group that follows it, too; that of a pull request is `pr`.
 */
async function findCommand(group: string, word: string, next: string, groups: Groups) {
  const other = groupOf(next)
  const places = group === '' || (group === 'queue' && other === 'pr') ? [other, group] : [group]
  const commands = places.map(place => commandsOf(place, groups))
  const byName = new Map(commands.toReversed().flat())
  const command = byName.get(word)
  if (command !== undefined) return { meant: command, isGuess: false }
  const meant = findMeant(places, word)
  // `tests list`: a word for a list names the group, too.
  const isBeforeVerb = group === '' && next !== '' && other !== 'pr'
  if (meant !== undefined)
    return { meant: isBeforeVerb ? meant.replace(/ list$/, '') : meant, isGuess: false }
  const similar = findSimilarName(word, [...byName.keys()])
  return { meant: similar && byName.get(similar), isGuess: true }
}

async function hintForCommand(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path, words } = mistake
  const [word = '', next = ''] = words.filter(isWord)
  const { meant = 'none', isGuess } = await findCommand(path.join(' '), word, next, groups)
  if (!isName(meant)) return hintFor(meant, word, mistake)
  const isGroup = path.length === 0 && !isPullRequestReference(next) && meant.startsWith(`${groupOf(next)} `)
  const typed = isGroup ? [word, next] : [...path, word]
  const line = replaceWords(argv, typed, wordsOf(meant, word))
  if (isGuess && (await parseCommandLine(line, groups)).command?.destructive === true) return undefined
  return askForLine(line, groups)
}

/** Returns the hint for an argument that a command does not take. */
async function hintForArgument(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path } = mistake
  const word = extraWordOf(mistake)
  const before = argv[argv.indexOf(word) - 1]
  // With gh, -q has what jq selects, and --json has the names of fields.
  if (before === '-q') return pipeToJq(replaceWords(argv, ['-q', word], []), word, groups)
  if (before === '--json' && /^[a-z][\w.]*(?:,[\w.]+)*$/i.test(word))
    return askForFields(['--json', word], word, mistake)
  return fitWord(argv, mistake)
    ? askForLine(argv, groups)
    : hintFor(findMeant(placesIn(path), word), word, mistake)
}

const optionsOf = ({ command }: ParsedCommandLine): readonly OptionDefinition[] => [
  ...(command?.definitions.filter(isOption) ?? []),
  ...globalOptions,
  versionOption,
]

/** Returns a command line with the first `setting value` or `setting=value` after `queue update` as an option. */
function settingAsOption(argv: Words, reading: ParsedCommandLine): Words | undefined {
  const [word = '', next = ''] = reading.words
  const [setting = '', value] = word.split(/=(.*)/s)
  const name = `--${optionName(setting)}`
  const option = optionsOf(reading).find(candidate => candidate.name === name)
  if (reading.command?.command !== 'queue update' || option === undefined) return undefined
  const typed = value === undefined ? [word, next] : [word]
  const flag = (value ?? next) === 'false' ? oppositeOf(name) : name
  return replaceWords(
    argv,
    typed,
    option.value === undefined || (value ?? next) === '' ? [flag] : [name, value ?? next],
  )
}

/** Returns a command line with the two branches after `queue diff` as options. */
function branchesAsOptions(argv: Words, { command, words }: ParsedCommandLine): Words | undefined {
  const [branch = '', other = '', ...more] = words
  const areBranches = other !== '' && more.length === 0 && !words.some(isFile)
  return command?.command === 'queue diff' && areBranches
    ? replaceWords(argv, [branch, other], ['-b', branch, '--with-branch', other])
    : undefined
}

/** Returns the command line that prints only some fields; gh writes `number` for `prNumber`. */
async function askForFields(typed: Words, names: string, mistake: Mistake): Promise<Hint> {
  const { argv, command, args, groups } = mistake
  const known = (command && fieldsOf(command, args)?.names) ?? []
  const fields = names.split(',').map(name => findSimilarField(name, known) ?? name)
  const line = await formatLine(replaceWords(argv, typed, ['--json', '--fields', fields.join(',')]), groups)
  return line && `To print only some fields, run: ${line}`
}

async function pipeToJq(argv: Words, filter: string, groups: Groups): Promise<Hint> {
  const line = await formatLine([...argv.filter(word => word !== '--json'), '--json'], groups)
  return line && `To select from the JSON, run: ${line} | jq ${shellQuote(filter)}`
}

const isNegative = (option: string): boolean => /^--(?:no|un(?!til))/.test(option)

/** Returns the hint for an unknown option; a misspelt one is neither a global option nor the opposite. */
async function hintForOption(mistake: Mistake, word: string): Promise<Hint> {
  const { argv, groups, path, command } = mistake
  const [option = '', value] = word.split(/=(.*)/s)
  const next = value ?? argv[argv.indexOf(word) + 1] ?? ''
  const typed = value === undefined ? [word, next] : [word]
  if (option === '--jq') return pipeToJq(replaceWords(argv, typed, []), next, groups)
  if (option === '--json') return askForFields([word], next, mistake)
  const names = optionsOf(mistake).map(({ name }) => name)
  const find = (text: string) => findMeant(placesIn(path), text, names)
  const withValue = find(`${option}=${next}`)
  if (withValue !== undefined)
    return askForOption(replaceWords(argv, typed, withValue.split(' ')), withValue, groups)
  const counted = find(option)
  if (counted?.includes('<n>') === true) {
    const words = optionWithNumber(counted, next)
    return askForOption(replaceWords(argv, typed, words), words.join(' '), groups)
  }
  const own =
    command === undefined && path.length === 0
      ? [versionOption, helpOption]
      : (command?.definitions.filter(({ name, hidden }) => name.startsWith('--') && hidden !== true) ?? [])
  const similar =
    findSimilarName(
      option,
      own.map(({ name }) => name),
    ) ?? 'none'
  // `--quarantine=no` means the opposite of `--quarantined`.
  const isNo = /^(?:no|false|off)$/i.test(next)
  const isLikely = option.startsWith('--') && isNegative(option) === isNegative(similar) && !isNo
  const meant = counted ?? (isLikely ? similar : undefined)
  if (value === undefined || meant?.startsWith('--') !== true) return hintFor(meant, word, mistake)
  const line = replaceWords(argv, [word], optionWords(meant, word))
  return askForOption(line, wordsOf(meant, option).join(' '), groups)
}

/**
 * Returns the usage error for what is wrong with a command line. Its hint is the command line that was
 * probably meant, with everything else that was typed, or the command that shows the usage.
 */
export async function createUsageError(
  argv: Words,
  reading: ParsedCommandLine,
  groups: Groups,
): Promise<MergeqError> {
  const { problem, path, command, words } = reading
  const mistake = { ...reading, argv, groups }
  const usage = usageOf(path)
  switch (problem?.kind) {
    case undefined:
      throw new TypeError('nothing is wrong with this command line')
    case 'unknown-command': {
      const hint = (await hintForCommand(mistake)) ?? usage.replace('see the usage', 'list the commands')
      return usageError(`unknown command '${problem.word}'.`, hint)
    }
    case 'unknown-option': {
      const [option = ''] = problem.word.split('=')
      const isFlag = optionsOf(reading).some(({ name }) => name === option)
      const hint = isFlag && option !== '--json' ? usage : await hintForOption(mistake, problem.word)
      return usageError(isFlag ? `${option} takes no value.` : `unknown option '${option}'.`, hint ?? usage)
    }
    case 'missing-value': {
      const { next } = problem
      const { name, value } = problem.option
      if (next === undefined) return usageError(`${name} needs a value: <${value}>.`, usage)
      const hint = `To use ${next} as the value, write: ${name}=${next}`
      return usageError(`${name} needs a value, but ${next} is an option.`, hint)
    }
    case 'repeated-option': {
      const { name } = problem.option
      return usageError(`${name} was given twice with different values.`, `Use ${name} only once.`)
    }
    case 'missing-argument': {
      const [input] = command?.definitions ?? []
      const isShell = command?.command === 'completion'
      const shells = `Specify the shell: ${input?.choices?.join(', ')}.\nFor bash, run: source <(mergeq completion bash)`
      const pair = words.flatMap(word => word.split(/=(.*)/s, 2))
      const isPair = command?.command === 'config set' && pair.length === 2
      const hint = isPair ? await askForLine(replaceWords(argv, words, pair), groups) : usage
      return usageError(`missing required argument '${problem.argument}'.`, isShell ? shells : hint)
    }
    case 'extra-argument': {
      const { expected, given } = problem
      const count = `Expected ${expected} ${expected === 1 ? 'argument' : 'arguments'} but got ${given}.`
      const hint = (await hintForArgument(mistake)) ?? usage
      return usageError(`too many arguments for '${path.at(-1)}'. ${count}`, hint)
    }
  }
}

/** Returns the usage error for words of `mergeq help` that name neither a command nor a topic. */
export async function createHelpError(words: Words, topics: Words, groups: Groups): Promise<MergeqError> {
  const { path, words: unknown } = await parseCommandLine(words, groups)
  const [word = '', next = ''] = unknown
  const meant =
    findSimilarName(words.join('-'), topics) ??
    findSimilarName(word, topics) ??
    (await findCommand(path.join(' '), word, next, groups)).meant ??
    'none'
  const help = ['help', ...wordsOf(meant.replace(/ -.*/, ''), word)]
  const list = `To list the commands, run: mergeq --help\nTopics: ${topics.join(', ')}`
  const hint = isName(meant) && isWord(meant) ? await askForLine(help, groups) : list
  return usageError(`unknown command or topic '${words.join(' ')}'.`, hint)
}
