import type { Batch, Entry, Lane, Queue, QueueState, Targets } from './queue.ts'

/** Questions about a queue that change nothing: who is where, and who has to wait for whom. */

const finished: readonly string[] = ['MERGED', 'FAILED', 'CANCELLED']

/** Whether the pull request is in the queue, from NOT_READY on (service-observed.md section 2.3). */
export const isSubmitted = ({ state }: Pick<Entry, 'state'>): boolean => !finished.includes(state)

/**
 * The state of the queue as it is shown (service-api.md section 2.4). A paused queue that is to switch modes shows
 * that it is paused, because that is what it waits for (the sandbox's own).
 */
export const stateOf = ({ state, switchingTo }: Queue): QueueState =>
  switchingTo === undefined || state === 'PAUSED' ? state : 'SWITCHING_MODES'

/** Only a running queue starts tests; only a paused one does not merge (service-observed.md section 7). */
export const startsTests = ({ state, switchingTo }: Queue): boolean =>
  state === 'RUNNING' && switchingTo === undefined
export const merges = ({ state }: Queue): boolean => state !== 'PAUSED'

/** Below 0 where the first is taken before the other: the lower priority first, then first come, first served. */
export const compareEntries = (one: Entry, other: Entry): number =>
  one.priority - other.priority || one.turn - other.turn

/** What is tested, then what waits; not what is not ready (service-observed.md section 3.4). */
export const enqueued = ({ batches, waiting }: Queue): readonly Entry[] => [
  ...batches.flatMap(({ members }) => members),
  ...waiting,
]

/** Whether a queue holds nothing at all, so that it can be deleted (service-api.md section 3 rule 1). */
export const isEmpty = ({ unready, waiting, batches }: Queue): boolean =>
  unready.size === 0 && waiting.length === 0 && batches.length === 0

/** What some pull requests impact together; one whose targets are not known counts as all of them (the sandbox's own). */
export function targetsOf({ heads }: Queue, members: readonly Entry[]): Targets {
  const each = members.map(({ number }) => heads.get(number)?.targets ?? 'ALL')
  const [only = 'ALL'] = each
  if (each.length === 1) return only
  const all = new Set<string>()
  for (const targets of each) {
    if (targets === 'ALL') return targets
    for (const target of targets) all.add(target)
  }
  return all
}

type Impact = Pick<Batch, 'targets'>

/** Whether two must be tested on top of each other: in one line always, in lanes by their targets. */
export function overlap(
  { settings }: Queue,
  { targets: mine }: Impact,
  { targets: theirs }: Impact,
): boolean {
  if (settings.mode === 'single' || mine === 'ALL' || theirs === 'ALL') return true
  const [few, many] = mine.size < theirs.size ? [mine, theirs] : [theirs, mine]
  for (const target of few) if (many.has(target)) return true
  return false
}

/** The batches that one builds on, nearest first: those before it that it overlaps, and those that they build on. */
export function ahead(queue: Queue, batch: Batch): Set<Batch> {
  const found = new Set<Batch>()
  const { batches } = queue
  const place = batches.indexOf(batch)
  for (let index = (place < 0 ? batches.length : place) - 1; index >= 0; index--) {
    const other = batches[index]
    if (other === undefined || found.has(other) || !overlap(queue, batch, other)) continue
    found.add(other)
    for (const further of other.below) found.add(further)
  }
  return found
}

/** The numbers of the pull requests in some batches. */
export function numbersIn(batches: Iterable<Batch>): readonly number[] {
  const numbers: number[] = []
  for (const { members } of batches) for (const { number } of members) numbers.push(number)
  return numbers
}

/** Whether a batch can neither merge nor fail before a run starts: its own, or that of one it builds on. */
export const awaitsRun = (batch: Batch): boolean =>
  [batch, ...batch.below].some(({ phase }) => phase === 'PENDING')

/** The batches that were tested with one of these in it without judging it. */
export const batchesBuiltOn = ({ batches }: Queue, members: readonly Entry[]): readonly Batch[] =>
  batches.filter(({ builtOn }) => members.some(({ number }) => builtOn.has(number)))

/** The batch that a pull request is tested in; undefined while it waits. */
export const batchOf = ({ batches }: Queue, entry: Entry): Batch | undefined =>
  batches.find(({ members }) => members.includes(entry))

/** Whether one more run may start (service-observed.md section 3.1, `concurrency` and `bisectionConcurrency`). */
export function hasSlot({ batches, settings }: Queue, lane: Lane): boolean {
  const { concurrency, bisectionConcurrency = concurrency } = settings
  let free = lane === 'main' ? concurrency : bisectionConcurrency
  for (const batch of batches) if (batch.lane === lane && batch.phase === 'TESTING') free--
  return free > 0
}
