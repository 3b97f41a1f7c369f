import { get, getArray, getNumber, getString, isObject, type Json, type JsonObject } from '../base/json.ts'
import { describeSplit, wasSplit } from '../domain/batches.ts'
import { priorityName } from '../domain/priorities.ts'
import { type QueueEntry, queueEntries, testSlots } from '../domain/queue-entries.ts'
import { explainState, isFailureOfTestRun, submitters } from '../domain/reasons/reasons.ts'
import { isStacked } from '../domain/stacks.ts'
import {
  canResume,
  isFailedOrCancelled,
  queueStateMessage,
  stateOf,
  stateOption,
  stateWords,
  terminalOutcome,
} from '../domain/states.ts'
import { approvalText, type TestRun } from '../domain/test-run.ts'
import { detailOfState } from '../domain/timeline.ts'
import { elapsedSince, formatAge, formatAgo, joinTruncated, pluralize, shorten } from '../values/format.ts'
import { type Finding, readinessFindings, type Step } from './readiness.ts'

/** The documents that findings are made from; a missing document is an empty object. */
interface Facts {
  readonly pr: number
  readonly targetBranch: string
  readonly record: JsonObject
  readonly queue: JsonObject
  readonly entry: QueueEntry | undefined
  /** In milliseconds since 1970; undefined where no message depends on it. */
  readonly now?: number
}

/** Returns what the state of a pull request, its test run and its queue say, the most important first. */
export function stateFindings(state: string, facts: Facts, run: TestRun | undefined): readonly Finding[] {
  const { failingChecks = [], pending = [], awaitingApproval = [] } = run ?? {}
  const failing = failingChecks.map(({ name }) => shorten(name))
  const running = pending.filter(name => !awaitingApproval.includes(name)).map(name => shorten(name))
  const waiting = awaitingApproval.map(name => shorten(name))
  const failed = namesFinding('failing-checks', failing, names => `Failing checks in its test run: ${names}.`)
  const failedChecks = failed.map(finding => ({ ...finding, isSaidAbove: true }))
  const checks = [
    ...failedChecks,
    ...(waiting.length === 0 ? [] : [{ code: 'awaiting-approval', message: `${approvalText(waiting)}.` }]),
    ...namesFinding('pending-checks', running, names => `Checks still running in its test run: ${names}.`),
  ]
  const explained = explainState(facts.record, run)
  const hasExpired = explained.words.serviceReason === 'not_ready_timeout_expired'
  const host = hostFindings(facts, failing)
  const hostReasons = [...host, ...stackFindings(facts)]
  const readiness = readinessFindings(facts.record, facts.queue, facts.targetBranch)
  // A pull request that is not submitted does not wait to become ready.
  const isWaiting = facts.record.isCurrentlySubmittedToQueue !== false && isObject(facts.record.readiness)
  const queueState = (...blockingStates: readonly string[]) => queueStateFindings(facts.queue, blockingStates)
  const position = positionFindings(facts)
  const tested = [...checks, ...queueState(), ...position, ...hostReasons]
  const missing = missingCheckFindings(run, facts)
  const submitter = submitterFindings(facts)
  const others: ReadonlyMap<string, readonly (readonly Finding[])[]> = new Map([
    [
      'NOT_READY',
      [orUnknownReason([...readiness, ...host], facts), stackFindings(facts), timeLimit(facts), queueState()],
    ],
    [
      'PENDING',
      [queueState('PAUSED', 'DRAINING', 'SWITCHING_MODES'), position, slotFindings(facts), hostReasons],
    ],
    ['TESTING', [missing, testedAgain(facts.record, run), tested]],
    ['PENDING_FAILURE', [missing, tested]],
    ['TESTS_PASSED', [queueState('PAUSED'), position, hostReasons]],
    ['FAILED', [isFailureOfTestRun(explained) ? failedChecks : [], hostReasons, submitter]],
    ['CANCELLED', [hasExpired ? readiness : [], hostReasons, submitter]],
    ['MERGED', [submitter]],
    ['', [isWaiting ? readiness : [], hostReasons]],
  ])
  return [describeState(state, facts, run), ...(others.get(state) ?? [hostReasons]).flat()]
}

