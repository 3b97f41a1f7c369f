import type { Infer } from '../api/operations/fields.ts'
import { getQueue } from '../api/operations/queues.ts'
import { tryRead, withTimeline } from '../api/reads/extra-reads.ts'
import { readTestRunOf } from '../api/reads/test-run.ts'
import { type RequestLimits, type ServiceClient, withoutMessages } from '../api/service-client.ts'
import { exitCodeOf, extendError, type MergeqError } from '../base/errors.ts'
import { getString } from '../base/json.ts'
import { type Explained, explainState, isFailureOfTestRun, mayHaveMerged } from '../domain/reasons/reasons.ts'
import { isStacked } from '../domain/stacks.ts'
import {
  isFailedOrCancelled,
  isUnderTest,
  kindOfOutcome,
  stateOf,
  stateWords,
  type WaitOutcome,
} from '../domain/states.ts'
import { approvalText, type FailingCheck } from '../domain/test-run.ts'
import { shortCommits } from '../values/commit.ts'
import { formatDuration, shorten } from '../values/format.ts'
import { type PullRequest, urlOfPullRequest } from '../values/pull-request.ts'
import { isSameRepository, repositoryName } from '../values/repository.ts'
import { causeTime } from './readings.ts'
import type { changeRecord, PrintedResult } from './records.ts'
import type { SubmitOptions, Wait } from './wait.ts'
import { unwatchedNote } from './wait-errors.ts'
import {
  type Attempt,
  absenceOf,
  isBetweenAttempts,
  isPaused,
  missingState,
  type StateChange,
  submittedHead,
  type TrackedPullRequest,
  type WaitEnd,
  type WaitOptions,
  wasSubmitted,
} from './wait-state.ts'

/** The largest number of pull requests whose failing checks are read: each costs a request. */
const maxFailingReads = 10

/** The result of a wait for a pull request (docs/reference/cli.md, "Waiting"). */
export interface WaitResult {
  readonly tracked: TrackedPullRequest
  readonly end: WaitEnd
  /** Whether it failed or was cancelled, and may have merged all the same. */
  readonly mayBeMerged: boolean
  /** The sentence about the end; the record of an error has the sentence of the error instead. */
  readonly reason: string
  readonly failingChecks: readonly FailingCheck[]
  readonly record: PrintedResult
}

/** Returns a change as a record. A change without a time gets `now`, in milliseconds since 1970. */
export const waitChangeRecord = (
  pr: number,
  { from, to, at, position }: StateChange,
  now: number,
): Infer<typeof changeRecord> => ({
  type: 'change',
  pr,
  from: from ?? null,
  to,
  at: at ?? new Date(now).toISOString(),
  position: position ?? null,
})

/** `#7: attempt 2 of 3. The base branch changed.` */
export const describeAttempt = (
  { pr }: PullRequest,
  attempt: number,
  reason: string,
  { submitOptions }: Wait,
): string => `#${pr}: attempt ${attempt} of ${submitOptions?.attempts}. ${reason}`

/** Why a pull request failed or was cancelled, as far as it was read. */
interface Cause extends Pick<WaitResult, 'failingChecks'>, Pick<Explained, 'words'> {
  readonly sentence: string | undefined
}

interface ReadForResult {
  /** How long the wait lasted, in milliseconds. */
  readonly elapsed: number
  readonly isDefaultRepository: boolean
  readonly cause: Cause
}

/** Returns the result of a pull request whose wait has ended; it may read the failing checks. */
export async function createResult(
  tracked: TrackedPullRequest,
  end: WaitEnd,
  wait: Wait,
  readsFailingChecks = true,
): Promise<WaitResult> {
  const elapsed = wait.time.elapsed()
  const isDefaultRepository = await wait.client.settings.read('repo').then(
    given => given !== undefined && isSameRepository(given, tracked.pullRequest.repo),
    () => false,
  )
  const hasFailed = isFailedOrCancelled(endStateOf(tracked, end))
  const cause = await readCause(tracked, wait, hasFailed && readsFailingChecks)
  return describeResult(tracked, end, wait, { elapsed, isDefaultRepository, cause })
}

const endStateOf = ({ seen }: TrackedPullRequest, { outcome }: WaitEnd): string =>
  outcome === 'left' ? (seen.state ?? '') : outcome.toUpperCase()

