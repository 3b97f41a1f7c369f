import { findQueueSetting } from '../domain/queue-settings.ts'
import { findSimilarName } from '../domain/similar-name.ts'
import { joinCommandLine, shellQuote } from '../domain/suggested-command.ts'
import { isPullRequestReference } from '../domain/values/pull-request.ts'
import { type MergeqError, usageError } from '../errors.ts'
import { type CommandGroup, loadCommands, type RegisteredCommand } from './command.ts'
import { fieldSynonyms, fieldsOf } from './fields.ts'
import { isOption, type OptionDefinition, oppositeOf, optionName } from './inputs.ts'
import { globalOptions, type Reading, read } from './parse.ts'
import { commandSynonyms, optionSynonyms, type SynonymRow, watchCommands, watchOption } from './synonyms.ts'

type Groups = readonly CommandGroup[]
type Hint = string | undefined
type Words = readonly string[]

/** What a word means. */
interface Meaning {
  /** A command or group, perhaps with options: `pr testing --pr`. */
  readonly target: string
  /** Whether a word was only similar: such a word never leads to a command that destroys something. */
  readonly isGuess: boolean
}

/** A command that was probably meant. */
interface Correction extends Meaning {
  /** How many of the typed words it replaces. */
  readonly replaced: number
}

/** A wrong command line, as all hints need it. */
interface Mistake extends Reading {
  readonly argv: Words
  readonly groups: Groups
}

// Commands.

/** Returns the names of the commands of a group, or of all groups, and the other words for them. */
async function readVocabulary(group: string, groups: Groups): Promise<readonly SynonymRow[]> {
  const commands = await loadCommands(groups.filter(({ name }) => name === group))
  const names: readonly SynonymRow[] =
    group === ''
      ? groups.map(({ name }) => [name, name])
      : commands.map(({ command, alias = '' }) => [command, `${command.slice(group.length + 1)} ${alias}`])
  return [...names, ...(commandSynonyms[group] ?? [])]
}

/** Returns what a word means, or the word that is most similar to it; `next` is the word after it. */
function findMeaning(rows: readonly SynonymRow[], word: string, next = ''): Meaning | undefined {
  const fitting = rows.filter(
    ([target]) =>
      !(target.endsWith(' <pr>') && !isPullRequestReference(next)) &&
      !(target.endsWith(' <word>') && next === ''),
  )
  const find = (name: string) => fitting.find(([, words]) => words.split(' ').includes(name))?.[0]
  const exact = word === '' ? undefined : find(word)
  const names = () => fitting.flatMap(([, words]) => words.split(' '))
  const similar = exact === undefined ? findSimilarName(word, names()) : undefined
  const target = exact ?? (similar === undefined ? undefined : find(similar))
  return target === undefined
    ? undefined
    : { target: target.replace(/ <(?:pr|word)>$/, ''), isGuess: exact === undefined }
}

/**
 * Returns the command that was probably meant by words that name no command: another word for it, its words
 * in another order, a near miss, or a pull request alone.
 */
async function correctCommand(words: Words, groups: Groups): Promise<Correction | undefined> {
  const [first = '', second, third] = words
  if (isPullRequestReference(first)) return { target: 'pr get', replaced: 0, isGuess: false }
  const names = groups.map(({ name }) => name)
  const root = await readVocabulary('', groups)
  const found = findMeaning(root, first, second)
  if (second !== undefined && !names.includes(first)) {
    const noun = findMeaning(root, second)
    if (noun?.isGuess === false && names.includes(noun.target)) {
      const swapped = findMeaning(await readVocabulary(noun.target, groups), first, third)
      if (swapped !== undefined) return { ...swapped, replaced: 2 }
    }
  }
  if (found === undefined) return undefined
  const { target: group, isGuess } = found
  if (!names.includes(group) || (isGuess && second === undefined)) return { ...found, replaced: 1 }
  if (['pr', 'queue'].includes(group) && isPullRequestReference(second ?? ''))
    return { target: 'pr get', replaced: 1, isGuess }
  const command = findMeaning(await readVocabulary(group, groups), second ?? 'list', third)
  if (command === undefined) return group === first ? undefined : { ...found, replaced: 1 }
  return { ...command, replaced: Math.min(2, words.length), isGuess: isGuess || command.isGuess }
}

