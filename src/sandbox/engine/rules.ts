import {
  changeState,
  createBatch,
  endRun,
  enterPhase,
  findDependencies,
  insertWaiting,
  listBatchesBuiltOn,
  listNumbers,
  listScripted,
  removeBatches,
  removeFromBatches,
  rerun,
  split,
  startRun,
} from './batches.ts'
import type { Batch, Queue, RunKind } from './queue.ts'

/**
 * The simulation has no timers: each request first advances the queue to the present. The result depends only
 * on the actions and their times, not on how often the queue is advanced. The rules follow
 * docs/reference/service.md, "Queue operations", "Priorities" and "Pull request states".
 */

/**
 * A rule of the simulation. It applies the changes that are due at `queue.now` and returns the next time at
 * which the queue must apply the rule again: `noNextEvent` if only another change can make the rule apply.
 */
type Rule = (queue: Queue) => number

const noNextEvent = Number.POSITIVE_INFINITY

/**
 * Finds the first batch in a phase that meets a condition and whose phase may end now. If there is none,
 * `next` is the earliest time at which the phase of such a batch may end.
 */
function findDueBatch(
  { batches, now }: Queue,
  phase: Batch['phase'],
  meetsCondition: (batch: Batch) => boolean = () => true,
): { readonly batch?: Batch; readonly next: number } {
  let next = noNextEvent
  for (const batch of batches) {
    if (batch.phase !== phase || !meetsCondition(batch)) continue
    if (batch.phaseEndsAt <= now) return { batch, next: now }
    next = Math.min(next, batch.phaseEndsAt)
  }
  return { next }
}

const runScheduledEvents: Rule = ({ scheduledEvents, now }) => {
  for (;;) {
    const [event] = scheduledEvents
    if (event === undefined || event.at > now) return event?.at ?? noNextEvent
    scheduledEvents.shift()
    event.apply()
  }
}

/** NOT_READY: ends when the pull request is mergeable and, in parallel mode, its targets are uploaded. */
const admitReady: Rule = queue => {
  const { now, settings, notReady, headCommits } = queue
  let next = noNextEvent
  for (const pullRequest of notReady) {
    const { mergeableAt, number } = pullRequest
    if (mergeableAt > now) next = Math.min(next, mergeableAt)
    else if (settings.mode === 'single' || headCommits.get(number)?.targets !== undefined) {
      notReady.delete(pullRequest)
      changeState(queue, pullRequest, 'PENDING', 'it is ready')
      insertWaiting(queue, pullRequest)
    }
  }
  return next
}

/** PENDING: ends when a slot for a run is free. Batches that need a rerun come before new batches. */
const startTests: Rule = queue => {
  if (queue.settings.state !== 'RUNNING') return noNextEvent
  const hasSlot = { main: hasFreeSlot(queue, 'main'), bisection: hasFreeSlot(queue, 'bisection') }
  const pendingBatch = queue.batches.find(({ phase, kind }) => phase === 'PENDING' && hasSlot[kind])
  if (pendingBatch !== undefined) {
    startRun(queue, pendingBatch)
    return queue.now
  }
  if (queue.waiting.length === 0 || !hasSlot.main) return noNextEvent
  const { size, startsAt } = planNextBatch(queue)
  if (startsAt > queue.now) return startsAt
  const batch = createBatch(queue, queue.waiting.splice(0, size), 'main')
  queue.batches = [...queue.batches, batch]
  startRun(queue, batch)
  return queue.now
}

/**
 * Whether another run of a kind may start. `concurrency` limits the main runs, `bisectionConcurrency` the
 * bisection runs (docs/reference/service.md, "Queue settings").
 */
function hasFreeSlot({ batches, settings }: Queue, kind: RunKind): boolean {
  const { concurrency, bisectionConcurrency } = settings
  const slots = (kind === 'bisection' && bisectionConcurrency) || concurrency
  return batches.filter(batch => batch.kind === kind && batch.phase === 'TESTING').length < slots
}

/**
 * Returns how many of the waiting pull requests the next batch contains, and when its test run starts. The
 * run starts once the batch has `batchingMinSize` members, or `batchingMaxWaitTimeMinutes` after its first
 * member became PENDING. A pull request that is urgent or has `noBatch` is tested alone. The sandbox's own:
 * when such a pull request comes next, the batch before it does not wait for more members.
 */
