import { repositoryName } from '../../domain/values/repository.ts'
import { createRandom, createUuid } from '../sample-data.ts'
import { findScript, getScriptedResult, type ScriptedResult } from '../scenarios.ts'
import {
  combineTargets,
  compareTestOrder,
  findDependencies,
  listBatchesBuiltOn,
  listNumbers,
} from './queries.ts'
import type { Batch, PullRequest, PullRequestState, Queue, RunKind, SandboxTestRun } from './queue.ts'

/** Changes of pull requests and batches that actions and rules are made of. They happen at `queue.now`. */

export function changeState(
  queue: Queue,
  pullRequest: PullRequest,
  to: PullRequestState,
  reason: string,
  kind: RunKind = 'main',
): void {
  const { now, transitions } = queue
  const { number } = pullRequest
  // Only a first submit asks for the state that the pull request already has.
  const from = pullRequest.state === to ? undefined : pullRequest.state
  const timeInPreviousState = from === undefined ? 0 : now - pullRequest.stateChangedAt
  const timeSinceSubmit = now - pullRequest.submittedAt
  transitions.push({ at: now, number, from, to, kind, timeInPreviousState, timeSinceSubmit, reason })
  pullRequest.state = to
  pullRequest.stateChangedAt = now
}

/** Changes the phase of a batch and the state of its members. The end of TESTING is set by `startRun`. */
export function enterPhase(queue: Queue, batch: Batch, phase: Batch['phase'], reason: string): void {
  const { now, timings } = queue
  const minTimes = {
    PENDING: Number.POSITIVE_INFINITY,
    TESTING: Number.POSITIVE_INFINITY,
    TESTS_PASSED: timings.testsPassed,
    PENDING_FAILURE: timings.pendingFailure,
  }
  batch.phase = phase
  batch.phaseEndsAt = now + minTimes[phase]
  for (const member of batch.members) changeState(queue, member, phase, reason, batch.kind)
}

export function insertWaiting(queue: Queue, pullRequest: PullRequest): void {
  const { waiting } = queue
  let [low, high] = [0, waiting.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = waiting[middle]
    if (other !== undefined && compareTestOrder(other, pullRequest) < 0) low = middle + 1
    else high = middle
  }
  waiting.splice(low, 0, pullRequest)
}

/** Creates a batch that has no run yet. The caller adds it to the queue. */
export const createBatch = (queue: Queue, members: readonly PullRequest[], kind: RunKind): Batch => ({
  members,
  kind,
  targets: combineTargets(queue, members),
  phase: 'PENDING',
  run: undefined,
  dependencies: new Set(),
  builtOn: new Set(),
  phaseEndsAt: Number.POSITIVE_INFINITY,
})

/**
 * Returns the result of a run from the scenario. A member that is cancelled or fails decides; then a pull
 * request that the run is built on and that fails makes the run fail as well; then a flaky member decides.
 */
function computeResult(
  { scenario, pullRequests }: Queue,
  members: readonly PullRequest[],
  builtOn: readonly number[],
): ScriptedResult {
  const results = members.map(({ number, runCount }) => getScriptedResult(scenario, number, runCount))
  const mostSevere = (['cancel', 'fail', 'flake'] as const).find(result => results.includes(result))
  if (mostSevere === 'cancel' || mostSevere === 'fail') return mostSevere
  const hasBrokenBase = builtOn.some(
    number => getScriptedResult(scenario, number, pullRequests.get(number)?.runCount ?? 1) === 'fail',
  )
  return hasBrokenBase ? 'fail' : (mostSevere ?? 'pass')
}

/**
 * Starts a test run of a batch that is in the queue. A run takes 90 to 110 % of the usual time, and half of
 * that if its result is `cancel`. A run is stopped after `testingTimeoutMinutes`, if that is not 0. The
 * sandbox's own: its members have then caused the failure.
 */
export function startRun(queue: Queue, batch: Batch): void {
  const { now, timings, settings, scenario, seed } = queue
  for (const member of batch.members) member.runCount++
  batch.dependencies = findDependencies(queue, batch)
  const builtOn = listNumbers(batch.dependencies)
  const result = computeResult(queue, batch.members, builtOn)
  const seedParts = [seed, repositoryName(queue.repo), queue.targetBranch, 'run', queue.runs.size] as const
  const stretch = Math.max(...batch.members.map(({ number }) => findScript(scenario, number)?.stretch ?? 1))
  const fullDuration = timings.testing * stretch * (0.9 + 0.2 * createRandom(...seedParts)())
  const duration = Math.max(1, Math.round(result === 'cancel' ? fullDuration / 2 : fullDuration))
  const timeLimit = settings.testingTimeoutMinutes * timings.minute || duration
  const timesOut = duration > timeLimit
  const run: SandboxTestRun = {
    id: createUuid(...seedParts),
    kind: batch.kind,
    tested: batch.members.map(({ number }) => number),
    builtOn,
    startedAt: now,
    endsAt: now + Math.min(duration, timeLimit),
    result: timesOut ? 'fail' : result,
    timesOut,
    status: 'in_progress',
    endedAt: undefined,
  }
  queue.runs.set(run.id, run)
  for (const member of batch.members) member.lastRun = run
  enterPhase(queue, batch, 'TESTING', 'a test run has started')
  batch.run = run
  batch.builtOn = new Set(builtOn)
  batch.phaseEndsAt = run.endsAt
}