// Command lines.

/**
 * Options that a person may follow with a secret, and addresses with a user name: a hint does not repeat such a
 * command line.
 */
const secretWord = /^--?[\w-]*(?:token|password|passwd|secret|key|bearer|header)(?:=|$)|:\/\/[^/?#\s]*@/i

/** Maximum length of a command line in a hint, in characters. */
const maxLength = 500

/**
 * Returns a command line to paste. Returns undefined if reading it finds another problem than a missing
 * argument, if it is a guess that would destroy something, and if it must not be repeated: it is long, has
 * control characters, or may contain a secret.
 */
async function formatLine(words: Words, groups: Groups, isGuess = false, known?: Reading): Promise<Hint> {
  const isRepeatable =
    words.join(' ').length <= maxLength &&
    !words.some(
      word => /[\u0000-\u001F\u007F-\u009F]/.test(word) || secretWord.test(word) || /^-H/.test(word),
    )
  if (!isRepeatable) return undefined
  const { problem, command } = known ?? (await read(words, groups))
  if (problem?.kind === 'unknown-option') {
    const [line] = replaceOption(words, problem.word, command)
    return line === undefined ? undefined : formatLine(line, groups, isGuess)
  }
  // An argument may still be missing: the person knows its value.
  if (problem !== undefined && problem.kind !== 'missing-argument') return undefined
  if (isGuess && command?.destructive === true) return undefined
  return joinCommandLine(words)
}

/** Returns the words of the path and the words after it, without unknown options, with their positions. */
async function locateWords(argv: Words, { path, words }: Reading, groups: Groups) {
  if (argv.join(' ').length > maxLength) return []
  const isWord = (word: string) => !/^-./.test(word)
  const found = argv.flatMap((word, index) => (isWord(word) ? [{ word, index }] : []))
  if (found.length === path.length + words.filter(isWord).length) return found
  // Some are values of options: reading the line up to each word tells which.
  const readings = await Promise.all(argv.map((_, index) => read(argv.slice(0, index + 1), groups)))
  const counts = readings.map(({ path, words }) => path.length + words.length)
  return found.filter(({ index }) => (counts[index] ?? 0) > (counts[index - 1] ?? 0))
}

/** Commands that take no arguments and are about a queue: a word after them is its branch. */
const queueCommands = /^queue (?:get|create|update|delete|pause|resume|drain|wait|watch|check|export)$/

/** Returns the option that the first argument of a corrected command needs before it. */
function optionBefore(argument: string, path: string): Words {
  if (queueCommands.test(path) && !argument.includes('=')) return ['-b']
  if (/^queue (?:diff|apply)$/.test(path)) return ['-f']
  return path === 'pr get' && argument !== '-' && !isPullRequestReference(argument) ? ['--head'] : []
}

/** Returns the question for a correction: the command line with everything else that was typed. */
async function askForCommand(
  { argv, groups, ...reading }: Mistake,
  { target, replaced, isGuess }: Correction,
): Promise<Hint> {
  const words = await locateWords(argv, reading, groups)
  const path = target.split(' ').filter(word => !word.startsWith('-'))
  const options = target.split(' ').slice(path.length)
  const removed = words.slice(0, replaced).map(({ index }) => index)
  const start = words[0]?.index ?? 0
  const corrected = argv.flatMap((word, index) => [
    ...(index === start ? path : []),
    ...(removed.includes(index) ? [] : [word]),
  ])
  // Only now are the options of the command known, and what is an argument.
  const found = await read(corrected, groups)
  const argument = (await locateWords(corrected, found, groups))[path.length]
  if (argument !== undefined) options.push(...optionBefore(argument.word, path.join(' ')))
  const line = corrected.toSpliced(argument?.index ?? start + path.length, 0, ...options)
  // Nothing is repeated after `mergeq auth` and `mergeq --version`.
  const isAlone = /^(?:auth |--version)/.test(target)
  const known = options.length === 0 ? found : undefined
  const question = asQuestion(
    (isAlone ? undefined : await formatLine(line, groups, isGuess, known)) ??
      (await formatLine(target.split(' '), groups, isGuess)),
  )
  if (target === 'flaky get --web')
    return question?.replace('Did you mean', 'Tests are quarantined on their page. To open it, run')
  // Without a setting there is nothing to update.
  return question?.replace(/queue update$/, '$& --help')
}

/** Returns the question for a command line; if there is none, for the option alone. */
const asQuestion = (line: Hint, option?: string): Hint =>
  line !== undefined ? `Did you mean: ${line}` : option === undefined ? undefined : `Did you mean ${option}?`

async function hintForCommand(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path, words } = mistake
  const typed = [...path, ...words].filter(word => !/^-./.test(word))
  const correction = await correctCommand(typed, groups)
  if (correction === undefined) return undefined
  const rest = argv.filter(word => !watchOption.test(word))
  const watch = rest.length < argv.length ? watchCommands[correction.target.replace(/ --pr$/, '')] : undefined
  return watch === undefined
    ? askForCommand(mistake, correction)
    : askForCommand({ ...mistake, argv: rest }, { ...correction, target: watch })
}

