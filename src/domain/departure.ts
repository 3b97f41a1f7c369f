import { get, getArray, getString, isObject, type Json, type JsonObject } from '../json.ts'
import { isFailedOrCancelled, stateOf, terminalOutcome } from './states.ts'

/**
 * How a pull request left the queue, according to its record; what the service does not say is missing
 * (docs/reference/service.md, "getSubmittedPullRequest").
 */
export interface DepartureDetails {
  readonly author?: string
  readonly submittedBy?: string
  /** The words of the service on why it left: `pr_closed`. */
  readonly reason?: string
  readonly actor?: string
}

/** Returns a name: a text, or the first name in an object, whose structure is not documented. */
export function nameIn(value: Json | undefined): string | undefined {
  const name = isObject(value)
    ? ['login', 'name', 'username', 'kind']
        .map(key => getString(value, key))
        .find(text => (text ?? '') !== '')
    : value
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** Whether an actor is the service itself, and no person. */
export const isService = (actor = ''): boolean =>
  /^(?:trunk(?:[.-]io)?(?:\[bot\])?|merge[ _-]queue|service|system)$/i.test(actor)

/** The normalized state of an event; the timeline calls FAILED `failure`. */
export function stateOfEvent(event: JsonObject): string {
  const state = stateOf(event)
  return /^failure$/i.test(state) ? 'FAILED' : state
}

/**
 * Returns the event of the last submission from a timeline, newest event first. Undefined if the timeline does not
 * go back that far.
 */
function submissionIn(events: readonly JsonObject[]): JsonObject | undefined {
  const start = events.findIndex(event => terminalOutcome(stateOfEvent(event)) === undefined)
  if (start < 0) return undefined
  const earlier = events.slice(start)
  const end = earlier.findIndex(event => terminalOutcome(stateOfEvent(event)) !== undefined)
  const first = earlier.slice(0, end < 0 ? earlier.length : end).at(-1)
  return first !== undefined && stateOfEvent(first) === 'NOT_READY' ? first : undefined
}

export function departureDetails(record: JsonObject): DepartureDetails {
  const state = stateOf(record)
  const events = getArray(record, 'timeline').filter(isObject)
  const [newest] = events
  const end = newest !== undefined && stateOfEvent(newest) === state ? newest : record
  const hasLeft = terminalOutcome(state) !== undefined
  const entries: readonly (readonly [keyof DepartureDetails, string | undefined])[] = [
    ['author', nameIn(get(record, 'prAuthor'))],
    ['submittedBy', hasLeft ? nameIn(get(submissionIn(events), 'actor')) : undefined],
    ['reason', isFailedOrCancelled(state) ? nameIn(get(end, 'reason')) : undefined],
    ['actor', hasLeft ? nameIn(get(end, 'actor')) : undefined],
  ]
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const describeSubmitter = ({ submittedBy, author }: DepartureDetails): string =>
  submittedBy === undefined ? (author === undefined ? '' : `author ${author}`) : `submitted by ${submittedBy}`

/** Formats how a pull request left: `pr_closed (ada), submitted by bob`; empty if nothing is known. */
export function describeDeparture(details: DepartureDetails): string {
  const { reason, actor } = details
  const cause = reason === undefined ? (actor ?? '') : `${reason}${actor === undefined ? '' : ` (${actor})`}`
  return [cause, describeSubmitter(details)].filter(text => text !== '').join(', ')
}