/** Makes the result of what was read: its exit code, the sentence about it and its record. */
function describeResult(
  tracked: TrackedPullRequest,
  end: WaitEnd,
  { options, submitOptions }: Pick<Wait, 'options' | 'submitOptions'>,
  { elapsed, isDefaultRepository, cause }: ReadForResult,
): WaitResult {
  const { failingChecks, words } = cause
  const { attempt, record, seen } = tracked
  const { pr, repo, targetBranch } = tracked.pullRequest
  const { outcome, failure } = end
  const endState = endStateOf(tracked, end)
  const hasFailed = isFailedOrCancelled(endState)
  const mayBeMerged = outcome !== 'left' && (words.mayBeMerged ?? hasFailed)
  const kind = mayBeMerged ? 'unknown-outcome' : outcome === 'error' ? 'internal' : kindOfOutcome[outcome]
  const remarks = [
    hasFailed && failingChecks.length === 0 ? cause.sentence?.replace(/\.$/, '') : undefined,
    mayBeMerged ? mergedNote(targetBranch, words) : endNote(end, options),
  ].filter(remark => remark !== undefined)
  const ended = { ...end, ...(remarks.length > 0 && { note: remarks.join('. ') }) }
  const kept = seen.state === 'MERGED' ? submittedHead(attempt) : attempt.head
  const reason = describeEnd(tracked, ended, elapsed, { head: options.head ?? kept })
  const printed: PrintedResult = {
    type: 'result',
    pr,
    // A script needs the repository to pass such a result to another command.
    ...(!isDefaultRepository && { repo: repositoryName(repo) }),
    title: getString(record, 'prTitle') ?? null,
    url: urlOfPullRequest(repo, pr),
    outcome,
    state: seen.state ?? null,
    reason: failure?.message ?? reason,
    ...(endState === 'FAILED' && {
      failingChecks: failingChecks.map(({ name, url = null, conclusion }) => ({ name, url, conclusion })),
    }),
    ...(hasFailed && words),
    ...(isStacked(record, targetBranch) && { stacked: true }),
    ...(submitOptions && submissionFields(attempt, submitOptions)),
    elapsedSeconds: Math.floor(elapsed / 1_000),
    exit: failure?.exit ?? exitCodeOf(kind),
  }
  return { tracked, end, mayBeMerged: hasFailed && mayBeMerged, reason, failingChecks, record: printed }
}

function mergedNote(targetBranch: string, { mayBeMerged }: Explained['words']): string {
  const unread = mayBeMerged === null ? 'Why it ended could not be read. ' : ''
  return `${unread}It may have merged all the same. Look at ${targetBranch} before you submit it again`
}

const endNote = ({ outcome, note }: WaitEnd, { head }: WaitOptions): string | undefined =>
  outcome === 'timed-out' && head !== undefined ? unwatchedNote : note

/** What a result says of the submissions of a pull request. */
const submissionFields = (attempt: Attempt, { attempts }: SubmitOptions) => ({
  submitted: wasSubmitted(attempt),
  ...(attempt.number === 1 && attempt.wasQueued !== undefined && { wasQueued: attempt.wasQueued }),
  ...(attempts !== undefined && { attempts: attempt.number }),
})

/** Returns the sentence about what the service says; undefined if it says nothing. */
const sentenceOf = ({ words, sentence }: Explained): string | undefined =>
  words.serviceReason === null && words.actor === null ? undefined : (sentence ?? undefined)

/**
 * Reads why a pull request failed or was cancelled, with the failing checks that explain it: once, within the limits of
 * a poll and five seconds. If a request fails, or `mayRead` is false, it is what the record says.
 */
async function readCause(
  { pullRequest, record = {} }: TrackedPullRequest,
  { client, limits, time, failingReads }: Wait,
  mayRead: boolean,
): Promise<Cause> {
  const explained = explainState(record)
  const words = { ...explained.words, mayBeMerged: mayHaveMerged(record) }
  const unread = { failingChecks: [], words, sentence: sentenceOf(explained) }
  if (!mayRead || !time.hasTime() || failingReads.size >= maxFailingReads) return unread
  failingReads.add(pullRequest)
  const { clock } = client.host
  const deadline = clock.monotonic() + causeTime
  const timeout = (usual: number) => Math.min(usual, Math.max(1, deadline - clock.monotonic()))
  const readLimits = { ...limits, timeout }
  try {
    const detailed = await withTimeline(client, record, pullRequest, { limits: readLimits })
    if (mayHaveMerged(detailed) === null) return unread
    const isOfRun = stateOf(record) === 'FAILED' && isFailureOfTestRun(explainState(detailed))
    const { run } = isOfRun ? await readTestRunOf(detailed, pullRequest, client, readLimits) : {}
    const known = explainState(detailed, run)
    return { failingChecks: run?.failingChecks ?? [], words: known.words, sentence: sentenceOf(known) }
  } catch {
    return unread
  }
}

/** The time for what a person is told of a wait that gave up, in milliseconds: for each read. */
const openReasonTime = 1_000

/**
 * Reads, for a person, what holds a pull request whose wait gave up: a paused queue, or else checks that wait for a
 * manual approval.
 */
export async function withOpenReasons(
  tracked: TrackedPullRequest,
  end: WaitEnd,
  { client }: Wait,
): Promise<{ readonly tracked: TrackedPullRequest; readonly end: WaitEnd }> {
  const { pullRequest, record } = tracked
  if (end.outcome !== 'timed-out' && end.outcome !== 'pending') return { tracked, end }
  const limits = { maxRetries: 0, timeout: () => openReasonTime }
  const { repo, targetBranch } = pullRequest
  const { record: queue = tracked.queue } =
    tracked.queue === undefined && record !== undefined
      ? await tryRead(withoutMessages(client), getQueue, { repo, targetBranch }, { limits })
      : {}
  const withQueue = { ...tracked, queue }
  if (end.note !== undefined || isPaused(queue)) return { tracked: withQueue, end }
  const note = await readApprovals(tracked, client, limits).catch(() => {
    client.host.interrupted.throwIfAborted()
    return undefined
  })
  return { tracked: withQueue, end: note === undefined ? end : { ...end, note } }
}

