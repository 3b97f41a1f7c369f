import type { CommandGroup } from '../command/command.ts'
import type { Habit } from '../command/habits.ts'
import { formats } from '../output/output-formats.ts'
import { isPullRequestReference } from '../values/pull-request.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { parseDuration } from '../values/time.ts'

/** The habits that lead to no command: other names of groups and of options that several commands have. */
const generalHabits: readonly Habit[] = [
  ['', 'pulls prs pull pull-request pull-requests mr mrs merge-request', 'pr'],
  ['', 'que q mq merge-queue merge-train', 'queue'],
  ['', 'flakytests flaky-tests', 'flaky'],
  ['', 'mergeq trunk bors @bors @mergifyio', ''],
  [', queue', 'clean rollup', 'none'],
  ['revert, rollup', '<pr>', 'none'],
  ['rollout', 'restart', 'none'],
  ['log', 'short oneline', 'none'],
  ['', 'upgrade self-update', 'Update mergeq with the program that installed it, such as npm.'],
  [
    'pr, pr edit',
    'comment checkout review ready update-branch rebase diff --add-label --remove-label --add-reviewer --title',
    'No command of mergeq does this. Use the program of the code host, such as: gh pr --help',
  ],
  [
    '',
    'commit fetch checkout rebase sync restack stack stash branch tag clone issue issues secret label gist workflow',
    'No command of mergeq does this. Use git, or the program of the code host.',
  ],
  ['queue *', '<pr>', 'none'],
  ['queue *', '<repo>', '-R *'],
  ['queue *', '<word>', '-b *'],
  ['*', '--pr --number --id', ''],
  ['pr *', '--current', 'Without a pull request, that of the current branch is used.'],
  ['*', '--start --from --for --last --past --window --after', '--since'],
  ['*', '--end --to --before', '--until'],
  ['*', '--day --today', '--since 24h'],
  ['*', '--week', '--since 7d'],
  ['*', '--month', '--since 30d'],
  ['*', '--days', '--since <n>d'],
  ['*', '--weeks', '--since <n>w'],
  ['*', '--hours', '--since <n>h'],
  ['*', '--team --codeowner --code-owner', '--owner'],
  ['*', '--hostname --host --url --server', '--base-url'],
  ['*', '-p', '--port'],
  ['*', '--repository', '--repo'],
  ['*', '--branch --base --target --queue -B', '--target-branch'],
  ['*', '--format', '--output'],
  ['*', formats.map(name => `--${name}`).join(' '), '--output *'],
  ['*', '--force --confirm -f', '--yes'],
  ['*', '-y', 'Write --yes, where a command asks. It has no short form.'],
  ['*', '--prio -p', '--priority'],
  ['*', '--top --count --max -L -n=<n>', '--limit'],
  ['*', '-s --status', '--state'],
  ['*', '--reason --comment --message --body -m', 'This command takes no reason and no comment.'],
  ['*', '--watch --follow', 'Only queue watch and pr wait follow changes. They need no option for it.'],
  ['*', '--web', 'Only pr get, pr explain, pr testing and flaky get open a page with --web.'],
  [
    '*',
    '--template --jsonpath --no-headers --full',
    'To format the output, use --fields, or pipe --json to jq.',
  ],
  ['*', '--sort --sort-by --order --reverse', 'Lists of tests have --sort. Otherwise, pipe --json to jq.'],
  ['*', '--dryrun --what-if -n', '--dry-run'],
  ['*', '--no-color --no-colour', '--color never'],
  ['*', '--colour', '--color'],
  ['*', '-V', '--version'],
]

type Words = readonly string[]

export const isWord = (word: string): boolean => !/^-./.test(word)

export const isSentence = (meant: string): boolean => /^[A-Z]/.test(meant)

/** A folder of branches, such as that of `release/2.4`, unlike the owner of a repository. */
const branchFolder = /^(?:release|hotfix|feature|fix|stable|support|refs|origin|upstream|v\d)[^/]*\//

/** What stands before the number of a pull request in kubectl and in GitLab. */
export const numberOfPr = /^(?:pr\/|!)(?=\d+$)/

const isDuration = (text: string): boolean => {
  try {
    return parseDuration(text) > 0
  } catch {
    return false
  }
}

