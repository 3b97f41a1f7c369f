import { readIfFound } from '../../../api/call.ts'
import type { ParamValues } from '../../../api/operation.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import { failureOrThrow, MergeqError, usageError } from '../../../base/errors.ts'
import { getString, type JsonObject } from '../../../base/json.ts'
import { memoize } from '../../../base/scheduling.ts'
import type { Cli } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { listHeads } from '../../../config/checkout.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { isUnderTest, normalizeState, outcomeOfRecord, stateWords } from '../../../domain/states.ts'
import type { Host } from '../../../host/host.ts'
import { elapsedSince, formatAge } from '../../../values/format.ts'
import { isSameRepository, type Repository, readRepositoryAddress } from '../../../values/repository.ts'
import { readText } from '../../../values/text.ts'

export interface PushedBranch {
  readonly branch: string
  readonly isDeletion: boolean
  /** The commit that the remote has. */
  readonly from: string
}

const refUpdate = /^(\S+) ([\da-f]{40,64}) (\S+) ([\da-f]{40,64})$/
const isZero = (sha: string): boolean => /^0+$/.test(sha)

/**
 * Parses the standard input of a git pre-push hook (githooks(5)): `<local ref> <local sha> <remote ref>
 * <remote sha>` on each line. Omits tags, branches that do not move, and branches that the remote does not
 * have yet, because no pull request can come from them. Throws a usage error for any other line.
 */
export function parsePushes(text: string): readonly PushedBranch[] {
  return text
    .split(/\r?\n/)
    .filter(line => line !== '')
    .flatMap(line => {
      const [, , to = '', remote = '', from = ''] = refUpdate.exec(line) ?? []
      if (remote === '')
        throw usageError(
          `'${line.slice(0, 80)}' is not valid input for a pre-push hook.`,
          'Git writes `<local ref> <local sha> <remote ref> <remote sha>` on each line.',
        )
      const branch = remote.startsWith('refs/heads/') ? remote.slice('refs/heads/'.length) : undefined
      if (branch === undefined || isZero(from) || to === from) return []
      return [{ branch, isDeletion: isZero(to), from }]
    })
}

/** Whether a record says that its pull request is in the queue, so that a push would remove it. */
export const isQueuedRecord = (record: JsonObject): boolean =>
  outcomeOfRecord(record) === 'pending' && record.isCurrentlySubmittedToQueue !== false

/** Upper limit for the delay of a push, in milliseconds; --timeout can lower it. */
export const maxWait = 3_000

/** The longest standard input that is read, in bytes. */
const maxInput = 1024 * 1024

/** What the checks of the pushed branches share. */
interface GuardedQueue {
  readonly queue: ParamValues<typeof getQueue.params>
  readonly remoteUrl: string | undefined
  readonly cli: Cli
  /** Whether a person only asks, with `guard check`. */
  readonly isCheck: boolean
  /** No retries; no attempt ends after the time that a push may be delayed. */
  readonly limits: RequestLimits
  /** The milliseconds that the push may still be delayed. */
  remaining(): number
  /** Reads the queue, once for all branches; undefined if there is none. */
  readQueue(): Promise<JsonObject | undefined>
}

/** Whether a URL belongs to another repository, such as a fork. */
function isOtherRepository(remoteUrl: string | undefined, repo: Repository): boolean {
  const pushed = remoteUrl === undefined ? undefined : readRepositoryAddress(remoteUrl)?.repo
  return pushed !== undefined && !isSameRepository(pushed, repo)
}

/** Returns the pull requests whose head is the commit that the remote has, or why they are not known. */
async function findByCommit(
  { from }: PushedBranch,
  { queue: { repo }, cli: { host }, remaining }: GuardedQueue,
): Promise<readonly number[] | string> {
  const heads = await listHeads(host, repo, '*', remaining())
  if (typeof heads === 'string') return heads
  return [...heads].flatMap(([pr, head]) => (head === from ? [Number(pr)] : []))
}

interface FoundPullRequest {
  /** The record of the pull request that a push would remove from the queue. */
  readonly record?: JsonObject
  /** Whether its base is the pushed branch, and not its head. */
  readonly isAbove?: boolean
  /** Why only the name of the branch was looked up. */
  readonly problem?: string
}

/**
 * Finds the pull request that a push would remove from the queue: one of the branch itself, or one that is stacked on it.
 */
async function findQueuedPullRequest(push: PushedBranch, guarded: GuardedQueue): Promise<FoundPullRequest> {
  const { queue, remoteUrl, cli, limits } = guarded
  const { branch, from } = push
  const read = async (values: { readonly head: string } | { readonly pr: number }) => {
    const all = { ...queue, ...values }
    const found = await readIfFound(cli.client(), getSubmittedPullRequest, all, { limits })
    return found !== undefined && isQueuedRecord(found) ? found : undefined
  }
  const record = await read({ head: branch })
  // Two forks may have branches of the same name: the head commit identifies the pull request.
  const head = getString(record, 'prSha')?.toLowerCase() ?? ''
  const isOfOtherFork = !from.startsWith(head) && isOtherRepository(remoteUrl, queue.repo)
  if (record !== undefined && !isOfOtherFork) return { record }
  // The service may call its head branch something else, or know that of another fork.
  const numbers = await findByCommit(push, guarded)
  for (const pr of typeof numbers === 'string' ? [] : numbers) {
    const found = await read({ pr })
    if (found !== undefined) return { record: found }
  }
  const above = await findAbove(push, guarded)
  if (above !== undefined) return { record: above, isAbove: true }
  return typeof numbers === 'string' ? { problem: numbers } : {}
}

