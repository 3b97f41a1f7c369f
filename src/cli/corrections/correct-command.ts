import { findSimilarName } from '../../domain/similar-name.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import type { HelpGroup } from '../help/help-text.ts'
import type { NamedCommand } from '../typed-command.ts'
import { commandSynonyms, groupSynonyms, rootSynonyms, type SynonymRow } from './synonyms.ts'

export interface CommandCorrection {
  readonly target: string
  readonly replaced: number
}

export interface KnownCommands {
  readonly groups: readonly HelpGroup[]
  readonly commands: readonly NamedCommand[]
}

const pathOf = (target: string): string => target.replace(/ [-<].*$/, '')

/** Whether a command exists. Where the commands of its group are not loaded, the answer is yes. */
function isAvailable(target: string, { commands }: KnownCommands): boolean {
  const [group = ''] = target.split(' ')
  const loaded = commands.filter(({ command }) => command.split(' ')[0] === group)
  // `help` has topics, which are not commands.
  return group === 'help' || loaded.length === 0 || loaded.some(({ command }) => command === pathOf(target))
}

function findRow(
  rows: readonly SynonymRow[],
  word: string,
  next: string | undefined,
  known: KnownCommands,
): string | undefined {
  const isPullRequest = next !== undefined && isPullRequestReference(next)
  const [target] =
    rows.find(
      ([target, words]) =>
        words.split(' ').includes(word) &&
        (isPullRequest || !target.endsWith('<pr>')) &&
        isAvailable(target, known),
    ) ?? []
  return target?.replace(/ <pr>$/, '')
}

const wordsOf = (rows: readonly SynonymRow[]): readonly string[] =>
  rows.flatMap(([, words]) => words.split(' '))

function namesIn(group: string, { commands }: KnownCommands): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const add = (command: string, alias?: string) => {
    if (!command.startsWith(`${group} `)) return
    names.set(command.slice(group.length + 1), command)
    if (alias !== undefined) names.set(alias, command)
  }
  for (const { command, alias } of commands) add(command, alias)
  // The commands of a group that was not typed are not loaded: the rows name the most common ones.
  if (names.size === 0) for (const [target] of commandSynonyms[group] ?? []) add(pathOf(target))
  return names
}

function findVerb(
  group: string,
  word: string,
  next: string | undefined,
  known: KnownCommands,
): string | undefined {
  const names = namesIn(group, known)
  const rows = commandSynonyms[group] ?? []
  const similar = findSimilarName(word, [...names.keys()])
  return (
    names.get(word) ??
    findRow(rows, word, next, known) ??
    (similar === undefined ? undefined : names.get(similar)) ??
    findRow(rows, findSimilarName(word, wordsOf(rows)) ?? '', next, known)
  )
}

const findGroup = (word: string, { groups }: KnownCommands): string | undefined =>
  groups.find(({ name }) => name === word)?.name ??
  Object.keys(groupSynonyms).find(name => groupSynonyms[name]?.split(' ').includes(word))

function correctInGroup(
  group: string,
  words: readonly string[],
  known: KnownCommands,
): CommandCorrection | undefined {
  const [, verb = 'list', next] = words
  if (isPullRequestReference(verb) && ['pr', 'queue'].includes(group))
    return { target: 'pr get', replaced: 1 }
  const target = findVerb(group, verb, next, known)
  return target === undefined ? undefined : { target, replaced: Math.min(2, words.length) }
}

/**
 * Returns the command that was probably meant by words that name no command: another word for it, its words
 * in another order, a near miss, or a pull request alone. Returns undefined if nothing is similar.
 */
export function correctCommand(
  words: readonly string[],
  known: KnownCommands,
): CommandCorrection | undefined {
  const [first = '', second, third] = words
  if (known.groups.some(({ name }) => name === first)) return correctInGroup(first, words, known)
  if (isPullRequestReference(first)) return { target: 'pr get', replaced: 0 }
  const noun = second === undefined ? undefined : findGroup(second, known)
  const swapped = noun === undefined ? undefined : findVerb(noun, first, third, known)
  if (swapped !== undefined) return { target: swapped, replaced: 2 }
  const synonym = findRow(rootSynonyms, first, second, known)
  if (synonym !== undefined) return { target: synonym, replaced: 1 }
  const similar = findSimilarName(
    first,
    known.groups.map(({ name }) => name),
  )
  const group = findGroup(first, known)
  if (group !== undefined) return correctInGroup(group, words, known) ?? { target: group, replaced: 1 }
  if (similar !== undefined) {
    const correction = second === undefined ? undefined : correctInGroup(similar, words, known)
    return correction ?? { target: similar, replaced: 1 }
  }
  const target = findRow(
    rootSynonyms,
    findSimilarName(first, [...new Set(wordsOf(rootSynonyms))]) ?? '',
    second,
    known,
  )
  return target === undefined ? undefined : { target, replaced: 1 }
}
