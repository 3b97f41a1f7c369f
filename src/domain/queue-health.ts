import { getString, type JsonObject } from '../json.ts'
import { formatAge, pluralize } from './format.ts'
import { type QueueEntry, queueEntries } from './queue-entries.ts'
import { normalizeState } from './states.ts'

export interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly reason: string
  readonly summary?: string
}

/**
 * Checks that a queue lists at most `max` pull requests. Queues do not list pull requests that are not ready
 * (docs/reference/service.md, "getQueue").
 */
export function checkDepth(queue: JsonObject, max: number): HealthCheck {
  const depth = queueEntries(queue).length
  const ok = depth <= max
  const reason = `${pluralize(depth, 'pull request')} queued, ${ok ? 'within' : 'over'} the limit of ${max}`
  return { check: 'max-depth', ok, reason }
}

/** Checks that a queue is not paused. A draining queue passes, because it still merges. */
export function checkPaused(queue: JsonObject): HealthCheck {
  const state = normalizeState(getString(queue, 'state') ?? '')
  const reason = state === '' ? 'the queue reports no state' : `the queue is ${state}`
  return { check: 'not-paused', ok: state !== 'PAUSED' && state !== '', reason }
}

const changedAt = ({ record }: QueueEntry): number => Date.parse(getString(record, 'stateChangedAt') ?? '')

/**
 * Checks that a listed pull request changed its state less than `maxIdle` milliseconds before `now`, the
 * service's time in milliseconds since 1970, or that the queue is empty. Pull requests that left the queue
 * do not count. The check fails if no listed pull request has a valid `stateChangedAt`.
 */
export function checkStalled(queue: JsonObject, maxIdle: number, now: number): HealthCheck {
  const check = 'stalled'
  const entries = queueEntries(queue)
  if (entries.length === 0) return { check, ok: true, reason: 'no pull requests are queued' }
  const [newest] = entries
    .filter(entry => !Number.isNaN(changedAt(entry)))
    .sort((one, other) => changedAt(other) - changedAt(one))
  if (newest === undefined)
    return { check, ok: false, reason: 'no queued pull request reports when its state changed' }
  const idle = Math.max(0, now - changedAt(newest))
  const ok = idle < maxIdle
  const describe = (newestChange: string) =>
    ok
      ? `last state change ${formatAge(idle)} ago: ${newestChange}`
      : `no state change for ${formatAge(idle)} with ${pluralize(entries.length, 'pull request')} queued; last change: ${newestChange}`
  const { pr, state, record } = newest
  return {
    check,
    ok,
    reason: describe(`#${pr} ${state} since ${getString(record, 'stateChangedAt')}`),
    summary: describe(`#${pr} ${state.toLowerCase().replaceAll('_', ' ')}`),
  }
}
