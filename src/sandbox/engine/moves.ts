import { nameOf } from '../../contract/words.ts'
import { type Verdict, verdictOf } from '../scenarios.ts'
import { dice, uuid } from '../seed.ts'
import { builtOn, numbersAhead } from './line.ts'
import {
  type Batch,
  type Entry,
  type Lane,
  newBatch,
  type PullRequestState,
  type Queue,
  type Run,
} from './queue.ts'

/** What can happen to a pull request or a batch. Each of these changes the queue at its own moment, `queue.now`. */

/** Brings a pull request into a state and writes it down; a first submit comes from no state. */
export function move(
  queue: Queue,
  entry: Entry,
  to: PullRequestState,
  reason: string,
  lane: Lane = 'main',
): void {
  const from = entry.state === to ? undefined : entry.state
  const after = from === undefined ? 0 : queue.now - entry.stateChangedAt
  queue.moves.push({ at: queue.now, number: entry.number, from, to, lane, after, reason })
  entry.state = to
  entry.stateChangedAt = queue.now
}

/** Brings a batch into a phase, its members with it. */
export function enter(queue: Queue, batch: Batch, phase: Batch['phase'], reason: string): void {
  batch.phase = phase
  batch.due = undefined
  for (const member of batch.members) move(queue, member, phase, reason, batch.lane)
}

/** The verdict of a run: what breaks those ahead breaks it too, and otherwise its own members decide. */
function verdictFor(
  { scenario, entries }: Queue,
  tested: readonly Entry[],
  below: readonly number[],
): Verdict {
  const own = tested.map(({ number, runs }) => verdictOf(scenario, number, runs))
  const beneath = below.map(number => verdictOf(scenario, number, entries.get(number)?.runs ?? 1))
  const worst = (['cancel', 'fail', 'flake'] as const).find(verdict => own.includes(verdict))
  return worst !== 'cancel' && beneath.includes('fail') ? 'fail' : (worst ?? 'pass')
}

/** Starts a run of a batch that is in the line. A run takes the pace's time, give or take a tenth. */
export function startRun(queue: Queue, batch: Batch): void {
  for (const member of batch.members) member.runs++
  const below = numbersAhead(queue, batch)
  const verdict = verdictFor(queue, batch.members, below)
  const source = [queue.seed, nameOf(queue.repo), queue.targetBranch, 'run', queue.runs.size] as const
  const length = queue.pace.test * (0.9 + 0.2 * dice(...source)()) * (verdict === 'cancel' ? 0.5 : 1)
  const run: Run = {
    id: uuid(...source),
    lane: batch.lane,
    tested: batch.members.map(({ number }) => number),
    builtOn: below,
    startedAt: queue.now,
    endsAt: queue.now + Math.max(1, Math.round(length)),
    verdict,
    status: 'in_progress',
    endedAt: undefined,
  }
  queue.runs.set(run.id, run)
  for (const member of batch.members) member.lastRun = run
  enter(queue, batch, 'TESTING', 'a test run has started')
  batch.run = run
  batch.builtOn = below
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
  batch.builtOn = []
  if (batch.phase === 'PENDING') return
  enter(queue, batch, 'PENDING', reason)
}

/** Takes pull requests out of the line for good; what was tested on top of them is tested again. */
export function remove(
  queue: Queue,
  gone: readonly Entry[],
  to: 'FAILED' | 'CANCELLED',
  reason: string,
): void {
  const shaken = new Set(gone.flatMap(entry => builtOn(queue, entry)))
  for (const batch of queue.line) {
    const rest = batch.members.filter(member => !gone.includes(member))
    if (rest.length === batch.members.length) continue
    for (const member of batch.members) if (gone.includes(member)) move(queue, member, to, reason, batch.lane)
    batch.members = rest
    if (rest.length === 0) endRun(queue, batch)
    else shaken.add(batch)
  }
  queue.line = queue.line.filter(({ members }) => members.length > 0)
  for (const batch of queue.line)
    if (shaken.has(batch)) rerun(queue, batch, `another was ${to.toLowerCase()}`)
}

/** Puts batches back among what waits, where their members are taken up again in order. */
export function retreat(queue: Queue, batches: readonly Batch[], reason: string): void {
  for (const batch of batches) {
    endRun(queue, batch)
    if (batch.phase !== 'PENDING') enter(queue, batch, 'PENDING', reason)
  }
  queue.line = queue.line.filter(batch => !batches.includes(batch))
  queue.waiting = [...queue.waiting, ...batches.flatMap(({ members }) => members)]
}

/** Puts two halves in the place of a batch that failed; bisection ends at the one that is to blame. */
export function split(queue: Queue, batch: Batch): void {
  const middle = Math.ceil(batch.members.length / 2)
  const halves = [batch.members.slice(0, middle), batch.members.slice(middle)].map(members =>
    newBatch(members, 'bisection'),
  )
  queue.line = queue.line.flatMap(other => (other === batch ? halves : [other]))
  for (const half of halves) enter(queue, half, 'PENDING', 'the batch failed and is split')
}
