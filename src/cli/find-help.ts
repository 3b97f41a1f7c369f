// What `mergeq help <anything>` shows for words that are neither a command nor a topic.

import { usageError } from '../base/errors.ts'
import { type CommandGroup, loadCommands } from '../command/command.ts'
import { printsData } from '../output/output-formats.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { documentCommand } from './command-doc.ts'
import { type HelpOptions, type Item, Layout } from './help-layout.ts'
import {
  findCommand,
  isSentence,
  isWord,
  loadOtherWords,
  meaningOf,
  sentencesAbout,
  wordsIn,
} from './other-words.ts'
import { parseCommandLine } from './parse.ts'
import { renderTopic, topicItems, topics } from './topics.ts'

type Words = readonly string[]

/** What the words mean: a topic, a command or group, what a person should know, or the help in which they stand. */
type FoundHelp =
  | { readonly kind: 'topic'; readonly topic: keyof typeof topics }
  | { readonly kind: 'command'; readonly path: Words }
  | { readonly kind: 'text'; readonly text: string }

const topicNames = Object.keys(topics) as (keyof typeof topics)[]

const maxResults = 10

/** Returns the only name that begins with a text of at least three letters. */
function startingWith<N extends string>(text: string, names: readonly N[]): N | undefined {
  const found = names.filter(name => name.startsWith(text))
  return text.length >= 3 && found.length === 1 ? found[0] : undefined
}

/** Returns the command that two words begin, or the only command or group that one word begins. */
function findByStart([word = '', next]: Words, groups: readonly CommandGroup[]): Words | undefined {
  const names = groups.map(({ name }) => name)
  if (next !== undefined) {
    const group = groups.find(({ name }) => name === word || name === startingWith(word, names))
    const verbs = group?.commands.map(({ name }) => name) ?? []
    const verb = verbs.find(name => name === next) ?? startingWith(next, verbs)
    return group === undefined || verb === undefined ? undefined : [group.name, verb]
  }
  const all = groups.flatMap(({ name: group, commands }) => [
    group,
    ...commands.map(({ name }) => `${group} ${name}`),
  ])
  const isNamed = (name: string) => name === word || name.endsWith(` ${word}`)
  const isStarted = (name: string) => word.length >= 3 && name.split(' ').some(part => part.startsWith(word))
  const named = all.filter(isNamed)
  const found = named.length > 0 ? named : all.filter(isStarted)
  return found.length === 1 ? found[0]?.trim().split(' ') : undefined
}

/** Returns how well a help has a word: in its name, its summary, its options, or elsewhere; 0 if it does not. */
const scoreOf = (texts: Words, word: string): number =>
  texts.reduce((score, text, index) => {
    const isIn = text.toLowerCase().includes(word)
    return isIn ? Math.max(score, texts.length - index) : score
  }, 0)

/** Returns the commands and topics in whose help all of the words stand, the best first. */
async function searchHelp(
  words: Words,
  groups: readonly CommandGroup[],
  options: HelpOptions,
): Promise<readonly Item[]> {
  const commands = (await loadCommands(groups.filter(({ name }) => name !== 'help')))
    .map(documentCommand)
    .map(doc => {
      const ofOptions = [...doc.arguments, ...doc.flags]
        .map(({ name, summary }) => `${name} ${summary}`)
        .join(' ')
      const others = [ofOptions, JSON.stringify(doc)]
      return { item: [doc.command, doc.summary] as Item, texts: [doc.command, doc.summary, ...others] }
    })
  const ofTopics = topicItems.map(item => ({
    item: [`help ${item[0]}`, item[1]] as Item,
    texts: [...item, '', renderTopic(item[0] as keyof typeof topics, options)],
  }))
  return [...commands, ...ofTopics]
    .map(({ item, texts }) => ({ item, scores: words.map(word => scoreOf(texts, word.toLowerCase())) }))
    .filter(({ scores }) => scores.every(score => score > 0))
    .map(({ item, scores }) => ({ item, score: scores.reduce((sum, score) => sum + score, 0) }))
    .sort((one, other) => other.score - one.score)
    .map(({ item }) => item)
}

/** Finds help by the beginning, meaning or spelling of words, else by what stands in it; throws if none has them. */
export async function findHelp(
  words: Words,
  groups: readonly CommandGroup[],
  options: HelpOptions,
): Promise<FoundHelp> {
  const name = words.join('-').toLowerCase()
  const topic = topicNames.find(each => each === name) ?? startingWith(name, topicNames)
  if (topic !== undefined) return { kind: 'topic', topic }
  const started = words.length > 2 ? undefined : findByStart(words, groups)
  if (started !== undefined) return { kind: 'command', path: started }
  const { path, words: unknown } = await parseCommandLine(words, groups)
  const table = await loadOtherWords(groups)
  const root = findCommand(path, unknown, table)
  const [word = ''] = words
  const isName = words.length > 1 || groups.some(({ commands }) => commands.some(each => each.name === word))
  // `copy` is known in a group only.
  const inGroups = groups.map(group => group.name).filter(name => wordsIn(table, [name]).includes(word))
  const inGroup = root.isGuess && !isName ? meaningOf(table, inGroups, word) : undefined
  const meant = inGroup ?? root.meant ?? ''
  const isGuess = root.isGuess && inGroup === undefined
  const isWhole = meant !== '' && meant !== 'none' && root.typed.length === words.length
  const sentences = sentencesAbout(table, inGroup === undefined ? root.places : inGroups, words.at(-1) ?? '')
  const sentence = [meant, ...sentences].find(each => !each.includes('<1>')) ?? ''
  if (isWhole && !isGuess && isSentence(sentence)) return { kind: 'text', text: `${sentence}\n` }
  const command =
    isWhole && !isSentence(meant) && isWord(meant) ? meant.replace(/ [-*].*/, '').split(' ') : undefined
  if (command !== undefined && !isGuess) return { kind: 'command', path: command }
  const ofForm = words.length === 1 ? findByStart([word.replace(/(?:ing|ed|s)$/, '')], groups) : undefined
  if (ofForm !== undefined) return { kind: 'command', path: ofForm }
  const found = await searchHelp(words, groups, options)
  // A list is for people: a program names one command.
  if (found.length > 0 && !printsData(options.format)) {
    const layout = new Layout(options)
    const more = found.length > maxResults ? `, ${found.length - maxResults} more` : ''
    const title = `Found in the help of (mergeq help <name>${more}):\n`
    return { kind: 'text', text: `${title}${layout.items(found.slice(0, maxResults))}` }
  }
  const similar = findSimilarName(name, topicNames)
  if (similar !== undefined) return { kind: 'topic', topic: similar }
  if (command !== undefined) return { kind: 'command', path: command }
  throw usageError(
    `No help has '${words.join(' ')}' in it.`,
    `To list the commands, run: mergeq --help\nTopics: ${topicNames.join(', ')}`,
  )
}
