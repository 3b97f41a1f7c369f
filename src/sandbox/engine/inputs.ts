import type { JsonObject } from '../../json.ts'
import { refusal } from '../error-status.ts'
import { scriptOf } from '../scenarios.ts'
import { upload } from './head-commits.ts'
import { batchOf, isSubmitted } from './queue-order.ts'
import { move, queueUp, remove, rerun } from './transitions.ts'
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
  if (known === undefined) arrive(queue, entry)
  else if (!isQueued) known.before = { ...known, before: undefined }
  if (priority !== undefined || !isQueued) {
    entry.usesDefaultPriority = typeof priority !== 'number'
    entry.priority = typeof priority === 'number' ? priority : defaultPriority
  }
  if (noBatch !== undefined || !isQueued) entry.noBatch = noBatch ?? false
  if (isQueued) {
    if (drop(queue.waiting, entry)) queueUp(queue, entry)
    return
  }
  const { readyAfter } = scriptOf(queue.scenario, number) ?? {}
  const { ready, second } = queue.pace
  entry.submittedAt = queue.now
  entry.mergeableAt = queue.now + (readyAfter === undefined ? ready : Math.round(readyAfter * second))
  entry.turn = queue.moves.length
  entry.runs = 0
  queue.unready.add(entry)
  queue.looks.add(queue.now, entry)
  move(queue, entry, 'NOT_READY', 'it was submitted')
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
function arrive({ entries, happenings, scenario, pace, now }: Queue, entry: Entry): void {
  const { number } = entry
  entries.set(number, entry)
  const { cancelledAfter, pushedAfter } = scriptOf(scenario, number) ?? {}
  const after = (seconds: number) => now + Math.round(seconds * pace.second)
  if (pushedAfter !== undefined) happenings.add(after(pushedAfter), { what: 'pushed', number })
  if (cancelledAfter !== undefined) happenings.add(after(cancelledAfter), { what: 'cancelled', number })
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
  if (entry === undefined || !isSubmitted(entry)) throw refusal(404, `#${number} is not in the queue.`)
  return entry
}

/** Removes a pull request from the queue (service-api.md section 3 rule 2). */
export const cancel = (queue: Queue, number: number): void =>
  withdraw(queue, queuedIn(queue, number), 'it was cancelled')

/** Cancels a pull request that is in the queue, wherever it stands. */
export function withdraw(queue: Queue, entry: Entry, reason: string): void {
  if (queue.unready.delete(entry) || drop(queue.waiting, entry)) move(queue, entry, 'CANCELLED', reason)
  else remove(queue, [entry], 'CANCELLED', reason)
}

/** Repeats the run of a pull request in its place; where there is none yet, there is nothing to repeat. */
export function restart(queue: Queue, number: number): void {
  const batch = batchOf(queue, queuedIn(queue, number))
  if (batch !== undefined) rerun(queue, batch, 'its tests were restarted')
}

/** Keeps what a pull request impacts, before or after its submit (service-observed.md section 2.4). */
export function setTargets(queue: Queue, number: number, targets: Targets, sha: string | undefined): void {
  upload(queue, number, targets, sha)
  const entry = queue.entries.get(number)
  if (entry !== undefined && queue.unready.has(entry)) queue.looks.add(queue.now, entry)
}

/** Changes the settings that are named; another mode comes in once nothing is tested (service-observed.md section 3.3). */
export function configure(queue: Queue, document: JsonObject): void {
  const next = changed({ ...queue.settings, mode: queue.switchingTo ?? queue.settings.mode }, document)
  const { mode } = queue.settings
  queue.state = stateIn(document) ?? queue.state
  const waits = next.mode !== mode && queue.line.length > 0
  queue.switchingTo = waits ? next.mode : undefined
  queue.settings = waits ? { ...next, mode } : next
  for (const entry of queue.unready) queue.looks.add(queue.now, entry)
}
