import { getArray, type JsonObject } from '../base/json.ts'
import { joinTruncated } from '../values/format.ts'
import { detailOf, eventsOfAttempt, prNumbersIn, reasonOfEvent, stateOfEvent } from './timeline.ts'

/** Whether an event says that a pull request waits because its failed batch is split. */
export const isOfSplit = (event: JsonObject): boolean => reasonOfEvent(event) === 'bisection_required'

/** Whether a batch of the last attempt of a pull request was split: it does not fill a batch again. */
export const wasSplit = (record: JsonObject): boolean => eventsOfAttempt(record).some(isOfSplit)

/** Returns the numbers of the pull requests that the test run of an event tests; none if it does not say. */
export const testedIn = (event: JsonObject): readonly number[] =>
  prNumbersIn(getArray({ tested: detailOf(event, 'testedPullRequests') ?? [] }, 'tested'))

/** Names pull requests: `#31 to #34` if each follows the one before, else `#31, #34`. */
export function nameBatch(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((one, other) => one - other)
  const [first = 0] = sorted
  const isRange = sorted.length > 2 && sorted.every((number, index) => number === first + index)
  return isRange ? `#${first} to #${sorted.at(-1)}` : joinTruncated(sorted.map(number => `#${number}`))
}

/**
 * Says of which batch a pull request was, and that it is split: `its batch #31 to #34 failed and is being split`. Undefined
 * if the newest events of the record, which needs its timeline, do not say that.
 */
export function describeSplit(record: JsonObject): string | undefined {
  const events = eventsOfAttempt(record)
  const at = events.findIndex(isOfSplit)
  const later = events.slice(0, Math.max(at, 0)).map(stateOfEvent)
  if (at < 0 || later.some(state => state !== 'TESTING')) return undefined
  const failed = events.slice(at).find(event => testedIn(event).length > 1)
  return `its batch ${failed === undefined ? '' : `${nameBatch(testedIn(failed))} `}failed and is being split`
}
