import type { JsonObject } from '../../json.ts'
import { statusError } from '../requests.ts'
import { findScript } from '../scenarios.ts'
import { findBatch, isSubmitted, recordTargets, replaceHeadCommit } from './queries.ts'
import type { PullRequest, Queue, ScheduledEvent, TargetSet } from './queue.ts'
import { mergeSettings, readQueueState } from './settings.ts'
import { changeState, insertWaiting, removeFromBatches, rerun } from './transitions.ts'

/** What users of the service may do to a queue. An action happens at `queue.now`: advance the queue first. */

/** `medium`, the priority of a submit that names none (docs/reference/service.md, "Priorities"). */
const defaultPriority = 100

interface SubmitRequest {
  readonly number: number
  readonly priority: number | 'default' | undefined
  readonly noBatch: boolean | undefined
}

/**
 * Submits a pull request; every number is accepted. A pull request that is already in the queue stays there
 * and gets the options that the request names. The sandbox's own: the other options keep their values, and a
 * merged pull request is refused with status 400.
 */
export function submit(queue: Queue, { number, priority, noBatch }: SubmitRequest): void {
  const known = queue.pullRequests.get(number)
  if (known?.state === 'MERGED') throw statusError(400, `#${number} is already merged.`)
  const isQueued = known !== undefined && isSubmitted(known)
  const pullRequest = known ?? createPullRequest(queue, number)
  if (known === undefined) register(queue, pullRequest)
  else if (!isQueued) known.previousAttempt = { ...known, previousAttempt: undefined }
  if (priority !== undefined || !isQueued) {
    pullRequest.usesDefaultPriority = typeof priority !== 'number'
    pullRequest.priority = typeof priority === 'number' ? priority : defaultPriority
  }
  if (noBatch !== undefined || !isQueued) pullRequest.noBatch = noBatch ?? false
  if (isQueued) {
    // A new priority may change the position.
    if (removeFromList(queue.waiting, pullRequest)) insertWaiting(queue, pullRequest)
    return
  }
  const { readyAfter } = findScript(queue.scenario, number) ?? {}
  const { notReady, second } = queue.timings
  pullRequest.submittedAt = queue.now
  pullRequest.mergeableAt =
    queue.now + (readyAfter === undefined ? notReady : Math.round(readyAfter * second))
  // The number of transitions only grows, so it orders the submits.
  pullRequest.submitOrder = queue.transitions.length
  pullRequest.runCount = 0
  queue.notReady.add(pullRequest)
  queue.readinessChecks.add(queue.now, pullRequest)
  changeState(queue, pullRequest, 'NOT_READY', 'it was submitted')
}

const createPullRequest = ({ now }: Queue, number: number): PullRequest => ({
  number,
  submittedAt: now,
  mergeableAt: now,
  submitOrder: 0,
  state: 'NOT_READY',
  stateChangedAt: now,
  previousAttempt: undefined,
  priority: defaultPriority,
  usesDefaultPriority: true,
  noBatch: false,
  runCount: 0,
  lastRun: undefined,
})

function register(
  { pullRequests, scheduledEvents, scenario, timings, now }: Queue,
  pullRequest: PullRequest,
): void {
  const { number } = pullRequest
  pullRequests.set(number, pullRequest)
  const { cancelledAfter, pushedAfter } = findScript(scenario, number) ?? {}
  const timeAfter = (seconds: number) => now + Math.round(seconds * timings.second)
  if (pushedAfter !== undefined) scheduledEvents.add(timeAfter(pushedAfter), { type: 'push', number })
  if (cancelledAfter !== undefined) scheduledEvents.add(timeAfter(cancelledAfter), { type: 'cancel', number })
}

function removeFromList(list: PullRequest[], pullRequest: PullRequest): boolean {
  const index = list.indexOf(pullRequest)
  if (index >= 0) list.splice(index, 1)
  return index >= 0
}

/**
 * Returns a pull request that is in the queue; throws status 404 for any other
 * (docs/reference/service.md, "Error responses").
 */
function getQueued(queue: Queue, number: number): PullRequest {
  const pullRequest = queue.pullRequests.get(number)
  if (pullRequest === undefined || !isSubmitted(pullRequest))
    throw statusError(404, `#${number} is not in the queue.`)
  return pullRequest
}

export const cancel = (queue: Queue, number: number): void =>
  cancelPullRequest(queue, getQueued(queue, number), 'it was cancelled')

export function cancelPullRequest(queue: Queue, pullRequest: PullRequest, reason: string): void {
  if (queue.notReady.delete(pullRequest) || removeFromList(queue.waiting, pullRequest))
    changeState(queue, pullRequest, 'CANCELLED', reason)
  else removeFromBatches(queue, [pullRequest], 'CANCELLED', reason)
}

/**
 * Tests the batch of a pull request again; the batch keeps its position. Does nothing if no batch contains
 * the pull request yet. Throws 404 if the pull request is not queued.
 */
export function restart(queue: Queue, number: number): void {
  const batch = findBatch(queue, getQueued(queue, number))
  if (batch !== undefined) rerun(queue, batch, 'its tests were restarted')
}

/**
 * Stores the targets that a pull request impacts, before or after its submit
 * (docs/reference/service.md, "setImpactedTargets").
 */
export function setTargets(queue: Queue, number: number, targets: TargetSet, sha: string | undefined): void {
  recordTargets(queue, number, targets, sha)
  const pullRequest = queue.pullRequests.get(number)
  if (pullRequest !== undefined && queue.notReady.has(pullRequest))
    queue.readinessChecks.add(queue.now, pullRequest)
}

/**
 * Changes the settings that an updateQueue body names. While batches are in progress, a change of the mode is
 * put off until none is being tested (docs/reference/service.md, "updateQueue"). Throws 400 for a bad value
 * and then changes nothing.
 */
export function configure(queue: Queue, body: JsonObject): void {
  const { mode } = queue.settings
  const settings = mergeSettings({ ...queue.settings, mode: queue.nextMode ?? mode }, body)
  queue.state = readQueueState(body) ?? queue.state
  const isSwitchPending = settings.mode !== mode && queue.batches.length > 0
  queue.nextMode = isSwitchPending ? settings.mode : undefined
  queue.settings = isSwitchPending ? { ...settings, mode } : settings
  for (const pullRequest of queue.notReady) queue.readinessChecks.add(queue.now, pullRequest)
}

/** Applies an event of the scenario. All rules about these events are the sandbox's own. */
export function applyEvent(queue: Queue, event: ScheduledEvent): void {
  if (event.type === 'configure') {
    configure(queue, event.settings)
    return
  }
  const pullRequest = queue.pullRequests.get(event.number)
  if (pullRequest === undefined) return
  if (event.type === 'push') {
    replaceHeadCommit(queue, pullRequest.number)
    pullRequest.mergeableAt = queue.now + queue.timings.notReady
    // Only pull requests that had left NOT_READY were seen to be cancelled
    // (docs/reference/service.md, "getSubmittedPullRequest").
    if (queue.notReady.has(pullRequest)) queue.readinessChecks.add(queue.now, pullRequest)
    else if (isSubmitted(pullRequest)) cancelPullRequest(queue, pullRequest, 'a commit was pushed')
  } else if (isSubmitted(pullRequest)) cancelPullRequest(queue, pullRequest, 'it was cancelled')
}
