import type { CommandGroup } from '../command/command.ts'
import { isPullRequestReference } from '../values/pull-request.ts'
import { findSimilarName } from '../values/similar-name.ts'
import { parseDuration } from '../values/time.ts'
import type { Habit } from './habits.ts'

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

/** All groups of commands, with what people type who know them by other names. */
export class OtherWords {
  readonly rows: readonly Habit[]
  readonly groups: readonly CommandGroup[]
  readonly #meanings = new Map<string, string[]>()
  /** Words that name no branch: those of commands, here and elsewhere, and the values of a flag. */
  readonly #verbs = new Set(['on', 'yes', 'no', 'true', 'false'])

  private constructor(groups: readonly CommandGroup[], rows: readonly Habit[]) {
    this.groups = groups
    this.rows = rows
    for (const [places, words, meant] of rows) {
      for (const word of words.split(' ')) {
        this.#verbs.add(word)
        for (const place of places.split(', ')) {
          const key = `${place}\n${word}`
          this.#meanings.set(key, [...(this.#meanings.get(key) ?? []), meant])
        }
      }
      if (!isSentence(meant)) for (const word of meant.split(' ')) this.#verbs.add(word)
    }
  }

  static async load(groups: readonly CommandGroup[]): Promise<OtherWords> {
    const { habits } = await import('./habits.ts')
    return new OtherWords(groups, habits)
  }

  /** Returns what a word means in one of the places, of which the first counts. An option must be one of `options`. */
  find(places: Words, typed: string, options: Words = []): string | undefined {
    const isPossible = (key: string) => (meant: string) =>
      (key !== '<word>' || isWord(meant) || !this.#verbs.has(typed)) &&
      (isWord(typed) || isWord(meant) || options.includes(wordsOf(meant)[0] ?? ''))
    return this.#meaningsOf(places, typed, isPossible).at(0)
  }

  /** Returns the sentences about a word; the first for which enough words follow counts. */
  sentences(places: Words, typed: string): Words {
    return this.#meaningsOf(places, typed, () => isSentence)
  }

  #meaningsOf(places: Words, typed: string, isPossible: (key: string) => (meant: string) => boolean): Words {
    const keys = keysOf(typed)
    return places.flatMap(place =>
      keys.flatMap(key => this.#meanings.get(`${place}\n${key}`)?.filter(isPossible(key)) ?? []),
    )
  }

  wordsIn(places: Words): Words {
    const keys = [...this.#meanings.keys()].map(key => key.split('\n'))
    return keys.flatMap(([place = '', word = '']) => (places.includes(place) && isWord(word) ? word : []))
  }

  /** The commands of a group, or all groups, by the word that is typed. */
  #commandsOf(group: string): readonly (readonly [string, string])[] {
    if (group === '') return this.groups.map(({ name }) => [name, name])
    const { commands = [] } = this.groups.find(({ name }) => name === group) ?? {}
    return commands.flatMap(({ name, alias }) =>
      [name, alias ?? []].flat().map(word => [word, `${group} ${name}`] as const),
    )
  }

  /** The command that has this name alone, of those that may be meant without their group. */
  #commandNamed(word: string, group: string): string | undefined {
    const isNear = (name: string) =>
      group === '' || (/^(?:pr|queue)$/.test(group) && /^(?:pr|queue)$/.test(name))
    const found = this.groups
      .filter(({ name }) => isNear(name))
      .flatMap(({ name, commands }) =>
        commands.filter(each => each.name === word).map(() => `${name} ${word}`),
      )
    return found.length === 1 && word !== '' ? found[0] : undefined
  }

  /** The group that a word names: `pr` for a pull request, for `pr`, for `prs` and for `pr/7`. */
  #groupOf(word: string): string {
    if (isPullRequestReference(word) || numberOfPr.test(word) || this.find([''], word) === 'pr') return 'pr'
    const name = word.replace(/s$/, '')
    return /^(?:test|flake)$/.test(name) ? 'flaky' : name
  }

  /**
   * Returns what was probably meant by a word that names no command, and the words whose place it takes: by the table,
   * else by its spelling. A word is looked up in the group that follows it, too; that of a pull request is `pr`.
   */
  findCommand(path: Words, words: Words): FoundCommand {
    const [word = '', next = ''] = words
    const group = path.join(' ')
    // `merge status`, `run list`: the words of another program.
    const ofOther = [`${group} ${word}`.trim()]
    const inOther = next === '' ? undefined : this.find(ofOther, next)
    if (inOther !== undefined)
      return { meant: inOther, isGuess: false, typed: [...path, word, next], places: ofOther }
    const other = this.#groupOf(next)
    const isNumber = isPullRequestReference(next) || numberOfPr.test(next)
    const isNoun = this.groups.some(({ name }) => name === other) && !isNumber
    if (group === '' && isNoun && next.endsWith('s') && /^(?:get|list|ls|show)$/.test(word))
      return { meant: `${other} list`, isGuess: false, typed: [word, next], places: [] }
    const places = group === '' || (group === 'queue' && other === 'pr') ? [other, group] : [group]
    const byName = new Map(places.toReversed().flatMap(place => this.#commandsOf(place)))
    // `tests list`: a word for a list names the group, too.
    const isBeforeVerb = group === '' && next !== '' && other !== 'pr'
    const said = this.find(places, word)?.replace(isBeforeVerb ? /(?<=^\w+) list$/ : '', '')
    const known = byName.get(word) ?? said ?? this.#commandNamed(word, group)
    const similar = byName.get(findSimilarName(word, [...byName.keys()]) ?? '')
    const guess = similar ?? this.find(places, findSimilarName(word, this.wordsIn(places)) ?? '')
    const meant = known ?? guess ?? this.#commandNamed(this.#similarVerb(word), group)
    const namesGroup = group === '' && isNoun && meant?.startsWith(`${other} `)
    const typed = namesGroup ? [word, next] : [...path, word]
    // The word after a misspelt group may be another one, too.
    const isGroup = this.groups.some(({ name, isCommand }) => name === meant && isCommand !== true)
    if (group === '' && meant !== undefined && isGroup && next !== '' && !isNumber) {
      const inGroup = this.#commandsOf(meant).some(([name]) => name === next)
      const found = inGroup ? undefined : this.findCommand([meant], words.slice(1))
      if (found?.meant !== undefined) return { ...found, typed: [word, next] }
    }
    return {
      ...(meant === undefined ? {} : { meant }),
      isGuess: known === undefined && similar === undefined,
      typed,
      places,
    }
  }

  #similarVerb(word: string): string {
    return (
      findSimilarName(
        word,
        this.groups.flatMap(({ commands }) => commands.map(({ name }) => name)).filter(name => name !== ''),
      ) ?? ''
    )
  }
}