/** Returns the hint for an argument that a command does not take. */
async function hintForArgument(mistake: Mistake): Promise<Hint> {
  const { argv, groups, path, command } = mistake
  const words = await locateWords(argv, mistake, groups)
  const definitions = command?.definitions ?? []
  const extra = words[path.length + definitions.filter(definition => !isOption(definition)).length]
  if (command === undefined || extra === undefined) return undefined
  const { word, index } = extra
  if (command.command === 'flaky get') {
    const name = words.slice(path.length)
    const line = argv.filter((_, at) => name.every((part, nth) => nth === 0 || part.index !== at))
    const text = name.map(part => part.word).join(' ')
    return asQuestion(await formatLine(line.with(name[0]?.index ?? index, text), groups))
  }
  // With gh, -q has what jq selects, and --json has the names of fields.
  if (argv[index - 1] === '-q')
    return hintForOption({ ...mistake, argv: argv.with(index - 1, '--jq') }, '--jq')
  if (argv[index - 1] === '--json' && /^[a-z][\w.]*(?:,[\w.]+)*$/i.test(word))
    return askForFields(argv.toSpliced(index, 1, '--fields', word), index + 1, mistake)
  const [setting = '', value = ''] = word.split(/=(.*)/s)
  const option = definitions.find(
    ({ name }) => name === `--${optionName(setting, findQueueSetting(setting))}`,
  )
  if (command.command === 'queue update' && option !== undefined) {
    const options =
      option.value === undefined ? flagFor(option.name, value, definitions) : [option.name, value]
    return asQuestion(await formatLine(argv.toSpliced(index, 1, ...options), groups))
  }
  const isPullRequest = isPullRequestReference(word)
  const isOfQueue = command.command.startsWith('queue ')
  const ofPullRequest = command.command.replace('queue', 'pr')
  if (isOfQueue && isPullRequest && !['pr get', 'pr wait'].includes(ofPullRequest)) return undefined
  const meant = isOfQueue
    ? { target: isPullRequest ? ofPullRequest : command.command, isGuess: false }
    : findMeaning(await readVocabulary(command.command, groups), word)
  return meant === undefined
    ? undefined
    : askForCommand(mistake, { ...meant, replaced: path.length + (isOfQueue ? 0 : 1) })
}