/** Returns which checks of a pull request under test wait for a manual approval, as a sentence without a full stop. */
async function readApprovals(
  { pullRequest, record = {} }: TrackedPullRequest,
  client: ServiceClient,
  limits: RequestLimits,
): Promise<string | undefined> {
  const state = stateOf(record)
  if (!isUnderTest(state)) return undefined
  const detailed = await withTimeline(client, record, pullRequest, { limits, states: [state] })
  const { run } = await readTestRunOf(detailed, pullRequest, client, limits)
  const names = (run?.awaitingApproval ?? []).map(name => shorten(name))
  return names.length === 0 ? undefined : approvalText(names)
}

/**
 * Returns the sentence about the end of a wait: `#7 merged after 6m52s`, `#7 is already merged`. `elapsed` is
 * how long the wait lasted, in milliseconds.
 */
export function describeEnd(
  tracked: TrackedPullRequest,
  { outcome, isSkipped = false, isFirstReading = false, note }: WaitEnd,
  elapsed: number,
  { head = '' }: Pick<WaitOptions, 'head'>,
): string {
  const pr = `#${tracked.pullRequest.pr}`
  if (isSkipped) return `mergeq did not wait for ${pr}`
  const hasState = tracked.seen.state !== undefined
  const isRead = hasState || absenceOf(tracked) !== undefined
  const state = tracked.seen.state === undefined ? missingState(tracked) : stateWords(tracked.seen.state)
  const after = ` after ${formatDuration(elapsed)}`
  const [expected, found] = shortCommits(head, getString(tracked.record, 'prSha') ?? '')
  const sentences: Readonly<Record<WaitOutcome, string>> = {
    merged: `${pr} merged${after}`,
    reached: `${pr} reached the requested state${after} (${state})`,
    left: `${pr} left the queue${after} (${state})`,
    failed: `${pr} failed${after}`,
    cancelled: `${pr} was cancelled${after}`,
    'timed-out': `The wait for ${pr} timed out${after}${hasState ? `, still ${state}` : ` (${state})`}`,
    stale:
      tracked.seen.state === 'MERGED'
        ? `${pr} merged at ${found}, not at ${expected}`
        : `The head of ${pr} moved: expected ${expected}, found ${found}`,
    pending: hasState ? `${pr} is still ${state}` : `${pr} has not finished (${state})`,
    error: `${pr} could not be checked${isRead ? ` (${state})` : ''}`,
  }
  /** About what the first reading showed: nothing changed while the wait lasted. */
  const sentencesAtFirst: Partial<typeof sentences> = {
    merged: `${pr} is already merged`,
    reached: `${pr} has already reached the requested state (${state})`,
    left: `${pr} has already left the queue (${state})`,
    failed: `${pr} has already failed`,
    cancelled: `${pr} is already cancelled`,
  }
  const sentence = (isFirstReading ? sentencesAtFirst[outcome] : undefined) ?? sentences[outcome]
  const isHeld = (outcome === 'timed-out' || outcome === 'pending') && isPaused(tracked.queue)
  const whole = isHeld ? `${sentence}: the queue is paused` : sentence
  return note === undefined ? whole : `${whole}. ${note}`
}

/** Creates the error for a wait that a signal ended, with the commands that go on waiting, and those that cancel. */
export function interruptedWaitError(
  failure: MergeqError,
  all: readonly TrackedPullRequest[],
  { client: { advice }, submitOptions }: Wait,
): MergeqError {
  const between = all
    .filter(isBetweenAttempts)
    .map(({ pullRequest }) => `#${pullRequest.pr} is not in the queue.`)
  const waiting = all.filter(tracked => !isBetweenAttempts(tracked))
  const pullRequestsOf = (some: readonly TrackedPullRequest[]) => some.map(({ pullRequest }) => pullRequest)
  const isSubmitted = ({ attempt }: TrackedPullRequest) => submitOptions === undefined || attempt.number > 0
  const hints = [
    ['To continue waiting, run:', ...advice.toWait(pullRequestsOf(waiting.filter(isSubmitted)))],
    ['To cancel, run:', ...advice.toCancel(pullRequestsOf(waiting))],
  ].filter(({ length }) => length > 1)
  const isSeen = waiting.every(({ seen }) => seen.state !== undefined)
  const subject = waiting.length === 1 ? 'The pull request stays' : 'The pull requests stay'
  const stays = isSeen ? `${subject} in the queue.` : 'Queued pull requests stay in the queue.'
  const note = [...(waiting.length > 0 || between.length === 0 ? [stays] : []), ...between].join(' ')
  return extendError(
    failure,
    hints.length === 0 ? {} : { hint: hints.flat().join('\n') },
    `${failure.message} Only the wait has ended; mergeq cancelled nothing. ${note}`,
  )
}
