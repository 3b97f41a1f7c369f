import type { Word } from '../contract/field.ts'
import { usage } from '../failure.ts'
import { scriptOf } from './completions/scripts.ts'
import { pageDocument, treeDocument } from './document.ts'
import { groups } from './groups.ts'
import { groupHelp, helpOf, type Look, rootHelp, type Tree } from './help.ts'
import { own, shells, topicNames } from './own.ts'
import { entryOf, pageOf, type Told } from './page.ts'
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

export const summary = 'The command line for a merge queue and its flaky tests'

/** The tree as data: what every kind of reference is made from. */
export const treeOf = ({ leaves, globalWords, settings }: Source): Tree => ({
  summary,
  groups,
  pages: [...leaves, ...own].map(pageOf),
  flags: globalWords.map(word =>
    entryOf(
      word,
      settings.find(({ flag }) => flag !== undefined && word.spell.includes(`${flag} `))?.fallback,
    ),
  ),
})

/** Tells what was asked; a name that nothing has is a usage failure. */
export function tell({ about, words }: Asked, source: Source, manner: Manner): string {
  if (about === 'completion') {
    const [word = ''] = words
    const shell = shells.find(one => one === word.toLowerCase())
    if (shell === undefined)
      throw usage(`'${word}' is no shell with a completion script.`, `The shells are ${shells.join(', ')}.`)
    return scriptOf(shell, source.leaves, source.globalWords)
  }
  const tree = treeOf(source)
  const name = words.join(' ')
  const topic = topicNames.find(one => one === name)
  if (topic !== undefined) return topics[topic](manner.width, source.settings)
  const page = tree.pages.find(({ command, alias }) => command === name || alias === name)
  if (page === undefined && name !== '' && !Object.hasOwn(groups, name))
    throw usage(
      `There is no command or topic '${name}'.`,
      `Topics: ${topicNames.join(', ')}. Commands: see \`mergeq --help\`.`,
    )
  const pages =
    page === undefined
      ? tree.pages.filter(({ command }) => name === '' || command.startsWith(`${name} `))
      : [page]
  if (manner.format === 'ndjson') return pages.map(one => `${JSON.stringify(pageDocument(one))}\n`).join('')
  if (manner.format === 'json') {
    const document =
      page === undefined ? treeDocument({ ...tree, pages }, source.settings) : pageDocument(page)
    return `${JSON.stringify(document, null, manner.pretty ? 2 : undefined)}\n`
  }
  if (page !== undefined) return helpOf(page, tree, manner)
  return name === '' ? rootHelp(tree, manner) : groupHelp(name, tree, manner)
}
