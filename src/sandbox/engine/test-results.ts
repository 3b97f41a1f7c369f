import { type Verdict, verdictOf } from '../scenarios.ts'
import { ahead, builtOn, merges, numbersIn } from './queue-order.ts'
import { endRun, enter, leave, move, remove, rerun, split } from './transitions.ts'
import type { Batch, Entry, Queue } from './queue.ts'
import { dueIn, type Rule } from './rule.ts'

/** The way out: from a test run to a merge, or to the one that is to blame. */

/** TESTING: until its run ends. */
export const test: Rule = queue => {
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
    enter(
      queue,
      batch,
      'PENDING_FAILURE',
      run.isTooLong ? 'its test run took too long' : 'its test run failed',
    )
  return queue.now
}

/** The members for whom this very run was scripted to turn out so. */
const thoseWith = ({ scenario }: Queue, { members }: Batch, verdict: Verdict): readonly Entry[] =>
  members.filter(({ number, runs }) => verdictOf(scenario, number, runs) === verdict)

/** A pass, which with `canOptimisticallyMerge` counts for all that the run was built on. */
function pass(queue: Queue, batch: Batch): void {
  enter(queue, batch, 'TESTS_PASSED', 'its tests passed')
  if (!queue.settings.canOptimisticallyMerge) return
  for (const other of queue.line.filter(one => batch.below.has(one))) {
    const isIncluded = other.members.every(({ number }) => batch.builtOn.has(number))
    if (!isIncluded || other.phase === 'TESTS_PASSED') continue
    endRun(queue, other)
    other.below = ahead(queue, other)
    other.builtOn = new Set(numbersIn(other.below))
    enter(queue, other, 'TESTS_PASSED', 'one that builds on it passed')
  }
}

/** PENDING_FAILURE: a moment at least, until nothing ahead can be to blame and the runs behind were waited for. */
export const judge: Rule = queue => {
  const { batch, next } = dueIn(queue, 'PENDING_FAILURE', one => isSuspect(queue, one))
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
function isSuspect(queue: Queue, batch: Batch): boolean {
  const isClear =
    batch.run?.verdict === 'flake' || [...batch.below].every(({ phase }) => phase === 'TESTS_PASSED')
  const { pendingFailureDepth: depth } = queue.settings
  if (!isClear || depth === 0) return isClear
  return builtOn(queue, batch.members)
    .slice(0, depth)
    .every(({ phase }) => phase !== 'TESTING')
}

/** TESTS_PASSED: a moment at least, until nothing is ahead. */
export const merge: Rule = queue => {
  const isFree = (one: Batch) => one.below.size === 0 && merges(queue)
  const { batch, next } = dueIn(queue, 'TESTS_PASSED', isFree)
  if (batch === undefined) return next
  leave(queue, [batch])
  for (const member of batch.members) move(queue, member, 'MERGED', 'it was merged', batch.lane)
  return queue.now
}
