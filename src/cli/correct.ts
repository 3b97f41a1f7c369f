import { settingOption } from '../domain/queue-settings.ts'
import { findSimilarName } from '../domain/similar-name.ts'
import { joinCommandLine, shellQuote } from '../domain/suggested-command.ts'
import { isPullRequestReference } from '../domain/values/pull-request.ts'
import { type MergeqError, usageError } from '../errors.ts'
import { type CommandGroup, loadCommands } from './command.ts'
import { isOption, type OptionDefinition, oppositeOf } from './inputs.ts'
import { globalOptions, queueOptionNames, type Reading, read } from './parse.ts'
import { commandSynonyms, optionSynonyms, type SynonymRow, watchCommands } from './synonyms.ts'

/** A command that was probably meant. */
interface Correction {
  /** The words of the command, perhaps with options: `pr testing --pr`. */
  readonly target: string
  /** How many of the typed words it replaces. */
  readonly replaced: number
  /** Whether a word was only similar: such a word never leads to a command that destroys something. */
  readonly isGuess?: boolean
}

/** A word of a command line that is neither an option nor the value of an option. */
interface TypedWord {
  readonly word: string
  readonly index: number
}

/** A wrong command line, as all hints need it. */
interface Mistake extends Reading {
  readonly argv: readonly string[]
  readonly groups: readonly CommandGroup[]
}

type Hint = string | undefined

/** The rows for words without a group. */
const rootRows = commandSynonyms[''] ?? []

// Commands.

/** Returns the command of the first row that has the word; a row that ends with `<pr>` needs a pull request. */
function findRow(rows: readonly SynonymRow[], word: string, next = ''): string | undefined {
  const row = rows.find(
    ([target, words]) =>
      words.split(' ').includes(word) && (!target.endsWith(' <pr>') || isPullRequestReference(next)),
  )
  return row?.[0].replace(/ <pr>$/, '')
}

/** Returns the command of the row that has a similar word. */
function findSimilarRow(rows: readonly SynonymRow[], word: string, next?: string): string | undefined {
  const words = new Set(rows.flatMap(([, words]) => words.split(' ')))
  const similar = findSimilarName(word, [...words])
  return similar === undefined ? undefined : findRow(rows, similar, next)
}

/** Returns the command of a group that a word means: its name or alias, another word for it, or a near miss. */
async function findVerb(
  group: string,
  word: string,
  next: string | undefined,
  groups: readonly CommandGroup[],
): Promise<Omit<Correction, 'replaced'> | undefined> {
  const commands = await loadCommands(groups.filter(({ name }) => name === group))
  const names = new Map(
    commands.flatMap(({ command, alias }) =>
      [command.split(' ').slice(1).join(' '), alias ?? []].flat().map(name => [name, command] as const),
    ),
  )
  const rows = commandSynonyms[group] ?? []
  const exact = names.get(word) ?? findRow(rows, word, next)
  if (exact !== undefined) return { target: exact }
  const similar = findSimilarName(word, [...names.keys()])
  const guess = (similar && names.get(similar)) ?? findSimilarRow(rows, word, next)
  return guess === undefined ? undefined : { target: guess, isGuess: true }
}

/** Returns the command for the word of a group and the words after it. */
async function correctInGroup(
  group: string,
  words: readonly string[],
  groups: readonly CommandGroup[],
): Promise<Correction | undefined> {
  const [first, verb = 'list', next] = words
  if (isPullRequestReference(verb) && ['pr', 'queue'].includes(group))
    return { target: 'pr get', replaced: 1 }
  const found = await findVerb(group, verb, next, groups)
  const isGuess = found?.isGuess === true || (first !== group && groupOf(first, groups) !== group)
  return found === undefined
    ? undefined
    : { target: found.target, replaced: Math.min(2, words.length), isGuess }
}

/** Returns the group that a word means, without near misses. */
function groupOf(word = '', groups: readonly CommandGroup[]): string | undefined {
  const names = groups.map(({ name }) => name)
  return names.includes(word)
    ? word
    : findRow(
        rootRows.filter(([target]) => names.includes(target)),
        word,
      )
}

