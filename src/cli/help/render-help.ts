import { usageError } from '../../errors.ts'
import type { OptionDefinition } from '../inputs.ts'
import { builtinCommands, shells, topicNames } from './builtin-commands.ts'
import { commandDoc, type DocumentedCommand, optionDoc, withAlias } from './command-doc.ts'
import { groups } from './groups.ts'
import { commandDocJson, commandTreeJson } from './help-json.ts'
import { type CommandTree, commandHelp, groupHelp, type HelpLayout, rootHelp } from './help-text.ts'
import { type DocumentedSetting, topics } from './topics.ts'

/** Everything that the reference is made from. */
export interface HelpSource {
  readonly leaves: readonly DocumentedCommand[]
  readonly globalWords: readonly OptionDefinition[]
  readonly settings: readonly DocumentedSetting[]
}

/** What is asked of the reference: the help of the command or topic that words name, or the script of a shell. */
export interface HelpRequest {
  readonly about: 'help' | 'completion'
  readonly words: readonly string[]
}

/** How it is to be told: as data, or as text for people. */
export interface HelpRenderOptions extends HelpLayout {
  readonly format: string
  readonly pretty: boolean
}

const summary = 'The command line for a merge queue and its flaky tests'

/** What is told of mergeq as a whole, made from the tree. */
export const commandTree = ({ leaves, globalWords, settings }: HelpSource): CommandTree => ({
  summary,
  groups,
  commands: [...leaves, ...builtinCommands],
  flags: globalWords.map(word =>
    optionDoc(
      word,
      settings.find(({ flag }) => flag !== undefined && word.syntax.includes(`${flag} `))?.defaultValue,
    ),
  ),
})

/** Tells what was asked; a name that nothing has is a usage failure. */
export async function renderHelp(
  { about, words }: HelpRequest,
  source: HelpSource,
  manner: HelpRenderOptions,
): Promise<string> {
  if (about === 'completion') {
    const [word = ''] = words
    const shell = shells.find(one => one === word.toLowerCase())
    if (shell === undefined)
      throw usageError(
        `'${word}' is no shell with a completion script.`,
        `The shells are ${shells.join(', ')}.`,
      )
    const { scriptOf } = await import('../completion/scripts.ts')
    return scriptOf(shell, source.leaves, source.globalWords)
  }
  const name = words.join(' ')
  const topic = topicNames.find(one => one === name)
  if (topic !== undefined) return topics[topic](manner.width, source.settings)
  const all: readonly DocumentedCommand[] = [...source.leaves, ...builtinCommands]
  const told = all.find(
    ({ command, alias }) => command === name || (alias && withAlias(command, alias) === name),
  )
  if (told === undefined && name !== '' && !Object.hasOwn(groups, name))
    throw usageError(
      `There is no command or topic '${name}'.`,
      `Topics: ${topicNames.join(', ')}. Commands: see \`mergeq --help\`.`,
    )
  const tree = commandTree(source)
  if (manner.format === 'json' || manner.format === 'ndjson') {
    const pages = (
      told === undefined ? all.filter(({ command }) => `${command} `.startsWith(name && `${name} `)) : [told]
    ).map(commandDoc)
    const indent = manner.pretty ? 2 : undefined
    if (manner.format === 'ndjson')
      return pages.map(one => `${JSON.stringify(commandDocJson(one))}\n`).join('')
    const [page] = pages
    const document =
      told === undefined || page === undefined
        ? commandTreeJson(tree, pages, source.settings)
        : commandDocJson(page)
    return `${JSON.stringify(document, null, indent)}\n`
  }
  if (told !== undefined) return commandHelp(commandDoc(told), tree, manner)
  return name === '' ? rootHelp(tree, manner) : groupHelp(name, tree, manner)
}