/** A test run whose queue has no time limit is late after this long, in milliseconds. */
const usualPatience = 60 * 60_000

/** The code of the finding that a required check will probably never report. */
export const lateCheck = 'check-not-reported'

/** Says which required checks have not reported, and for how long, if the test run is old. */
function missingCheckFindings(
  { missing = [], startedAt }: Partial<TestRun> = {},
  { queue, now = Number.NaN }: Pick<Facts, 'queue' | 'now'>,
): readonly Finding[] {
  if (missing.length === 0) return []
  const names = joinTruncated(missing.map(name => shorten(name)))
  const age = elapsedSince(startedAt, now)
  const limit = (getNumber(queue, 'testingTimeoutMinutes') ?? 0) * 60_000
  if (age !== undefined && age > (limit > 0 ? limit / 2 : usualPatience)) {
    const verb = missing.length === 1 ? 'has' : 'have'
    return [{ code: lateCheck, message: `${names} ${verb} not reported for ${formatAge(age)}.` }]
  }
  const began = age === undefined ? '' : ` since the run began ${formatAgo(age)}`
  return [{ code: 'missing-checks', message: `Required checks that have not reported${began}: ${names}.` }]
}

/** Says that a pull request under test is tested again, and as far as its timeline says it, of which batch it was. */
function testedAgain(record: JsonObject, run: TestRun | undefined): readonly Finding[] {
  const split = describeSplit(record)
  if (split === undefined && run?.isOfSplit !== true) return []
  const message = `It is tested again: ${split ?? 'its batch failed and is being split'}.`
  return [{ code: 'batch-split', message }]
}

const stateMessages = new Map([
  ['NOT_READY', 'It is submitted, but not ready to be queued yet.'],
  ['PENDING', 'It is ready and waiting for its tests to start.'],
  ['TESTING', 'Its tests are running.'],
  ['TESTS_PASSED', 'Its tests passed.'],
  ['PENDING_FAILURE', 'Its tests failed; it is not known yet which pull request caused it.'],
  ['MERGED', 'It was merged.'],
  ['FAILED', 'It failed.'],
  ['CANCELLED', 'It was cancelled.'],
])

function describeState(state: string, { record, entry, queue }: Facts, run: TestRun | undefined): Finding {
  const isSubmitted = record.isCurrentlySubmittedToQueue
  const message = stateMessages.get(state)
  if (state === '') return { code: 'no-state', message: 'The service reports no state.' }
  if (message === undefined)
    return {
      code: 'unknown-state',
      message: `Its state '${shorten(state)}' is unknown to this version of mergeq.`,
    }
  if (isFailedOrCancelled(state) && isSubmitted === true)
    return {
      code: 'settling',
      message: `It is ${stateWords(state)}, but the service still reports it as submitted.`,
    }
  if (terminalOutcome(state) === undefined && isSubmitted === false && entry === undefined)
    return {
      code: 'not-submitted',
      message: `It is ${stateWords(state)}, but the service reports it as not submitted.`,
    }
  if (state === 'FAILED')
    return { code: 'failed', message: explainState(record, run).sentence ?? message, isSaidAbove: true }
  const depth = getNumber(queue, 'pendingFailureDepth') ?? 0
  const more =
    state === 'PENDING_FAILURE' && depth > 0
      ? ` The failure is final after up to ${pluralize(depth, 'later test run')}.`
      : state === 'TESTS_PASSED' && entry?.position !== 1
        ? ' It is waiting for the pull requests ahead of it to merge.'
        : ''
  // The state alone does not say that the failure is not final.
  const isSaidAbove = more === '' && state !== 'PENDING_FAILURE'
  return { code: stateOption(state), message: `${message}${more}`, isSaidAbove }
}