/**
 * Returns the command that was probably meant by words that name no command: another word for it, its words
 * in another order, a near miss, or a pull request alone.
 */
async function correctCommand(
  words: readonly string[],
  groups: readonly CommandGroup[],
): Promise<Correction | undefined> {
  const [first = '', second, third] = words
  if (groups.some(({ name }) => name === first)) return correctInGroup(first, words, groups)
  if (isPullRequestReference(first)) return { target: 'pr get', replaced: 0 }
  const noun = second === undefined ? undefined : groupOf(second, groups)
  const swapped = noun === undefined ? undefined : await findVerb(noun, first, third, groups)
  if (swapped !== undefined) return { ...swapped, replaced: 2 }
  const synonym = findRow(rootRows, first, second)
  const group = groupOf(first, groups)
  if (synonym !== undefined && synonym !== group) return { target: synonym, replaced: 1 }
  if (group !== undefined)
    return (await correctInGroup(group, words, groups)) ?? { target: group, replaced: 1 }
  const similar = findSimilarName(
    first,
    groups.map(({ name }) => name),
  )
  if (similar !== undefined) {
    const correction = second === undefined ? undefined : await correctInGroup(similar, words, groups)
    return correction ?? { target: similar, replaced: 1 }
  }
  const target = findSimilarRow(rootRows, first, second)
  return target === undefined ? undefined : { target, replaced: 1, isGuess: true }
}

// Command lines.

/** Options that a person may follow with a secret: a hint does not repeat such a command line. */
const secretOption = /^--?[\w-]*(?:token|password|passwd|secret|key|bearer|header)(?:=|$)/i

/** Maximum length of a command line in a hint, in characters. */
const maxLength = 500

/**
 * Returns a command line to paste. Returns undefined if reading it finds another problem than a missing
 * argument, if it is a guess that would destroy something, and if it must not be repeated: it is long, has
 * control characters, or may contain a secret.
 */
async function formatLine(
  words: readonly string[],
  groups: readonly CommandGroup[],
  isGuess = false,
): Promise<string | undefined> {
  const isRepeatable =
    words.join(' ').length <= maxLength &&
    !words.some(
      word => /[\u0000-\u001F\u007F-\u009F]/.test(word) || secretOption.test(word) || /^-H/.test(word),
    )
  if (!isRepeatable) return undefined
  const { problem, command } = await read(words, groups)
  // An argument may still be missing: the person knows its value.
  if (problem !== undefined && problem.kind !== 'missing-argument') return undefined
  if (isGuess && command?.destructive === true) return undefined
  return joinCommandLine(words)
}

/** Returns the words of the path and the words after it, without unknown options, with their positions. */
async function locateWords(
  argv: readonly string[],
  groups: readonly CommandGroup[],
): Promise<readonly TypedWord[]> {
  const found: TypedWord[] = []
  let count = 0
  if (argv.join(' ').length > maxLength) return found
  for (const [index, word] of argv.entries()) {
    const { path, words } = await read(argv.slice(0, index + 1), groups)
    if (path.length + words.length > count && !/^-./.test(word)) found.push({ word, index })
    count = path.length + words.length
  }
  return found
}

/** Commands that take no arguments and are about a queue: a word after them is its branch. */
const queueCommands = /^queue (?:get|create|update|delete|pause|resume|drain|watch|export)$/

/** Returns the option that the first argument of a corrected command needs before it. */
function optionBefore(argument: string, path: string): readonly string[] {
  if (queueCommands.test(path)) return ['-b']
  if (/^queue (?:diff|apply)$/.test(path)) return ['-f']
  return path === 'pr get' && argument !== '-' && !isPullRequestReference(argument) ? ['--head'] : []
}

