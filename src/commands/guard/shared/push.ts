import { readIfFound } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { getSubmittedPullRequests } from '../../../api/operations/several-pull-requests.ts'
import type { ParamValues } from '../../../api/params.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import { failureOrThrow, MergeqError, usageError } from '../../../base/errors.ts'
import { getString, type JsonObject } from '../../../base/json.ts'
import { mapConcurrent, maxConcurrent, memoize } from '../../../base/scheduling.ts'
import type { Cli, TimeLimit } from '../../../command/command.ts'
import { printRequests } from '../../../command/dry-run.ts'
import { listHeads } from '../../../config/git.ts'
import { queueEntries } from '../../../domain/queue-entries.ts'
import { isUnderTest, normalizeState, outcomeOfRecord, stateWords } from '../../../domain/states.ts'
import type { Host } from '../../../host/host.ts'
import { elapsedSince, formatAge, formatInteger } from '../../../values/format.ts'
import { isSameRepository, readRepositoryAddress } from '../../../values/repository.ts'
import { readText } from '../../../values/text.ts'

export interface PushedBranch {
  readonly branch: string
  readonly isDeletion: boolean
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

/** The delay of a push; --timeout can lower it. */
const maxDelay: TimeLimit = { default: '3s', isMaximum: true }

/** What the commands that guard a push have in common. */
export const guarding = {
  alsoSends: [getQueue, getSubmittedPullRequests, getSubmittedPullRequest],
  settings: 'optional',
  timeLimit: () => maxDelay,
  isImpatient: true,
  prints: 'nothing; messages go to standard error',
} as const

const maxSingleReads = 20

const maxInput = 1024 * 1024

interface GuardedQueue {
  readonly queue: ParamValues<typeof getQueue.params>
  /** Whether the remote of the push is another repository, such as a fork. */
  readonly isFork: boolean
  readonly cli: Cli
  /** Whether a person only asks, with `guard check`. */
  readonly isCheck: boolean
  /** No retries; no attempt ends after the time that a push may be delayed. */
  readonly limits: RequestLimits
  /** Keeps the first error of a read, which lets the push go on; throws the one that blocks the push. */
  noteFailure(error: unknown): undefined
  /** Reads the queue, once for all branches; undefined if there is none. */
  readQueue(): Promise<JsonObject | undefined>
}

/** A pushed branch, and the pull requests whose head is the commit that the remote has. */
interface NamedPush {
  readonly push: PushedBranch
  readonly prs: readonly number[]
}

interface BlockingPullRequest {
  readonly push: PushedBranch
  readonly record: JsonObject
  /** Whether its base is the pushed branch, and not its head. */
  readonly isAbove?: boolean
}

/** Throws the error that blocks the push if the queue lists a pull request of a branch, or one that is stacked on it. */
async function checkListed(pushes: readonly NamedPush[], guarded: GuardedQueue): Promise<void> {
  const { queue, isFork, readQueue } = guarded
  const entries = queueEntries((await readQueue()) ?? {}).filter(({ record }) => isQueuedRecord(record))
  const entryOf = new Map(entries.map(({ pr, record }) => [pr, record]))
  // A branch of a fork is no base of a stack, and neither is the target branch.
  const isBase = ({ branch }: PushedBranch) => branch !== queue.targetBranch && !isFork
  const aboveOf = new Map(entries.map(({ record }) => [record.prBaseBranch, record]))
  for (const { push, prs } of pushes) {
    const record = prs.map(pr => entryOf.get(pr)).find(found => found !== undefined)
    if (record !== undefined) throw await blockedPushError({ push, record }, guarded)
    const above = isBase(push) ? aboveOf.get(push.branch) : undefined
    if (above !== undefined) throw await blockedPushError({ push, record: above, isAbove: true }, guarded)
  }
}

/** One pull request that the queue does not list, as it is not ready: by its number, or by its head branch. */
interface Question {
  readonly push: PushedBranch
  readonly values: { readonly pr: number } | { readonly head: string }
}

/** Asks for unlisted pull requests, several at a time; returns what must be asked for alone. */
async function checkSeveral(
  pushes: readonly NamedPush[],
  guarded: GuardedQueue,
): Promise<readonly Question[]> {
  const { queue, cli, limits } = guarded
  const { partsToRead, severalReader } = await import('../../../api/reads/several-pull-requests.ts')
  const readSeveral = severalReader(cli.client())
  const asked = pushes.flatMap(({ push, prs }) => prs.map(pr => ({ push, pr })))
  const answered = new Set<number>()
  for (const part of partsToRead(asked)) {
    if (cli.time?.hasTime() === false) break
    const numbers = part.map(({ pr }) => pr)
    const several = await readSeveral(queue, numbers, { limits })
    if (several === undefined) break
    for (const { push, pr } of part) {
      const record = several.records.get(pr)
      if (record !== undefined && isQueuedRecord(record))
        throw await blockedPushError({ push, record }, guarded)
      if (record !== undefined || several.notFound.has(pr)) answered.add(pr)
    }
  }
  const alone = asked.filter(({ pr }) => !answered.has(pr)).map(({ push, pr }) => ({ push, values: { pr } }))
  const unnamed = pushes.filter(({ prs }) => prs.length === 0)
  return [...alone, ...unnamed.map(({ push }) => ({ push, values: { head: push.branch } }))]
}

/** Asks for pull requests one at a time, while the time lasts. Returns how many were asked for. */
async function checkAlone(questions: readonly Question[], guarded: GuardedQueue): Promise<number> {
  const { queue, isFork, cli, limits, noteFailure } = guarded
  let asked = 0
  const hasTime = () => cli.time?.hasTime() !== false
  const ask = async ({ push, values }: Question) => {
    asked++
    const all = { ...queue, ...values }
    const record = await readIfFound(cli.client(), getSubmittedPullRequest, all, { limits }).catch(
      noteFailure,
    )
    if (record === undefined || !isQueuedRecord(record)) return
    // Two forks may have branches of the same name: the head commit identifies the pull request.
    const head = getString(record, 'prSha')?.toLowerCase() ?? ''
    const isOther = 'head' in values && !push.from.startsWith(head)
    if (isOther && isFork) return
    throw await blockedPushError({ push, record }, guarded)
  }
  for await (const _ of mapConcurrent(questions.slice(0, maxSingleReads), maxConcurrent, ask, hasTime));
  return asked
}

/** Returns the error that blocks a push: what the pull request would lose, and how to continue. */
async function blockedPushError(
  { push: { branch, isDeletion }, record, isAbove = false }: BlockingPullRequest,
  { queue, cli, isCheck, readQueue }: GuardedQueue,
): Promise<MergeqError> {
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
  const entries = queueEntries((await readQueue().catch(() => undefined)) ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place = position === undefined ? '' : `position ${position} of ${entries.length} `
  const inQueue = `in the queue for ${queue.targetBranch}`
  const standing =
    isNotReady && elapsed !== undefined
      ? `has been ${inQueue} for ${formatAge(elapsed)} (not ready yet)`
      : `${lasting}, ${place}${inQueue}`
  const loss = isUnderTest(state) ? 'its position and its test run' : 'its position'
  const lossOfCancel = isNotReady ? '' : ' (it loses its position too)'
  const next = isDeletion ? 'delete the branch' : `push and submit it again${lossOfCancel}`
  const { commandLine } = cli.settings
  return new MergeqError(
    'check-failed',
    [
      ...(isCheck ? [] : [`The ${isDeletion ? 'deletion' : 'push'} of ${branch} was blocked:`]),
      ...(isAbove ? [`${name} is stacked on ${branch}.`] : []),
      `${isAbove ? 'It' : name} ${standing}.`,
      `${isDeletion ? 'Deleting the branch' : 'Pushing'} would remove ${name} from the queue${isNotReady ? '' : ` and lose ${loss}`}.`,
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

export async function readPushes({ input }: Host): Promise<readonly PushedBranch[]> {
  if (input.terminal)
    throw usageError(
      '`mergeq guard hook` is a git hook: git runs it and passes the pushed branches.',
      'To install it, run: mergeq guard install\nTo check the current branch, run: mergeq guard check',
    )
  return parsePushes(await readText(input.read(), 'Standard input', maxInput))
}

/** Throws the error that blocks a push; returns why only the names of the branches were checked, if so. */
export async function guardPush(
  pushes: readonly PushedBranch[],
  remoteUrl: string | undefined,
  isCheck: boolean,
  cli: Cli,
): Promise<string | undefined> {
  const { host, options, settings } = cli
  if (pushes.length === 0) return undefined
  await settings.checkStore()
  const queue = { repo: await settings.require('repo'), targetBranch: await settings.require('targetBranch') }
  if (options.dryRun) {
    const values = pushes.slice(0, 1).map(({ branch }) => ({ ...queue, head: branch }))
    await printRequests(cli, getSubmittedPullRequest, values)
    return undefined
  }
  const timeout = (usual: number) => Math.min(usual, Math.max(1, cli.time?.left() ?? usual))
  const limits = { maxRetries: 0, timeout }
  const readQueue = memoize(() => readIfFound(cli.client(), getQueue, queue, { limits }))
  // A pull request in the queue blocks the push at once. Another failure, such as an outage, is kept and thrown when all
  // reads are done, as a later read may still find such a pull request. (The hook lets the push go on after it.)
  let failure: MergeqError | undefined
  const noteFailure = (error: unknown): undefined => {
    const found = failureOrThrow(error)
    if (found.kind === 'check-failed') throw found
    failure ??= found
  }
  const pushed = remoteUrl === undefined ? undefined : readRepositoryAddress(remoteUrl)?.repo
  const isFork = pushed !== undefined && !isSameRepository(pushed, queue.repo)
  const guarded = { queue, isFork, cli, isCheck, limits, readQueue, noteFailure }
  // The service may call its head branch something else, or know that of another fork.
  const heads = await listHeads(host, queue.repo, '*')
  if (cli.time?.hasTime() === false)
    throw new MergeqError(
      'unavailable',
      'git used all the time that a check may take; the queue was not read.',
    )
  const named = namePushes(pushes, typeof heads === 'string' ? new Map() : heads)
  await checkListed(named, guarded).catch(noteFailure)
  const unlisted = (await checkSeveral(named, guarded).catch(noteFailure)) ?? []
  const unasked = unlisted.length - (await checkAlone(unlisted, guarded))
  if (failure !== undefined) throw failure
  if (unasked > 0)
    throw new MergeqError(
      'unavailable',
      `${formatInteger(unasked)} of ${formatInteger(pushes.length)} branches were not asked for.`,
    )
  return typeof heads === 'string' ? heads : undefined
}

function namePushes(
  pushes: readonly PushedBranch[],
  heads: ReadonlyMap<string, string>,
): readonly NamedPush[] {
  const numbers = new Map<string, number[]>()
  for (const [pr, head] of heads) numbers.set(head, [...(numbers.get(head) ?? []), Number(pr)])
  return pushes.map(push => ({ push, prs: numbers.get(push.from) ?? [] }))
}
