import { withTimeline } from '../api/extra-reads.ts'
import { readTestRun } from '../api/test-run-reads.ts'
import { formatDuration } from '../domain/format.ts'
import { type Explained, explainState, isFailureOfTestRun } from '../domain/reasons.ts'
import type { ServiceWords } from '../domain/service-words.ts'
import { isStacked } from '../domain/stacks.ts'
import {
  isFailedOrCancelled,
  kindOfOutcome,
  stateOf,
  stateWords,
  type WaitOutcome,
} from '../domain/states.ts'
import type { FailingCheck } from '../domain/test-run.ts'
import { urlOfPullRequest } from '../domain/values/pull-request.ts'
import { isSameRepository, repositoryName } from '../domain/values/repository.ts'
import {
  isPaused,
  missingState,
  type StateChange,
  type WaitEnd,
  type WaitOptions,
} from '../domain/wait-state.ts'
import { exitCodeOf } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { unwatchedNote } from './attempts.ts'
import { causeTime } from './readings.ts'
import type { Wait, WaitTarget } from './wait-target.ts'

/** The largest number of pull requests whose failing checks are read: each costs a request. */
const maxFailingReads = 10

/** The result of a wait for a pull request (docs/reference/cli.md, "Waiting"). */
export interface WaitResult {
  readonly target: WaitTarget
  readonly exit: number
  /** The sentence about the end; the record of an error has the sentence of the error instead. */
  readonly reason: string
  readonly failingChecks: readonly FailingCheck[]
  readonly record: JsonObject
}

/** Returns a change as a record. A change without a time gets `now`, in milliseconds since 1970. */
export const changeRecord = (pr: number, { from, to, at, position }: StateChange, now: number) => ({
  type: 'change' as const,
  pr,
  from: from ?? null,
  to,
  at: at ?? new Date(now).toISOString(),
  position: position ?? null,
})

/** Returns the result of a pull request whose wait has ended; it may read the failing checks. */
export async function createResult(
  target: WaitTarget,
  end: WaitEnd,
  wait: Wait,
  readsFailingChecks = true,
): Promise<WaitResult> {
  const { client, options, time } = wait
  const { pr, repo, targetBranch } = target.request.values
  const { outcome, failure } = end
  const elapsed = time.elapsed()
  const isDefaultRepository = await client.settings.read('repo').then(
    given => given !== undefined && isSameRepository(given, repo),
    () => false,
  )
  const isFailed = outcome === 'failed' || (outcome === 'left' && target.state.state === 'FAILED')
  const isOver =
    outcome === 'cancelled' ||
    isFailed ||
    (outcome === 'left' && isFailedOrCancelled(target.state.state ?? ''))
  const { failingChecks, words, sentence } = await readCause(target, wait, isOver && readsFailingChecks)
  const mayBeMerged = words.mayBeMerged && outcome !== 'left'
  const kind = outcome === 'error' ? failure?.kind : mayBeMerged ? 'unknown-outcome' : kindOfOutcome[outcome]
  const exit = failure?.exit ?? exitCodeOf(kind ?? 'internal')
  const head = options.head ?? target.attempt?.head
  const isUnwatched = outcome === 'timed-out' && options.head !== undefined
  const note = mayBeMerged
    ? `It may have merged all the same. Look at ${targetBranch} before you submit it again`
    : isUnwatched
      ? unwatchedNote
      : end.note
  const cause = isOver && failingChecks.length === 0 ? sentence : undefined
  const remarks = [cause?.replace(/\.$/, ''), note].filter(remark => remark !== undefined).join('. ')
  const ended = { ...end, ...(remarks !== '' && { note: remarks }) }
  const reason = describeEnd(target, ended, elapsed, { head })
  const record = {
    type: 'result',
    pr,
    // A script needs the repository to pass such a result to another command.
    ...(isDefaultRepository ? {} : { repo: repositoryName(repo) }),
    title: getString(target.record, 'prTitle') ?? null,
    url: urlOfPullRequest(repo, pr),
    outcome,
    state: target.state.state ?? null,
    reason: failure?.message ?? reason,
    ...(isFailed && {
      failingChecks: failingChecks.map(({ name, url = null, conclusion }) => ({ name, url, conclusion })),
    }),
    ...(isOver && words),
    ...(isStacked(target.record, targetBranch) && { stacked: true }),
    ...(target.attempt && { submitted: target.attempt.submitted }),
    ...(target.attempt && options.attempts !== undefined && { attempts: target.attempt.number }),
    elapsedSeconds: Math.floor(elapsed / 1_000),
    exit,
  }
  return { target, exit, reason, failingChecks, record }
}