/** Returns the queue's record of a pull request whose base is the pushed branch: a push to its stack removes it. */
async function findAbove(
  { branch }: PushedBranch,
  { queue, remoteUrl, readQueue }: GuardedQueue,
): Promise<JsonObject | undefined> {
  // A branch of a fork is no base of a stack.
  if (branch === queue.targetBranch || isOtherRepository(remoteUrl, queue.repo)) return undefined
  const entries = queueEntries((await readQueue()) ?? {})
  return entries.find(({ record }) => record.prBaseBranch === branch && isQueuedRecord(record))?.record
}

/**
 * Returns the error that blocks a push: what the pull request would lose, such as
 * `#7 has been testing for 4m, position 2 of 5 in the queue for main`, and how to continue.
 */
async function createBlockedPushError(
  record: JsonObject,
  isAbove: boolean,
  { branch, isDeletion }: PushedBranch,
  { queue, cli, isCheck, readQueue }: GuardedQueue,
): Promise<MergeqError> {
  const liveQueue = await readQueue().catch(() => undefined)
  const numbers = typeof record.prNumber === 'number' ? [record.prNumber] : []
  const name = numbers.length === 0 ? 'its pull request' : `#${numbers.join()}`
  const state = getString(record, 'state') ?? 'in an unknown state'
  const elapsed = elapsedSince(getString(record, 'stateChangedAt'), cli.serviceTime.now())
  const words = stateWords(state)
  const isNotReady = normalizeState(state) === 'NOT_READY'
  const lasting =
    elapsed === undefined
      ? `is ${words}`
      : normalizeState(state) === 'TESTS_PASSED'
        ? `passed its tests ${formatAge(elapsed)} ago`
        : `has been ${words} for ${formatAge(elapsed)}`
  const entries = queueEntries(liveQueue ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place = position === undefined ? '' : `position ${position} of ${entries.length} `
  const inQueue = `in the queue for ${queue.targetBranch}`
  const standing =
    isNotReady && elapsed !== undefined
      ? `has been ${inQueue} for ${formatAge(elapsed)} (not ready yet)`
      : `${lasting}, ${place}${inQueue}`
  const loss = isUnderTest(state) ? 'its position and its test run' : 'its position'
  const hasPosition = !isNotReady
  const lossOfCancel = hasPosition ? ' (it loses its position too)' : ''
  const next = isDeletion ? 'delete the branch' : `push and submit it again${lossOfCancel}`
  const { commandLine } = cli.settings
  return new MergeqError(
    'check-failed',
    [
      ...(isCheck ? [] : [`The ${isDeletion ? 'deletion' : 'push'} of ${branch} was blocked:`]),
      ...(isAbove ? [`${name} is stacked on ${branch}.`] : []),
      `${isAbove ? 'It' : name} ${standing}.`,
      `${isDeletion ? 'Deleting the branch' : 'Pushing'} would remove ${name} from the queue${hasPosition ? ` and lose ${loss}` : ''}.`,
    ].join(' '),
    {
      hint: [
        `Wait until ${name} has finished: ${commandLine(['pr', 'wait', ...numbers], queue)}`,
        `Cancel ${name} first, then ${next}: ${commandLine(['pr', 'cancel', ...numbers], queue)}`,
        ...(isCheck ? [] : ['To push anyway: MERGEQ_GUARD=off git push']),
      ].join('\n'),
    },
  )
}

/** Reads the branches that git writes to the standard input of the hook. */
export async function readPushes({ input }: Host): Promise<readonly PushedBranch[]> {
  if (input.terminal)
    throw usageError(
      '`mergeq guard hook` is a git hook: git runs it and passes the pushed branches.',
      'To install it, run: mergeq guard install\nTo check the current branch, run: mergeq guard check',
    )
  return parsePushes(await readText(input.read(), 'Standard input', maxInput))
}

/** A branch of which only the name was checked, and why, without a full stop. */
interface UncheckedCommit {
  readonly branch: string
  readonly problem: string
}

/**
 * Checks pushed branches. Throws the error that blocks the push, otherwise the error of the first branch that could not
 * be checked; returns those of which only the name was checked.
 */
export async function guardPush(
  pushes: readonly PushedBranch[],
  remoteUrl: string | undefined,
  isCheck: boolean,
  cli: Cli,
): Promise<readonly UncheckedCommit[]> {
  const { host, options, settings } = cli
  if (pushes.length === 0) return []
  await settings.checkStore()
  const queue = { repo: await settings.require('repo'), targetBranch: await settings.require('targetBranch') }
  if (options.dryRun) {
    const values = pushes.slice(0, 1).map(({ branch }) => ({ ...queue, head: branch }))
    await printRequests(cli, getSubmittedPullRequest, values)
    return []
  }
  const deadline = host.clock.monotonic() + Math.min(maxWait, options.timeout ?? maxWait)
  const remaining = () => Math.max(1, deadline - host.clock.monotonic())
  const limits = { maxRetries: 0, timeout: remaining }
  const readQueue = memoize(() => readIfFound(cli.client(), getQueue, queue, { limits }))
  const guarded = { queue, remoteUrl, cli, isCheck, limits, remaining, readQueue }
  const failures: MergeqError[] = []
  const unchecked: UncheckedCommit[] = []
  for (const push of pushes) {
    const found = await findQueuedPullRequest(push, guarded).catch((error): FoundPullRequest => {
      failures.push(failureOrThrow(error))
      return {}
    })
    const { record, isAbove = false, problem } = found
    host.interrupted.throwIfAborted()
    if (record !== undefined) throw await createBlockedPushError(record, isAbove, push, guarded)
    if (problem !== undefined) unchecked.push({ branch: push.branch, problem })
  }
  const [failure] = failures
  if (failure !== undefined) throw failure
  return unchecked
}
