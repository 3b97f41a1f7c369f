import {
  doubtfulReason,
  type FaultySandbox,
  type Head,
  type Pull,
  pullKey,
  queueKey,
  type Reading,
  type Scenario,
  type Sending,
  type Version,
} from './faulty-sandbox.ts'
import { noon } from './harness.ts'
import { isQueued } from './operations.ts'

type Result = Readonly<Record<string, unknown>>

/** A reading that is behind shows what was so many milliseconds ago, at most: what was so for longer is known. */
const settled = 6_000

/** The time of the cancellation of what is at another head, in milliseconds. */
const cancellationTime = 30_000

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000 }

interface Facts extends Pick<Scenario, 'skew' | 'dated'> {
  readonly branch: string
  readonly end: number
}

/** The versions of a history between two moments, the one before included. */
const during = <V extends { readonly at: number }>(
  history: readonly V[],
  from: number,
  to: number,
): readonly V[] =>
  history.filter(
    ({ at }, index) =>
      at <= to && (at >= from || (history[index + 1]?.at ?? Number.POSITIVE_INFINITY) > from),
  )

/** The head commit from one moment to another; undefined if it moved. */
function headDuring(heads: readonly Head[], from: number, to: number): string | undefined {
  const [first, ...others] = during(heads, from, to)
  return others.length > 0 ? undefined : first?.sha
}

/** The head that a command line names. */
const givenHead = (line: string): string | undefined => / --match-head (\w+)/.exec(line)?.[1]

/**
 * Whether a pull request had another head than the command line names, or more than one, while it could be read: after a
 * submission, since that was sent. Without dates, nothing tells whether a reading is from before it.
 */
export function hasOtherHead(
  line: string,
  heads: readonly Head[],
  sent: readonly Sending[],
  { end, dated }: Pick<Facts, 'end' | 'dated'>,
): boolean {
  const given = givenHead(line)
  const submitted = dated ? sent.find(({ appliedAt }) => appliedAt !== undefined) : undefined
  const from = given === undefined ? undefined : submitted?.at
  const known = during(heads, from ?? noon - settled, end)
  return given === undefined ? known.length > 1 : known.some(({ sha }) => sha !== given)
}

/**
 * Everything that a command line that waits does or says wrongly about its pull requests
 * (docs/reference/cli.md, "Waiting"), written without the code of the wait.
 */
export function waitContradictions(
  line: string,
  sandbox: FaultySandbox,
  results: readonly Result[],
  { branch, end, skew, dated }: Facts,
): readonly string[] {
  const found: string[] = []
  const [, count, unit = ''] = / --timeout (\d+)([sm])/.exec(line) ?? []
  const limit = Number(count) * (units[unit] ?? 0)
  // The whole command ends with it, but for the cancellation of what is at another head.
  const given = givenHead(line)
  const isCancelled = sandbox.sendings.some(({ operation }) => operation === 'cancelPullRequest')
  const rest = given !== undefined && isCancelled ? cancellationTime + 2_000 : 2_000
  if (limit > 0 && end - noon > limit + rest) found.push(`it took ${end - noon} of ${limit} ms`)
  for (const result of results) {
    const key = pullKey('github.com/acme/web', branch, result.pr)
    const history = sandbox.pulls.get(key) ?? []
    const heads = sandbox.heads.get(key) ?? []
    const shown = shownTo(sandbox, key, skew)
    const sent = sandbox.sendings.filter(one => one.key === key && one.operation === 'submitPullRequest')
    const wrongs = [
      ...whatIsSubmitted(result, sent, history, shown, end, skew),
      ...whichEnd(result, sent, history, end, skew),
      ...outdatedEnd(result, shown),
      ...(result.exit === 8 && line.includes('--fail-on-paused') ? notPaused(sandbox, branch) : []),
      ...missedEnd(result, sent, shown),
      // The wait for another pull request may go on.
      ...unreadWords(result, history, Math.min(end, noon + (Number(result.elapsedSeconds) + 1) * 1_000)),
      ...endOfEarlierAttempt(result, sent, history, end),
      ...howManyAttempts(result, sent, history, end),
      ...whatIsOver(sent, history, shown),
      ...(result.outcome === 'stale' && !hasOtherHead(line, heads, sent, { end, dated })
        ? ['the head never moved']
        : []),
      ...atOtherHead(result, given, sent, history, heads),
      ...(dated ? cancelledOther(sent, sandbox.sendings.filter(isCancellationOf(key)), history) : []),
      ...(line.startsWith('pr land') ? keptHead(result, sent, history, heads, shown) : []),
    ]
    found.push(...wrongs.map(text => `#${result.pr} ${result.outcome} (${result.exit}): ${text}`))
  }
  return found
}