/** Why a pull request left the queue. */
interface Cause {
  readonly failingChecks: readonly FailingCheck[]
  readonly words: ServiceWords
  /** What the service says, in a sentence. */
  readonly sentence: string | undefined
}

/** Returns the sentence about what the service says; undefined if it says nothing. */
const sentenceOf = ({ words, sentence }: Explained): string | undefined =>
  words.serviceReason === null && words.actor === null ? undefined : (sentence ?? undefined)

/**
 * Reads why a pull request failed or was cancelled, with the failing checks that explain it: once, within the limits of
 * a poll and five seconds. If a request fails, or `mayRead` is false, it is what the record says.
 */
async function readCause(
  { request, record = {} }: WaitTarget,
  { client, limits, time, failingReads }: Wait,
  mayRead: boolean,
): Promise<Cause> {
  const explained = explainState(record)
  const unread = { failingChecks: [], words: explained.words, sentence: sentenceOf(explained) }
  if (!mayRead || !time.hasTime() || failingReads.size >= maxFailingReads) return unread
  failingReads.add(request)
  const { clock } = client.host
  const deadline = clock.monotonic() + causeTime
  const timeout = (usual: number) => Math.min(usual, Math.max(1, deadline - clock.monotonic()))
  const readLimits = { ...limits, timeout }
  try {
    const detailed = await withTimeline(client, record, request.values, { limits: readLimits })
    const isOfRun = stateOf(record) === 'FAILED' && isFailureOfTestRun(explainState(detailed))
    const { run } = isOfRun ? await readTestRun(detailed, request.values, client, readLimits) : {}
    const known = explainState(detailed, run)
    return { failingChecks: run?.failingChecks ?? [], words: known.words, sentence: sentenceOf(known) }
  } catch {
    return unread
  }
}

/** Returns the first seven digits of two commits, or more if these are equal. */
export function shortCommits(expected: string, found: string): readonly [expected: string, found: string] {
  const length = expected.slice(0, 7) === found.slice(0, 7) ? 64 : 7
  return [expected.slice(0, length), found.slice(0, length)]
}

/**
 * Returns the sentence about the end of a wait: `#7 merged after 6m52s`, `#7 is already merged`. `elapsed` is
 * how long the wait lasted, in milliseconds.
 */
export function describeEnd(
  target: Pick<WaitTarget, 'request' | 'state' | 'record' | 'queue'>,
  { outcome, isSkipped = false, isFirstReading = false, note }: WaitEnd,
  elapsed: number,
  { head = '' }: Pick<WaitOptions, 'head'>,
): string {
  const pr = `#${target.request.values.pr}`
  if (isSkipped) return `mergeq did not wait for ${pr}`
  const hasState = target.state.state !== undefined
  const isRead = hasState || target.state.missingSince !== undefined
  const state = target.state.state === undefined ? missingState(target.state) : stateWords(target.state.state)
  const after = ` after ${formatDuration(elapsed)}`
  const [expected, found] = shortCommits(head, getString(target.record, 'prSha') ?? '')
  const sentences: Readonly<Record<WaitOutcome, string>> = {
    merged: `${pr} merged${after}`,
    reached: `${pr} reached the requested state${after} (${state})`,
    left: `${pr} left the queue${after} (${state})`,
    failed: `${pr} failed${after}`,
    cancelled: `${pr} was cancelled${after}`,
    'timed-out': `The wait for ${pr} timed out${after}${hasState ? `, still ${state}` : ` (${state})`}`,
    stale:
      target.state.state === 'MERGED'
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
  const isHeld = (outcome === 'timed-out' || outcome === 'pending') && isPaused(target.queue)
  const whole = isHeld ? `${sentence}: the queue is paused` : sentence
  return note === undefined ? whole : `${whole}. ${note}`
}
