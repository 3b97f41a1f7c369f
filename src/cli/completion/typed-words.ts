import type { ParsedArgs } from '../../config/args.ts'
import type { DocumentedCommand } from '../help/command-doc.ts'
import type { HelpGroup } from '../help/help-text.ts'
import { type CompletionInput, completionInputsOf } from './completion-input.ts'

export interface TypedWords {
  readonly path: string
  readonly inputs: readonly CompletionInput[]
  readonly given: ParsedArgs
  readonly positionals: readonly string[]
  readonly pending?: CompletionInput
  readonly isOptionsEnd: boolean
}

type TypedCommand = Pick<DocumentedCommand, 'command' | 'alias' | 'definitions' | 'operations'>

/** Whether `word` is the last word of a command, or the alias of that word. */
const isNamed = ({ command, alias }: TypedCommand, parent: string, word: string): boolean => {
  const prefix = parent === '' ? '' : `${parent} `
  return command === prefix + word || (alias === word && command.replace(/\S+$/, '') === prefix)
}

/** An unknown option counts as an option without a value, an unknown command as an argument. */
export function readTypedWords(
  groups: readonly HelpGroup[],
  commands: readonly TypedCommand[],
  globals: readonly CompletionInput[],
  words: readonly string[],
): TypedWords {
  let path = ''
  let inputs: readonly CompletionInput[] = []
  let pending: CompletionInput | undefined
  let isOptionsEnd = false
  const given = new Map<string, readonly string[]>()
  const positionals: string[] = []
  const addValue = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value])
  for (const word of words) {
    if (pending !== undefined) {
      addValue(pending.name, word)
      pending = undefined
      continue
    }
    if (!isOptionsEnd && word === '--') {
      isOptionsEnd = true
      continue
    }
    if (!isOptionsEnd && /^-./.test(word)) {
      // `--name`, `--name=value`, `-n`, or `-nvalue`
      const [name = ''] = /^(?:--[^=]*|-.)/.exec(word) ?? []
      const option = [...inputs, ...globals].find(input => input.name === name || input.short === name)
      if (option === undefined) continue
      if (!given.has(option.name)) given.set(option.name, [])
      if (!option.takesValue) continue
      if (name === word) pending = option
      else addValue(option.name, word.slice(name.length + (name.startsWith('--') ? 1 : 0)))
      continue
    }
    const command =
      isOptionsEnd || positionals.length > 0
        ? undefined
        : commands.find(command => isNamed(command, path, word))
    if (command !== undefined) {
      path = command.command
      inputs = completionInputsOf(command)
    } else if (
      path === '' &&
      positionals.length === 0 &&
      !isOptionsEnd &&
      groups.some(({ name }) => name === word)
    )
      path = word
    else {
      positionals.push(word)
      // The options of a command that mergeq runs are not those of mergeq.
      if (inputs.some(({ isCommandLine }) => isCommandLine)) isOptionsEnd = true
    }
  }
  return { path, inputs, given, positionals, isOptionsEnd, ...(pending === undefined ? {} : { pending }) }
}