/** Returns the command line with the names of fields at an index, the names of gh as the command has them. */
async function askForFields(words: Words, at: number, { command, args, groups }: Mistake): Promise<Hint> {
  const known = (command && fieldsOf(command, args)?.names) ?? []
  const names = (words[at] ?? '').split(',').map(name => {
    const synonym = fieldSynonyms.get(name)?.find(other => known.includes(other))
    return known.includes(name) ? name : (synonym ?? name)
  })
  const line = await formatLine(words.with(at, names.join(',')), groups)
  return line === undefined ? undefined : `To print only some fields, run: ${line}`
}

// Options.

const optionsOf = (command: RegisteredCommand | undefined): readonly OptionDefinition[] => [
  ...(command?.definitions.filter(isOption) ?? []),
  ...globalOptions,
]

/** Returns the flag that `--batch=true` or `--batch=false` means: the flag itself, or its opposite. */
function flagFor(flag: string, value: string, definitions: readonly OptionDefinition[]): Words {
  if (value.toLowerCase() === 'true') return [flag]
  const hasOpposite = definitions.some(({ name }) => name === oppositeOf(flag))
  return value.toLowerCase() === 'false' && hasOpposite ? [oppositeOf(flag)] : []
}

/** Returns the option that was probably meant, perhaps with its value or as several options. */
function findOption(option: string, value: string, definitions: readonly OptionDefinition[]): Hint {
  const shown = definitions.filter(({ hidden }) => hidden !== true).map(({ name }) => name)
  const names = [...shown, '--help', '--version']
  const rows = [
    ...names.map((name): SynonymRow => [name, name]),
    ...optionSynonyms.filter(([target]) => {
      const [name = ''] = target.split(/[= ]/)
      const { choices } = definitions.find(each => each.name === name) ?? {}
      return names.includes(name) && (target.includes('=') || (choices?.includes(value) ?? true))
    }),
  ]
  const meaning = findMeaning(rows, option)
  if (meaning?.isGuess !== true) return meaning?.target
  if (!option.startsWith('--') || option.length <= 3) return undefined
  // A misspelt option never means the opposite: `--no-dry-run` is not `--dry-run`.
  const isOpposite = meaning.target.startsWith('--no-')
    ? !/^--no(?!t)/.test(option)
    : option.startsWith('--no-')
  return isOpposite ? undefined : meaning.target
}

/** Returns the command line with the option that an unknown option probably means, and that option. */
function replaceOption(
  argv: Words,
  word: string,
  command: RegisteredCommand | undefined,
): readonly [Words?, Hint?] {
  const [option = '', value] = word.split(/=(.*)/s)
  const at = argv.indexOf(word)
  const found = findOption(option, value ?? argv[at + 1] ?? '', optionsOf(command))
  if (at < 0 || found === undefined || found === option) return []
  return [argv.toSpliced(at, 1, ...(value === undefined ? found.split(' ') : [`${found}=${value}`])), found]
}

