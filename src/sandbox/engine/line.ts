import type { Batch, Entry, Lane, Queue, QueueState } from './queue.ts'

/** Questions about a queue that change nothing: who is where, and who has to wait for whom. */

const finished: readonly string[] = ['MERGED', 'FAILED', 'CANCELLED']

/** Whether the pull request is in the queue, from NOT_READY on (service-observed.md section 2.3). */
export const isSubmitted = ({ state }: Entry): boolean => !finished.includes(state)

/** The state of the queue as it is shown (service-api.md section 2.4). */
export const stateOf = ({ state, switchingTo }: Queue): QueueState =>
  switchingTo === undefined ? state : 'SWITCHING_MODES'

/** Only a running queue starts tests; only a paused one does not merge (service-observed.md section 7). */
export const startsTests = (queue: Queue): boolean => stateOf(queue) === 'RUNNING'
export const merges = (queue: Queue): boolean => stateOf(queue) !== 'PAUSED'

/** What waits, as it will be taken: the lower priority first, then first come, first served. */
export const inOrder = (waiting: readonly Entry[]): readonly Entry[] =>
  [...waiting].sort((one, other) => one.priority - other.priority || one.turn - other.turn)

/** What is tested, then what waits; not what is not ready (service-observed.md section 3.4). */
export const enqueued = ({ line, waiting }: Queue): readonly Entry[] => [
  ...line.flatMap(({ members }) => members),
  ...inOrder(waiting),
]

/** Whether a queue holds nothing at all, so that it can be deleted (service-api.md section 3 rule 1). */
export const isEmpty = ({ unready, waiting, line }: Queue): boolean =>
  unready.length === 0 && waiting.length === 0 && line.length === 0

/** Whether two pull requests must be tested on top of each other: in one line always, in lanes by their targets. */
export function overlap({ settings, targets }: Queue, one: Entry, other: Entry): boolean {
  if (settings.mode === 'single') return true
  const [mine, theirs] = [targets.get(one.number) ?? 'ALL', targets.get(other.number) ?? 'ALL']
  if (mine === 'ALL' || theirs === 'ALL') return true
  const [few, many] = mine.size < theirs.size ? [mine, theirs] : [theirs, mine]
  for (const target of few) if (many.has(target)) return true
  return false
}

/**
 * The batches that one builds on, nearest first: those before it that it was tested with or overlaps, and those that
 * they build on.
 */
export function ahead(queue: Queue, batch: Batch): readonly Batch[] {
  const touched: Batch[] = [batch]
  const before = queue.line.slice(0, queue.line.indexOf(batch)).reverse()
  for (const other of before) if (touched.some(one => dependsOn(queue, one, other))) touched.push(other)
  return touched.slice(1)
}

const dependsOn = (queue: Queue, { members, builtOn }: Batch, other: Batch): boolean =>
  other.members.some(two => builtOn.includes(two.number) || members.some(one => overlap(queue, one, two)))

/** The pull requests that a batch builds on. */
export const numbersAhead = (queue: Queue, batch: Batch): readonly number[] =>
  ahead(queue, batch).flatMap(({ members }) => members.map(({ number }) => number))

/** Whether a batch can neither merge nor fail before a run starts: its own, or that of one it builds on. */
export const awaitsRun = (queue: Queue, batch: Batch): boolean =>
  [batch, ...ahead(queue, batch)].some(({ phase }) => phase === 'PENDING')

const holds = (batch: Batch, number: number): boolean =>
  batch.members.some(member => member.number === number)

/** The batches that were tested with a pull request in it without judging it. */
export const builtOn = ({ line }: Queue, { number }: Entry): readonly Batch[] =>
  line.filter(({ builtOn }) => builtOn.includes(number))

/** The batch that a pull request is tested in; undefined while it waits. */
export const batchOf = ({ line }: Queue, { number }: Entry): Batch | undefined =>
  line.find(batch => holds(batch, number))

/** Whether one more run may start (service-observed.md section 3.1, `concurrency` and `bisectionConcurrency`). */
export function hasSlot({ line, settings }: Queue, lane: Lane): boolean {
  const { concurrency, bisectionConcurrency = concurrency } = settings
  const busy = line.filter(batch => batch.lane === lane && batch.phase === 'TESTING').length
  return busy < (lane === 'main' ? concurrency : bisectionConcurrency)
}

/** Whether the targets are known where the queue needs them (service-observed.md section 2.4). */
export const hasTargets = ({ settings, targets }: Queue, { number }: Entry): boolean =>
  settings.mode === 'single' || targets.has(number)
