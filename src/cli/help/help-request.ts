import type { OptionDefinition } from '../inputs.ts'
import { findTypedCommand, type NamedCommand } from '../typed-command.ts'
import type { HelpGroup } from './help-text.ts'
import type { HelpRequest } from './render-help.ts'

type TypedOptions = ReadonlyMap<string, string>

/**
 * Returns the help that a command line asks for, and the global options in the command line, without building
 * the tree of commands. Help is requested by `mergeq` alone, a group alone, `help ...`, and `-h` or `--help`
 * next to a command and its arguments. Returns undefined for every other command line, including an invalid
 * one.
 */
export function findHelpRequest(
  argv: readonly string[],
  groups: readonly HelpGroup[],
  commands: readonly NamedCommand[],
  globalOptions: readonly OptionDefinition[],
): { readonly request: HelpRequest; readonly options: TypedOptions } | undefined {
  const options = new Map<string, string>()
  const helpOptions = new Set<string>()
  const { words, command, pathLength, optionsEnd } = findTypedCommand(argv, commands)
  if (optionsEnd < argv.length) return undefined
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--help' || word === '-h') helpOptions.add(word)
    else if (word.startsWith('-')) {
      const definition = globalOptions.find(({ name, short }) => name === word || short === word)
      if (definition === undefined || options.has(definition.name)) return undefined
      const value = definition.value === undefined ? 'true' : (argv[++index] ?? '')
      // The value may be an option whose own value is missing: the full parser reports that error.
      if (value.startsWith('-')) return undefined
      options.set(definition.name, value)
    }
  }
  const isShort = !helpOptions.has('--help')
  const texts = words.map(({ word }) => word)
  const [first = '', ...rest] = texts
  const isGroup = groups.some(({ name, isCommand }) => name === first && isCommand !== true)
  if (first === '' || (isGroup && rest.length === 0))
    return { request: { kind: 'help', args: texts, isShort }, options }
  if (helpOptions.size === 0)
    return first === 'help' ? { request: { kind: 'help', args: rest }, options } : undefined
  return command === undefined
    ? undefined
    : { request: { kind: 'help', args: texts.slice(0, pathLength), isShort }, options }
}