/** Returns the hint for an unknown option: the whole command line with the option that was probably meant. */
async function hintForOption(mistake: Mistake, word: string): Promise<Hint> {
  const { argv, groups, path, command, commands } = mistake
  const [option = '', value] = word.split(/=(.*)/s)
  const at = argv.indexOf(word)
  if (at < 0) return undefined
  const name = path.join(' ')
  const definitions = optionsOf(command)
  if (/^--?(?:\w+-)?token$/i.test(option))
    return 'Other processes can read the arguments of a command: set MERGEQ_TOKEN, or run: mergeq auth login'
  if (option === '--jq') {
    const rest = argv.toSpliced(at, value === undefined ? 2 : 1).filter(other => other !== '--json')
    const line = await formatLine([...rest, '--json'], groups)
    const filter = shellQuote(value ?? argv[at + 1] ?? '.')
    return line === undefined ? undefined : `To select from the JSON, run: ${line} | jq ${filter}`
  }
  if (option === '--for' && ['queue pause', 'queue drain'].includes(name))
    return 'This state has no time limit: it lasts until you run `mergeq queue resume`.'
  if (option === '--json')
    return askForFields(argv.toSpliced(at, 1, '--json', '--fields', value ?? ''), at + 2, mistake)
  const watch = watchCommands[name]
  const isOfWatch = commands.some(
    each => each.command === watch && each.definitions.some(definition => definition.name === option),
  )
  if (watch !== undefined && (isOfWatch || option === '-w' || watchOption.test(option))) {
    const correction = { target: watch, replaced: path.length, isGuess: false }
    const rest = isOfWatch ? argv : argv.toSpliced(at, 1)
    return askForCommand({ ...(await read(rest, groups)), argv: rest, groups }, correction)
  }
  if (value !== undefined && definitions.some(each => each.name === option && each.value === undefined)) {
    const [flag] = flagFor(option, value, definitions)
    return flag === undefined ? undefined : asQuestion(await formatLine(argv.with(at, flag), groups), flag)
  }
  const [line, found] = replaceOption(argv, word, command)
  return asQuestion(line && (await formatLine(line, groups)), option.startsWith('--') ? found : undefined)
}

/**
 * Returns the usage error for what is wrong with a command line. Its hint is the command line that was
 * probably meant, with everything else that was typed, or the command that shows the usage.
 */
export async function createUsageError(argv: Words, reading: Reading, groups: Groups): Promise<MergeqError> {
  const { problem, path, command } = reading
  const mistake = { ...reading, argv, groups }
  const help = `mergeq ${[...path, '--help'].join(' ')}`
  const usage = `To see the usage, run: ${help}`
  switch (problem?.kind) {
    case 'unknown-command':
      return usageError(
        `unknown command '${problem.word}'.`,
        (await hintForCommand(mistake)) ?? `To list the commands, run: ${help}`,
      )
    case 'unknown-option': {
      const [option = ''] = problem.word.split('=')
      const isFlag = optionsOf(command).some(({ name }) => name === option)
      return usageError(
        isFlag ? `${option} takes no value.` : `unknown option '${option}'.`,
        (await hintForOption(mistake, problem.word)) ?? usage,
      )
    }
    case 'missing-value': {
      const { option, next } = problem
      return next === undefined
        ? usageError(`${option.name} needs a value: <${option.value}>.`, usage)
        : usageError(
            `${option.name} needs a value, but ${next} is an option.`,
            `To use ${next} as the value, write: ${option.name}=${next}`,
          )
    }
    case 'repeated-option': {
      const { name } = problem.option
      return usageError(`${name} was given twice with different values.`, `Use ${name} only once.`)
    }
    case 'missing-argument': {
      const [input] = command?.definitions ?? []
      const isShell = command?.command === 'completion'
      const hint = `Specify the shell: ${input?.choices?.join(', ')}.\nFor bash, run: source <(mergeq completion bash)`
      return usageError(`${problem.message}.`, isShell ? hint : usage)
    }
    default:
      return usageError(`${problem?.message}`, (await hintForArgument(mistake)) ?? usage)
  }
}

/** Returns the usage error for words of `mergeq help` that name neither a command nor a topic. */
export async function createHelpError(words: Words, topics: Words, groups: Groups): Promise<MergeqError> {
  const correction = await correctCommand(words, groups)
  const target = correction?.target.replace(/^help /, '').replace(/ -.*/, '') ?? '--help'
  const line = target.startsWith('-') ? undefined : await formatLine(['help', ...target.split(' ')], groups)
  return usageError(
    `unknown command or topic '${words.join(' ')}'.`,
    asQuestion(line) ?? `To list the commands, run: mergeq --help\nTopics: ${topics.join(', ')}`,
  )
}