/** What may have merged, as its record has said for long, has not simply failed. */
function unreadWords({ exit }: Result, history: readonly Version<Pull>[], end: number): readonly string[] {
  const recent = during(history, end - settled, end)
  const isDoubt = recent.length > 0 && recent.every(({ value }) => isDoubtful(value))
  return exit === 3 && isDoubt ? ['3, and it may have merged'] : []
}

/** A later attempt that was accepted ends as itself, not as the one before. */
function endOfEarlierAttempt(
  { outcome, attempts }: Result,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  end: number,
): readonly string[] {
  const last = sent.at(-1)
  const isLater = Number(attempts ?? 1) > 1 && last?.isAccepted === true
  if (!isLater || (outcome !== 'failed' && outcome !== 'cancelled')) return []
  const isSo = during(history, last.at, end).some(
    ({ at, value }) => at >= last.at - 1_000 && value?.state === endStates[outcome],
  )
  return isSo ? [] : ['it ended as an attempt before, and the last one was accepted']
}

/** Whether a time is of the second of another one or of a later one, by the clock of the service. */
const isSinceSecond = (time: number, other: number, skew: number): boolean =>
  Math.floor((time + skew) / 1_000) >= Math.floor((other + skew) / 1_000)

/** Whether it failed, and may have merged all the same. */
const isDoubtful = (pull: Pull | undefined): boolean =>
  pull?.state === 'FAILED' && pull.reason === doubtfulReason

function whatIsSubmitted(
  { outcome, submitted, exit, attempts, mayBeMerged }: Result,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  shown: readonly Shown[],
  end: number,
  skew: number,
): readonly string[] {
  const [first] = sent
  const isApplied = sent.some(({ appliedAt = Number.POSITIVE_INFINITY }) => appliedAt <= end)
  // An end of the second in which the sending began counts as that of the submission (docs/reference/cli.md, "Waiting").
  const isSo = ({ value }: Version<Pull>) =>
    isQueued(value) ||
    (value !== undefined && first !== undefined && isSinceSecond(value.changedAt, first.at, skew))
  const wasSo = first !== undefined && during(history, first.at, end).some(isSo)
  // What somebody deleted with its queue before any reading leaves no trace (docs/lost-responses.md, "Limits").
  const wasErased = sent.some(
    ({ appliedAt = Number.POSITIVE_INFINITY }) =>
      history.some(({ at, value }) => at > appliedAt && value === undefined) &&
      !shown.some(({ at }) => at >= appliedAt),
  )
  const wasSubmitted = isApplied && !wasErased
  // Its words could not be read: the oracle of its end says whether it ended so.
  const isUnread = mayBeMerged === null
  return [
    ...(submitted === true && !isApplied && !wasSo ? ['said to be submitted, and it was not'] : []),
    ...(submitted === false && wasSubmitted ? ['said not to be submitted, and it was'] : []),
    ...(exit === 7 && (wasSubmitted || Number(attempts ?? 1) > 1) ? ['7, and it was submitted'] : []),
    ...(exit === 11 && outcome === 'error' && sent.length === 0 ? ['11, and nothing was sent'] : []),
    ...(exit === 11 && outcome !== 'error' && !history.some(({ value }) => isDoubtful(value)) && !isUnread
      ? ['11, and it may not have merged']
      : []),
  ]
}

const endStates: Readonly<Record<string, string>> = {
  merged: 'MERGED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
}

