import type { Infer } from '../api/operations/fields.ts'
import { getString, type JsonObject } from '../base/json.ts'
import { type QueueEntry, queueEntries } from '../domain/queue-entries.ts'
import type { ServiceWords } from '../domain/reasons/reasons.ts'
import { explainState, submitters } from '../domain/reasons/reasons.ts'
import { stateOf, terminalOutcome } from '../domain/states.ts'
import { toIso } from '../values/time.ts'
import type { queueChangeRecord } from './records.ts'

/**
 * A state change of a pull request or, if `pr` is null, of the queue: one line of `queue watch -o ndjson`.
 * The details are those of a pull request that left the queue, as far as the service gives them.
 */
export type QueueChange = Omit<
  Infer<typeof queueChangeRecord>,
  'type' | 'repo' | 'targetBranch' | 'mayBeMerged'
> &
  Partial<Pick<ServiceWords, 'mayBeMerged'>>

export interface QueueSnapshot {
  readonly state: string
  readonly entries: ReadonlyMap<number, QueueEntry>
}

export const snapshotOf = (queue: JsonObject): QueueSnapshot => ({
  state: stateOf(queue),
  entries: new Map(queueEntries(queue).map(entry => [entry.pr, entry])),
})

/** Returns a record's `stateChangedAt` unchanged if it is a valid time, else `now` as RFC 3339. */
function changeTime(record: JsonObject | undefined, now: number): string {
  const changedAt = getString(record, 'stateChangedAt') ?? ''
  return Number.isNaN(Date.parse(changedAt)) ? toIso(now) : changedAt
}

/**
 * Returns the changes between two snapshots, in the order of the queue. `unlistedStates` contains the last
 * known states of pull requests that `before` does not list; `now` is in milliseconds since 1970.
 */
export function queueChanges(
  before: QueueSnapshot,
  after: QueueSnapshot,
  unlistedStates: ReadonlyMap<number, string>,
  now: number,
): readonly QueueChange[] {
  const at = toIso(now)
  const queueChange = { pr: null, from: before.state || null, to: after.state || null, at, position: null }
  const entryChanges = [...after.entries.values()].flatMap(({ pr, state, position, record }) => {
    const from = before.entries.get(pr)?.state ?? unlistedStates.get(pr) ?? null
    return from === state
      ? []
      : [{ pr, from: from || null, to: state || null, at: changeTime(record, now), position }]
  })
  return [...(before.state === after.state ? [] : [queueChange]), ...entryChanges]
}

export const departedEntries = (before: QueueSnapshot, after: QueueSnapshot): readonly QueueEntry[] =>
  [...before.entries.values()].filter(({ pr }) => !after.entries.has(pr))

/**
 * Returns the change of an entry that left the queue; its state is empty if the queue never showed it. `record` is the pull
 * request's record, read after that; while it still shows the entry's state, the new state is null.
 */
export function departureChange(
  entry: Omit<QueueEntry, 'position'>,
  record: JsonObject | undefined,
  now: number,
): QueueChange {
  const state = stateOf(record)
  const to = state === '' || state === entry.state ? null : state
  const at = changeTime(to === null ? undefined : record, now)
  const left = { pr: entry.pr, from: entry.state || null, to, at, position: null }
  if (to === null || record === undefined) return { ...left, ...submitters(entry.record) }
  if (terminalOutcome(to) === undefined) return { ...left, ...submitters(record) }
  const { words, sentence } = explainState(record)
  return { ...left, ...submitters(record), reason: sentence, ...words }
}
