import { hasRequiredTargets } from './head-commits.ts'
import type { Batch, PullRequest, Queue } from './queue.ts'
import { canMerge, canStartTests, combineTargets, hasFreeSlot, shareTargets } from './queue-queries.ts'
import { never, type Rule } from './rule.ts'
import { changeState, createBatch, insertWaiting, requeueBatches, startRun } from './transitions.ts'

/** The rules from a submit to the start of a test run. */

/**
 * NOT_READY: ends when the pull request is mergeable and, in parallel mode, its targets are uploaded. A pull
 * request that is not ready within `notReadyTimeoutHours` is cancelled.
 */
export const admitReady: Rule = queue => {
  const { readinessChecks, now, timings, settings, notReady } = queue
  // That 0 hours set no limit is the sandbox's own rule.
  const timeLimit =
    settings.notReadyTimeoutHours === 0 ? never : settings.notReadyTimeoutHours * 60 * timings.minute
  for (
    let pullRequest = readinessChecks.takeDue(now);
    pullRequest !== undefined;
    pullRequest = readinessChecks.takeDue(now)
  ) {
    if (!notReady.has(pullRequest)) continue
    const { mergeableAt, submittedAt, number } = pullRequest
    const cancelAt = submittedAt + timeLimit
    if (mergeableAt <= now && hasRequiredTargets(queue, number)) {
      notReady.delete(pullRequest)
      enqueue(queue, pullRequest)
    } else if (cancelAt <= now) {
      notReady.delete(pullRequest)
      changeState(queue, pullRequest, 'CANCELLED', 'it was not ready for too long')
    } else {
      const nextCheck = mergeableAt > now ? Math.min(mergeableAt, cancelAt) : cancelAt
      if (nextCheck < never) readinessChecks.add(nextCheck, pullRequest)
    }
  }
  return readinessChecks.nextTime()
}

/**
 * Makes a ready pull request wait for a test run. If direct merges are on and the queue is empty, merges the
 * pull request without a test.
 */
function enqueue(queue: Queue, pullRequest: PullRequest): void {
  const { directMergeMode } = queue.settings
  const isEmpty = queue.batches.length + queue.waiting.length === 0
  if (directMergeMode === 'always' && isEmpty && canMerge(queue)) {
    changeState(queue, pullRequest, 'MERGED', 'it was up to date and the queue was empty')
    return
  }
  changeState(queue, pullRequest, 'PENDING', 'it is ready')
  insertWaiting(queue, pullRequest)
  if (pullRequest.priority === 0 && canStartTests(queue)) interruptFor(queue, pullRequest)
}

/**
 * Stops the test runs that share targets with an urgent pull request, and puts their members back behind it.
 * Urgent pull requests do not interrupt each other (docs/reference/service.md, "Priorities"). The sandbox's
 * own: a queue that starts no tests is not interrupted, because the urgent pull request would gain nothing.
 */
function interruptFor(queue: Queue, urgent: PullRequest): void {
  const targets = combineTargets(queue, [urgent])
  const stopped = new Set<Batch>()
  for (const batch of queue.batches) {
    const { phase, members, dependencies } = batch
    const isUndecided = phase === 'TESTING' || phase === 'PENDING'
    const hasUrgentMember = members.some(({ priority }) => priority === 0)
    const isInterrupted = isUndecided && !hasUrgentMember && shareTargets(queue, batch, { targets })
    // A batch cannot keep its run when the run is built on a batch that is stopped.
    if (isInterrupted || [...stopped].some(other => dependencies.has(other))) stopped.add(batch)
  }
  requeueBatches(queue, [...stopped], `#${urgent.number} is urgent`)
}

/** PENDING: ends when a slot for a run is free. Batches that need a rerun come before new batches. */
export const startTests: Rule = queue => {
  if (!canStartTests(queue)) return never
  const hasSlot = { main: hasFreeSlot(queue, 'main'), bisection: hasFreeSlot(queue, 'bisection') }
  const pendingBatch = queue.batches.find(({ phase, kind }) => phase === 'PENDING' && hasSlot[kind])
  if (pendingBatch !== undefined) {
    startRun(queue, pendingBatch)
    return queue.now
  }
  if (queue.waiting.length === 0 || !hasSlot.main) return never
  const { size, startsAt } = planNextBatch(queue)
  if (startsAt > queue.now) return startsAt
  const batch = createBatch(queue, queue.waiting.splice(0, size), 'main')
  queue.batches = [...queue.batches, batch]
  startRun(queue, batch)
  return queue.now
}

/**
 * Returns how many of the waiting pull requests the next batch contains, and when its test run starts. The
 * run starts once the batch has `batchingMinSize` members, or `batchingMaxWaitTimeMinutes` after its first
 * member became PENDING. A pull request that is urgent or has `noBatch` is tested alone. The sandbox's own:
 * when such a pull request comes next, the batch before it does not wait for more members.
 */
function planNextBatch({ waiting, settings, timings, now }: Queue): {
  readonly size: number
  readonly startsAt: number
} {
  const maxSize = settings.batch ? settings.batchingMinSize : 1
  let [size, waitingSince] = [0, now]
  for (; size < maxSize; size++) {
    const pullRequest = waiting[size]
    if (pullRequest === undefined) break
    if (pullRequest.noBatch || pullRequest.priority === 0) return { size: Math.max(1, size), startsAt: now }
    waitingSince = Math.min(waitingSince, pullRequest.stateChangedAt)
  }
  const isFull = size === maxSize
  return {
    size,
    startsAt: isFull ? now : waitingSince + settings.batchingMaxWaitTimeMinutes * timings.minute,
  }
}