/** Returns the names under which a typed word stands in the table, the most specific one first. */
function keysOf(typed: string): Words {
  const [name, value] = typed.split(/=(.*)/s)
  const named = [
    typed,
    ...(/^\d+$/.test(value ?? '') ? [`${name}=<n>`] : []),
    ...(value !== undefined && isDuration(value) ? [`${name}=<time>`] : []),
  ]
  if (!isWord(typed)) return named
  if (/\s/.test(typed)) return [...named, '<text>']
  return [
    ...named,
    ...(isPullRequestReference(typed) ? ['<pr>'] : []),
    ...(/^[\w.-]+\/[\w.-]+$/.test(typed) && !branchFolder.test(typed) ? ['<repo>'] : []),
    /\.(?:ya?ml|json)$/i.test(typed) ? '<file>' : '<word>',
  ]
}

/** Returns the places of the words and options of a command. */
export const placesIn = ([group, ...verb]: Words): Words => [[group, ...verb].join(' '), `${group} *`, '*']

/** Returns the words of what is meant, with the typed word in the place of `*`. */
export const wordsOf = (meant: string, typed = ''): Words =>
  meant.split(' ').map(word => (word === '*' ? typed.replace(/^--/, '') : word))

/** What a word means, whether only by its spelling, the words whose place it takes, and where it is looked up. */
interface FoundCommand {
  readonly meant?: string
  readonly isGuess: boolean
  readonly typed: Words
  readonly places: Words
}

/** The commands, and what people call them and their options otherwise. */
export interface OtherWords {
  readonly groups: Groups
  /** What each word means, by its place and itself. */
  readonly meanings: ReadonlyMap<string, Words>
  /** Words that name no branch: those of commands, here and elsewhere, and the values of a flag. */
  readonly verbs: ReadonlySet<string>
}

/** Returns the habits of all commands, then those that lead to no command. */
export async function readHabits(groups: Groups): Promise<readonly Habit[]> {
  const files = groups.flatMap(({ commands }) => commands.flatMap(({ habits }) => habits?.() ?? []))
  const loaded = await Promise.all(files)
  return [...loaded.flatMap(({ habits }) => habits), ...generalHabits]
}

/** Reads the words of all commands, for a command line that is wrong. */
export async function loadOtherWords(groups: Groups): Promise<OtherWords> {
  const meanings = new Map<string, Words>()
  const verbs = new Set(['on', 'yes', 'no', 'true', 'false'])
  for (const [places, words, meant] of await readHabits(groups)) {
    for (const word of words.split(' ')) {
      verbs.add(word)
      for (const place of places.split(', ')) {
        const key = `${place}\n${word}`
        meanings.set(key, [...(meanings.get(key) ?? []), meant])
      }
    }
    if (!isSentence(meant)) for (const word of meant.split(' ')) verbs.add(word)
  }
  return { groups, meanings, verbs }
}

function meaningsOf(
  { meanings }: OtherWords,
  places: Words,
  typed: string,
  isPossible: (key: string) => (meant: string) => boolean,
) {
  const keys = keysOf(typed)
  return places.flatMap(place =>
    keys.flatMap(key => meanings.get(`${place}\n${key}`)?.filter(isPossible(key)) ?? []),
  )
}

/** Returns what a word means in one of the places, of which the first counts. An option must be one of `options`. */
export function meaningOf(
  table: OtherWords,
  places: Words,
  typed: string,
  options: Words = [],
): string | undefined {
  const isPossible = (key: string) => (meant: string) =>
    (key !== '<word>' || isWord(meant) || !table.verbs.has(typed)) &&
    (isWord(typed) || isWord(meant) || options.includes(wordsOf(meant)[0] ?? ''))
  return meaningsOf(table, places, typed, isPossible).at(0)
}

/** Returns the sentences about a word; the first for which enough words follow counts. */
export const sentencesAbout = (table: OtherWords, places: Words, typed: string): Words =>
  meaningsOf(table, places, typed, () => isSentence)

export function wordsIn({ meanings }: OtherWords, places: Words): Words {
  const keys = [...meanings.keys()].map(key => key.split('\n'))
  return keys.flatMap(([place = '', word = '']) => (places.includes(place) && isWord(word) ? word : []))
}

