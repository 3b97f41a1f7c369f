import type { JsonObject } from '../../contract/json.ts'
import { refusal } from '../refusal.ts'
import { batchOf, isSubmitted } from './line.ts'
import { move, remove, rerun } from './moves.ts'
import type { Entry, Queue, Targets } from './queue.ts'
import { changed, stateIn } from './settings.ts'

/** What the outside may do to a queue, at the moment up to which it was advanced. */

/** `medium`, the priority of a submit that names none (service-observed.md section 6). */
export const defaultPriority = 100

/** A pull request as it is submitted; undefined was not said. */
export interface Submission {
  readonly number: number
  readonly priority: number | 'default' | undefined
  readonly noBatch: boolean | undefined
}

/**
 * Submits a pull request, whatever its number. One that is queued already gets the new priority and batching; what
 * is left out stays as it was, and a merged one is refused with 400 (both the sandbox's own).
 */
export function submit(queue: Queue, { number, priority, noBatch }: Submission): void {
  const known = queue.entries.get(number)
  if (known?.state === 'MERGED') throw refusal(400, `#${number} was merged already.`)
  const isQueued = known !== undefined && isSubmitted(known)
  const entry = known ?? newEntry(queue, number)
  queue.entries.set(number, entry)
  if (priority !== undefined || !isQueued) {
    entry.usesDefaultPriority = typeof priority !== 'number'
    entry.priority = typeof priority === 'number' ? priority : defaultPriority
  }
  if (noBatch !== undefined || !isQueued) entry.noBatch = noBatch ?? false
  if (isQueued) return
  entry.submittedAt = queue.now
  entry.turn = queue.moves.length
  entry.runs = 0
  queue.unready = [...queue.unready, entry]
  move(queue, entry, 'NOT_READY', 'it was submitted')
}

const newEntry = ({ now }: Queue, number: number): Entry => ({
  number,
  firstSubmittedAt: now,
  submittedAt: now,
  turn: 0,
  state: 'NOT_READY',
  stateChangedAt: now,
  priority: defaultPriority,
  usesDefaultPriority: true,
  noBatch: false,
  runs: 0,
  lastRun: undefined,
})

/** The pull request in the queue; 404 when it is not there (service-observed.md section 1.3). */
function queuedIn(queue: Queue, number: number): Entry {
  const entry = queue.entries.get(number)
  if (entry === undefined || !isSubmitted(entry)) throw refusal(404, `#${number} is not in the queue.`)
  return entry
}

/** Removes a pull request from the queue (service-api.md section 3 rule 2). */
export function cancel(queue: Queue, number: number): void {
  const entry = queuedIn(queue, number)
  const others = (list: readonly Entry[]) => list.filter(other => other !== entry)
  if (batchOf(queue, entry) !== undefined) {
    remove(queue, [entry], 'CANCELLED', 'it was cancelled')
    return
  }
  queue.unready = others(queue.unready)
  queue.waiting = others(queue.waiting)
  move(queue, entry, 'CANCELLED', 'it was cancelled')
}

/** Repeats the run of a pull request in its place; where there is none yet, there is nothing to repeat. */
export function restart(queue: Queue, number: number): void {
  const batch = batchOf(queue, queuedIn(queue, number))
  if (batch !== undefined) rerun(queue, batch, 'its tests were restarted')
}

/** Keeps what a pull request impacts, before or after its submit; the last upload wins. */
export function setTargets(queue: Queue, number: number, targets: Targets, sha: string | undefined): void {
  queue.targets.set(number, targets)
  // The sandbox's own: it cannot know a head commit, so the one that an upload names is taken to be it.
  if (sha !== undefined) queue.shas.set(number, sha)
}

/** Changes the settings that are named; another mode comes in once nothing is tested (service-observed.md section 3.3). */
export function configure(queue: Queue, document: JsonObject): void {
  const next = changed({ ...queue.settings, mode: queue.switchingTo ?? queue.settings.mode }, document)
  const { mode } = queue.settings
  queue.state = stateIn(document) ?? queue.state
  const waits = next.mode !== mode && queue.line.length > 0
  queue.switchingTo = waits ? next.mode : undefined
  queue.settings = waits ? { ...next, mode } : next
}
