import { repositoryName } from '../../domain/values/parsers.ts'
import { type ScriptedResult, scriptedResult, scriptOf } from '../scenarios.ts'
import { randomSequence, uuid } from '../seed.ts'
import type { Batch, Entry, Lane, PullRequestState, Queue, Run } from './queue.ts'
import { ahead, batchesBuiltOn, compareEntries, numbersIn, targetsOf } from './queue-queries.ts'

/** What can happen to a pull request or a batch. Each of these changes the queue at its own moment, `queue.now`. */

/** Brings a pull request into a state and writes it down; a first submit comes from no state. */
export function changeState(
  queue: Queue,
  entry: Entry,
  to: PullRequestState,
  reason: string,
  lane: Lane = 'main',
): void {
  const { now, transitions } = queue
  const { number } = entry
  const from = entry.state === to ? undefined : entry.state
  const after = from === undefined ? 0 : now - entry.stateChangedAt
  transitions.push({ at: now, number, from, to, lane, after, sinceSubmit: now - entry.submittedAt, reason })
  entry.state = to
  entry.stateChangedAt = now
}

const waits = { PENDING: Number.POSITIVE_INFINITY, TESTING: Number.POSITIVE_INFINITY }

/** Brings a batch into a phase, its members with it. */
export function enterPhase(queue: Queue, batch: Batch, phase: Batch['phase'], reason: string): void {
  const { now, timings } = queue
  batch.phase = phase
  batch.due = now + { ...waits, TESTS_PASSED: timings.merge, PENDING_FAILURE: timings.hold }[phase]
  for (const member of batch.members) changeState(queue, member, phase, reason, batch.lane)
}

/** Puts a pull request among those that wait, in the order in which they are taken. */
export function insertWaiting(queue: Queue, entry: Entry): void {
  const { waiting } = queue
  let [low, high] = [0, waiting.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const other = waiting[middle]
    if (other !== undefined && compareEntries(other, entry) < 0) low = middle + 1
    else high = middle
  }
  waiting.splice(low, 0, entry)
}

/** Makes a batch that waits for its first run; it is not in the line yet. */
export const newBatch = (queue: Queue, members: readonly Entry[], lane: Lane): Batch => ({
  members,
  lane,
  targets: targetsOf(queue, members),
  phase: 'PENDING',
  run: undefined,
  below: new Set(),
  builtOn: new Set(),
  due: Number.POSITIVE_INFINITY,
})

/** The verdict of a run: what breaks those ahead breaks it too, and otherwise its own members decide. */
function verdictFor(
  { scenario, entries }: Queue,
  tested: readonly Entry[],
  below: readonly number[],
): ScriptedResult {
  const own = tested.map(({ number, runs }) => scriptedResult(scenario, number, runs))
  const worst = (['cancel', 'fail', 'flake'] as const).find(verdict => own.includes(verdict))
  if (worst === 'cancel' || worst === 'fail') return worst
  const isBroken = below.some(
    number => scriptedResult(scenario, number, entries.get(number)?.runs ?? 1) === 'fail',
  )
  return isBroken ? 'fail' : (worst ?? 'pass')
}

/**
 * Starts a run of a batch that is in the line. A run takes the pace's time, give or take a tenth, and is stopped at
 * the limit that `testingTimeoutMinutes` sets, if it is not 0; that it then failed by itself is the sandbox's own.
 */
export function startRun(queue: Queue, batch: Batch): void {
  const { now, timings, settings, scenario, seed } = queue
  for (const member of batch.members) member.runs++
  batch.below = ahead(queue, batch)
  const below = numbersIn(batch.below)
  const verdict = verdictFor(queue, batch.members, below)
  const source = [seed, repositoryName(queue.repo), queue.targetBranch, 'run', queue.runs.size] as const
  const stretch = Math.max(...batch.members.map(({ number }) => scriptOf(scenario, number)?.stretch ?? 1))
  const whole = timings.test * stretch * (0.9 + 0.2 * randomSequence(...source)())
  const length = Math.max(1, Math.round(verdict === 'cancel' ? whole / 2 : whole))
  const limit = settings.testingTimeoutMinutes * timings.minute || length
  const isTooLong = length > limit
  const run: Run = {
    id: uuid(...source),
    lane: batch.lane,
    tested: batch.members.map(({ number }) => number),
    builtOn: below,
    startedAt: now,
    endsAt: now + Math.min(length, limit),
    verdict: isTooLong ? 'fail' : verdict,
    isTooLong,
    status: 'in_progress',
    endedAt: undefined,
  }
  queue.runs.set(run.id, run)
  for (const member of batch.members) member.lastRun = run
  enterPhase(queue, batch, 'TESTING', 'a test run has started')
  batch.run = run
  batch.builtOn = new Set(below)
  batch.due = run.endsAt
}

