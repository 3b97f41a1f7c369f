import { type Verdict, verdictOf } from '../scenarios.ts'
import { ahead, builtOn, merges, numbersAhead } from './line.ts'
import { endRun, enter, move, remove, rerun, split } from './moves.ts'
import type { Batch, Entry, Queue } from './queue.ts'
import { dueIn, nextIn, type Rule } from './rule.ts'

/** The way out: from a test run to a merge, or to the one that is to blame. */

/** TESTING: until its run ends. */
export const test: Rule = queue => {
  const batch = dueIn(queue, 'TESTING')
  const run = batch?.run
  if (batch === undefined || run === undefined) return nextIn(queue, 'TESTING')
  endRun(
    queue,
    batch,
    ({ pass: 'succeeded', cancel: 'cancelled', fail: 'failed', flake: 'failed' } as const)[run.verdict],
  )
  if (run.verdict === 'pass') pass(queue, batch)
  else if (run.verdict === 'cancel')
    remove(queue, thoseWith(queue, batch, 'cancel'), 'CANCELLED', 'it was cancelled')
  else enter(queue, batch, 'PENDING_FAILURE', 'its test run failed')
  return queue.now
}

/** The members for whom this very run was scripted to turn out so. */
const thoseWith = ({ scenario }: Queue, { members }: Batch, verdict: Verdict): readonly Entry[] =>
  members.filter(({ number, runs }) => verdictOf(scenario, number, runs) === verdict)

/** A pass, which with `canOptimisticallyMerge` counts for all that the run was built on. */
function pass(queue: Queue, batch: Batch): void {
  enter(queue, batch, 'TESTS_PASSED', 'its tests passed')
  if (!queue.settings.canOptimisticallyMerge) return
  for (const other of ahead(queue, batch)) {
    const isIncluded = other.members.every(({ number }) => batch.builtOn.includes(number))
    if (!isIncluded || other.phase === 'TESTS_PASSED') continue
    endRun(queue, other)
    other.builtOn = numbersAhead(queue, other)
    enter(queue, other, 'TESTS_PASSED', 'one that builds on it passed')
  }
}

/** PENDING_FAILURE: until nothing ahead can be to blame, the runs behind were waited for, and a moment has passed. */
export const judge: Rule = queue => {
  for (const batch of queue.line.filter(({ phase }) => phase === 'PENDING_FAILURE')) {
    if (isSuspect(queue, batch)) batch.due ??= queue.now + queue.pace.hold
    else batch.due = undefined
  }
  const batch = dueIn(queue, 'PENDING_FAILURE')
  if (batch === undefined) return nextIn(queue, 'PENDING_FAILURE')
  const [culprit] = thoseWith(queue, batch, 'fail')
  if (batch.run?.verdict === 'flake') rerun(queue, batch, 'its failure looks flaky')
  else if (culprit === undefined) rerun(queue, batch, 'one ahead was to blame')
  else if (batch.members.length > 1) split(queue, batch)
  else remove(queue, batch.members, 'FAILED', 'its tests failed')
  return queue.now
}

/** Whether a failure can only be its own. That a flaky one is known at once is the sandbox's own rule. */
function isSuspect(queue: Queue, batch: Batch): boolean {
  if (batch.run?.verdict === 'flake') return true
  const behind = [...new Set(batch.members.flatMap(member => builtOn(queue, member)))]
  const awaited = behind.slice(0, queue.settings.pendingFailureDepth)
  return (
    ahead(queue, batch).every(({ phase }) => phase === 'TESTS_PASSED') &&
    awaited.every(({ phase }) => phase !== 'TESTING')
  )
}

/** TESTS_PASSED: until nothing is ahead, and then a moment. */
export const merge: Rule = queue => {
  for (const batch of queue.line.filter(({ phase }) => phase === 'TESTS_PASSED')) {
    if (merges(queue) && ahead(queue, batch).length === 0) batch.due ??= queue.now + queue.pace.merge
    else batch.due = undefined
  }
  const batch = dueIn(queue, 'TESTS_PASSED')
  if (batch === undefined) return nextIn(queue, 'TESTS_PASSED')
  queue.line = queue.line.filter(other => other !== batch)
  for (const member of batch.members) move(queue, member, 'MERGED', 'it was merged', batch.lane)
  return queue.now
}
