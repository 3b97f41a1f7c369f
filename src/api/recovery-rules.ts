import { at, type Json, type JsonObject, listAt, textAt } from '../json.ts'
import type { Evidence, Settling, Verdict } from './operation.ts'
import { isSame } from '../domain/queue-file.ts'
import { endOf, spelled } from '../domain/states.ts'

/** For changes of which nothing is known. */
export const unsettled: Settling = { replay: 'never', tells: '', judge: () => 'unclear' }

const isSubmitted = (record: JsonObject): boolean => {
  const flag = at(record, 'isCurrentlySubmittedToQueue')
  return typeof flag === 'boolean' ? flag : endOf(stateOf(record)) === undefined
}

const stateOf = (record: JsonObject): string => spelled(textAt(record, 'state') ?? '')

/** Whether the state changed before or after the sending; undefined within the same second or without a date. */
function changed(record: JsonObject, { sentFrom, sentTo }: Evidence): 'before' | 'after' | undefined {
  const second = Math.floor(Date.parse(textAt(record, 'stateChangedAt') ?? '') / 1_000)
  if (second < sentFrom) return 'before'
  return second > sentTo ? 'after' : undefined
}

const sameWord = (one: Json | undefined, other: Json | undefined): boolean =>
  typeof one === 'string' && typeof other === 'string' && one.toUpperCase() === other.toUpperCase()

/**
 * Submitted with what was sent: done; but a state from before the sending is that of another submission, which may have
 * ended since. Never submitted, or no change of state since: not applied.
 */
export function judgeSubmit(evidence: Evidence): Verdict {
  const { record, sent } = evidence
  if (record === undefined) return 'not-applied'
  if (!isSubmitted(record)) return changed(record, evidence) === 'before' ? 'not-applied' : 'unclear'
  const { priority, noBatch } = sent
  const asSent =
    (priority === undefined ||
      priority === record.priorityValue ||
      sameWord(priority, record.priorityName)) &&
    (noBatch === undefined || noBatch === record.noBatch)
  const isBefore = changed(record, evidence) === 'before'
  if (asSent) return isBefore ? 'seems-done' : 'done'
  return isBefore ? 'not-applied' : 'unclear'
}

/** No longer submitted since it was sent: done; without that date it may be how an earlier submission ended. The same submission still stands: not applied. A newer one is somebody else's. */
export function judgeCancel(evidence: Evidence): Verdict {
  const { record } = evidence
  if (record === undefined) return 'seems-done'
  const when = changed(record, evidence)
  if (stateOf(record) === 'MERGED')
    return { refused: 'it was merged before it could be cancelled', isDated: when === 'after' }
  if (!isSubmitted(record)) return when === 'after' ? 'done' : 'seems-done'
  return when === 'before' ? 'not-applied' : 'unclear'
}

/** Testing since it was sent: done. Anything else says nothing. */
export const judgeRestart = (evidence: Evidence): Verdict =>
  evidence.record !== undefined &&
  stateOf(evidence.record) === 'TESTING' &&
  changed(evidence.record, evidence) === 'after'
    ? 'done'
    : 'unclear'

/** Which of the settings that were sent the queue has; undefined for one that its record does not show. */
function settingsThere({ record = {}, sent }: Evidence): readonly (boolean | undefined)[] {
  const { repo, targetBranch, ...settings } = sent
  return Object.entries(settings).map(([key, value]) => isThere(key, value ?? null, record))
}

function isThere(key: string, value: Json, record: JsonObject): boolean | undefined {
  if (key === 'deleteRequiredStatuses') return listAt(record, 'requiredStatuses').length === 0
  const there = record[key]
  if (there === undefined) return key === 'requiredStatuses' ? isSame(key, value, null) : undefined
  return isSame(key, value, there) || sameWord(value, there)
}

/** There with our settings: done. There with others: refused. */
export function judgeCreate(evidence: Evidence): Verdict {
  if (evidence.record === undefined) return 'not-applied'
  const there = settingsThere(evidence)
  if (there.includes(false)) return { refused: 'the branch has a queue with other settings' }
  return there.includes(undefined) ? 'unclear' : 'done'
}

/** Every value that was sent is there: done. None of them: not applied. Some, or values that do not show: unclear. */
export function judgeUpdate(evidence: Evidence): Verdict {
  const there = evidence.record === undefined ? [] : settingsThere(evidence)
  const [first] = there
  if (first === undefined || there.some(one => one !== first)) return 'unclear'
  return first ? 'done' : 'not-applied'
}

/** Gone: done, once it is certain that the reading is not from before it was there. There and empty: not applied. There with pull requests: refused. */
export function judgeDelete({ record }: Evidence): Verdict {
  if (record === undefined) return 'seems-done'
  return listAt(record, 'enqueuedPullRequests').length === 0
    ? 'not-applied'
    : { refused: 'the queue is not empty' }
}