type Groups = readonly CommandGroup[]

/** The commands of a group, or all groups, by the word that is typed. */
function commandsOf(group: string, groups: Groups): readonly (readonly [string, string])[] {
  if (group === '') return groups.map(({ name }) => [name, name])
  const { commands = [] } = groups.find(({ name }) => name === group) ?? {}
  return commands.flatMap(({ name, alias }) =>
    [name, alias ?? []].flat().map(word => [word, `${group} ${name}`] as const),
  )
}

/** The command that has this name alone, of those that may be meant without their group. */
function commandNamed(word: string, group: string, groups: Groups): string | undefined {
  const isNear = (name: string) =>
    group === '' || (/^(?:pr|queue)$/.test(group) && /^(?:pr|queue)$/.test(name))
  const found = groups
    .filter(({ name }) => isNear(name))
    .flatMap(({ name, commands }) => commands.filter(each => each.name === word).map(() => `${name} ${word}`))
  return found.length === 1 && word !== '' ? found[0] : undefined
}

/** The group that a word names: `pr` for a pull request, for `pr`, for `prs` and for `pr/7`. */
function groupOf(word: string, table: OtherWords): string {
  if (isPullRequestReference(word) || numberOfPr.test(word) || meaningOf(table, [''], word) === 'pr')
    return 'pr'
  const name = word.replace(/s$/, '')
  return /^(?:test|flake)$/.test(name) ? 'flaky' : name
}

/**
 * Returns what was probably meant by a word that names no command, and the words whose place it takes: by the table,
 * else by its spelling. A word is looked up in the group that follows it, too; that of a pull request is `pr`.
 */
export function findCommand(path: Words, words: Words, table: OtherWords): FoundCommand {
  const { groups } = table
  const [word = '', next = ''] = words
  const group = path.join(' ')
  // `merge status`, `run list`: the words of another program.
  const ofOther = [`${group} ${word}`.trim()]
  const inOther = next === '' ? undefined : meaningOf(table, ofOther, next)
  if (inOther !== undefined)
    return { meant: inOther, isGuess: false, typed: [...path, word, next], places: ofOther }
  const other = groupOf(next, table)
  const isNumber = isPullRequestReference(next) || numberOfPr.test(next)
  const isNoun = groups.some(({ name }) => name === other) && !isNumber
  if (group === '' && isNoun && next.endsWith('s') && /^(?:get|list|ls|show)$/.test(word))
    return { meant: `${other} list`, isGuess: false, typed: [word, next], places: [] }
  const places = group === '' || (group === 'queue' && other === 'pr') ? [other, group] : [group]
  const byName = new Map(places.toReversed().flatMap(place => commandsOf(place, groups)))
  // `tests list`: a word for a list names the group, too.
  const isBeforeVerb = group === '' && next !== '' && other !== 'pr'
  const said = meaningOf(table, places, word)?.replace(isBeforeVerb ? /(?<=^\w+) list$/ : '', '')
  const known = byName.get(word) ?? said ?? commandNamed(word, group, groups)
  const similar = byName.get(findSimilarName(word, [...byName.keys()]) ?? '')
  const guess = similar ?? meaningOf(table, places, findSimilarName(word, wordsIn(table, places)) ?? '')
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name))
  const similarName = findSimilarName(word, names.filter(Boolean)) ?? ''
  const meant = known ?? guess ?? commandNamed(similarName, group, groups)
  const namesGroup = group === '' && isNoun && meant?.startsWith(`${other} `)
  const typed = namesGroup ? [word, next] : [...path, word]
  // The word after a misspelt group may be another one, too.
  const isGroup = groups.some(({ name, isCommand }) => name === meant && isCommand !== true)
  if (group === '' && meant !== undefined && isGroup && next !== '' && !isNumber) {
    const inGroup = commandsOf(meant, groups).some(([name]) => name === next)
    const found = inGroup ? undefined : findCommand([meant], words.slice(1), table)
    if (found?.meant !== undefined) return { ...found, typed: [word, next] }
  }
  return {
    ...(meant === undefined ? {} : { meant }),
    isGuess: known === undefined && similar === undefined,
    typed,
    places,
  }
}
