import { type JsonObject, textAt } from '../json.ts'
import { count, span } from '../output/view.ts'
import { type Entry, entriesOf } from './queue-entries.ts'
import { spelled } from './states.ts'

/** One condition of a gate, and whether it holds. */
export interface Check {
  readonly check: string
  readonly ok: boolean
  readonly reason: string
}

/** A queue lists at most so many pull requests. Those that are not ready are not listed (service-observed.md section 3.4). */
export function checkDepth(queue: JsonObject, most: number): Check {
  const depth = entriesOf(queue).length
  const ok = depth <= most
  const reason = `it lists ${count(depth, 'pull request')}, ${ok ? 'at most' : 'more than'} ${most}`
  return { check: 'max-depth', ok, reason }
}

/** A queue is not paused. A draining one still merges, and is not paused. */
export function checkPaused(queue: JsonObject): Check {
  const state = spelled(textAt(queue, 'state') ?? '')
  const reason = state === '' ? 'it does not tell its state' : `it is ${state}`
  return { check: 'not-paused', ok: state !== 'PAUSED' && state !== '', reason }
}

const changedAt = ({ record }: Entry): number => Date.parse(textAt(record, 'stateChangedAt') ?? '')

/**
 * Something moved in the last `longest` milliseconds, or nothing waits. Looked at is the newest change of state
 * (`stateChangedAt`) among the pull requests that the queue lists, against the service's clock: what left the queue is
 * not listed and does not count. Where no listed pull request tells when it changed, this cannot hold.
 */
export function checkStalled(queue: JsonObject, longest: number, now: number): Check {
  const check = 'stalled'
  const entries = entriesOf(queue)
  if (entries.length === 0) return { check, ok: true, reason: 'nothing waits in it' }
  const [newest] = entries
    .filter(entry => !Number.isNaN(changedAt(entry)))
    .sort((one, other) => changedAt(other) - changedAt(one))
  if (newest === undefined)
    return { check, ok: false, reason: 'no pull request that it lists tells when its state changed' }
  const still = Math.max(0, now - changedAt(newest))
  const ok = still < longest
  const those = `#${newest.pr} is ${newest.state} since ${textAt(newest.record, 'stateChangedAt')}`
  const reason = ok
    ? `something moved ${span(still)} ago: ${those}`
    : `nothing has moved for ${span(still)} while it lists ${count(entries.length, 'pull request')}: ${those}, the newest change`
  return { check, ok, reason }
}
