import { getArray, isObject, type JsonObject } from '../../json.ts'
import { pluralize } from '../format.ts'
import { type QueueEntry, queueEntries } from '../queue-entries.ts'
import type { CommandWords } from '../suggested-command.ts'

/** A next step: the words of a command of mergeq, or, if there are none, an action outside mergeq. */
export interface Step {
  readonly words?: CommandWords
  readonly why: string
}

export interface Finding {
  readonly code: string
  readonly message: string
  /** A few words for a line that has no room for the message: `queue paused`. Without text of the service. */
  readonly short?: string
  readonly blocks?: boolean
  readonly steps?: readonly Step[]
}

/** The documents that findings are made from; a missing document is an empty object. */
export interface Facts {
  readonly pr: number
  readonly targetBranch: string
  readonly record: JsonObject
  /** The newest event of the record's timeline, or the record itself if it has no timeline. */
  readonly latest: JsonObject
  readonly queue: JsonObject
  readonly entry: QueueEntry | undefined
}

export function factsOf(pr: number, targetBranch: string, record: JsonObject, queue: JsonObject): Facts {
  const newestEvent = getArray(record, 'timeline')[0]
  return {
    pr,
    targetBranch,
    record,
    latest: isObject(newestEvent) ? newestEvent : record,
    queue,
    entry: queueEntries(queue).find(entry => entry.pr === pr),
  }
}

export const shorten = (text: string, max = 80): string => {
  const characters = Array.from(text.slice(0, max * 4))
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : characters.join('')
}

const maxNames = 5

export const joinSome = (names: readonly string[]): string =>
  names.length <= maxNames
    ? names.join(', ')
    : `${names.slice(0, maxNames).join(', ')} and ${pluralize(names.length - maxNames, 'other')}`

export const manualStep = (why: string): Step => ({ why })
