// What is wrong with a command line, and what to type instead.

import { type MergeqError, usageError } from '../base/errors.ts'
import { fieldsOf, findSimilarField } from '../command/fields.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { shellQuote } from '../values/suggested-command.ts'
import {
  askFor,
  formatLine,
  type Groups,
  type Hint,
  hintForCommand,
  optionsOf,
  replaceWords,
  usageOf,
  type Words,
} from './meant-line.ts'
import { findCommand, isSentence, isWord, wordsOf } from './other-words.ts'
import { type ParsedCommandLine, parseCommandLine } from './parse.ts'

/** Returns the hint for options of gh: `--json` with the names of fields, and `--jq` or `-q` with what jq selects. */
async function hintForGh(argv: Words, reading: ParsedCommandLine, groups: Groups): Promise<Hint> {
  const index = argv.findIndex(
    (word, at) =>
      /^--jq\b|^--json=/.test(word) || (/^(?:-q|--json)$/.test(word) && isWord(argv[at + 1] ?? '-x')),
  )
  const [option = '', value] = (argv[index] ?? '').split(/=(.*)/s)
  const text = value ?? argv[index + 1] ?? ''
  const rest = argv.filter((_, at) => at !== index && (value !== undefined || at !== index + 1))
  const show = async (line: Words) => formatLine(line, await parseCommandLine(line, groups))
  if (option !== '--json') {
    const line = index < 0 ? undefined : await show([...rest.filter(word => word !== '--json'), '--json'])
    return line && `To select from the JSON, run: ${line} | jq ${shellQuote(text)}`
  }
  if (!/^[a-z][\w.]*(?:,[\w.]+)*$/i.test(text)) return undefined
  // gh writes `number` for `prNumber`.
  const known = (reading.command && fieldsOf(reading.command, reading.args)?.names) ?? []
  const fields = text.split(',').map(name => findSimilarField(name, known) ?? name)
  const line = await show([
    ...argv.slice(0, index),
    '--json',
    '--fields',
    fields.join(','),
    ...rest.slice(index),
  ])
  return line && `To print only some fields, run: ${line}`
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
  const usage = usageOf(path)
  switch (problem?.kind) {
    case undefined:
      throw new TypeError('nothing is wrong with this command line')
    case 'unknown-command': {
      // The hook of an early build calls the group.
      const isOldHook = path.at(-1) === 'guard' && argv.includes('--')
      const hint = isOldHook
        ? 'If a git hook ran this, it is of an older mergeq. To replace it, run: mergeq guard install'
        : await hintForCommand(argv, reading, groups)
      return usageError(
        `unknown command '${problem.word}'.`,
        hint ?? usage.replace('see the usage', 'list the commands'),
      )
    }
    case 'unknown-option': {
      const [option = ''] = problem.word.split('=')
      const isFlag = optionsOf(reading).some(({ name }) => name === option)
      const hint =
        (await hintForGh(argv, reading, groups)) ?? (isFlag ? usage : await askFor(argv, false, groups))
      return usageError(isFlag ? `${option} takes no value.` : `unknown option '${option}'.`, hint)
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
      const hint = isPair ? await askFor(replaceWords(argv, words, pair), true, groups) : usage
      return usageError(`missing required argument '${problem.argument}'.`, isShell ? shells : hint)
    }
    case 'extra-argument': {
      const { word } = problem
      // It may be a token.
      const isNamed = path[0] !== 'auth'
      const hint = (await hintForGh(argv, reading, groups)) ?? (await askFor(argv, false, groups))
      return usageError(`${isNamed ? `'${word}'` : 'The last argument'} is not expected here.`, hint)
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
    findCommand(path, word, next, groups).meant ??
    'none'
  const help = ['help', ...wordsOf(meant.replace(/ -.*/, ''), word)]
  const list = `To list the commands, run: mergeq --help\nTopics: ${topics.join(', ')}`
  const isName = meant !== 'none' && !isSentence(meant) && isWord(meant)
  const hint = isName ? await askFor(help, true, groups) : list
  return usageError(`unknown command or topic '${words.join(' ')}'.`, hint)
}
