import { repositoryName } from '../../domain/values/repository.ts'
import { createHex } from '../sample-data.ts'
import { findScript } from '../scenarios.ts'
import type { Batch, HeadCommit, PullRequest, Queue, QueueState, RunKind, TargetSet } from './queue.ts'

export const finalStates: readonly string[] = ['MERGED', 'FAILED', 'CANCELLED']

/** A NOT_READY pull request is submitted, too (docs/reference/service.md, "getSubmittedPullRequest"). */
export const isSubmitted = ({ state }: Pick<PullRequest, 'state'>): boolean => !finalStates.includes(state)

/**
 * Returns the state of the queue that the service reports (docs/reference/service.md, "Queue states"). The
 * sandbox's own: a paused queue that is about to switch modes reports PAUSED, because only a queue that is
 * resumed can switch.
 */
export const getReportedState = ({ state, nextMode }: Queue): QueueState =>
  nextMode === undefined || state === 'PAUSED' ? state : 'SWITCHING_MODES'

/** Only in a running queue that switches no modes (docs/reference/service.md, "Queue states"). */
export const canStartTests = ({ state, nextMode }: Queue): boolean =>
  state === 'RUNNING' && nextMode === undefined

/** In every queue that is not paused (docs/reference/service.md, "Queue states"). */
export const canMerge = ({ state }: Queue): boolean => state !== 'PAUSED'

/** Compares pull requests by the order of testing: a lower priority number first, then an earlier submit. */
export const compareTestOrder = (one: PullRequest, other: PullRequest): number =>
  one.priority - other.priority || one.submitOrder - other.submitOrder

/** Batches, then waiting ones, without NOT_READY ones (docs/reference/service.md, "getQueue"). */
export const listEnqueued = ({ batches, waiting }: Queue): readonly PullRequest[] => [
  ...batches.flatMap(({ members }) => members),
  ...waiting,
]

export const isEmpty = ({ notReady, waiting, batches }: Queue): boolean =>
  notReady.size === 0 && waiting.length === 0 && batches.length === 0

/** The sandbox's own: a pull request without an upload counts as impacting every target. */
export function combineTargets({ headCommits }: Queue, members: readonly PullRequest[]): TargetSet {
  const targetLists = members.map(({ number }) => headCommits.get(number)?.targets ?? 'ALL')
  const [first = 'ALL'] = targetLists
  if (targetLists.length === 1) return first
  const combined = new Set<string>()
  for (const targets of targetLists) {
    if (targets === 'ALL') return targets
    for (const target of targets) combined.add(target)
  }
  return combined
}

type WithTargets = Pick<Batch, 'targets'>

/** Whether one of two batches must build on the other: always in single mode, else if they share a target. */
export function shareTargets(
  { settings }: Queue,
  { targets: one }: WithTargets,
  { targets: other }: WithTargets,
): boolean {
  if (settings.mode === 'single' || one === 'ALL' || other === 'ALL') return true
  const [smaller, larger] = one.size < other.size ? [one, other] : [other, one]
  for (const target of smaller) if (larger.has(target)) return true
  return false
}

/**
 * Returns the batches that a batch must be built on, the nearest first: every batch ahead that shares targets
 * with the batch, and the dependencies of such batches. All batches are ahead of a batch that is not in the
 * queue yet.
 */
export function findDependencies(queue: Queue, batch: Batch): Set<Batch> {
  const found = new Set<Batch>()
  const { batches } = queue
  const position = batches.indexOf(batch)
  for (let index = (position < 0 ? batches.length : position) - 1; index >= 0; index--) {
    const other = batches[index]
    if (other === undefined || found.has(other) || !shareTargets(queue, batch, other)) continue
    found.add(other)
    for (const dependency of other.dependencies) found.add(dependency)
  }
  return found
}

export function listNumbers(batches: Iterable<Batch>): readonly number[] {
  const numbers: number[] = []
  for (const { members } of batches) for (const { number } of members) numbers.push(number)
  return numbers
}

/** Whether the batch or a dependency is PENDING: the batch cannot merge or fail before that run starts. */
export const isAwaitingRun = (batch: Batch): boolean =>
  [batch, ...batch.dependencies].some(({ phase }) => phase === 'PENDING')

/**
 * Lists the batches whose runs include the changes of one of these pull requests, which another batch tests.
 */
export const listBatchesBuiltOn = (
  { batches }: Queue,
  pullRequests: readonly PullRequest[],
): readonly Batch[] => batches.filter(({ builtOn }) => pullRequests.some(({ number }) => builtOn.has(number)))

export const findBatch = ({ batches }: Queue, pullRequest: PullRequest): Batch | undefined =>
  batches.find(({ members }) => members.includes(pullRequest))

/**
 * Whether another run of a kind may start. `concurrency` limits the main runs, `bisectionConcurrency` the
 * bisection runs (docs/reference/service.md, "Queue settings").
 */
export function hasFreeSlot({ batches, settings }: Queue, kind: RunKind): boolean {
  const { concurrency, bisectionConcurrency } = settings
  let freeSlots = (kind === 'bisection' && bisectionConcurrency) || concurrency
  for (const batch of batches) if (batch.kind === kind && batch.phase === 'TESTING') freeSlots--
  return freeSlots > 0
}

/**
 * Head commits, and the impacted targets that were uploaded for them
 * (docs/reference/service.md, "setImpactedTargets"). The sandbox reads no repository, so its rules about head
 * commits are its own: unless a scenario sets the head commit, an upload that names another commit makes that
 * commit the head, and a commit that was replaced never becomes the head again.
 */

/** Returns the head commit of a pull request; an invented commit until an upload or the scenario names it. */
export function getHeadCommit({ headCommits, scenario, seed, repo }: Queue, number: number): HeadCommit {
  const createSha = () =>
    findScript(scenario, number)?.head ?? createHex(40, 'sha', seed, repositoryName(repo), number)
  return headCommits.get(number) ?? { sha: createSha(), previousShas: [], targets: undefined }
}

/**
 * Stores the targets that a pull request impacts; the pull request may not be submitted yet. The last upload
 * for the head commit counts. An upload for an earlier head commit changes nothing, nor does an upload for
 * any other commit than the head commit that the scenario sets. An upload without `sha` is for the head
 * commit.
 */
export function recordTargets(
  queue: Queue,
  number: number,
  targets: TargetSet,
  sha: string | undefined,
): void {
  const head = getHeadCommit(queue, number)
  const isHead = sha === undefined || sha === head.sha
  const isScripted = findScript(queue.scenario, number)?.head === head.sha
  if (!isHead && (isScripted || head.previousShas.includes(sha))) return
  queue.headCommits.set(
    number,
    isHead ? { ...head, targets } : { sha, previousShas: [...head.previousShas, head.sha], targets },
  )
}

export function replaceHeadCommit(queue: Queue, number: number): void {
  const { sha, previousShas } = getHeadCommit(queue, number)
  const newSha = createHex(40, 'sha', queue.seed, repositoryName(queue.repo), number, previousShas.length + 1)
  queue.headCommits.set(number, { sha: newSha, previousShas: [...previousShas, sha], targets: undefined })
}

/** Whether the targets of a pull request are known or not needed: only parallel mode needs targets. */
export const hasRequiredTargets = ({ settings, headCommits }: Queue, number: number): boolean =>
  settings.mode === 'single' || headCommits.get(number)?.targets !== undefined