/** A run that has already ended does not change. */
export function endRun({ now }: Queue, { run }: Batch, status: SandboxTestRun['status'] = 'cancelled'): void {
  if (run?.status !== 'in_progress') return
  run.status = status
  run.endedAt = now
}

/** Cancels the run of a batch and makes the batch wait for another run. The batch keeps its position. */
export function rerun(queue: Queue, batch: Batch, reason: string): void {
  endRun(queue, batch)
  batch.run = undefined
  batch.builtOn = new Set()
  batch.dependencies = findDependencies(queue, batch)
  if (batch.phase === 'PENDING') return
  enterPhase(queue, batch, 'PENDING', reason)
}

export function removeBatches(queue: Queue, removed: readonly Batch[]): void {
  queue.batches = queue.batches.filter(batch => !removed.includes(batch))
  for (const { dependencies } of queue.batches) for (const batch of removed) dependencies.delete(batch)
}

/**
 * Removes pull requests that failed or were cancelled from their batches. The remaining members of these
 * batches are tested again, and so is every batch whose run included the changes of a removed pull request.
 */
export function removeFromBatches(
  queue: Queue,
  removed: readonly PullRequest[],
  to: 'FAILED' | 'CANCELLED',
  reason: string,
): void {
  const affected = new Set(listBatchesBuiltOn(queue, removed))
  for (const batch of queue.batches) {
    const remaining = batch.members.filter(member => !removed.includes(member))
    if (remaining.length === batch.members.length) continue
    for (const member of batch.members)
      if (removed.includes(member)) changeState(queue, member, to, reason, batch.kind)
    batch.members = remaining
    if (remaining.length === 0) endRun(queue, batch)
    else affected.add(batch)
  }
  removeBatches(
    queue,
    queue.batches.filter(({ members }) => members.length === 0),
  )
  for (const batch of queue.batches)
    if (affected.has(batch)) rerun(queue, batch, `another pull request was ${to.toLowerCase()}`)
}

/** Dissolves batches; their members wait for a new batch, in the order of testing. */
export function requeueBatches(queue: Queue, batches: readonly Batch[], reason: string): void {
  for (const batch of batches) {
    endRun(queue, batch)
    if (batch.phase !== 'PENDING') enterPhase(queue, batch, 'PENDING', reason)
    for (const member of batch.members) insertWaiting(queue, member)
  }
  removeBatches(queue, batches)
}

/**
 * Replaces a failed batch by two batches with half of its members each. Repeated splitting (bisection) ends
 * at the pull requests that caused the failure. The run of the second half would test the same changes as the
 * run that just failed: with `bisection_skip_redundant_tests` the second half takes over the result of that
 * run.
 */
export function split(queue: Queue, batch: Batch): void {
  const middle = Math.ceil(batch.members.length / 2)
  const first = createBatch(queue, batch.members.slice(0, middle), 'bisection')
  const second = createBatch(queue, batch.members.slice(middle), 'bisection')
  queue.batches = queue.batches.flatMap(other => (other === batch ? [first, second] : [other]))
  for (const { dependencies } of queue.batches)
    if (dependencies.delete(batch)) dependencies.add(first).add(second)
  enterPhase(queue, first, 'PENDING', 'the batch failed and is split')
  first.dependencies = findDependencies(queue, first)
  // A run that was stopped at its time limit says nothing about the two halves.
  const isResultKnown = queue.settings.optimizationMode !== 'off' && batch.run?.timesOut === false
  if (!isResultKnown) {
    enterPhase(queue, second, 'PENDING', 'the batch failed and is split')
    second.dependencies = findDependencies(queue, second)
    return
  }
  second.phase = 'PENDING_FAILURE'
  second.phaseEndsAt = queue.now
  second.run = batch.run
  second.dependencies = new Set([first, ...batch.dependencies])
  second.builtOn = new Set([...batch.builtOn, ...listNumbers([first])])
}