/** Ends a run with its verdict, or because nobody waits for it any more; one that has ended stays as it ended. */
export function endRun({ now }: Queue, { run }: Batch, status: Run['status'] = 'cancelled'): void {
  if (run?.status !== 'in_progress') return
  run.status = status
  run.endedAt = now
}

/** Tests a batch again in its place, as soon as a run is free. */
export function rerun(queue: Queue, batch: Batch, reason: string): void {
  endRun(queue, batch)
  batch.run = undefined
  batch.builtOn = new Set()
  batch.below = ahead(queue, batch)
  if (batch.phase === 'PENDING') return
  enterPhase(queue, batch, 'PENDING', reason)
}

/** Takes batches out of the line: nobody waits for them any more. */
export function removeBatches(queue: Queue, gone: readonly Batch[]): void {
  queue.batches = queue.batches.filter(batch => !gone.includes(batch))
  for (const { below } of queue.batches) for (const batch of gone) below.delete(batch)
}

/** Takes pull requests out of the line for good; what was tested on top of them is tested again. */
export function remove(
  queue: Queue,
  gone: readonly Entry[],
  to: 'FAILED' | 'CANCELLED',
  reason: string,
): void {
  const shaken = new Set(batchesBuiltOn(queue, gone))
  for (const batch of queue.batches) {
    const rest = batch.members.filter(member => !gone.includes(member))
    if (rest.length === batch.members.length) continue
    for (const member of batch.members)
      if (gone.includes(member)) changeState(queue, member, to, reason, batch.lane)
    batch.members = rest
    if (rest.length === 0) endRun(queue, batch)
    else shaken.add(batch)
  }
  removeBatches(
    queue,
    queue.batches.filter(({ members }) => members.length === 0),
  )
  for (const batch of queue.batches)
    if (shaken.has(batch)) rerun(queue, batch, `another was ${to.toLowerCase()}`)
}

/** Puts batches back among what waits, where their members are taken up again in order. */
export function requeueBatches(queue: Queue, batches: readonly Batch[], reason: string): void {
  for (const batch of batches) {
    endRun(queue, batch)
    if (batch.phase !== 'PENDING') enterPhase(queue, batch, 'PENDING', reason)
    for (const member of batch.members) insertWaiting(queue, member)
  }
  removeBatches(queue, batches)
}

/**
 * Puts two halves in the place of a batch that failed; bisection ends at the one that is to blame. The second half on
 * top of the first is what has just failed: `bisection_skip_redundant_tests` takes that for its run.
 */
export function split(queue: Queue, batch: Batch): void {
  const middle = Math.ceil(batch.members.length / 2)
  const first = newBatch(queue, batch.members.slice(0, middle), 'bisection')
  const second = newBatch(queue, batch.members.slice(middle), 'bisection')
  queue.batches = queue.batches.flatMap(other => (other === batch ? [first, second] : [other]))
  for (const { below } of queue.batches) if (below.delete(batch)) below.add(first).add(second)
  enterPhase(queue, first, 'PENDING', 'the batch failed and is split')
  first.below = ahead(queue, first)
  const isKnown = queue.settings.optimizationMode !== 'off' && batch.run?.isTooLong === false
  if (!isKnown) {
    enterPhase(queue, second, 'PENDING', 'the batch failed and is split')
    second.below = ahead(queue, second)
    return
  }
  second.phase = 'PENDING_FAILURE'
  second.due = queue.now
  second.run = batch.run
  second.below = new Set([first, ...batch.below])
  second.builtOn = new Set([...batch.builtOn, ...numbersIn([first])])
}
