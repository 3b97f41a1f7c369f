import { get, getArray, type Json, type JsonObject } from '../base/json.ts'
import { stateOf, terminalOutcome } from '../domain/states.ts'
import type { RecoveryRule } from './operation.ts'
import { isSameSetting } from './operations/queue-settings.ts'
import { changedWhen, type SentSeconds } from './service-clock.ts'

/** What a reading after a lost change shows (docs/reference/network.md, "Write recovery"). */
interface WriteObservation extends SentSeconds {
  /** The record that was read; undefined when the service responded with 404. */
  readonly record: JsonObject | undefined
  readonly sent: JsonObject
}

/**
 * What a reading says about a change. `done`: the record shows the change. `not-applied`: it does not.
 * `seems-done`: the record shows the result, but the result may be older than the change; several readings
 * must agree. `refused`: why the change can no longer be made; several readings must agree, unless `isDated`
 * says that the reason arose after the change was sent.
 */
export type RecoveryResult =
  | 'done'
  | 'seems-done'
  | 'not-applied'
  | 'unclear'
  | { readonly refused: string; readonly isDated?: boolean }

export const isSubmitted = (record: JsonObject): boolean => {
  const flag = get(record, 'isCurrentlySubmittedToQueue')
  return typeof flag === 'boolean' ? flag : terminalOutcome(stateOf(record)) === undefined
}

const sameWord = (text: Json | undefined, expected: Json | undefined): boolean =>
  typeof text === 'string' && typeof expected === 'string' && text.toUpperCase() === expected.toUpperCase()

/** Whether a record has the priority that a submission sent; one that sent none takes any. */
export const hasSentPriority = (record: JsonObject, { priority }: JsonObject): boolean =>
  priority === undefined || priority === record.priorityValue || sameWord(priority, record.priorityName)

export const hasSentBatching = (record: JsonObject, { noBatch }: JsonObject): boolean =>
  noBatch === undefined || noBatch === record.noBatch

/**
 * Submitted with the values that were sent: done; but a state from before the change belongs to an earlier
 * submission, which may have ended since, and so may a state that the service's clock cannot date. Never
 * submitted, or no change of state since: not applied.
 */
function inspectSubmit(evidence: WriteObservation): RecoveryResult {
  const { record, sent } = evidence
  if (record === undefined) return 'not-applied'
  if (!isSubmitted(record)) return changedWhen(record, evidence) === 'before' ? 'not-applied' : 'unclear'
  const isBefore = changedWhen(record, evidence) === 'before'
  const isUndated = evidence.sentFrom === Number.NEGATIVE_INFINITY
  if (hasSentPriority(record, sent) && hasSentBatching(record, sent))
    return isBefore || isUndated ? 'seems-done' : 'done'
  return isBefore ? 'not-applied' : 'unclear'
}

/**
 * No longer submitted, with a later date: done; without a date, an earlier submission may have ended so.
 * Still submitted, with an earlier date: not applied. A newer submission is not by this command.
 */
function inspectCancel(evidence: WriteObservation): RecoveryResult {
  const { record } = evidence
  if (record === undefined) return 'seems-done'
  const when = changedWhen(record, evidence)
  if (stateOf(record) === 'MERGED')
    return { refused: 'The pull request was merged before it could be cancelled', isDated: when === 'after' }
  if (!isSubmitted(record)) return when === 'after' ? 'done' : 'seems-done'
  return when === 'before' ? 'not-applied' : 'unclear'
}

/** Testing, with a later date: done. Any other state says nothing. */
const inspectRestart = (evidence: WriteObservation): RecoveryResult =>
  evidence.record !== undefined &&
  stateOf(evidence.record) === 'TESTING' &&
  changedWhen(evidence.record, evidence) === 'after'
    ? 'done'
    : 'unclear'

/** Whether the queue has each setting that was sent; undefined for a setting that the record lacks. */
function appliedSettings({ record = {}, sent }: WriteObservation): readonly (boolean | undefined)[] {
  const { repo, targetBranch, ...settings } = sent
  return Object.entries(settings).map(([key, value]) => isApplied(key, value ?? null, record))
}

function isApplied(key: string, value: Json, record: JsonObject): boolean | undefined {
  if (key === 'deleteRequiredStatuses') return getArray(record, 'requiredStatuses').length === 0
  const current = record[key]
  if (current === undefined) return key === 'requiredStatuses' ? isSameSetting(key, value, null) : undefined
  return isSameSetting(key, value, current) || sameWord(value, current)
}

/** A queue with the settings that were sent: done. A queue with other settings: refused. */
function inspectCreate(evidence: WriteObservation): RecoveryResult {
  if (evidence.record === undefined) return 'not-applied'
  const applied = appliedSettings(evidence)
  if (applied.includes(false)) return { refused: 'The branch already has a queue with different settings' }
  return applied.includes(undefined) ? 'unclear' : 'done'
}

/** All values that were sent: done. None of them: not applied. Otherwise: unclear. */
function inspectUpdate(evidence: WriteObservation): RecoveryResult {
  const applied = evidence.record === undefined ? [] : appliedSettings(evidence)
  const [first] = applied
  if (first === undefined || applied.some(isApplied => isApplied !== first)) return 'unclear'
  return first ? 'done' : 'not-applied'
}

/**
 * No queue: done, unless the reading is from before the queue was created. An empty queue: not applied. A
 * queue with pull requests: refused.
 */
function inspectDelete({ record }: WriteObservation): RecoveryResult {
  if (record === undefined) return 'seems-done'
  return getArray(record, 'enqueuedPullRequests').length === 0
    ? 'not-applied'
    : { refused: 'The queue is not empty' }
}

/** How a reading is judged. Operations name their rule; this file is loaded only when a change got no response. */
export const recoveryRules = {
  submit: inspectSubmit,
  cancel: inspectCancel,
  restart: inspectRestart,
  create: inspectCreate,
  update: inspectUpdate,
  delete: inspectDelete,
} satisfies Record<RecoveryRule, (evidence: WriteObservation) => RecoveryResult>
