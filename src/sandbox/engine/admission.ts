import { hasSlot, hasTargets, inOrder, merges, overlap, startsTests } from './line.ts'
import { move, retreat, startRun } from './moves.ts'
import { type Entry, newBatch, type Queue } from './queue.ts'
import { never, type Rule } from './rule.ts'

/** The way in: from a submit to a test run. */

/** NOT_READY: until mergeable and, in parallel mode, its targets are there; in the end it is cancelled. */
export const admit: Rule = queue => {
  let next = never
  for (const entry of queue.unready) {
    const readyAt = entry.submittedAt + queue.pace.ready
    const isReady = readyAt <= queue.now && hasTargets(queue, entry)
    const lostAt = entry.submittedAt + patience(queue)
    if (!isReady && lostAt > queue.now) {
      next = Math.min(next, readyAt > queue.now ? Math.min(readyAt, lostAt) : lostAt)
      continue
    }
    queue.unready = queue.unready.filter(other => other !== entry)
    if (isReady) enqueue(queue, entry)
    else move(queue, entry, 'CANCELLED', 'it was not ready for too long')
  }
  return next
}

/** How long a pull request may be NOT_READY; that 0 hours are no limit is the sandbox's own rule. */
const patience = ({ settings, pace }: Queue): number =>
  settings.notReadyTimeoutHours === 0 ? never : settings.notReadyTimeoutHours * 60 * pace.minute

/** A pull request that is ready waits for a run; a direct merge needs none. */
function enqueue(queue: Queue, entry: Entry): void {
  const { directMergeMode } = queue.settings
  if (directMergeMode === 'always' && queue.line.length + queue.waiting.length === 0 && merges(queue)) {
    move(queue, entry, 'MERGED', 'it was up to date and the queue was empty')
    return
  }
  move(queue, entry, 'PENDING', 'it is ready')
  queue.waiting = [...queue.waiting, entry]
  if (entry.priority === 0) interrupt(queue, entry)
}

/** Urgent ones interrupt what is being tested when they enter, but not each other (service-observed.md section 6). */
function interrupt(queue: Queue, urgent: Entry): void {
  const numbers = new Set<number>()
  const stopped = queue.line.filter(({ phase, members, builtOn }) => {
    const isTested = phase === 'TESTING' || phase === 'PENDING'
    const gives =
      isTested &&
      members.every(({ priority }) => priority > 0) &&
      members.some(one => overlap(queue, one, urgent))
    const falls = builtOn.some(number => numbers.has(number))
    if (gives || falls) for (const { number } of members) numbers.add(number)
    return gives || falls
  })
  retreat(queue, stopped, `#${urgent.number} is urgent`)
}

/** PENDING: until a run is free; what is in the line already comes first. */
export const start: Rule = queue => {
  if (!startsTests(queue)) return never
  const again = queue.line.find(({ phase, lane }) => phase === 'PENDING' && hasSlot(queue, lane))
  if (again !== undefined) {
    startRun(queue, again)
    return queue.now
  }
  if (queue.waiting.length === 0 || !hasSlot(queue, 'main')) return never
  const { members, fullAt } = nextBatch(queue)
  if (fullAt > queue.now) return fullAt
  const batch = newBatch(members, 'main')
  queue.waiting = queue.waiting.filter(entry => !members.includes(entry))
  queue.line = [...queue.line, batch]
  startRun(queue, batch)
  return queue.now
}

/** The next to be tested, and when they stop waiting for more of them. */
function nextBatch({ waiting, settings, pace, now }: Queue): {
  readonly members: readonly Entry[]
  readonly fullAt: number
} {
  const ordered = inOrder(waiting)
  const alone = ordered.findIndex(({ noBatch }) => noBatch)
  const together = ordered.slice(
    0,
    alone < 0 ? settings.batchingMinSize : Math.min(alone, settings.batchingMinSize),
  )
  if (!settings.batch || together.length === 0) return { members: ordered.slice(0, 1), fullAt: now }
  const since = Math.min(...together.map(({ stateChangedAt }) => stateChangedAt))
  const isFull = together.length === settings.batchingMinSize
  return {
    members: together,
    fullAt: isFull ? now : since + settings.batchingMaxWaitTimeMinutes * pace.minute,
  }
}
