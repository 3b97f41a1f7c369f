// What is wrong with a command line, and what to type instead.

import { MergeqError, usageError } from '../base/errors.ts'
import type { CommandGroup } from '../command/command.ts'
import {
  askFor,
  askForValues,
  hintForCommand,
  optionsOf,
  replaceWords,
  usageOf,
  type Words,
} from './meant-line.ts'
import { loadOtherWords } from './other-words.ts'
import type { ParsedCommandLine } from './parse.ts'

/** Returns the usage error of a command line; its hint is the line that was probably meant, or shows the usage. */
export async function createUsageError(
  argv: Words,
  reading: ParsedCommandLine,
  groups: readonly CommandGroup[],
): Promise<MergeqError> {
  const { problem, path, command, words } = reading
  const usage = usageOf(path)
  const table = await loadOtherWords(groups)
  switch (problem?.kind) {
    case undefined:
      throw new TypeError('nothing is wrong with this command line')
    case 'unknown-command': {
      // The hook of an older mergeq calls the group.
      const isOldHook = path.at(-1) === 'guard' && argv.includes('--')
      const hint = isOldHook
        ? 'If a git hook ran this, it is of an older mergeq. To replace it, run: mergeq guard install'
        : await hintForCommand(argv, reading, table)
      return usageError(
        `unknown command '${problem.word}'.`,
        hint ?? usage.replace('see the usage', 'list the commands'),
      )
    }
    case 'unknown-option': {
      const [option = ''] = problem.word.split('=')
      const isFlag = optionsOf(reading).some(({ name }) => name === option)
      const hint = await askFor(argv, false, table)
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
      const hint = isPair ? await askFor(replaceWords(argv, words, pair), true, table) : usage
      return usageError(`missing required argument '${problem.argument}'.`, isShell ? shells : hint)
    }
    case 'extra-argument': {
      const { word } = problem
      // It may be a token.
      const isNamed = path[0] !== 'auth'
      const hint = await askFor(argv, false, table)
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
  const hint = await askForValues(argv, reading, await loadOtherWords(groups))
  return hint === undefined ? error : new MergeqError(error.kind, error.message, { ...error.details, hint })
}
