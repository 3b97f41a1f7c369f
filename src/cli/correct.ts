import { findSimilarName } from '../domain/similar-name.ts'
import { joinCommandLine, shellQuote } from '../domain/suggested-command.ts'
import { isPullRequestReference } from '../domain/values/pull-request.ts'
import { type MergeqError, usageError } from '../errors.ts'
import { type CommandGroup, loadCommands } from './command.ts'
import { fieldsOf, findSimilarField } from './fields.ts'
import { isOption, type OptionDefinition, oppositeOf, optionName } from './inputs.ts'
import { otherWords } from './other-words.ts'
import { globalOptions, type ParsedCommandLine, parseCommandLine, versionOption } from './parse.ts'

type Groups = readonly CommandGroup[]
type Hint = string | undefined
type Words = readonly string[]

interface Mistake extends ParsedCommandLine {
  readonly argv: Words
  readonly groups: Groups
}

const isWord = (word: string): boolean => !/^-./.test(word)

/** Returns what the table says about a word in one of the places, of which the first counts. */
function findMeant(places: Words, typed: string, options: Words = []): Hint {
  const isTyped = (word: string) =>
    word === typed ||
    (word === '<word>' && isWord(typed)) ||
    (word === '<pr>' && isPullRequestReference(typed))
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
  const line = settingAsOption(argv, reading)
  if (line !== undefined) return formatLine(line, groups)
  const { problem, path, words, args } = reading
  const pullRequests = args.get('pr') ?? []
  const isRight =
    problem === undefined && pullRequests.every(word => word === '-' || isPullRequestReference(word))
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

/** Returns the question whether a name was meant: the command line with it or, if that is wrong, the name alone. */
async function ask(line: Words, name: Words, groups: Groups): Promise<string> {
  const text = await formatLine(line, groups)
  if (text === undefined && !isWord(name[0] ?? '')) return `Did you mean ${name.join(' ')}?`
  // Without a setting there is nothing to update.
  return `Did you mean: ${(text ?? joinCommandLine(name)).replace(/queue update$/, '$& --help')}`
}

/** Returns the hint for what was meant by a word after the path. */
async function hintFor(meant: Hint, word: string, { argv, groups, path }: Mistake): Promise<Hint> {
  if (meant === undefined || !isName(meant)) return meant === 'none' ? undefined : meant
  const words = wordsOf(meant, word)
  return ask(replaceWords(argv, isWord(meant) ? [...path, word] : [word], words), words, groups)
}

/** Returns the commands of a group, or all groups, by the word that is typed. */
async function commandsOf(group: string, groups: Groups): Promise<readonly (readonly [string, string])[]> {
  if (group === '') return groups.map(({ name }) => [name, name])
  const commands = await loadCommands(groups.filter(({ name }) => name === group))
  return commands.flatMap(({ command, alias }) =>
    [command.slice(group.length + 1), alias ?? []].flat().map(name => [name, command] as const),
  )
}

/**
 * Returns what was probably meant by a word that names no command: what the table says, else the nearest name. A word
 * is looked up in the group that follows it, too; that of a pull request is `pr`.
 */
async function findCommand(group: string, word: string, next: string, groups: Groups) {
  const other = isPullRequestReference(next) ? 'pr' : next
  const places = group === '' || (group === 'queue' && other === 'pr') ? [other, group] : [group]
  const commands = await Promise.all(places.map(place => commandsOf(place, groups)))
  const byName = new Map(commands.toReversed().flat())
  const meant = byName.get(word) ?? findMeant(places, word)
  if (meant !== undefined) return { meant, isGuess: false }
  const similar = findSimilarName(word, [...byName.keys()])
  return { meant: similar && byName.get(similar), isGuess: true }
}

async function hintForCommand(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path, words } = mistake
  const [word = '', next = ''] = words.filter(isWord)
  const { meant = 'none', isGuess } = await findCommand(path.join(' '), word, next, groups)
  const line = replaceWords(argv, [...path, word], meant.split(' '))
  if (isGuess && (await parseCommandLine(line, groups)).command?.destructive === true) return undefined
  return hintFor(meant, word, mistake)
}

/** Returns the hint for an argument that a command does not take. */
async function hintForArgument(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path, command, words } = mistake
  const count = command?.definitions.filter(definition => !isOption(definition)).length ?? 0
  const word = words.filter(isWord)[count] ?? ''
  const before = argv[argv.indexOf(word) - 1]
  // With gh, -q has what jq selects, and --json has the names of fields.
  if (before === '-q') return pipeToJq(replaceWords(argv, ['-q', word], []), word, groups)
  if (before === '--json' && /^[a-z][\w.]*(?:,[\w.]+)*$/i.test(word))
    return askForFields(['--json', word], word, mistake)
  const line = settingAsOption(argv, mistake) ?? branchesAsOptions(argv, mistake)
  return line ? ask(line, path, groups) : hintFor(findMeant(placesIn(path), word), word, mistake)
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
  const option = optionsOf(reading).find(each => each.name === name)
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
  const areBranches =
    other !== '' && more.length === 0 && !words.some(word => /\.(?:ya?ml|json)$/i.test(word))
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
    return ask(replaceWords(argv, typed, withValue.split(' ')), [withValue], groups)
  const own =
    command?.definitions.filter(({ name, hidden }) => name.startsWith('--') && hidden !== true) ?? []
  const similar =
    findSimilarName(
      option,
      own.map(({ name }) => name),
    ) ?? 'none'
  // `--quarantine=no` means the opposite of `--quarantined`.
  const isNo = /^(?:no|false|off)$/i.test(next)
  const isLikely = option.startsWith('--') && isNegative(option) === isNegative(similar) && !isNo
  const meant = find(option) ?? (isLikely ? similar : undefined)
  if (value === undefined || meant?.startsWith('--') !== true) return hintFor(meant, word, mistake)
  const words = wordsOf(meant, option)
  return ask(replaceWords(argv, [word], words.length === 1 ? [`${meant}=${value}`] : words), words, groups)
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
  const help = `mergeq ${[...path, '--help'].join(' ')}`
  const usage = `To see the usage, run: ${help}`
  switch (problem?.kind) {
    case 'unknown-command': {
      const hint = (await hintForCommand(mistake)) ?? `To list the commands, run: ${help}`
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
      const hint = isPair ? await ask(replaceWords(argv, words, pair), path, groups) : usage
      return usageError(`${problem.message}.`, isShell ? shells : hint)
    }
    default:
      return usageError(`${problem?.message}`, (await hintForArgument(mistake)) ?? usage)
  }
}

/** Returns the usage error for words of `mergeq help` that name neither a command nor a topic. */
export async function createHelpError(words: Words, topics: Words, groups: Groups): Promise<MergeqError> {
  const { path, words: unknown } = await parseCommandLine(words, groups)
  const [word = '', next = ''] = unknown
  const meant =
    findSimilarName(word, topics) ?? (await findCommand(path.join(' '), word, next, groups)).meant ?? 'none'
  const help = ['help', ...wordsOf(meant.replace(/ -.*/, ''), word)]
  const list = `To list the commands, run: mergeq --help\nTopics: ${topics.join(', ')}`
  const hint = isName(meant) && isWord(meant) ? await ask(help, help, groups) : list
  return usageError(`unknown command or topic '${words.join(' ')}'.`, hint)
}