const namesFinding = (
  code: string,
  names: readonly string[],
  format: (names: string) => string,
): readonly Finding[] => (names.length === 0 ? [] : [{ code, message: format(joinTruncated(names)) }])

function submitterFindings({ record }: Facts): readonly Finding[] {
  const { submittedBy, author } = submitters(record)
  if (submittedBy !== undefined)
    return [{ code: 'submitted-by', message: `It was submitted by ${shorten(submittedBy)}.` }]
  return author === undefined ? [] : [{ code: 'author', message: `Its author is ${shorten(author)}.` }]
}

/** For this long after a submission the service may not have read the pull request, in milliseconds. */
const readingTime = 90_000

/** Returns why a pull request is not ready; without a known reason, that it is too early for one, or that there is none. */
export function orUnknownReason(
  reasons: readonly Finding[],
  { record, now = Number.NaN }: Pick<Facts, 'record' | 'now'>,
): readonly Finding[] {
  if (reasons.length > 0) return reasons
  const elapsed = elapsedSince(getString(record, 'stateChangedAt'), now) ?? Number.NaN
  return [
    elapsed < readingTime
      ? {
          code: 'just-submitted',
          message: `It was submitted ${formatAgo(elapsed)}; the service is reading it.`,
        }
      : { code: 'no-reason', message: 'The service does not report what it is waiting for.' },
  ]
}

/** Every pull request is not ready for a moment after its submission: the time limit is no news then. */
const settlingTime = 60_000

/** The time limit for pull requests that are not ready (docs/reference/service.md, "Queue settings"). */
function timeLimit({ queue, record, now = Number.NaN }: Facts): readonly Finding[] {
  const hours = getNumber(queue, 'notReadyTimeoutHours') ?? 0
  const elapsed = elapsedSince(getString(record, 'stateChangedAt'), now) ?? Number.NaN
  if (hours <= 0 || elapsed < settlingTime) return []
  const left = hours * 3_600_000 - elapsed
  const when = left > 0 ? `in ${formatAge(left)} unless it is ready` : 'if it does not become ready in time'
  return [{ code: 'time-limit', message: `The queue cancels it ${when}.` }]
}

/** Why the merge is blocked, and in a few words; `{branch}` is the target branch. */
const blockReasons: ReadonlyMap<string, readonly [message: string, short?: string]> = new Map([
  ['behind_base', ['Its branch is behind its base branch.', 'behind {branch}']],
  ['merge_conflict', ['It has merge conflicts.', 'conflicts with {branch}']],
  ['failing_required_check', ['A required check of the pull request is failing.', 'a required check fails']],
  [
    'awaiting_required_check',
    ['A required check of the pull request has not finished.', 'waits for a required check'],
  ],
  ['undetermined', ['The merge is blocked; the service could not determine why.']],
])

/** Those that go away without a change to the branch. */
const passingBlockReasons: readonly string[] = ['awaiting_required_check', 'undetermined']

/** Returns the names in a value of unknown structure: `#7`, a short text, that of an object, those of 50 items. */
function extractNames(value: Json | undefined): readonly string[] {
  if (typeof value === 'number') return [`#${value}`]
  if (typeof value === 'string') return value === '' ? [] : [shorten(value)]
  if (Array.isArray(value)) return value.slice(0, 50).flatMap(item => extractNames(item))
  const keys = ['prNumber', 'number', 'name', 'context', 'login', 'kind']
  return isObject(value) ? keys.flatMap(key => extractNames(value[key])).slice(0, 1) : []
}

function blockFinding(kind: string, targetBranch: string): Finding {
  const [message, short] = blockReasons.get(kind) ?? [`It is blocked: ${kind}.`]
  const blocks = !passingBlockReasons.includes(kind)
  return {
    code: 'block-reason',
    message,
    ...(short === undefined ? {} : { short: short.replace('{branch}', () => targetBranch) }),
    blocks,
    steps: blocks ? [{ why: 'Fix this on its branch, then push.' }] : [],
  }
}

