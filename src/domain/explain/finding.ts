import type { JsonObject } from '../../json.ts'
import { pluralize } from '../format.ts'
import type { QueueEntry } from '../queue-entries.ts'

/** What to do next: a command line of mergeq, or something that is done elsewhere. */
export interface NextStep {
  readonly command: string | null
  readonly why: string
}

/** Something that was found about why a pull request is not merging. */
export interface Finding {
  readonly code: string
  readonly message: string
  /** It does not pass by waiting: somebody has to do something. */
  readonly blocks?: boolean
  readonly steps?: readonly NextStep[]
}

/** What findings are made from; what was not read or is not there is an empty object. */
export interface Facts {
  readonly pr: number
  readonly record: JsonObject
  /** The record's newest moment, where it tells its history, else the record itself. */
  readonly moment: JsonObject
  readonly queue: JsonObject
  readonly entry: QueueEntry | undefined
}

/** Text of the service inside a sentence of ours: not longer than a line. */
export const shorten = (text: string, most = 80): string => {
  const characters = Array.from(text.slice(0, most * 4))
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('')
}

const mostNamed = 5

/** The first few of a list, and how many there are besides. */
export const joinSome = (names: readonly string[]): string =>
  names.length <= mostNamed
    ? names.join(', ')
    : `${names.slice(0, mostNamed).join(', ')} and ${pluralize(names.length - mostNamed, 'other')}`

/** A step that no command of mergeq can take. */
export const manualStep = (why: string): NextStep => ({ command: null, why })
