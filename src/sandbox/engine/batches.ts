import { repositoryName } from '../../values/repository.ts'
import { createRandom, createUuid } from '../sample-data.ts'
import { getScriptedResult, type ScriptedResult } from '../scenarios.ts'
import {
  type Batch,
  compareTestOrder,
  listEnqueued,
  type PullRequest,
  type PullRequestState,
  type Queue,
  type RunKind,
  type SandboxTestRun,
  type TargetSet,
} from './queue.ts'

/** Changes of pull requests and batches that actions and rules are made of. They happen at `queue.now`. */

/** Why a state changes: a word of the service, and who did it, if that was a person. */
export interface Cause {
  readonly reason?: string | undefined
  readonly actor?: string | undefined
  readonly message?: string | undefined
}

export function enterState(
  queue: Queue,
  pullRequest: PullRequest,
  { to, kind = 'main', ...cause }: Cause & { readonly to: PullRequestState; readonly kind?: RunKind },
): void {
  const { now, transitions } = queue
  const { reason, actor, message } = cause
  const { number, submittedAt, stateChangedAt } = pullRequest
  // Only a first submit asks for the state that the pull request already has.
  const from = pullRequest.state === to ? undefined : pullRequest.state
  const timeInPreviousState = from === undefined ? 0 : now - stateChangedAt
  const timeSinceSubmit = now - submittedAt
  const enqueued = to === 'PENDING' ? listEnqueued(queue) : []
  transitions.push({
    at: now,
    number,
    from,
    to,
    kind,
    timeInPreviousState,
    timeSinceSubmit,
    reason,
    actor,
    message,
    run: pullRequest.lastRun,
    ahead: enqueued.slice(0, enqueued.indexOf(pullRequest)).map(one => one.number),
  })
  pullRequest.state = to
  pullRequest.stateChangedAt = now
}

/** Changes the phase of a batch and the state of its members. The end of TESTING is set by `startRun`. */
export function enterPhase(queue: Queue, batch: Batch, phase: Batch['phase'], cause: Cause = {}): void {
  const { now, timings } = queue
  const minTimes = {
    PENDING: Number.POSITIVE_INFINITY,
    TESTING: Number.POSITIVE_INFINITY,
    TESTS_PASSED: timings.testsPassed,
    PENDING_FAILURE: timings.pendingFailure,
  }
  batch.phase = phase
  batch.phaseEndsAt = now + minTimes[phase]
  const { kind, members } = batch
  for (const member of members) enterState(queue, member, { to: phase, kind, ...cause })
}

export function insertWaiting({ waiting }: Queue, pullRequest: PullRequest): void {
  const before = waiting.findLastIndex(other => compareTestOrder(other, pullRequest) < 0)
  waiting.splice(before + 1, 0, pullRequest)
}

/** The sandbox's own: a pull request without an upload counts as impacting every target. */
function combineTargets({ headCommits }: Queue, members: readonly PullRequest[]): TargetSet {
  const combined = new Set<string>()
  for (const { number } of members) {
    const targets = headCommits.get(number)?.targets ?? 'ALL'
    if (targets === 'ALL') return targets
    for (const target of targets) combined.add(target)
  }
  return combined
}

/** Whether one of two batches must build on the other: always in single mode, else if they share a target. */
function shareTargets({ settings }: Queue, one: TargetSet, other: TargetSet): boolean {
  if (settings.mode === 'single' || one === 'ALL' || other === 'ALL') return true
  for (const target of one) if (other.has(target)) return true
  return false
}

/** Creates a batch that has no run yet. The caller adds it to the queue. */
export const createBatch = (queue: Queue, members: readonly PullRequest[], kind: RunKind): Batch => ({
  members,
  kind,
  targets: combineTargets(queue, members),
  phase: 'PENDING',
  run: undefined,
  dependencies: new Set(),
  phaseEndsAt: Number.POSITIVE_INFINITY,
})

/** The nearest first: every batch ahead that shares targets with it, and their dependencies. */
function findDependencies(queue: Queue, batch: Batch): Set<Batch> {
  const found = new Set<Batch>()
  for (const other of queue.batches.slice(0, queue.batches.indexOf(batch)).reverse()) {
    if (found.has(other) || !shareTargets(queue, batch.targets, other.targets)) continue
    found.add(other)
    for (const dependency of other.dependencies) found.add(dependency)
  }
  return found
}

/** Lists the batches that were tested, or are being tested, with the changes of pull requests of other batches. */
export const listBatchesBuiltOn = (
  { batches }: Queue,
  pullRequests: readonly PullRequest[],
): readonly Batch[] =>
  batches.filter(
    ({ phase, dependencies }) =>
      phase !== 'PENDING' &&
      [...dependencies].some(({ members }) => members.some(member => pullRequests.includes(member))),
  )

