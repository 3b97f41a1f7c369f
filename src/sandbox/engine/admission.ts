import { hasTargets } from './head-commits.ts'
import type { Batch, Entry, Queue } from './queue.ts'
import { hasSlot, merges, overlap, startsTests, targetsOf } from './queue-queries.ts'
import { never, type Rule } from './rule.ts'
import { changeState, insertWaiting, newBatch, requeueBatches, startRun } from './transitions.ts'

/** The way in: from a submit to a test run. */

/** NOT_READY: until mergeable and, in parallel mode, its targets are there; in the end it is cancelled. */
export const admitReady: Rule = queue => {
  const { rechecks, now, timings, settings, unready } = queue
  // That 0 hours are no limit is the sandbox's own rule.
  const patience =
    settings.notReadyTimeoutHours === 0 ? never : settings.notReadyTimeoutHours * 60 * timings.minute
  for (let entry = rechecks.due(now); entry !== undefined; entry = rechecks.due(now)) {
    if (!unready.has(entry)) continue
    const { mergeableAt, submittedAt, number } = entry
    const lostAt = submittedAt + patience
    if (mergeableAt <= now && hasTargets(queue, number)) {
      unready.delete(entry)
      enqueue(queue, entry)
    } else if (lostAt <= now) {
      unready.delete(entry)
      changeState(queue, entry, 'CANCELLED', 'it was not ready for too long')
    } else {
      const next = mergeableAt > now ? Math.min(mergeableAt, lostAt) : lostAt
      if (next < never) rechecks.add(next, entry)
    }
  }
  return rechecks.next()
}

/** A pull request that is ready waits for a run; a direct merge needs none. */
function enqueue(queue: Queue, entry: Entry): void {
  const { directMergeMode } = queue.settings
  if (directMergeMode === 'always' && queue.batches.length + queue.waiting.length === 0 && merges(queue)) {
    changeState(queue, entry, 'MERGED', 'it was up to date and the queue was empty')
    return
  }
  changeState(queue, entry, 'PENDING', 'it is ready')
  insertWaiting(queue, entry)
  if (entry.priority === 0 && startsTests(queue)) interrupt(queue, entry)
}

/**
 * Urgent ones interrupt what is being tested when they enter, but not each other (service-observed.md section 6).
 * That they interrupt nothing while the queue starts no tests, because nobody would gain, is the sandbox's own.
 */
function interrupt(queue: Queue, urgent: Entry): void {
  const targets = targetsOf(queue, [urgent])
  const stopped = new Set<Batch>()
  for (const batch of queue.batches) {
    const { phase, members, below } = batch
    const isTested = phase === 'TESTING' || phase === 'PENDING'
    const gives =
      isTested && members.every(({ priority }) => priority > 0) && overlap(queue, batch, { targets })
    if (gives || [...stopped].some(other => below.has(other))) stopped.add(batch)
  }
  requeueBatches(queue, [...stopped], `#${urgent.number} is urgent`)
}

/** PENDING: until a run is free; what is in the line already comes first. */
export const startTests: Rule = queue => {
  if (!startsTests(queue)) return never
  const [main, bisection] = [hasSlot(queue, 'main'), hasSlot(queue, 'bisection')]
  const again = queue.batches.find(
    ({ phase, lane }) => phase === 'PENDING' && (lane === 'main' ? main : bisection),
  )
  if (again !== undefined) {
    startRun(queue, again)
    return queue.now
  }
  if (queue.waiting.length === 0 || !main) return never
  const { size, fullAt } = nextBatch(queue)
  if (fullAt > queue.now) return fullAt
  const batch = newBatch(queue, queue.waiting.splice(0, size), 'main')
  queue.batches = [...queue.batches, batch]
  startRun(queue, batch)
  return queue.now
}

/**
 * How many are tested together next, and when they stop waiting for more. Those that are to be tested alone, and
 * urgent ones, are in no batch; a batch that one of them follows is as full as it will get (the sandbox's own).
 */
function nextBatch({ waiting, settings, timings, now }: Queue): {
  readonly size: number
  readonly fullAt: number
} {
  const most = settings.batch ? settings.batchingMinSize : 1
  let [size, since] = [0, now]
  for (; size < most; size++) {
    const entry = waiting[size]
    if (entry === undefined) break
    if (entry.noBatch || entry.priority === 0) return { size: Math.max(1, size), fullAt: now }
    since = Math.min(since, entry.stateChangedAt)
  }
  return { size, fullAt: size === most ? now : since + settings.batchingMaxWaitTimeMinutes * timings.minute }
}
