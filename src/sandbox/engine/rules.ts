import type { PlannedEnd } from '../scenarios.ts'
import {
  type Cause,
  createBatch,
  endRun,
  enterPhase,
  enterState,
  insertWaiting,
  listBatchesBuiltOn,
  listScripted,
  removeBatches,
  removeFromBatches,
  rerun,
  split,
  startRun,
} from './batches.ts'
import type { Batch, PullRequest, Queue, RunKind } from './queue.ts'

/**
 * The simulation has no timers: each request first advances the queue to the present. The result depends only
 * on the actions and their times, not on how often the queue is advanced. The rules follow
 * docs/reference/service.md, "Queue operations", "Priorities" and "Pull request states".
 */

/** A rule applies changes that are due at `queue.now`, and returns whether there were any. */
type Rule = (queue: Queue) => boolean

/** Finds the first batch in a phase that may end now. */
const findDueBatch = (
  { batches, now }: Queue,
  phase: Batch['phase'],
  mayEnd: (batch: Batch) => boolean = () => true,
): Batch | undefined =>
  batches.find(batch => batch.phase === phase && batch.phaseEndsAt <= now && mayEnd(batch))

/** NOT_READY: ends when the pull request is mergeable and, in parallel mode, its targets are uploaded. */
const admitReady: Rule = queue => {
  const { now, settings, notReady, headCommits } = queue
  const ready = [...notReady].filter(
    ({ mergeableAt, number }) =>
      mergeableAt <= now && (settings.mode === 'single' || headCommits.get(number)?.targets !== undefined),
  )
  const expired = [...notReady].filter(
    ({ mergeableAt, submittedAt }) =>
      mergeableAt === Number.POSITIVE_INFINITY && submittedAt + notReadyLimit(queue) <= now,
  )
  for (const pullRequest of expired) {
    notReady.delete(pullRequest)
    enterState(queue, pullRequest, { to: 'CANCELLED', reason: 'not_ready_timeout_expired' })
  }
  for (const pullRequest of ready) {
    notReady.delete(pullRequest)
    if (pullRequest.planned?.at === 'ready') {
      enterState(queue, pullRequest, { to: pullRequest.planned.to, reason: pullRequest.planned.reason })
      continue
    }
    insertWaiting(queue, pullRequest)
    enterState(queue, pullRequest, { to: 'PENDING', reason: 'merge_item_now_ready' })
  }
  return ready.length > 0 || expired.length > 0
}

/** How long a pull request of a scenario may be not ready, in milliseconds; 0 hours are no limit. */
const notReadyLimit = ({ settings: { notReadyTimeoutHours: hours }, timings }: Queue): number =>
  hours === 0 ? Number.POSITIVE_INFINITY : hours * 60 * timings.minute

/** PENDING: ends when a slot for a run is free. Batches that need a rerun come before new batches. */
const startTests: Rule = queue => {
  if (queue.settings.state !== 'RUNNING') return false
  const hasSlot = { main: hasFreeSlot(queue, 'main'), bisection: hasFreeSlot(queue, 'bisection') }
  const pendingBatch = queue.batches.find(({ phase, kind }) => phase === 'PENDING' && hasSlot[kind])
  if (pendingBatch !== undefined) {
    startRun(queue, pendingBatch)
    return true
  }
  const size = hasSlot.main ? sizeNextBatch(queue) : 0
  if (size === 0) return false
  const batch = createBatch(queue, queue.waiting.splice(0, size), 'main')
  queue.batches = [...queue.batches, batch]
  if (!endPlanned(queue, batch, 'start')) startRun(queue, batch)
  return true
}

/** Ends the attempts of members of a batch as the scenario plays it at a moment; returns whether there were any. */
function endPlanned(queue: Queue, batch: Batch, at: PlannedEnd['at']): boolean {
  const { now, timings } = queue
  const leaving = batch.members.filter(({ planned }) => planned?.at === at)
  const [first] = leaving
  if (first?.planned === undefined) return false
  for (const member of leaving) {
    const { mergesAfter } = member.planned ?? {}
    if (mergesAfter !== undefined) member.mergesAt = now + Math.round(mergesAfter * timings.second)
  }
  removeFromBatches(queue, leaving, first.planned.to, ({ planned }) => ({
    reason: planned?.reason,
    message: planned?.message,
  }))
  return true
}

