import type { Word } from '../inputs.ts'
import { usage } from '../../errors.ts'
import { pageDocument, treeDocument } from './help-json.ts'
import { groups } from './groups.ts'
import { groupHelp, helpOf, type Look, rootHelp, type Tree } from './help-text.ts'
import { own, shells, topicNames } from './builtin-commands.ts'
import { entryOf, pageOf, sibling, type Told } from './command-doc.ts'
import { type Setting, topics } from './topics.ts'

/** Everything that the reference is made from. */
export interface Source {
  readonly leaves: readonly Told[]
  readonly globalWords: readonly Word[]
  readonly settings: readonly Setting[]
}

/** What is asked of the reference: the help of the command or topic that words name, or the script of a shell. */
export interface Asked {
  readonly about: 'help' | 'completion'
  readonly words: readonly string[]
}

/** How it is to be told: as data, or as text for people. */
export interface Manner extends Look {
  readonly format: string
  readonly pretty: boolean
}

const summary = 'The command line for a merge queue and its flaky tests'

/** What is told of mergeq as a whole, made from the tree. */
export const treeOf = ({ leaves, globalWords, settings }: Source): Tree => ({
  summary,
  groups,
  commands: [...leaves, ...own],
  flags: globalWords.map(word =>
    entryOf(
      word,
      settings.find(({ flag }) => flag !== undefined && word.spell.includes(`${flag} `))?.fallback,
    ),
  ),
})

/** Tells what was asked; a name that nothing has is a usage failure. */
export async function tell({ about, words }: Asked, source: Source, manner: Manner): Promise<string> {
  if (about === 'completion') {
    const [word = ''] = words
    const shell = shells.find(one => one === word.toLowerCase())
    if (shell === undefined)
      throw usage(`'${word}' is no shell with a completion script.`, `The shells are ${shells.join(', ')}.`)
    const { scriptOf } = await import('../completion/scripts.ts')
    return scriptOf(shell, source.leaves, source.globalWords)
  }
  const name = words.join(' ')
  const topic = topicNames.find(one => one === name)
  if (topic !== undefined) return topics[topic](manner.width, source.settings)
  const all: readonly Told[] = [...source.leaves, ...own]
  const told = all.find(
    ({ command, alias }) => command === name || (alias && sibling(command, alias) === name),
  )
  if (told === undefined && name !== '' && !Object.hasOwn(groups, name))
    throw usage(
      `There is no command or topic '${name}'.`,
      `Topics: ${topicNames.join(', ')}. Commands: see \`mergeq --help\`.`,
    )
  const tree = treeOf(source)
  if (manner.format === 'json' || manner.format === 'ndjson') {
    const pages = (
      told === undefined ? all.filter(({ command }) => `${command} `.startsWith(name && `${name} `)) : [told]
    ).map(pageOf)
    const indent = manner.pretty ? 2 : undefined
    if (manner.format === 'ndjson') return pages.map(one => `${JSON.stringify(pageDocument(one))}\n`).join('')
    const [page] = pages
    const document =
      told === undefined || page === undefined
        ? treeDocument(tree, pages, source.settings)
        : pageDocument(page)
    return `${JSON.stringify(document, null, indent)}\n`
  }
  if (told !== undefined) return helpOf(pageOf(told), tree, manner)
  return name === '' ? rootHelp(tree, manner) : groupHelp(name, tree, manner)
}