/** Returns the question for a correction: the command line with everything else that was typed. */
async function askForCommand(
  argv: readonly string[],
  words: readonly TypedWord[],
  { target, replaced, isGuess }: Correction,
  groups: readonly CommandGroup[],
): Promise<Hint> {
  const targetWords = target.split(' ')
  const path = targetWords.filter(word => !word.startsWith('-'))
  const options = targetWords.slice(path.length)
  const removed = new Set(words.slice(0, replaced).map(({ index }) => index))
  const start = words[0]?.index ?? 0
  const corrected = argv.flatMap((word, index) => [
    ...(index === start ? path : []),
    ...(removed.has(index) ? [] : [word]),
  ])
  const argument = (await locateWords(corrected, groups))[path.length]
  const withOptions =
    argument === undefined
      ? corrected.toSpliced(start + path.length, 0, ...options)
      : corrected.toSpliced(argument.index, 0, ...options, ...optionBefore(argument.word, path.join(' ')))
  // Nothing is repeated after `mergeq auth` and `mergeq --version`.
  const isWhole = /^(?:auth |--version)/.test(target)
  const line =
    (isWhole ? undefined : await formatLine(withOptions, groups, isGuess)) ??
    (await formatLine(targetWords, groups, isGuess))
  return line === undefined ? undefined : `Did you mean: ${line}`
}

/** Returns the options for `concurrency 5`, `concurrency=5` or `batch=false` after `queue update`. */
function toSettingOption(
  text: string,
  value: string | undefined,
  definitions: readonly OptionDefinition[],
): readonly string[] {
  const [name = '', attached] = text.split(/=(.*)/s)
  const given = attached ?? value
  const option = `--${settingOption(name)}`
  const definition = definitions.find(({ name }) => name === option)
  if (definition === undefined || given === undefined) return []
  return definition.value === undefined ? flagFor(option, given, definitions) : [option, given]
}

async function hintForCommand({ argv, groups, path, words: unread }: Mistake): Promise<Hint> {
  const typed = [...path, ...unread].filter(word => !/^-./.test(word))
  const correction = await correctCommand(typed, groups)
  if (correction === undefined) return undefined
  const words = await locateWords(argv, groups)
  const [, , setting, value] = words
  if (correction.target === 'queue update' && setting !== undefined) {
    const { command } = await read(['queue', 'update'], groups)
    const options = toSettingOption(setting.word, value?.word, command?.definitions ?? [])
    const count = setting.word.includes('=') ? 1 : 2
    const withOption = argv.toSpliced(setting.index, count, ...options)
    if (options.length > 0) return askForCommand(withOption, words, correction, groups)
  }
  return askForCommand(argv, words, correction, groups)
}

/** Whether a text has the form of the names of fields, as they follow --json with gh. */
const looksLikeFields = (text: string): boolean =>
  /^[a-z][\w.]*(?:,[\w.]+)*$/i.test(text) && !isPullRequestReference(text)

const askForFields = (line: string | undefined): Hint =>
  line === undefined ? undefined : `To print only some fields, run: ${line}`

/** Returns the hint for an argument that a command does not take. */
async function hintForArgument({ argv, groups, path, command }: Mistake): Promise<Hint> {
  const words = await locateWords(argv, groups)
  const definitions = command?.definitions ?? []
  const extra = words[path.length + definitions.filter(definition => !isOption(definition)).length]
  if (command === undefined || extra === undefined) return undefined
  const { word, index } = extra
  if (argv[index - 1] === '--json' && looksLikeFields(word))
    return askForFields(await formatLine(argv.toSpliced(index, 0, '--fields'), groups))
  const options = command.command === 'queue update' ? toSettingOption(word, undefined, definitions) : []
  if (options.length > 0) return asQuestion(await formatLine(argv.toSpliced(index, 1, ...options), groups))
  const isPullRequest = isPullRequestReference(word)
  const correction =
    path.length === 1
      ? await correctInGroup(command.command, [...path, word], groups)
      : command.command === 'queue get' && isPullRequest
        ? { target: 'pr get', replaced: path.length }
        : command.command.startsWith('queue ') && !isPullRequest
          ? { target: command.command, replaced: path.length }
          : undefined
  return correction === undefined ? undefined : askForCommand(argv, words, correction, groups)
}

// Options.

/** Returns the question for a command line; if there is none, for the option alone. */
const asQuestion = (line: string | undefined, option?: string): Hint =>
  line !== undefined ? `Did you mean: ${line}` : option === undefined ? undefined : `Did you mean ${option}?`