/** The members whose current run has this result in the scenario. */
export const listScripted = (
  { scenario }: Queue,
  members: readonly PullRequest[],
  result: ScriptedResult,
): readonly PullRequest[] =>
  members.filter(({ number, runCount }) => getScriptedResult(scenario, number, runCount) === result)

/**
 * Returns the result of a run from the scenario. A member that is cancelled or fails decides; then a pull
 * request that the run is built on and that fails makes the run fail as well; then a flaky member decides.
 */
function computeResult(
  queue: Queue,
  members: readonly PullRequest[],
  builtOn: readonly PullRequest[],
): ScriptedResult {
  const has = (result: ScriptedResult) => listScripted(queue, members, result).length > 0
  if (has('cancel')) return 'cancel'
  if (has('time-out')) return 'time-out'
  if (has('fail') || listScripted(queue, builtOn, 'fail').length > 0) return 'fail'
  return has('flake') ? 'flake' : 'pass'
}

/** 90 to 110 % of the usual time, half if it is cancelled, the time limit of the queue if it is `time-out`. */
function runDuration({ timings, settings }: Queue, result: ScriptedResult, random: number): number {
  if (result === 'time-out') return settings.testingTimeoutMinutes * timings.minute
  const duration = timings.testing * (0.9 + 0.2 * random)
  return Math.max(1, Math.round(result === 'cancel' ? duration / 2 : duration))
}

export function startRun(queue: Queue, batch: Batch): void {
  const { now, seed } = queue
  for (const member of batch.members) member.runCount++
  batch.dependencies = findDependencies(queue, batch)
  const ahead = [...batch.dependencies].flatMap(({ members }) => members)
  const result = computeResult(queue, batch.members, ahead)
  const seedParts = [seed, repositoryName(queue.repo), queue.targetBranch, 'run', queue.runs.size] as const
  const run: SandboxTestRun = {
    id: createUuid(...seedParts),
    kind: batch.kind,
    tested: batch.members.map(({ number }) => number),
    builtOn: ahead.map(({ number }) => number),
    startedAt: now,
    result,
    status: 'in_progress',
    endedAt: undefined,
  }
  queue.runs.set(run.id, run)
  for (const member of batch.members) member.lastRun = run
  enterPhase(queue, batch, 'TESTING')
  batch.run = run
  batch.phaseEndsAt = now + runDuration(queue, result, createRandom(...seedParts)())
}

/** A run that has already ended does not change. */
export function endRun({ now }: Queue, { run }: Batch, status: SandboxTestRun['status'] = 'cancelled'): void {
  if (run?.status !== 'in_progress') return
  run.status = status
  run.endedAt = now
}

/** Cancels the run of a batch and makes the batch wait for another run. The batch keeps its position. */
export function rerun(queue: Queue, batch: Batch, cause: Cause): void {
  endRun(queue, batch)
  batch.run = undefined
  if (batch.phase !== 'PENDING') enterPhase(queue, batch, 'PENDING', cause)
}

export function removeBatches(queue: Queue, removed: readonly Batch[]): void {
  queue.batches = queue.batches.filter(batch => !removed.includes(batch))
  for (const { dependencies } of queue.batches) for (const batch of removed) dependencies.delete(batch)
}

/** Every batch whose run included their changes is tested again. */
export function removeFromBatches(
  queue: Queue,
  removed: readonly PullRequest[],
  to: 'FAILED' | 'CANCELLED',
  causeOf: (pullRequest: PullRequest) => Cause,
): void {
  const affected = new Set(listBatchesBuiltOn(queue, removed))
  for (const batch of queue.batches) {
    const leaving = batch.members.filter(member => removed.includes(member))
    if (leaving.length === 0) continue
    const { kind } = batch
    for (const member of leaving) enterState(queue, member, { to, kind, ...causeOf(member) })
    batch.members = batch.members.filter(member => !leaving.includes(member))
    affected.add(batch)
  }
  const emptied = queue.batches.filter(({ members }) => members.length === 0)
  for (const batch of emptied) endRun(queue, batch)
  removeBatches(queue, emptied)
  for (const batch of queue.batches)
    if (affected.has(batch)) rerun(queue, batch, { reason: `prerequisite_merge_item_${to.toLowerCase()}` })
}

/** Repeated splitting (bisection) ends at the pull requests that caused the failure. */
export function split(queue: Queue, batch: Batch): void {
  const middle = Math.ceil(batch.members.length / 2)
  const halves = [batch.members.slice(0, middle), batch.members.slice(middle)].map(members =>
    createBatch(queue, members, 'bisection'),
  )
  queue.batches = queue.batches.flatMap(other => (other === batch ? halves : [other]))
  for (const { dependencies } of queue.batches)
    if (dependencies.delete(batch)) for (const half of halves) dependencies.add(half)
  for (const half of halves) {
    enterPhase(queue, half, 'PENDING', { reason: 'bisection_required' })
    half.dependencies = findDependencies(queue, half)
  }
}