/** `concurrency` limits the main runs, `bisectionConcurrency` the bisection runs. */
function hasFreeSlot({ batches, settings }: Queue, kind: RunKind): boolean {
  const { concurrency, bisectionConcurrency } = settings
  const slots = (kind === 'bisection' && bisectionConcurrency) || concurrency
  return batches.filter(batch => batch.kind === kind && batch.phase === 'TESTING').length < slots
}

/**
 * Returns how many of the waiting pull requests a batch contains that starts now; 0 if none can start. A batch
 * starts once it has `batchingMinSize` members, or `batchingMaxWaitTimeMinutes` after its first member became
 * PENDING. A pull request that is urgent or has `noBatch` is tested alone. The sandbox's own: when such a pull
 * request comes next, the batch before it does not wait for more members. A stack is tested as one.
 */
function sizeNextBatch({ waiting, settings, timings, now, scenario: { stack = [] } }: Queue): number {
  const isOther = ({ number }: PullRequest) => !stack.includes(number)
  const stacked = waiting.some(isOther) ? waiting.findIndex(isOther) : waiting.length
  if (stacked > 0) return stacked
  const maxSize = settings.batch ? settings.batchingMinSize : 1
  const candidates = waiting.slice(0, maxSize)
  const alone = candidates.findIndex(({ noBatch, priority }) => noBatch || priority === 0)
  if (alone >= 0) return Math.max(1, alone)
  const maxWait = settings.batchingMaxWaitTimeMinutes * timings.minute
  const hasWaited = candidates.some(({ stateChangedAt }) => stateChangedAt + maxWait <= now)
  return candidates.length === maxSize || hasWaited ? candidates.length : 0
}

const statusByResult = {
  pass: 'succeeded',
  cancel: 'cancelled',
  fail: 'failed',
  flake: 'failed',
  'time-out': 'failed',
} as const

/** TESTING: ends when the run ends. */
const finishTests: Rule = queue => {
  const batch = findDueBatch(queue, 'TESTING')
  const run = batch?.run
  if (batch === undefined || run === undefined) return false
  endRun(queue, batch, statusByResult[run.result])
  if (run.result === 'pass' && endPlanned(queue, batch, 'tests-passed')) return true
  if (run.result === 'pass') passTests(queue, batch)
  else if (run.result === 'cancel')
    removeFromBatches(queue, listScripted(queue, batch.members, 'cancel'), 'CANCELLED', () =>
      cancellation(queue),
    )
  else if (run.result === 'time-out')
    removeFromBatches(queue, batch.members, 'FAILED', () => ({ reason: 'test_run_timeout' }))
  else enterPhase(queue, batch, 'PENDING_FAILURE')
  return true
}

/** The sandbox's own: every second cancellation of a scenario is that of a program, which the service names nowhere. */
function cancellation({ transitions }: Queue): Cause {
  const earlier = transitions.filter(({ to, reason }) => to === 'CANCELLED' && reason === 'user_requested')
  return { reason: 'user_requested', actor: earlier.length % 2 === 0 ? 'grace' : undefined }
}

/** With `canOptimisticallyMerge` they have passed for every dependency too: the run included their changes. */
function passTests(queue: Queue, batch: Batch): void {
  enterPhase(queue, batch, 'TESTS_PASSED', { reason: 'test_run_passed' })
  if (!queue.settings.canOptimisticallyMerge) return
  for (const dependency of queue.batches.filter(other => batch.dependencies.has(other))) {
    if (dependency.phase === 'TESTS_PASSED') continue
    endRun(queue, dependency)
    enterPhase(queue, dependency, 'TESTS_PASSED', { reason: 'successor_test_run_passed' })
  }
}

/**
 * PENDING_FAILURE: ends when the cause of the failure is certain. A flaky failure, and a failure that a
 * dependency caused, lead to a rerun. Otherwise a batch of several pull requests is split and a single pull
 * request fails.
 */