function planNextBatch({ waiting, settings, timings, now }: Queue) {
  const maxSize = settings.batch ? settings.batchingMinSize : 1
  const next = waiting.slice(0, maxSize)
  const alone = next.findIndex(({ noBatch, priority }) => noBatch || priority === 0)
  if (alone >= 0) return { size: Math.max(1, alone), startsAt: now }
  const waitingSince = Math.min(...next.map(({ stateChangedAt }) => stateChangedAt))
  const isFull = next.length === maxSize
  return {
    size: next.length,
    startsAt: isFull ? now : waitingSince + settings.batchingMaxWaitTimeMinutes * timings.minute,
  }
}

const statusByResult = { pass: 'succeeded', cancel: 'cancelled', fail: 'failed', flake: 'failed' } as const

/** TESTING: ends when the run ends. */
const finishTests: Rule = queue => {
  const { batch, next } = findDueBatch(queue, 'TESTING')
  const run = batch?.run
  if (batch === undefined || run === undefined) return next
  endRun(queue, batch, statusByResult[run.result])
  if (run.result === 'pass') passTests(queue, batch)
  else if (run.result === 'cancel')
    removeFromBatches(queue, listScripted(queue, batch.members, 'cancel'), 'CANCELLED', 'it was cancelled')
  else enterPhase(queue, batch, 'PENDING_FAILURE', 'its test run failed')
  return queue.now
}

/**
 * Records that the tests of a batch passed. With `canOptimisticallyMerge` they have passed for every
 * dependency too whose members the run included.
 */
function passTests(queue: Queue, batch: Batch): void {
  enterPhase(queue, batch, 'TESTS_PASSED', 'its tests passed')
  if (!queue.settings.canOptimisticallyMerge) return
  for (const dependency of queue.batches.filter(other => batch.dependencies.has(other))) {
    const isIncluded = dependency.members.every(({ number }) => batch.builtOn.has(number))
    if (!isIncluded || dependency.phase === 'TESTS_PASSED') continue
    endRun(queue, dependency)
    dependency.dependencies = findDependencies(queue, dependency)
    dependency.builtOn = new Set(listNumbers(dependency.dependencies))
    enterPhase(queue, dependency, 'TESTS_PASSED', 'a later test run passed')
  }
}

/**
 * PENDING_FAILURE: ends when the cause of the failure is certain. A flaky failure, and a failure that a
 * dependency caused, lead to a rerun. Otherwise a batch of several pull requests is split and a single pull
 * request fails.
 */
const resolveFailures: Rule = queue => {
  const { batch, next } = findDueBatch(queue, 'PENDING_FAILURE', other => isCauseCertain(queue, other))
  if (batch === undefined) return next
  const { run, members } = batch
  if (run?.result === 'flake') rerun(queue, batch, 'its failure looks flaky')
  else if (listScripted(queue, members, 'fail').length === 0)
    rerun(queue, batch, 'a pull request ahead caused the failure')
  else if (members.length > 1) split(queue, batch)
  else removeFromBatches(queue, members, 'FAILED', 'its tests failed')
  return queue.now
}

/**
 * Whether no dependency can have caused the failure of a batch, and the next runs behind the batch, as many
 * as `pendingFailureDepth` says, have ended. The sandbox's own: a flaky failure does not wait for the
 * dependencies.
 */
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
  const isMergeable = ({ dependencies }: Batch) =>
    dependencies.size === 0 && queue.settings.state !== 'PAUSED'
  const { batch, next } = findDueBatch(queue, 'TESTS_PASSED', isMergeable)
  if (batch === undefined) return next
  removeBatches(queue, [batch])
  for (const member of batch.members) changeState(queue, member, 'MERGED', 'it was merged', batch.kind)
  return queue.now
}

/** The order decides which of several changes that are due at the same time happens first. */
const rules: readonly Rule[] = [
  runScheduledEvents,
  admitReady,
  finishTests,
  resolveFailures,
  mergePassed,
  startTests,
]

/** Simulates a queue up to a time; every change happens at its own time. `queue.now` never decreases. */
export function advanceTo(queue: Queue, time: number): void {
  for (let next = runUntilStable(queue); next <= time; next = runUntilStable(queue)) queue.now = next
  queue.now = Math.max(queue.now, time)
}

/** Applies the rules until no state changes any more; returns the next time at which a rule may apply. */
function runUntilStable(queue: Queue): number {
  for (;;) {
    const transitionCount = queue.transitions.length
    const next = Math.min(...rules.map(rule => rule(queue)))
    if (queue.transitions.length === transitionCount) return next
  }
}