/** An end must be so since the second in which the sending began; a merge counts whenever it was. */
function whichEnd(
  { outcome, submitted, attempts }: Result,
  [firstSent]: readonly Sending[],
  history: readonly Version<Pull>[],
  end: number,
  skew: number,
): readonly string[] {
  const state = endStates[String(outcome)]
  if (state === undefined) return []
  // The first attempt may have been in the queue already, by a reading that was behind; then it also gives the end if no
  // later one was made.
  const wasQueued = firstSent !== undefined && submitted === false
  const first = Number(attempts ?? 1) > 1 || wasQueued ? { at: noon - settled } : firstSent
  const isEnd = ({ value }: Version<Pull>) =>
    value?.state === state &&
    (state === 'MERGED' || first === undefined || isSinceSecond(value.changedAt, first.at, skew))
  // What was queued already need not be sent.
  const from = first === undefined || state === 'MERGED' ? Number.NEGATIVE_INFINITY : first.at
  if (first === undefined && submitted !== false && submitted !== undefined) return ['never submitted']
  return during(history, from, end).some(isEnd) ? [] : ['it was not, since it was submitted']
}

export interface Shown extends Pick<Reading, 'at' | 'sent'> {
  readonly state: string
  readonly changedAt: number
}

/** What the readings of a pull request showed, also those of its queue and of several; times are by the program's clock. */
export const shownTo = (sandbox: FaultySandbox, key: string, skew: number): readonly Shown[] =>
  sandbox.readings.flatMap(({ key: read, at, body, sent }) => {
    const isOfQueue = key.startsWith(`${read} #`)
    if (read !== key && !isOfQueue) return []
    return recordsIn(body).flatMap(({ prNumber, state, stateChangedAt }) =>
      typeof state === 'string' && key.endsWith(` #${prNumber}`)
        ? [{ at, sent, state: state.toUpperCase(), changedAt: Date.parse(String(stateChangedAt)) - skew }]
        : [],
    )
  })

/** The records of a response: of one pull request, of several, or of a queue. */
function recordsIn(body: string): readonly Result[] {
  try {
    const document = Object(JSON.parse(body))
    const { pullRequests = [], enqueuedPullRequests = [] } = document
    return [document, ...pullRequests, ...enqueuedPullRequests]
  } catch {
    return []
  }
}

/** A failure or a cancellation is that of a record that is not older than what the command had read before. */
function outdatedEnd({ outcome }: Result, shown: readonly Shown[]): readonly string[] {
  const state = endStates[String(outcome)]
  if (state === undefined || state === 'MERGED') return []
  const isNewest = (one: Shown, index: number) =>
    shown.slice(0, index).every(({ changedAt }) => changedAt <= one.changedAt)
  const counts = shown.some((one, index) => one.state === state && isNewest(one, index))
  return counts ? [] : ['no record of that end was the newest when it was read']
}

/** A pause is so while the command runs, but for a reading that is behind. */
function notPaused(sandbox: FaultySandbox, branch: string): readonly string[] {
  const history = sandbox.queues.get(queueKey('github.com/acme/web', branch)) ?? []
  const wasPaused = during(history, noon - settled, Number.POSITIVE_INFINITY).some(
    ({ value }) => String(value?.state).toUpperCase() === 'PAUSED',
  )
  return wasPaused ? [] : ['8, and the queue was never paused']
}

/** How many readings in a row must be enough for an end: also those of its words and of the queue count. */
const enoughReadings = 8

/** A wait does not go on after an end that many readings have shown, which is certainly later than the last sending. */
function missedEnd(
  { outcome }: Result,
  sent: readonly Sending[],
  shown: readonly Shown[],
): readonly string[] {
  const last = shown.slice(-enoughReadings)
  const [first] = last
  if (outcome !== 'timed-out' || first === undefined || last.length < enoughReadings) return []
  const isAfter = first.changedAt > Math.max(noon, ...sent.map(({ endedAt }) => endedAt)) + 2_000
  const isEnd = isAfter && Object.values(endStates).includes(first.state)
  const isSame = last.every(({ state, changedAt }) => state === first.state && changedAt === first.changedAt)
  return isEnd && isSame ? [`it was ${first.state} for ${enoughReadings} readings`] : []
}

