import type { Command, Prints } from '../command.ts'
import { type Described, methodOf, operationOf, type Route, type Row } from '../../api/operation.ts'
import { nameOfWord, type Word } from '../inputs.ts'
import { endings, type Kind } from '../../errors.ts'

/** What a leaf of the tree tells of itself. */
export interface Told extends Described, Pick<Command, 'bearsFailures' | 'passesExitOn' | 'prints'> {
  readonly words: readonly Word[]
  readonly asks: readonly Row[] | 'any'
  /** The operation, where it is exactly one. */
  readonly route?: Route
}

/** An argument or a flag. */
export interface Entry {
  /** `--repo`, `-R` of it, and its value `<[host/]owner/name>`; an argument has its name alone. */
  readonly name: string
  readonly short?: string
  readonly value?: string
  readonly summary: string
  /** The only words that may stand there. */
  readonly choices?: readonly string[]
  readonly default?: string
  readonly required?: boolean
  readonly repeatable?: boolean
}

/** A command line that works, and the exit code that it promises. */
export interface Example {
  readonly line: string
  readonly exit: number
  /** When it does not exit with 0: why. */
  readonly why?: string
}

/** All that is known of a command, in the order in which its help tells it. */
export interface Page {
  readonly command: string
  readonly alias?: string
  readonly summary: string
  readonly usage: string
  readonly arguments: readonly Entry[]
  readonly flags: readonly Entry[]
  /** Method and path of what it sends, in the order of its work. */
  readonly sends: readonly string[]
  readonly prints: Prints
  readonly examples: readonly Example[]
  /** The exit codes that it can give; undefined where they are those of the program that it runs. */
  readonly exitCodes?: readonly number[]
}

export const isFlag = ({ spell }: Word): boolean => spell.startsWith('-')

/** A default stands once, in the summary: `(default 24h)`, or `merged (the default)`. */
const defaultOf = (summary: string): string | undefined => {
  const [, behind, before] = /\(default ([^),]+)[),]|(\S+) \(the default\)/.exec(summary) ?? []
  return behind ?? before?.replaceAll('"', '')
}

/** A word as it is told; `fallback` is its default where the summary does not say it. */
export function entryOf(word: Word, fallback?: string): Entry {
  const { spell, summary, choices, repeats } = word
  const [, short] = /^(-\w), /.exec(spell) ?? []
  const [, value] = /--[a-z-]+ (.+)$/.exec(spell) ?? []
  const told = defaultOf(summary) ?? fallback
  return {
    name: isFlag(word) ? nameOfWord(spell) : spell.replace(/[[\]<>]|\.\.\./g, ''),
    ...(short === undefined ? {} : { short }),
    ...(value === undefined ? {} : { value }),
    summary,
    ...(choices === undefined ? {} : { choices }),
    ...(told === undefined ? {} : { default: told }),
    ...(isFlag(word) ? {} : { required: spell.startsWith('<') }),
    ...(repeats === true || spell.includes('...') ? { repeatable: true } : {}),
  }
}

/** The kinds in which any command can end, and those that a request adds. */
const always: readonly Kind[] = ['ok', 'internal', 'usage', 'output', 'interrupted']
const ofRequests: readonly Kind[] = ['auth', 'not-found', 'refused', 'unavailable', 'bad-answer']

/** Every kind in which a command can end: from what it sends, whether that changes anything or has pages, and its own. */
function kindsOf({ asks, ends = [], bearsFailures }: Told): ReadonlySet<Kind> {
  const isAny = asks === 'any'
  const rows = isAny ? [] : asks
  const sent = (isAny || rows.length > 0) && bearsFailures !== true ? ofRequests : []
  const changes: readonly Kind[] =
    isAny || rows.some(({ changes }) => changes !== false) ? ['unknown-outcome'] : []
  const paged: readonly Kind[] = rows.some(({ pages }) => pages !== undefined) ? ['incomplete'] : []
  return new Set([...always, ...sent, ...changes, ...paged, ...ends])
}

const requestOf = ({ route }: Row): string => `${methodOf(route)} /${operationOf(route)}`

/** What the operation itself prints. */
function printed(told: Told): Prints {
  const [row] = told.asks === 'any' ? [] : told.asks
  if (told.prints !== undefined || row === undefined) return told.prints ?? 'nothing'
  if (row.pages !== undefined)
    return {
      table: 'a row for each record',
      json: "the service's document with all records in it, and the window that was covered",
      ndjson: 'one record a line, as it arrives',
    }
  if (row.reply.expects === 'text')
    return {
      table: "a table on a terminal; on a pipe the service's text, byte for byte",
      json: 'a list of {"name","type","labels","value"}',
      ndjson: 'one sample a line',
    }
  if (row.reply.expects === 'json')
    return {
      table: 'a table on a terminal; on a pipe its rows, separated by tabs',
      json: "the service's own document, one for each that was asked for",
      ndjson: 'one document a line',
    }
  return {
    table: 'a sentence; on a pipe the row pr, ok, delivery, message',
    json: 'a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same on one line',
  }
}

/** An example and its promise: `mergeq ...  # exits with 8, ...`. */
function exampleOf(example: string): Example {
  const [line = '', exit, why] = example.split(/ +# exits with (\d+), /)
  return exit === undefined ? { line, exit: 0 } : { line, exit: Number(exit), why: why ?? '' }
}

/** The name of a command's alias, as it is typed: `pr status` of `pr get`. */
export const sibling = (command: string, alias: string): string => command.replace(/\S+$/, alias)

/** The page of a command. */
export function pageOf(told: Told): Page {
  const { command, alias, summary, asks } = told
  const words = told.words.filter(({ hidden }) => hidden !== true)
  const typed = words.filter(word => !isFlag(word)).map(({ spell }) => ` ${spell}`)
  const kinds = kindsOf(told)
  return {
    command,
    ...(alias === undefined ? {} : { alias: sibling(command, alias) }),
    summary,
    usage: `mergeq ${command} [flags]${typed.join('')}`,
    arguments: words.filter(word => !isFlag(word)).map(word => entryOf(word)),
    flags: words.filter(isFlag).map(word => entryOf(word)),
    sends: asks === 'any' ? ['the operation that is named'] : [...new Set(asks.map(requestOf))],
    prints: printed(told),
    examples: told.examples.map(exampleOf),
    ...(told.passesExitOn === true
      ? {}
      : { exitCodes: endings.filter(({ kind }) => kinds.has(kind)).map(({ code }) => code) }),
  }
}
