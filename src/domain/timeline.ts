// The events of a pull request (docs/reference/service.md, "Timeline"). Where the service puts the parts of an event is
// only partly known: each may stand in the event itself or in any object in it.
import { get, getArray, getString, isObject, type Json, type JsonObject } from '../base/json.ts'
import { normalizeState, stateOf, terminalOutcome } from './states.ts'

/** Who caused an event. A person without a known name has an empty login. */
export interface Actor {
  readonly login: string
}

/** The names of the objects that belong to a state. */
const stateByObject: ReadonlyMap<string, string> = new Map([
  ['notReady', 'NOT_READY'],
  ['pending', 'PENDING'],
  ['testing', 'TESTING'],
  ['testsPassed', 'TESTS_PASSED'],
  ['pendingFailure', 'PENDING_FAILURE'],
  ['merged', 'MERGED'],
  ['failure', 'FAILED'],
  ['failed', 'FAILED'],
  ['cancellation', 'CANCELLED'],
  ['cancelled', 'CANCELLED'],
])

/** Returns a member of an event, or of the first object in it that has the member. */
export function detailOf(event: JsonObject | undefined, key: string): Json | undefined {
  if (event === undefined) return undefined
  const objects = [event, ...Object.values(event).filter(isObject)]
  return objects.find(object => Object.hasOwn(object, key) && object[key] !== null)?.[key]
}

/** Returns the numbers of pull requests, each an object with its `prNumber`. */
export const prNumbersIn = (pullRequests: readonly Json[]): readonly number[] =>
  pullRequests.map(pullRequest => get(pullRequest, 'prNumber')).filter(pr => typeof pr === 'number')

/** The normalized state of an event, which may call FAILED `failure`; empty if it has none. */
export function stateOfEvent(event: JsonObject): string {
  const state = normalizeState(getString(event, 'state') ?? '')
  if (/^failure$/i.test(state)) return 'FAILED'
  if (state !== '') return state
  const name = Object.keys(event).find(key => stateByObject.has(key) && isObject(event[key]))
  return stateByObject.get(name ?? '') ?? ''
}

/** Returns a name: a text, or the first name in an object. */
function nameIn(value: Json | undefined): string {
  const name = isObject(value)
    ? ['gitHubLogin', 'login', 'username', 'name', 'kind']
        .map(key => getString(value, key))
        .find(text => (text ?? '') !== '')
    : value
  return typeof name === 'string' ? name : ''
}

/** Returns the word of the service for why an event happened; undefined if there is none. */
export const reasonOfEvent = (event: JsonObject | undefined): string | undefined =>
  nameIn(detailOf(event, 'reason')) || undefined

/** Returns who caused an event; undefined if the service names nobody: then it was the service or a program. */
export function actorOfEvent(event: JsonObject | undefined): Actor | undefined {
  const actor = detailOf(event, 'actor')
  const login = nameIn(actor)
  const isPerson = isObject(actor) && (getString(actor, 'trunkUserId') ?? '') !== ''
  return login !== '' || isPerson ? { login } : undefined
}

export const eventsOf = (record: JsonObject): readonly JsonObject[] =>
  getArray(record, 'timeline').filter(isObject)

/**
 * Returns the events of the last attempt, newest first: back to the newest NOT_READY event, with it. The timeline spans
 * all attempts, and what an older one says must not be blamed on this one.
 */
export function eventsOfAttempt(record: JsonObject): readonly JsonObject[] {
  const events = eventsOf(record)
  const start = events.findIndex(event => stateOfEvent(event) === 'NOT_READY')
  const attempt = start < 0 ? events : events.slice(0, start + 1)
  const isEnd = (event: JsonObject) => terminalOutcome(stateOfEvent(event)) !== undefined
  // Without the NOT_READY event, an end before an event that is no end belongs to an older attempt.
  const firstOpen = attempt.findIndex(event => !isEnd(event) && stateOfEvent(event) !== '')
  const olderEnd = attempt.findIndex((event, index) => firstOpen >= 0 && index > firstOpen && isEnd(event))
  return olderEnd < 0 ? attempt : attempt.slice(0, olderEnd)
}

/** Returns the event that brought a pull request into the state of its record; one without a state counts as that. */
export function eventOfState(record: JsonObject): JsonObject | undefined {
  const state = stateOf(record)
  const events = eventsOfAttempt(record)
  const [newest] = events
  if (newest !== undefined && stateOfEvent(newest) === '') return newest
  return events.find(event => stateOfEvent(event) === state)
}

/** Returns the event of the last submission; undefined if the timeline does not go back that far. */
export const submissionEvent = (record: JsonObject): JsonObject | undefined =>
  eventsOfAttempt(record).find(event => stateOfEvent(event) === 'NOT_READY')

/** Returns a part of the record, or of the event that brought it into its state. */
export const detailOfState = (record: JsonObject, key: string): Json | undefined =>
  record[key] ?? detailOf(eventOfState(record), key)
