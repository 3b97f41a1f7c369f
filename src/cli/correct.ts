// What is wrong with a command line, and what to type instead.

import { MergeqError, usageError } from '../base/errors.ts'
import type { CommandGroup } from '../command/command.ts'
import { shellQuote } from '../values/suggested-command.ts'
import {
  askFor,
  askForValues,
  fieldsIn,
  formatLine,
  type Hint,
  hintForCommand,
  optionsOf,
  replaceWords,
  usageOf,
  type Words,
} from './meant-line.ts'
import { isWord, OtherWords } from './other-words.ts'
import { type ParsedCommandLine, parseCommandLine } from './parse.ts'

/** Returns the hint for options of gh: `--json` with the names of fields, and `--jq` or `-q` with what jq selects. */
async function hintForGh(argv: Words, reading: ParsedCommandLine, { groups }: OtherWords): Promise<Hint> {
  const isFollowed = (at: number) => isWord(argv[at + 1] ?? '-x')
  const indexOf = (option: RegExp) =>
    argv.findIndex((word, at) => option.test(word) && (word.includes('=') || isFollowed(at)))
  const [json, jq] = [indexOf(/^--json(?:=|$)/), indexOf(/^(?:--jq|-q)(?:=|$)/)]
  const isOf = (index: number, at: number) =>
    index >= 0 && (at === index || (at === index + 1 && argv[index]?.includes('=') === false))
  const textOf = (index: number) => argv[index]?.split(/=(.*)/s)[1] ?? argv[index + 1] ?? ''
  const show = async (line: Words) => formatLine(line, await parseCommandLine(line, groups))
  if (jq >= 0) {
    const rest = argv.filter((word, at) => !isOf(json, at) && !isOf(jq, at) && word !== '--json')
    const line = await show([...rest, '--json'])
    return line && `To select from the JSON, run: ${line} | jq ${shellQuote(textOf(jq))}`
  }
  const fields = json < 0 ? undefined : fieldsIn(textOf(json), reading)
  if (fields === undefined) return undefined
  const rest = argv.filter((_, at) => at > json && !isOf(json, at))
  const line = await show([...argv.slice(0, json), '--json', ...fields, ...rest])
  return line && `To print only some fields, run: ${line}`
}

/** Returns the usage error of a command line; its hint is the line that was probably meant, or shows the usage. */
export async function createUsageError(
  argv: Words,
  reading: ParsedCommandLine,
  groups: readonly CommandGroup[],
): Promise<MergeqError> {
  const { problem, path, command, words } = reading
  const usage = usageOf(path)
  const known = await OtherWords.load(groups)
  switch (problem?.kind) {
    case undefined:
      throw new TypeError('nothing is wrong with this command line')
    case 'unknown-command': {
      // The hook of an early build calls the group.
      const isOldHook = path.at(-1) === 'guard' && argv.includes('--')
      const hint = isOldHook
        ? 'If a git hook ran this, it is of an older mergeq. To replace it, run: mergeq guard install'
        : await hintForCommand(argv, reading, known)
      return usageError(
        `unknown command '${problem.word}'.`,
        hint ?? usage.replace('see the usage', 'list the commands'),
      )
    }
    case 'unknown-option': {
      const [option = ''] = problem.word.split('=')
      const isFlag = optionsOf(reading).some(({ name }) => name === option)
      const hint = (await hintForGh(argv, reading, known)) ?? (await askFor(argv, false, known))
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
      const hint = isPair ? await askFor(replaceWords(argv, words, pair), true, known) : usage
      return usageError(`missing required argument '${problem.argument}'.`, isShell ? shells : hint)
    }
    case 'extra-argument': {
      const { word } = problem
      // It may be a token.
      const isNamed = path[0] !== 'auth'
      const hint = (await hintForGh(argv, reading, known)) ?? (await askFor(argv, false, known))
      return usageError(`${isNamed ? `'${word}'` : 'The last argument'} is not expected here.`, hint)
    }
  }
}

/** Returns a usage error of a command with the command line that was meant where its values have another form. */
export async function withMeantValues(
  error: MergeqError,
  argv: Words,
  reading: ParsedCommandLine,
  groups: readonly CommandGroup[],
): Promise<MergeqError> {
  const hint = await askForValues(argv, reading, await OtherWords.load(groups))
  return hint === undefined ? error : new MergeqError(error.kind, error.message, { ...error.details, hint })
}
