import type { OptionDefinition } from '../inputs.ts'
import type { HelpGroup } from './help-text.ts'
import type { HelpRequest } from './render-help.ts'

/** The name of a command and the alias of its last word: `pr get` and `status`. */
interface CommandName {
  readonly command: string
  readonly alias?: string
}

/**
 * Returns the help that a command line asks for, and the global options in the command line, without building
 * the tree of commands. Help is requested by `mergeq` alone, a group alone, `help ...`, and `--help` next to
 * a command and its arguments. Returns undefined for every other command line, including an invalid one.
 */
export function findHelpRequest(
  argv: readonly string[],
  groups: readonly HelpGroup[],
  commands: readonly CommandName[],
  globalOptions: readonly OptionDefinition[],
): { readonly request: HelpRequest; readonly options: ReadonlyMap<string, string> } | undefined {
  const options = new Map<string, string>()
  const words: string[] = []
  let hasHelpOption = false
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--help' || word === '-h') hasHelpOption = true
    else if (!word.startsWith('-')) words.push(word)
    else {
      const definition = globalOptions.find(({ name, short }) => name === word || short === word)
      if (definition === undefined || options.has(definition.name)) return undefined
      const value = definition.value === undefined ? 'true' : (argv[++index] ?? '')
      // The value may be an option whose own value is missing: the full parser reports that error.
      if (value.startsWith('-')) return undefined
      options.set(definition.name, value)
    }
  }
  const [first = '', ...rest] = words
  const isGroup = groups.some(({ name, isCommand }) => name === first && isCommand !== true)
  if (first === '' || (isGroup && rest.length === 0))
    return { request: { kind: 'help', args: words }, options }
  if (first === 'help' && !hasHelpOption) return { request: { kind: 'help', args: rest }, options }
  const isCommand = (path: readonly string[]) =>
    commands.some(({ command, alias }) =>
      [command, ...(alias === undefined ? [] : [command.replace(/\S+$/, alias)])].includes(path.join(' ')),
    )
  const path = [words.slice(0, 2), [first]].find(isCommand)
  return hasHelpOption && path !== undefined ? { request: { kind: 'help', args: path }, options } : undefined
}