/** Returns what a pull request is in conflict with; nothing if the service has not found it out. */
function culpritNames(culprit: Json | undefined, targetBranch: string): readonly string[] {
  const type = getString(culprit, 'type')
  if (type === 'base_branch') return [targetBranch]
  return extractNames(culprit)
    .slice(0, 1)
    .map(name => {
      if (type === 'queue_pr') return `${name}, which is ahead of it in the queue`
      return type === 'stacked_pr' ? `${name}, another pull request of its stack` : name
    })
}

/** Returns findings from the details of the record, or of the event of its state; `failing` are named already. */
function hostFindings(
  { record, queue, targetBranch }: Facts,
  failing: readonly string[],
): readonly Finding[] {
  const state = stateOf(record)
  const detail = (key: string) => detailOfState(record, key)
  const names = (key: string) => extractNames(detail(key))
  const kinds = getArray({ blockReasons: detail('blockReasons') ?? [] }, 'blockReasons').flatMap(extractNames)
  const causes = names('failureCausingStatuses').filter(name => !failing.includes(name))
  const culprits = culpritNames(detail('conflictCulprit'), targetBranch)
  const hostText = getString({ text: detail('apiFailureMessage') ?? null }, 'text') ?? ''
  // The event names those that were ahead when it was written; some of them may have left since.
  const listed = queueEntries(queue).map(({ pr }) => `#${pr}`)
  const isListed = (name: string) => listed.length === 0 || listed.includes(name)
  const { sentence, known } = explainState(record)
  const isSaidAbove = sentence === stateMessages.get(state)
  // How it was submitted is no reason why it waits.
  const isSaid = ['FAILED', 'NOT_READY'].includes(state) || known?.isUsual === true || sentence === null
  return [
    ...[...new Set(kinds)].slice(0, 10).map(kind => blockFinding(kind, targetBranch)),
    ...namesFinding('conflict-culprit', culprits, found => `It conflicts with ${found}.`),
    ...namesFinding('failure-causes', causes, found => `Checks that caused the failure: ${found}.`),
    ...namesFinding(
      'waiting-for',
      [...names('waitingFor'), ...names('prerequisitePullRequests').filter(isListed)],
      found => `It is waiting for ${found}.`,
    ),
    ...(hostText === '' ? [] : [{ code: 'host-says', message: `GitHub says: ${shorten(hostText)}` }]),
    ...(isSaid ? [] : [{ code: 'service-says', ...splitFinding(record, sentence), isSaidAbove }]),
  ]
}

/** What is said of a pull request that waits again: of one whose batch is split, which batch that is. */
function splitFinding(record: JsonObject, sentence: string): Pick<Finding, 'message' | 'short'> {
  const split = stateOf(record) === 'PENDING' ? describeSplit(record) : undefined
  return split === undefined
    ? { message: sentence }
    : { message: `It is tested again: ${split}.`, short: 'its batch is being split' }
}

/** Returns that the pull requests below it are tested with a stacked one (docs/reference/service.md, "Stacks"). */
function stackFindings({ record, targetBranch }: Facts): readonly Finding[] {
  if (!isStacked(record, targetBranch)) return []
  const base = shorten(getString(record, 'prBaseBranch') ?? '')
  const message = `It is stacked on ${base}: the pull requests below it are tested and merged with it.`
  return [{ code: 'stacked', message }]
}

/** Returns what the queue's state means, unless it runs; in one of `blockingStates` it holds the pull request back. */
export function queueStateFindings(queue: JsonObject, blockingStates: readonly string[]): readonly Finding[] {
  const state = stateOf(queue)
  if (state === '' || state === 'RUNNING') return []
  const message = queueStateMessage(state)
  if (message === undefined)
    return [{ code: 'queue-state', message: `The queue is in the unknown state '${shorten(state)}'.` }]
  const resume: Step = {
    action: 'resume-queue',
    when: 'If you manage the queue',
    why: 'Resumes testing and merging, if you manage the queue.',
  }
  return [
    {
      code: `queue-${stateOption(state)}`,
      message,
      short: `queue ${stateWords(state)}`,
      blocks: blockingStates.includes(state),
      steps: canResume(state) ? [resume] : [],
    },
  ]
}