const resolveFailures: Rule = queue => {
  const batch = findDueBatch(queue, 'PENDING_FAILURE', other => isCauseCertain(queue, other))
  if (batch === undefined) return false
  const { run, members } = batch
  // The sandbox's own: a person restarts the tests after a failure that looks flaky.
  if (run?.result === 'flake') rerun(queue, batch, { reason: 'tests_restarted_by_user', actor: 'grace' })
  else if (listScripted(queue, members, 'fail').length === 0)
    rerun(queue, batch, { reason: 'prerequisite_merge_item_failed' })
  else if (members.length > 1) split(queue, batch)
  else removeFromBatches(queue, members, 'FAILED', () => ({ reason: 'test_run_required_status_failed' }))
  return true
}

/** The sandbox's own: a flaky failure does not wait for the dependencies. */
function isCauseCertain(queue: Queue, { run, dependencies, members }: Batch): boolean {
  const isOwnFailure =
    run?.result === 'flake' || [...dependencies].every(({ phase }) => phase === 'TESTS_PASSED')
  return (
    isOwnFailure &&
    listBatchesBuiltOn(queue, members)
      .slice(0, queue.settings.pendingFailureDepth)
      .every(({ phase }) => phase !== 'TESTING')
  )
}

/** TESTS_PASSED: ends with a merge when all dependencies have merged and the queue is not paused. */
const mergePassed: Rule = queue => {
  if (queue.settings.state === 'PAUSED') return false
  const batch = findDueBatch(queue, 'TESTS_PASSED', ({ dependencies }) => dependencies.size === 0)
  if (batch === undefined) return false
  if (endPlanned(queue, batch, 'merge')) return true
  removeBatches(queue, [batch])
  for (const member of batch.members)
    enterState(queue, member, { to: 'MERGED', reason: 'merge_graph_merge', kind: batch.kind })
  return true
}

/** FAILED: some that failed while GitHub merged something else turn out to be merged. */
const showMerges: Rule = queue => {
  const merged = [...queue.pullRequests.values()].filter(({ mergesAt = Infinity }) => mergesAt <= queue.now)
  for (const pullRequest of merged) {
    pullRequest.mergesAt = undefined
    enterState(queue, pullRequest, { to: 'MERGED', reason: 'merge_graph_merge' })
  }
  return merged.length > 0
}

/** The order decides which of several changes that are due at the same time happens first. */
const rules: readonly Rule[] = [admitReady, finishTests, resolveFailures, mergePassed, showMerges, startTests]

/** Lets a queue that is held move on: what was going on takes as long as if it had not been held. */
export function resume(queue: Queue, time: number): void {
  const { heldSince = time } = queue
  queue.heldSince = undefined
  queue.now = Math.max(queue.now, time)
  for (const batch of queue.batches) batch.phaseEndsAt += queue.now - heldSince
}

/** Simulates a queue up to a time; every change happens at its own time. `queue.now` never decreases. */
export function advanceTo(queue: Queue, time: number): void {
  if (queue.heldSince === undefined)
    for (let next = queue.now; next <= time; next = nextTime(queue)) {
      queue.now = next
      while (rules.map(rule => rule(queue)).includes(true));
    }
  queue.now = Math.max(queue.now, time)
}

/** Returns the next time at which a rule may have something to do; Infinity if no passing of time brings it about. */
function nextTime(queue: Queue): number {
  const { now, settings, timings, notReady, batches, waiting, pullRequests } = queue
  const limit = notReadyLimit(queue)
  let next = Number.POSITIVE_INFINITY
  const consider = (time: number) => {
    if (time > now && time < next) next = time
  }
  for (const { mergeableAt, submittedAt } of notReady)
    consider(mergeableAt === Number.POSITIVE_INFINITY ? submittedAt + limit : mergeableAt)
  for (const { phaseEndsAt } of batches) consider(phaseEndsAt)
  for (const { mergesAt } of pullRequests.values()) if (mergesAt !== undefined) consider(mergesAt)
  for (const { stateChangedAt } of waiting.slice(0, settings.batchingMinSize))
    consider(stateChangedAt + settings.batchingMaxWaitTimeMinutes * timings.minute)
  return next
}
