import { getString, type JsonObject } from '../json.ts'
import { type QueueEntry, queueEntries } from './queue-entries.ts'
import { normalizeState } from './states.ts'

/**
 * One change of a state, a pull request's or (`pr` is null) the queue's own: a line of `queue watch -o
 * ndjson`.
 */
export interface QueueChange {
  readonly pr: number | null
  /** Null when it was not in the queue before. */
  readonly from: string | null
  /** Null when it left and nothing tells how. */
  readonly to: string | null
  /** RFC 3339: as the service wrote it, else when it was noticed. */
  readonly at: string
  /** Counted from 1; null when it is not in the queue any more. */
  readonly position: number | null
}

/** A queue as it was seen once. */
export interface QueueSnapshot {
  readonly state: string
  readonly entries: ReadonlyMap<number, QueueEntry>
}

export const snapshotOf = (queue: JsonObject): QueueSnapshot => ({
  state: normalizeState(getString(queue, 'state') ?? ''),
  entries: new Map(queueEntries(queue).map(entry => [entry.pr, entry])),
})

/** The moment of a record's state, as it came if it can be read at all. */
function momentOf(record: JsonObject | undefined, now: number): string {
  const told = getString(record, 'stateChangedAt') ?? ''
  return Number.isNaN(Date.parse(told)) ? new Date(now).toISOString() : told
}

/**
 * What changed between two looks, in the order of the queue; `resting` are states of those that were out of
 * sight.
 */
export function queueChanges(
  before: QueueSnapshot,
  after: QueueSnapshot,
  resting: ReadonlyMap<number, string>,
  now: number,
): readonly QueueChange[] {
  const at = new Date(now).toISOString()
  const own = { pr: null, from: before.state || null, to: after.state || null, at, position: null }
  const moved = [...after.entries.values()].flatMap(({ pr, state, position, record }) => {
    const from = before.entries.get(pr)?.state ?? resting.get(pr) ?? null
    return from === state ? [] : [{ pr, from, to: state || null, at: momentOf(record, now), position }]
  })
  return [...(before.state === after.state ? [] : [own]), ...moved]
}

/** What was in the queue and is not listed any more. */
export const departedEntries = (before: QueueSnapshot, after: QueueSnapshot): readonly QueueEntry[] =>
  [...before.entries.values()].filter(({ pr }) => !after.entries.has(pr))

/**
 * How a pull request left, by the record that was read then; one that does not show it yet tells nothing.
 */
export function departureChange(entry: QueueEntry, record: JsonObject | undefined, now: number): QueueChange {
  const state = normalizeState(getString(record, 'state') ?? '')
  const to = state === '' || state === entry.state ? null : state
  const at = momentOf(to === null ? undefined : record, now)
  return { pr: entry.pr, from: entry.state || null, to, at, position: null }
}

/** A change as a person reads it. */
export const describeChange = ({ pr, from, to, position }: QueueChange): string =>
  [
    pr === null ? 'The queue:' : `#${pr}`,
    ...(from === null ? [] : [`${from} ->`]),
    to ?? 'no longer in the queue',
    ...(position === null ? [] : [`(number ${position})`]),
  ].join(' ')
