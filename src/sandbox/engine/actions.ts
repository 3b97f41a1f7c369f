import type { JsonObject } from '../../json.ts'
import { scriptOf } from '../scenarios.ts'
import { statusError } from '../status-error.ts'
import { uploadTargets } from './head-commits.ts'
import type { Entry, Queue, Targets } from './queue.ts'
import { batchOf, isSubmitted } from './queue-queries.ts'
import { stateIn, withChanges } from './queue-settings.ts'
import { changeState, insertWaiting, remove, rerun } from './transitions.ts'

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
  if (known?.state === 'MERGED') throw statusError(400, `#${number} was merged already.`)
  const isQueued = known !== undefined && isSubmitted(known)
  const entry = known ?? newEntry(queue, number)
  if (known === undefined) arrive(queue, entry)
  else if (!isQueued) known.before = { ...known, before: undefined }
  if (priority !== undefined || !isQueued) {
    entry.usesDefaultPriority = typeof priority !== 'number'
    entry.priority = typeof priority === 'number' ? priority : defaultPriority
  }
  if (noBatch !== undefined || !isQueued) entry.noBatch = noBatch ?? false
  if (isQueued) {
    if (drop(queue.waiting, entry)) insertWaiting(queue, entry)
    return
  }
  const { readyAfter } = scriptOf(queue.scenario, number) ?? {}
  const { ready, second } = queue.timings
  entry.submittedAt = queue.now
  entry.mergeableAt = queue.now + (readyAfter === undefined ? ready : Math.round(readyAfter * second))
  entry.turn = queue.transitions.length
  entry.runs = 0
  queue.unready.add(entry)
  queue.rechecks.add(queue.now, entry)
  changeState(queue, entry, 'NOT_READY', 'it was submitted')
}

const newEntry = ({ now }: Queue, number: number): Entry => ({
  number,
  submittedAt: now,
  mergeableAt: now,
  turn: 0,
  state: 'NOT_READY',
  stateChangedAt: now,
  before: undefined,
  priority: defaultPriority,
  usesDefaultPriority: true,
  noBatch: false,
  runs: 0,
  lastRun: undefined,
})

/** Makes a pull request known, and with it what its script has happen after its first submit. */
function arrive({ entries, scheduledEvents, scenario, timings, now }: Queue, entry: Entry): void {
  const { number } = entry
  entries.set(number, entry)
  const { cancelledAfter, pushedAfter } = scriptOf(scenario, number) ?? {}
  const after = (seconds: number) => now + Math.round(seconds * timings.second)
  if (pushedAfter !== undefined) scheduledEvents.add(after(pushedAfter), { what: 'pushed', number })
  if (cancelledAfter !== undefined) scheduledEvents.add(after(cancelledAfter), { what: 'cancelled', number })
}

/** Takes an entry out of a list; whether it was there. */
function drop(list: Entry[], entry: Entry): boolean {
  const place = list.indexOf(entry)
  if (place >= 0) list.splice(place, 1)
  return place >= 0
}

/** The pull request in the queue; 404 when it is not there (service-observed.md section 1.3). */
function queuedIn(queue: Queue, number: number): Entry {
  const entry = queue.entries.get(number)
  if (entry === undefined || !isSubmitted(entry)) throw statusError(404, `#${number} is not in the queue.`)
  return entry
}

/** Removes a pull request from the queue (service-api.md section 3 rule 2). */
export const cancel = (queue: Queue, number: number): void =>
  cancelEntry(queue, queuedIn(queue, number), 'it was cancelled')

/** Cancels a pull request that is in the queue, wherever it stands. */
export function cancelEntry(queue: Queue, entry: Entry, reason: string): void {
  if (queue.unready.delete(entry) || drop(queue.waiting, entry))
    changeState(queue, entry, 'CANCELLED', reason)
  else remove(queue, [entry], 'CANCELLED', reason)
}

/** Repeats the run of a pull request in its place; where there is none yet, there is nothing to repeat. */
export function restart(queue: Queue, number: number): void {
  const batch = batchOf(queue, queuedIn(queue, number))
  if (batch !== undefined) rerun(queue, batch, 'its tests were restarted')
}

/** Keeps what a pull request impacts, before or after its submit (service-observed.md section 2.4). */
export function setTargets(queue: Queue, number: number, targets: Targets, sha: string | undefined): void {
  uploadTargets(queue, number, targets, sha)
  const entry = queue.entries.get(number)
  if (entry !== undefined && queue.unready.has(entry)) queue.rechecks.add(queue.now, entry)
}

/** Changes the settings that are named; another mode comes in once nothing is tested (service-observed.md section 3.3). */
export function configure(queue: Queue, document: JsonObject): void {
  const next = withChanges({ ...queue.settings, mode: queue.switchingTo ?? queue.settings.mode }, document)
  const { mode } = queue.settings
  queue.state = stateIn(document) ?? queue.state
  const waits = next.mode !== mode && queue.batches.length > 0
  queue.switchingTo = waits ? next.mode : undefined
  queue.settings = waits ? { ...next, mode } : next
  for (const entry of queue.unready) queue.rechecks.add(queue.now, entry)
}
