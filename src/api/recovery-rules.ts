import { isSameSetting } from '../domain/queue-file.ts'
import { normalizeState, terminalOutcome } from '../domain/states.ts'
import { get, getArray, getString, type Json, type JsonObject } from '../json.ts'
import type { RecoveryResult, WriteObservation, WriteRecovery } from './operation.ts'

/** For changes of which nothing is known. */
export const unknownRecovery: WriteRecovery = {
  replay: 'never',
  inspectCommand: '',
  inspect: () => 'unclear',
}

const isSubmitted = (record: JsonObject): boolean => {
  const flag = get(record, 'isCurrentlySubmittedToQueue')
  return typeof flag === 'boolean' ? flag : terminalOutcome(stateOf(record)) === undefined
}

const stateOf = (record: JsonObject): string => normalizeState(getString(record, 'state') ?? '')

/** Whether the state changed before or after the sending; undefined within the same second or without a date. */
function changedWhen(
  record: JsonObject,
  { sentFrom, sentTo }: WriteObservation,
): 'before' | 'after' | undefined {
  const second = Math.floor(Date.parse(getString(record, 'stateChangedAt') ?? '') / 1_000)
  if (second < sentFrom) return 'before'
  return second > sentTo ? 'after' : undefined
}

const sameWord = (one: Json | undefined, other: Json | undefined): boolean =>
  typeof one === 'string' && typeof other === 'string' && one.toUpperCase() === other.toUpperCase()

/**
 * Submitted with what was sent: done; but a state from before the sending is that of another submission, which may have
 * ended since. Never submitted, or no change of state since: not applied.
 */
export function inspectSubmit(evidence: WriteObservation): RecoveryResult {
  const { record, sent } = evidence
  if (record === undefined) return 'not-applied'
  if (!isSubmitted(record)) return changedWhen(record, evidence) === 'before' ? 'not-applied' : 'unclear'
  const { priority, noBatch } = sent
  const asSent =
    (priority === undefined ||
      priority === record.priorityValue ||
      sameWord(priority, record.priorityName)) &&
    (noBatch === undefined || noBatch === record.noBatch)
  const isBefore = changedWhen(record, evidence) === 'before'
  if (asSent) return isBefore ? 'seems-done' : 'done'
  return isBefore ? 'not-applied' : 'unclear'
}

/** No longer submitted since it was sent: done; without that date it may be how an earlier submission ended. The same submission still stands: not applied. A newer one is somebody else's. */
export function inspectCancel(evidence: WriteObservation): RecoveryResult {
  const { record } = evidence
  if (record === undefined) return 'seems-done'
  const when = changedWhen(record, evidence)
  if (stateOf(record) === 'MERGED')
    return { refused: 'it was merged before it could be cancelled', isDated: when === 'after' }
  if (!isSubmitted(record)) return when === 'after' ? 'done' : 'seems-done'
  return when === 'before' ? 'not-applied' : 'unclear'
}

/** Testing since it was sent: done. Anything else says nothing. */
export const inspectRestart = (evidence: WriteObservation): RecoveryResult =>
  evidence.record !== undefined &&
  stateOf(evidence.record) === 'TESTING' &&
  changedWhen(evidence.record, evidence) === 'after'
    ? 'done'
    : 'unclear'

/** Which of the settings that were sent the queue has; undefined for one that its record does not show. */
function settingsThere({ record = {}, sent }: WriteObservation): readonly (boolean | undefined)[] {
  const { repo, targetBranch, ...settings } = sent
  return Object.entries(settings).map(([key, value]) => isThere(key, value ?? null, record))
}

function isThere(key: string, value: Json, record: JsonObject): boolean | undefined {
  if (key === 'deleteRequiredStatuses') return getArray(record, 'requiredStatuses').length === 0
  const there = record[key]
  if (there === undefined) return key === 'requiredStatuses' ? isSameSetting(key, value, null) : undefined
  return isSameSetting(key, value, there) || sameWord(value, there)
}

/** There with our settings: done. There with others: refused. */
export function inspectCreate(evidence: WriteObservation): RecoveryResult {
  if (evidence.record === undefined) return 'not-applied'
  const there = settingsThere(evidence)
  if (there.includes(false)) return { refused: 'the branch has a queue with other settings' }
  return there.includes(undefined) ? 'unclear' : 'done'
}

/** Every value that was sent is there: done. None of them: not applied. Some, or values that do not show: unclear. */
export function inspectUpdate(evidence: WriteObservation): RecoveryResult {
  const there = evidence.record === undefined ? [] : settingsThere(evidence)
  const [first] = there
  if (first === undefined || there.some(one => one !== first)) return 'unclear'
  return first ? 'done' : 'not-applied'
}

/** Gone: done, once it is certain that the reading is not from before it was there. There and empty: not applied. There with pull requests: refused. */
export function inspectDelete({ record }: WriteObservation): RecoveryResult {
  if (record === undefined) return 'seems-done'
  return getArray(record, 'enqueuedPullRequests').length === 0
    ? 'not-applied'
    : { refused: 'the queue is not empty' }
}
