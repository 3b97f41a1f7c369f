import { getScriptedResult, type ScriptedResult } from '../scenarios.ts'
import type { Batch, PullRequest, Queue } from './queue.ts'
import { canMerge, findDependencies, listBatchesBuiltOn, listNumbers } from './queue-queries.ts'
import { findDueBatch, type Rule } from './rule.ts'
import {
  changeState,
  endRun,
  enterPhase,
  removeBatches,
  removeFromBatches,
  rerun,
  split,
} from './transitions.ts'

const statusByResult = { pass: 'succeeded', cancel: 'cancelled', fail: 'failed', flake: 'failed' } as const

/** TESTING: ends when the run ends. */
export const finishTests: Rule = queue => {
  const { batch, next } = findDueBatch(queue, 'TESTING')
  const run = batch?.run
  if (batch === undefined || run === undefined) return next
  endRun(queue, batch, statusByResult[run.result])
  if (run.result === 'pass') passTests(queue, batch)
  else if (run.result === 'cancel')
    removeFromBatches(queue, listScripted(queue, batch, 'cancel'), 'CANCELLED', 'it was cancelled')
  else
    enterPhase(
      queue,
      batch,
      'PENDING_FAILURE',
      run.timesOut ? 'its test run took too long' : 'its test run failed',
    )
  return queue.now
}

const listScripted = (
  { scenario }: Queue,
  { members }: Batch,
  result: ScriptedResult,
): readonly PullRequest[] =>
  members.filter(({ number, runCount }) => getScriptedResult(scenario, number, runCount) === result)

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
export const resolveFailures: Rule = queue => {
  const { batch, next } = findDueBatch(queue, 'PENDING_FAILURE', other => isCauseCertain(queue, other))
  if (batch === undefined) return next
  const { run, members } = batch
  const isOwnFailure = run?.timesOut === true || listScripted(queue, batch, 'fail').length > 0
  if (run?.result === 'flake') rerun(queue, batch, 'its failure looks flaky')
  else if (!isOwnFailure) rerun(queue, batch, 'a pull request ahead caused the failure')
  else if (members.length > 1) split(queue, batch)
  else
    removeFromBatches(
      queue,
      members,
      'FAILED',
      run?.timesOut ? 'its tests took too long' : 'its tests failed',
    )
  return queue.now
}

/**
 * Whether no dependency can have caused the failure of a batch, and the next runs behind the batch, as many
 * as `pendingFailureDepth` says, have ended. The sandbox's own: a flaky failure does not wait for the
 * dependencies.
 */
function isCauseCertain(queue: Queue, batch: Batch): boolean {
  const isOwnFailure =
    batch.run?.result === 'flake' || [...batch.dependencies].every(({ phase }) => phase === 'TESTS_PASSED')
  const { pendingFailureDepth } = queue.settings
  if (!isOwnFailure || pendingFailureDepth === 0) return isOwnFailure
  return listBatchesBuiltOn(queue, batch.members)
    .slice(0, pendingFailureDepth)
    .every(({ phase }) => phase !== 'TESTING')
}

/** TESTS_PASSED: ends with a merge when all dependencies have merged and the queue is not paused. */
export const mergePassed: Rule = queue => {
  const isMergeable = ({ dependencies }: Batch) => dependencies.size === 0 && canMerge(queue)
  const { batch, next } = findDueBatch(queue, 'TESTS_PASSED', isMergeable)
  if (batch === undefined) return next
  removeBatches(queue, [batch])
  for (const member of batch.members) changeState(queue, member, 'MERGED', 'it was merged', batch.kind)
  return queue.now
}
