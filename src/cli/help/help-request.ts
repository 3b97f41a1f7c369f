import type { OptionDefinition } from '../inputs.ts'
import { groups } from './groups.ts'
import type { HelpRequest } from './render-help.ts'

/** A word of the tree: what a command is called, and its alias. */
interface NamedCommand {
  readonly command: string
  readonly alias?: string
}

/**
 * The help that words ask for, and the global flags among them, told without building the tree: `mergeq`, a group alone,
 * `help ...`, and `--help` beside a command and its arguments. Undefined for all else, which the tree judges.
 */
export function findHelpRequest(
  argv: readonly string[],
  leaves: readonly NamedCommand[],
  globalWords: readonly OptionDefinition[],
): { readonly asked: HelpRequest; readonly flags: ReadonlyMap<string, string> } | undefined {
  const flags = new Map<string, string>()
  const words: string[] = []
  let isAsked = false
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ''
    if (word === '--help' || word === '-h') isAsked = true
    else if (!word.startsWith('-')) words.push(word)
    else {
      const flag = globalWords.find(({ syntax }) => syntax.split(/, | /).includes(word))
      const name = flag?.syntax.replace(/^-\w, /, '').split(' ')[0]
      if (flag === undefined || name === undefined || flags.has(name)) return undefined
      const value = flag.syntax.includes('<') ? (argv[++index] ?? '') : 'true'
      // Perhaps an option that stands where a value should.
      if (value.startsWith('-')) return undefined
      flags.set(name, value)
    }
  }
  const [first = '', ...rest] = words
  const isGroup = Object.hasOwn(groups, first)
  if (first === '' || (isGroup && rest.length === 0)) return { asked: { about: 'help', words }, flags }
  if (first === 'help' && !isAsked) return { asked: { about: 'help', words: rest }, flags }
  const isCommand = (named: readonly string[]) =>
    leaves.some(({ command, alias }) =>
      [command, ...(alias === undefined ? [] : [command.replace(/\S+$/, alias)])].includes(named.join(' ')),
    )
  const named = [words.slice(0, 2), [first]].find(isCommand)
  return isAsked && named !== undefined ? { asked: { about: 'help', words: named }, flags } : undefined
}
