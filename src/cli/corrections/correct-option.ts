import { findSimilarName } from '../../domain/similar-name.ts'
import { shellQuote } from '../../domain/suggested-command.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import { globalOptions } from '../global-options.ts'
import { isOption, type OptionDefinition } from '../inputs.ts'
import type { NamedCommand, TypedCommand } from '../typed-command.ts'
import { correctedLine, formatCommandLine } from './command-line.ts'
import { hintForSelection } from './select-several.ts'
import { optionSynonyms, watchCommands } from './synonyms.ts'

/** Options that select from JSON or shape it: jq does that. */
const filterOptions = ['--jq', '--template', '--jsonpath', '-t']

export const looksLikeFields = (text: string): boolean =>
  /^[a-z][\w.]*(?:,[\w.]+)*$/i.test(text) && !isPullRequestReference(text)

function pipeIntoJq(argv: readonly string[], at: number, pathLength: number): string | undefined {
  const [option = '', attached] = (argv[at] ?? '').split(/=(.*)/s)
  const filter = option === '--jq' ? (attached ?? argv[at + 1] ?? '.') : '.'
  const rest = argv.filter((word, index) => {
    if (index === at || (index === at + 1 && attached === undefined)) return false
    const previous = argv[index - 1] ?? ''
    if (word === '--json' || /^(?:--output=|-o.)/.test(word)) return false
    if (/^(?:-o|--output)$/.test(word) || /^(?:-o|--output)$/.test(previous)) return false
    // With gh, --json has the names of fields.
    return !(previous === '--json' && index >= pathLength && looksLikeFields(word))
  })
  const line = formatCommandLine([...rest, '--json'])
  return line === undefined ? undefined : `${line} | jq ${shellQuote(filter)}`
}

/**
 * Returns the option that was probably meant, perhaps with its value or as several options: `--state=merged`.
 * Undefined if no option is similar.
 *
 * @param next the word after the option
 */
function findOption(
  option: string,
  next: string,
  definitions: readonly OptionDefinition[],
): string | undefined {
  const names = [...definitions.filter(({ hidden }) => hidden !== true).map(({ name }) => name), '--help']
  const isKnown = (synonym: string) => names.includes(synonym.split(/[= ]/)[0] ?? '')
  // Before a number, `-n` is that of head.
  const key = option === '-n' && /^\d+$/.test(next) ? '--count' : option
  const synonym = optionSynonyms[key]?.find(isKnown)
  if (synonym !== undefined || key !== option) return synonym
  return option.startsWith('--') && option.length > 3
    ? findSimilarName(option, [...names, '--version'])
    : undefined
}

const isFlag = (option: string, definitions: readonly OptionDefinition[]): boolean =>
  [...definitions, ...globalOptions].some(({ name, value }) => name === option && value === undefined)

/**
 * Returns the flag that `--batch=true` or `--batch=false` means: the flag itself, or its opposite. Undefined
 * for another value, and for `false` where the flag has no opposite.
 */
function flagFor(
  option: string,
  value: string,
  definitions: readonly OptionDefinition[],
): string | undefined {
  if (value === 'true') return option
  const opposite = option.startsWith('--no-') ? `--${option.slice(5)}` : `--no-${option.slice(2)}`
  return value === 'false' && isFlag(opposite, definitions) ? opposite : undefined
}

/**
 * Returns the hint for an unknown option: the whole command line with the option that was probably meant.
 * Returns undefined if no option is similar, or if the command line must not be repeated.
 *
 * @param option the name of the unknown option
 * @param commands the commands of the groups that were typed
 */
export function hintForOption(
  option: string,
  argv: readonly string[],
  { command, words, pathLength, optionsEnd }: TypedCommand<NamedCommand>,
  commands: readonly NamedCommand[],
): string | undefined {
  const at = argv.findIndex(
    (word, index) => index < optionsEnd && (word === option || word.startsWith(`${option}=`)),
  )
  if (at < 0) return undefined
  if (/^--?(?:\w+-)?token$/i.test(option))
    return 'Other processes can read the arguments of a command: set MERGEQ_TOKEN, or run: mergeq auth login'
  const next = argv[at + 1] ?? ''
  // Before a duration, `-t` is not that of gh.
  if (filterOptions.includes(option) && !(option === '-t' && /^\d/.test(next))) {
    const pipe = pipeIntoJq(argv, at, pathLength)
    return pipe === undefined ? undefined : `To select from the JSON, run: ${pipe}`
  }
  const [, value] = (argv[at] ?? '').split(/=(.*)/s)
  const following = next.startsWith('-') ? undefined : argv[at + 1]
  const selection = hintForSelection(option, value ?? following, command?.command ?? '', argv)
  if (selection !== undefined) return selection
  if (command?.command.startsWith('metrics') === true && /^--(?:since|last|until|window)$/.test(option)) {
    const line = formatCommandLine(['pr', 'list', '--state', 'merged', '--since', value ?? following ?? '7d'])
    return `The service has metrics of the last hour only.${line === undefined ? '' : ` To list pull requests that merged earlier, run: ${line}`}`
  }
  if (option === '--json') {
    const line = formatCommandLine(argv.toSpliced(at, 1, '--json', '--fields', value ?? ''))
    return line === undefined ? undefined : `To print only some fields, run: ${line}`
  }
  const watch = watchCommands[command?.command ?? '']
  if (watch !== undefined && ['--watch', '-w', '--follow', '--wait'].includes(option)) {
    const without = argv.toSpliced(at, 1)
    const moved = words.map(({ word, index }) => ({ word, index: index > at ? index - 1 : index }))
    return asQuestion(correctedLine(without, moved, { target: watch, replaced: pathLength }, commands))
  }
  if (value !== undefined && isFlag(option, command?.definitions ?? [])) {
    const meant = flagFor(option, value.toLowerCase(), command?.definitions ?? [])
    return meant === undefined
      ? undefined
      : asQuestion(formatCommandLine(argv.toSpliced(at, 1, meant)), meant)
  }
  const definitions = [...(command?.definitions.filter(isOption) ?? []), ...globalOptions]
  const found = findOption(option, next, definitions)
  if (found === undefined) return undefined
  const meant = value === undefined ? found.split(' ') : [`${found}=${value}`]
  return asQuestion(formatCommandLine(argv.toSpliced(at, 1, ...meant)), found)
}

const asQuestion = (line: string | undefined, option?: string): string | undefined =>
  line !== undefined ? `Did you mean: ${line}` : option === undefined ? undefined : `Did you mean ${option}?`
