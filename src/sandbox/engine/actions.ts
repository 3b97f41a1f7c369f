import { statusError } from '../requests.ts'
import { findScript, getPlannedEnd, listBelow } from '../scenarios.ts'
import { enterState, insertWaiting, removeFromBatches, rerun } from './batches.ts'
import { getHeadCommit, isStillQueued, type PullRequest, type Queue, type TargetSet } from './queue.ts'

/** What users of the service may do to a queue. An action happens at `queue.now`: advance the queue first. */

/** `medium`, the priority of a submit that names none (docs/reference/service.md, "Priorities"). */
const defaultPriority = 100

interface SubmitRequest {
  readonly number: number
  readonly priority?: number | 'default' | undefined
  readonly noBatch?: boolean | undefined
}

/**
 * Submits a pull request, and those below it in a stack; every number is accepted. A pull request that is already in the queue stays there
 * and gets the options that the request names. The sandbox's own: the other options keep their values, and a
 * merged pull request is refused with status 400.
 */
export function submit(queue: Queue, request: SubmitRequest): void {
  const known = queue.pullRequests.get(request.number)
  const isNew = known === undefined || !isStillQueued(known)
  const below = isNew ? listBelow(queue.scenario, request.number) : []
  for (const number of below) {
    const { state = 'FAILED' } = queue.pullRequests.get(number) ?? {}
    if (state === 'FAILED' || state === 'CANCELLED') submitOne(queue, { ...request, number })
  }
  submitOne(queue, request)
  if (isNew && queue.scenario.stack?.includes(request.number)) playStack(queue, [...below, request.number])
}

/** The sandbox's own: after the first test run of every second submission, the lowest of a stack is pushed to. */
function playStack(queue: Queue, numbers: readonly number[]): void {
  queue.stackSubmissions++
  if (queue.stackSubmissions % 2 === 1) return
  const members = numbers.flatMap(number => queue.pullRequests.get(number) ?? []).filter(isStillQueued)
  for (const [index, member] of members.entries()) {
    const isPushed = index === 0 && members.length > 1
    const reason = isPushed ? 'pr_pushed_to' : 'stacked_pr_member_pushed_to'
    member.planned = { at: 'tests-passed', to: 'CANCELLED', reason }
  }
}

function submitOne(queue: Queue, { number, priority, noBatch }: SubmitRequest): void {
  const known = queue.pullRequests.get(number)
  if (known?.state === 'MERGED') throw statusError(400, `#${number} is already merged.`)
  const isQueued = known !== undefined && isStillQueued(known)
  const pullRequest = isQueued ? known : createAttempt(queue, number, known)
  if (priority !== undefined) {
    pullRequest.usesDefaultPriority = priority === 'default'
    pullRequest.priority = priority === 'default' ? defaultPriority : priority
  }
  if (noBatch !== undefined) pullRequest.noBatch = noBatch
  if (isQueued) {
    // A new priority may change the position.
    if (removeFromList(queue.waiting, pullRequest)) insertWaiting(queue, pullRequest)
    return
  }
  queue.pullRequests.set(number, pullRequest)
  queue.notReady.add(pullRequest)
  // Every submission comes through the API.
  enterState(queue, pullRequest, { to: 'NOT_READY', reason: 'api_requested' })
}

function createAttempt(
  { pullRequests, transitions, scenario, timings, now }: Queue,
  number: number,
  previous: PullRequest | undefined,
): PullRequest {
  const { readyAfter } = findScript(scenario, number) ?? {}
  const delay = readyAfter === undefined ? timings.notReady : Math.round(readyAfter * timings.second)
  return {
    number,
    submittedAt: now,
    mergeableAt: now + delay,
    // The number of transitions only grows, so it orders the submits.
    submitOrder: transitions.length,
    state: previous?.state ?? 'NOT_READY',
    stateChangedAt: previous?.stateChangedAt ?? now,
    previousAttempt: previous && { ...previous, previousAttempt: undefined },
    priority: defaultPriority,
    usesDefaultPriority: true,
    noBatch: false,
    runCount: 0,
    lastRun: previous?.lastRun,
    planned: getPlannedEnd(scenario, number, previous === undefined ? pullRequests.size : undefined),
    mergesAt: undefined,
  }
}

function removeFromList(list: PullRequest[], pullRequest: PullRequest): boolean {
  const index = list.indexOf(pullRequest)
  if (index >= 0) list.splice(index, 1)
  return index >= 0
}

/** Throws 404 if it is not in the queue (docs/reference/service.md, "Error responses"). */
function getQueued(queue: Queue, number: number): PullRequest {
  const pullRequest = queue.pullRequests.get(number)
  if (pullRequest === undefined || !isStillQueued(pullRequest)) throw statusError(404, 'Not Found')
  return pullRequest
}

export function cancel(queue: Queue, number: number): void {
  const pullRequest = getQueued(queue, number)
  const cause = { reason: 'user_requested' }
  if (queue.notReady.delete(pullRequest) || removeFromList(queue.waiting, pullRequest))
    enterState(queue, pullRequest, { to: 'CANCELLED', ...cause })
  else removeFromBatches(queue, [pullRequest], 'CANCELLED', () => cause)
}

/** The batch keeps its position. Does nothing if no batch contains the pull request yet. */
export function restart(queue: Queue, number: number): void {
  const pullRequest = getQueued(queue, number)
  const batch = queue.batches.find(({ members }) => members.includes(pullRequest))
  if (batch !== undefined) rerun(queue, batch, { reason: 'tests_restarted_by_api_request' })
}

/**
 * Stores the targets that a pull request impacts, before or after its submit; the last upload for the head commit
 * counts (docs/reference/service.md, "setImpactedTargets"). The sandbox reads no repository, so its rules about
 * head commits are its own: an upload that names another commit makes that commit the head, and a commit that was
 * replaced never becomes the head again. An upload without `sha` is for the head commit.
 */
export function setTargets(queue: Queue, number: number, targets: TargetSet, sha: string | undefined): void {
  const head = getHeadCommit(queue, number)
  const isHead = sha === undefined || sha === head.sha
  if (!isHead && head.previousShas.includes(sha)) return
  queue.headCommits.set(
    number,
    isHead ? { ...head, targets } : { sha, previousShas: [...head.previousShas, head.sha], targets },
  )
}
