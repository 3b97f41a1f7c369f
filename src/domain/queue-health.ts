import { getString, type JsonObject } from '../json.ts'
import { formatDuration, pluralize } from '../output/view.ts'
import { type QueueEntry, queueEntries } from './queue-entries.ts'
import { normalizeState } from './states.ts'

/** One condition of a gate, and whether it holds. */
export interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly reason: string
}

/**
 * A queue lists at most so many pull requests. Those that are not ready are not listed (service-observed.md
 * section 3.4).
 */
export function checkDepth(queue: JsonObject, most: number): HealthCheck {
  const depth = queueEntries(queue).length
  const ok = depth <= most
  const reason = `it lists ${pluralize(depth, 'pull request')}, ${ok ? 'at most' : 'more than'} ${most}`
  return { check: 'max-depth', ok, reason }
}

/** A queue is not paused. A draining one still merges, and is not paused. */
export function checkPaused(queue: JsonObject): HealthCheck {
  const state = normalizeState(getString(queue, 'state') ?? '')
  const reason = state === '' ? 'it does not tell its state' : `it is ${state}`
  return { check: 'not-paused', ok: state !== 'PAUSED' && state !== '', reason }
}

const changedAt = ({ record }: QueueEntry): number => Date.parse(getString(record, 'stateChangedAt') ?? '')

/**
 * Something moved in the last `longest` milliseconds, or nothing waits. Looked at is the newest change of
 * state (`stateChangedAt`) among the pull requests that the queue lists, against the service's clock: what
 * left the queue is not listed and does not count. Where no listed pull request tells when it changed, this
 * cannot hold.
 */
export function checkStalled(queue: JsonObject, longest: number, now: number): HealthCheck {
  const check = 'stalled'
  const entries = queueEntries(queue)
  if (entries.length === 0) return { check, ok: true, reason: 'nothing waits in it' }
  const [newest] = entries
    .filter(entry => !Number.isNaN(changedAt(entry)))
    .sort((one, other) => changedAt(other) - changedAt(one))
  if (newest === undefined)
    return { check, ok: false, reason: 'no pull request that it lists tells when its state changed' }
  const still = Math.max(0, now - changedAt(newest))
  const ok = still < longest
  const those = `#${newest.pr} is ${newest.state} since ${getString(newest.record, 'stateChangedAt')}`
  const reason = ok
    ? `something moved ${formatDuration(still)} ago: ${those}`
    : `nothing has moved for ${formatDuration(still)} while it lists ${pluralize(entries.length, 'pull request')}: ${those}, the newest change`
  return { check, ok, reason }
}