/** Returns the flag that `--batch=true` or `--batch=false` means: the flag itself, or its opposite. */
function flagFor(flag: string, value: string, definitions: readonly OptionDefinition[]): readonly string[] {
  if (value.toLowerCase() === 'true') return [flag]
  const hasOpposite = definitions.some(({ name }) => name === oppositeOf(flag))
  return value.toLowerCase() === 'false' && hasOpposite ? [oppositeOf(flag)] : []
}

/** Returns the option that was probably meant, perhaps with its value or as several options. */
function findOption(
  option: string,
  next: string,
  definitions: readonly OptionDefinition[],
): string | undefined {
  const names = [...definitions.filter(({ hidden }) => hidden !== true).map(({ name }) => name), '--help']
  // Before a number, `-n` is that of head.
  const key = option === '-n' && /^\d+$/.test(next) ? '--count' : option
  const synonym = optionSynonyms[key]?.find(text => names.includes(text.split(/[= ]/)[0] ?? ''))
  if (synonym !== undefined || key !== option) return synonym
  if (!option.startsWith('--') || option.length <= 3) return undefined
  // A misspelt option never means the opposite: `--no-dry-run` is not `--dry-run`.
  const isNegative = /^--no(?!t)/.test(option)
  const similar = findSimilarName(option, [...names, '--version'])
  return similar !== undefined && (similar.startsWith('--no-') ? isNegative : !option.startsWith('--no-'))
    ? similar
    : undefined
}

/** Options that select from JSON or shape it: jq does that. */
const filterOptions = ['--jq', '--template', '--jsonpath', '-t']

/** Returns the command line without the unknown option and its value, which pipes its JSON into jq. */
async function pipeIntoJq(
  { argv, groups }: Mistake,
  at: number,
  option: string,
  attached: string | undefined,
): Promise<Hint> {
  const filter = option === '--jq' ? (attached ?? argv[at + 1] ?? '.') : '.'
  const rest = argv.filter((word, index) => {
    if (index === at || (index === at + 1 && attached === undefined)) return false
    const previous = argv[index - 1] ?? ''
    if (word === '--json' || /^(?:--output$|--output=|-o)/.test(word)) return false
    // With gh, --json has the names of fields.
    return !/^(?:-o|--output)$/.test(previous) && !(previous === '--json' && looksLikeFields(word))
  })
  const line = await formatLine([...rest, '--json'], groups)
  return line === undefined ? undefined : `To select from the JSON, run: ${line} | jq ${shellQuote(filter)}`
}

/** The commands that take several pull requests and change them, or wait for them. */
const selectingCommands = ['pr submit', 'pr cancel', 'pr restart', 'pr wait']

/**
 * Returns the hint for an unknown option that selects pull requests, such as `--all` or `--author`: the
 * command line that lists their numbers, piped into the command.
 */
async function hintForSelection(
  { argv, groups, path }: Mistake,
  option: string,
  value = 'NAME',
): Promise<Hint> {
  const command = path.join(' ')
  const isOfQueue = ({ name }: OptionDefinition) => queueOptionNames.includes(name)
  const queue = argv.flatMap((word, index) =>
    globalOptions.some(each => isOfQueue(each) && (word === each.name || word === each.short))
      ? argv.slice(index, index + 2)
      : globalOptions.some(each => isOfQueue(each) && word.startsWith(`${each.name}=`))
        ? [word]
        : [],
  )
  const list = (...words: readonly string[]) => formatLine([...words, ...queue, '--fields', 'pr'], groups)
  const states = ['not-ready', 'pending', 'testing'].flatMap(state => ['--state', state])
  const source =
    option === '--failed'
      ? await list('pr', 'list', '--state', 'failed', '--since', '24h')
      : command === 'pr submit'
        ? `gh pr list${option === '--all' ? '' : ' --author @me'} --json number --jq '.[].number'`
        : option === '--all'
          ? await list('queue', 'get')
          : await list('pr', 'list', ...states, '--author', value)
  const yes = command === 'pr cancel' ? ['--yes'] : []
  const target = await formatLine([...path, '-', ...queue, ...yes], groups)
  return source === undefined || target === undefined
    ? undefined
    : `To select pull requests, pipe their numbers: ${source} | ${target}`
}

