import { type ScriptedResult, scriptedResult } from '../scenarios.ts'
import type { Batch, Entry, Queue } from './queue.ts'
import { ahead, batchesBuiltOn, merges, numbersIn } from './queue-queries.ts'
import { dueIn, type Rule } from './rule.ts'
import { changeState, endRun, enterPhase, remove, removeBatches, rerun, split } from './transitions.ts'

/** The way out: from a test run to a merge, or to the one that is to blame. */

/** TESTING: until its run ends. */
export const finishTests: Rule = queue => {
  const { batch, next } = dueIn(queue, 'TESTING')
  const run = batch?.run
  if (batch === undefined || run === undefined) return next
  endRun(
    queue,
    batch,
    ({ pass: 'succeeded', cancel: 'cancelled', fail: 'failed', flake: 'failed' } as const)[run.verdict],
  )
  if (run.verdict === 'pass') pass(queue, batch)
  else if (run.verdict === 'cancel')
    remove(queue, thoseWith(queue, batch, 'cancel'), 'CANCELLED', 'it was cancelled')
  else
    enterPhase(
      queue,
      batch,
      'PENDING_FAILURE',
      run.isTooLong ? 'its test run took too long' : 'its test run failed',
    )
  return queue.now
}

/** The members for whom this very run was scripted to turn out so. */
const thoseWith = ({ scenario }: Queue, { members }: Batch, verdict: ScriptedResult): readonly Entry[] =>
  members.filter(({ number, runs }) => scriptedResult(scenario, number, runs) === verdict)

/** A pass, which with `canOptimisticallyMerge` counts for all that the run was built on. */
function pass(queue: Queue, batch: Batch): void {
  enterPhase(queue, batch, 'TESTS_PASSED', 'its tests passed')
  if (!queue.settings.canOptimisticallyMerge) return
  for (const other of queue.batches.filter(one => batch.below.has(one))) {
    const isIncluded = other.members.every(({ number }) => batch.builtOn.has(number))
    if (!isIncluded || other.phase === 'TESTS_PASSED') continue
    endRun(queue, other)
    other.below = ahead(queue, other)
    other.builtOn = new Set(numbersIn(other.below))
    enterPhase(queue, other, 'TESTS_PASSED', 'one that builds on it passed')
  }
}

/** PENDING_FAILURE: a moment at least, until nothing ahead can be to blame and the runs behind were waited for. */
export const resolveFailures: Rule = queue => {
  const { batch, next } = dueIn(queue, 'PENDING_FAILURE', one => isBlameCertain(queue, one))
  if (batch === undefined) return next
  const { run, members } = batch
  const isOwn = run?.isTooLong === true || thoseWith(queue, batch, 'fail').length > 0
  if (run?.verdict === 'flake') rerun(queue, batch, 'its failure looks flaky')
  else if (!isOwn) rerun(queue, batch, 'one ahead was to blame')
  else if (members.length > 1) split(queue, batch)
  else remove(queue, members, 'FAILED', run?.isTooLong ? 'its tests took too long' : 'its tests failed')
  return queue.now
}

/**
 * Whether a failure can only be its own, and the runs behind it that `pendingFailureDepth` counts have ended. That a
 * flaky one need not wait for those ahead is the sandbox's own rule.
 */
function isBlameCertain(queue: Queue, batch: Batch): boolean {
  const isClear =
    batch.run?.verdict === 'flake' || [...batch.below].every(({ phase }) => phase === 'TESTS_PASSED')
  const { pendingFailureDepth: depth } = queue.settings
  if (!isClear || depth === 0) return isClear
  return batchesBuiltOn(queue, batch.members)
    .slice(0, depth)
    .every(({ phase }) => phase !== 'TESTING')
}

/** TESTS_PASSED: a moment at least, until nothing is ahead. */
export const mergePassed: Rule = queue => {
  const isFree = (one: Batch) => one.below.size === 0 && merges(queue)
  const { batch, next } = dueIn(queue, 'TESTS_PASSED', isFree)
  if (batch === undefined) return next
  removeBatches(queue, [batch])
  for (const member of batch.members) changeState(queue, member, 'MERGED', 'it was merged', batch.lane)
  return queue.now
}