/** Each attempt is a sending, or it was in the queue without one. */
function howManyAttempts(
  { attempts }: Result,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  end: number,
): readonly string[] {
  const versions = during(history, noon - settled, end)
  const entered = versions.filter(
    ({ value, by }, index) => by === undefined && isQueued(value) && !isQueued(versions[index - 1]?.value),
  )
  const most = sent.filter(({ fault }) => fault.kind !== '429').length + entered.length
  return Number(attempts ?? 0) > most ? [`${attempts} attempts, and ${most} at most were possible`] : []
}

/**
 * What a person cancelled after the first sending, or what may have merged, is never sent again: every cancellation of a
 * history is by a person. A sending that was refused with 429 is none.
 */
function whatIsOver(
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  shown: readonly Shown[],
): readonly string[] {
  const [first, ...later] = sent.filter(({ fault }) => fault.kind !== '429')
  if (first === undefined) return []
  const isLater = (changedAt: number) => changedAt > first.at + 1_000
  return later.flatMap(({ at }) => {
    // The newest record that the command has seen counts, and what every reading must have shown.
    const [newest] = shown
      .filter(one => one.at <= at)
      .toSorted((one, other) => other.changedAt - one.changedAt)
    const isSeen = newest?.state === 'CANCELLED' && isLater(newest.changedAt)
    const recent = during(history, at - settled, at)
    const isSettled = (isOver: (pull: Pull) => boolean) =>
      recent.length > 0 &&
      recent.every(({ value }) => value !== undefined && isOver(value) && isLater(value.changedAt))
    const isCancelled = isSeen || isSettled(({ state }) => state === 'CANCELLED')
    return [
      ...(isCancelled ? ['what a person cancelled was submitted again'] : []),
      ...(isSettled(isDoubtful) ? ['what may have merged was submitted again'] : []),
    ]
  })
}

const isCancellationOf =
  (key: string) =>
  (one: Sending): boolean =>
    one.key === key && one.operation === 'cancelPullRequest'

/** What was in the queue before the first sending is not cancelled. */
function cancelledOther(
  [first]: readonly Sending[],
  cancellations: readonly Sending[],
  history: readonly Version<Pull>[],
): readonly string[] {
  return cancellations.flatMap(({ at }) => {
    const [version] = during(history, at - 1, at - 1)
    const isOlder = first === undefined || Number(version?.value?.changedAt) < first.at - settled
    return isQueued(version?.value) && isOlder ? ['what was in the queue before was cancelled'] : []
  })
}

/** Nothing is sent at another head than the one that is meant, and a merge of another head is no success. */
function atOtherHead(
  { outcome }: Result,
  head: string | undefined,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  heads: readonly Head[],
): readonly string[] {
  const isOther = (other: string | undefined) => head !== undefined && other !== undefined && other !== head
  const merged = history.findLast(({ value }) => value?.state === 'MERGED')
  const isSentAtOther = sent.some(({ at }) => isOther(headDuring(heads, at - settled, at)))
  return [
    ...(outcome === 'merged' && isOther(merged?.value?.head) ? ['it merged at another head'] : []),
    ...(isSentAtOther ? ['another head was submitted'] : []),
  ]
}

/** `pr land` never submits another head than the one that it submitted first, and its merge is no success. */
function keptHead(
  result: Result,
  sent: readonly Sending[],
  history: readonly Version<Pull>[],
  heads: readonly Head[],
  shown: readonly Shown[],
): readonly string[] {
  // What was not applied has submitted no head.
  const index = sent.findIndex(({ appliedAt }) => appliedAt !== undefined)
  const first = sent[index]
  if (first?.appliedAt === undefined) return []
  const { appliedAt, number } = first
  // The head that is kept is that of the first record of the submission: one that is dated before it is not of it.
  const isOfIt = ({ at, sent, changedAt }: Shown) =>
    at >= appliedAt && sent > number && changedAt > first.at - 1_000
  const seen = shown.find(isOfIt)
  const seenAt = seen?.at ?? Number.POSITIVE_INFINITY
  const head = headDuring(heads, first.at - settled, Math.max(appliedAt + settled, seenAt))
  return atOtherHead(result, head, sent.slice(index + 1), history, heads)
}