/** Returns the hint for an unknown option: the whole command line with the option that was probably meant. */
async function hintForOption(mistake: Mistake, word: string): Promise<Hint> {
  const { argv, groups, path, command } = mistake
  const [option = '', value] = word.split(/=(.*)/s)
  const at = argv.indexOf(word)
  if (at < 0) return undefined
  const name = path.join(' ')
  const definitions = [...(command?.definitions.filter(isOption) ?? []), ...globalOptions]
  const next = argv[at + 1] ?? ''
  const following = value ?? (next.startsWith('-') ? undefined : argv[at + 1])
  const replace = (...words: readonly string[]) => formatLine(argv.toSpliced(at, 1, ...words), groups)
  if (/^--?(?:\w+-)?token$/i.test(option))
    return 'Other processes can read the arguments of a command: set MERGEQ_TOKEN, or run: mergeq auth login'
  // Before a duration, `-t` is not that of gh.
  if (filterOptions.includes(option) && !(option === '-t' && /^\d/.test(next)))
    return pipeIntoJq(mistake, at, option, value)
  if (selectingCommands.includes(name) && /^--(?:all|mine|author|failed)$/.test(option))
    return hintForSelection(mistake, option, following)
  if (path[0] === 'metrics' && /^--(?:since|last|until|window)$/.test(option)) {
    const line = await formatLine(['pr', 'list', '--state', 'merged', '--since', following ?? '7d'], groups)
    return `The service has metrics of the last hour only.${line === undefined ? '' : ` To list pull requests that merged earlier, run: ${line}`}`
  }
  if (option === '--json') return askForFields(await replace('--json', '--fields', value ?? ''))
  const watch = watchCommands[name]
  if (watch !== undefined && ['--watch', '-w', '--follow', '--wait'].includes(option)) {
    const without = argv.toSpliced(at, 1)
    const words = await locateWords(without, groups)
    return askForCommand(without, words, { target: watch, replaced: path.length }, groups)
  }
  if (value !== undefined && definitions.some(each => each.name === option && each.value === undefined)) {
    const [flag] = flagFor(option, value, definitions)
    return flag === undefined ? undefined : asQuestion(await replace(flag), flag)
  }
  const found = findOption(option, next, definitions)
  if (found !== undefined)
    return asQuestion(
      await replace(...(value === undefined ? found.split(' ') : [`${found}=${value}`])),
      found,
    )
  if (command !== undefined) return undefined
  // An option of a command stands after the command, not after its group.
  for (const count of [1, 2]) {
    const moved = [...argv.toSpliced(at, count), ...argv.slice(at, at + count)]
    const line = await formatLine(moved, groups)
    if (line !== undefined) return asQuestion(line)
  }
  return undefined
}

/**
 * Returns the usage error for what is wrong with a command line. Its hint is the command line that was
 * probably meant, with everything else that was typed, or the command that shows the usage.
 */
export async function createUsageError(
  argv: readonly string[],
  reading: Reading,
  groups: readonly CommandGroup[],
): Promise<MergeqError> {
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
      const isFlag = [...(command?.definitions ?? []), ...globalOptions].some(({ name }) => name === option)
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
      const hint = `Specify the shell: ${input?.choices?.join(', ')}. For bash, run: source <(mergeq completion bash)`
      return usageError(`${problem.message}.`, isShell ? hint : usage)
    }
    default:
      return usageError(`${problem?.message}`, (await hintForArgument(mistake)) ?? usage)
  }
}

/** Returns the question for words of `mergeq help` that name neither a command nor a topic. */
export async function hintForHelp(words: readonly string[], groups: readonly CommandGroup[]): Promise<Hint> {
  const correction =
    (await correctCommand(words, groups)) ?? (await correctCommand([words.join('-')], groups))
  const target = correction?.target.replace(/^help /, '').replace(/ -.*/, '')
  if (target === undefined || target.startsWith('-')) return undefined
  return asQuestion(await formatLine(['help', ...target.split(' ')], groups))
}