/** Whether a finding is one of the queue, which is said once for all its pull requests. */
export const isOfQueue = ({ code }: Finding): boolean => code.startsWith('queue-')

function positionFindings({ queue, entry }: Facts): readonly Finding[] {
  if (entry === undefined) return []
  const all = queueEntries(queue)
  const ahead = all
    .filter(({ position }) => position < entry.position)
    .map(({ pr, state }) => (state === '' ? `#${pr}` : `#${pr} (${shorten(stateWords(state))})`))
  const finding = (message: string) => [{ code: 'position', message, isSaidAbove: true }]
  if (all.length === 1) return finding('It is the only pull request in the queue.')
  if (ahead.length === 0) return finding(`It is first of ${all.length} in the queue.`)
  const lanes = get(queue, 'mode') === 'parallel' ? ' in all lanes' : ''
  return finding(
    `It is at position ${entry.position} of ${all.length} in the queue. Ahead of it${lanes}: ${joinTruncated(ahead)}.`,
  )
}

function slotFindings({ queue, entry, record }: Facts): readonly Finding[] {
  const { testing, concurrency, isBatching } = testSlots(queue)
  const numbers = (entries: readonly QueueEntry[]) => entries.map(({ pr }) => `#${pr}`)
  const isFull = concurrency !== undefined && testing.length >= concurrency && !isBatching
  const priority = getNumber(entry?.record, 'priorityValue')
  const prioritized = queueEntries(queue).filter(
    ({ position, state, record }) =>
      state === 'PENDING' &&
      position < (entry?.position ?? 0) &&
      (getNumber(record, 'priorityValue') ?? Number.NaN) < (priority ?? Number.NaN),
  )
  const findings = [
    ...namesFinding(
      'no-free-slot',
      isFull ? numbers(testing) : [],
      names =>
        `The queue is at its limit of ${pluralize(concurrency ?? 0, 'concurrent test run')}: ${names}.`,
    ),
    ...namesFinding(
      'lower-priority',
      numbers(prioritized),
      names =>
        `Its priority is ${priorityName(priority ?? 0)}. Pull requests ahead with a higher priority: ${names}.`,
    ),
  ]
  if (!isBatching || get(entry?.record, 'noBatch') === true || wasSplit(record)) return findings
  const minSize = getNumber(queue, 'batchingMinSize')
  const minutes = getNumber(queue, 'batchingMaxWaitTimeMinutes')
  const size = minSize === undefined ? '' : ` of at least ${minSize}`
  const time = minutes === undefined ? '' : ` and waits up to ${pluralize(minutes, 'minute')} to fill a batch`
  return [
    ...findings,
    { code: 'batching', message: `The queue tests pull requests in batches${size}${time}.` },
  ]
}

/** The codes of findings that another finding describes more exactly. */
const generalFindings: readonly string[] = ['not-mergeable', 'mergeability-in-progress']

/** Returns in a few words what holds a pull request back, `queue paused`; undefined if only its place does. */
export function shortReason(
  pr: number,
  targetBranch: string,
  record: JsonObject,
  queue: JsonObject,
): string | undefined {
  const state = stateOf(record)
  const entry = queueEntries(queue).find(candidate => candidate.pr === pr)
  const facts = { pr, targetBranch, record, queue, entry }
  const findings = stateFindings(state, facts, undefined).filter(({ short }) => short !== undefined)
  const exact = findings.filter(({ code }) => !generalFindings.includes(code))
  const candidates = exact.length === 0 ? findings : exact
  return (candidates.find(({ blocks }) => blocks === true) ?? candidates[0])?.short
}
