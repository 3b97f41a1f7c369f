import { readIfFound } from '../api/call.ts'
import type { Infer } from '../api/operations/fields.ts'
import { getPartialPullRequest } from '../api/operations/pull-requests.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { explanationRecord } from '../api/operations/records.ts'
import { tryRead, withTimeline } from '../api/reads/extra-reads.ts'
import { readTestRunOf, type UnreadSource } from '../api/reads/test-run.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { serviceStart } from '../api/service-time.ts'
import { isNotFound } from '../base/errors.ts'
import { get, getArray, getNumber, getString, type JsonObject } from '../base/json.ts'
import { priorityName } from '../domain/priorities.ts'
import { type QueueEntry, queueEntries, testSlots } from '../domain/queue-entries.ts'
import type { Again } from '../domain/reasons/reason-table.ts'
import {
  type Explained,
  explainState,
  isFailureOfTestRun,
  submissionsAgain,
} from '../domain/reasons/reasons.ts'
import { isStacked } from '../domain/stacks.ts'
import {
  isFailedOrCancelled,
  newSubmissionNote,
  normalizeState,
  stateOf,
  terminalOutcome,
} from '../domain/states.ts'
import { type TestRun, testRunOf } from '../domain/test-run.ts'
import { type PullRequest, urlOfPullRequest } from '../values/pull-request.ts'
import { describeMissingQueue, repositoryName } from '../values/repository.ts'
import type { CommandLine } from '../values/suggested-command.ts'
import { type Estimate, readEstimate } from './estimate.ts'
import { stateFindings } from './findings.ts'
import { type NextStep, nextStep } from './next-commands.ts'
import type { Finding, Step } from './readiness.ts'

/** `held` means PENDING_FAILURE, a state from which a pull request may still merge. */
type ExplanationVerdict = Explanation['verdict']

export interface ExplainSources extends PullRequest {
  readonly commandLine: CommandLine
  /** Returns the name of a param as the caller writes it. */
  nameOf(param: string): string
  /** The pull request's record; undefined if the service knows no submission (404). */
  readonly record: JsonObject | undefined
  /** Null if there is no queue (404), undefined if the queue could not be read. */
  readonly queue: JsonObject | null | undefined
  readonly run: TestRun | undefined
  readonly unread: readonly UnreadSource[]
  /** In milliseconds since 1970. */
  readonly now: number
  readonly estimate?: Estimate | null
}

/** Why a pull request is not merging, with what its JSON does not have. The most important reason is first. */
export interface Explanation extends Omit<Infer<typeof explanationRecord>, 'testRun' | 'next' | 'reasons'> {
  /** The head commit of the pull request that the queue knows. */
  readonly head: string | null
  readonly testRun: TestRun | null
  readonly reasons: readonly Finding[]
  readonly next: readonly NextStep[]
}

/** Reads what explains a pull request; `known` is its queue, if that was read. Throws the error of its record. */
export async function explain(
  pullRequest: PullRequest,
  client: ServiceClient,
  known?: JsonObject,
): Promise<Explanation> {
  const { pr, repo, targetBranch } = pullRequest
  const reads = [
    readIfFound(client, getPartialPullRequest, { repo, targetBranch, pr }),
    known === undefined
      ? tryRead(client, getQueue, { repo, targetBranch })
      : { record: known, failure: undefined },
  ] as const
  // Both reads finish before an error is thrown: otherwise the other would lose its connection and retry.
  await Promise.allSettled(reads)
  const [submitted, queue] = await Promise.all(reads)
  const hasNoQueue = queue.failure !== undefined && isNotFound(queue.failure)
  // The timeline of one that is tested names its batch, and its test run if the record does not.
  const isNamed = submitted !== undefined && testRunOf(submitted) !== undefined
  const isBatching = testSlots(queue.record ?? null).isBatching
  const states = isNamed && !isBatching ? ['PENDING'] : ['PENDING', 'TESTING']
  const record = submitted && (await withTimeline(client, submitted, pullRequest, { states }))
  // What waits for its tests has no test run; its timeline may name one that ended.
  const isTested = record !== undefined && !['NOT_READY', 'PENDING'].includes(stateOf(record))
  const testRun = isTested ? await readTestRunOf(record, pullRequest, client) : {}
  const unread: UnreadSource[] = []
  if (queue.failure !== undefined && !hasNoQueue) unread.push({ what: 'queue', why: queue.failure.message })
  if (testRun.unread !== undefined) unread.push(testRun.unread)
  const now = await serviceStart(client)
  // Of the first in a queue that is explained, the time is not said.
  const estimate =
    known === undefined ? await readEstimate(pullRequest, queue.record ?? {}, client, now) : null
  return explanationOf({
    pr,
    repo,
    targetBranch,
    commandLine: client.settings.commandLine,
    nameOf: client.nameOf,
    record,
    queue: hasNoQueue ? null : queue.record,
    run: testRun.run,
    unread,
    now,
    estimate,
  })
}

/** Explains why a pull request is not merging. Never throws: what is missing or unknown is named. */
export function explanationOf(sources: ExplainSources): Explanation {
  const { pr, repo, targetBranch, queue, run, unread, now, nameOf } = sources
  const entry = queueEntries(queue ?? {}).find(candidate => candidate.pr === pr)
  const record = newerRecord(sources.record, entry)
  const state = stateOf(record) || stateOf(entry?.record)
  const findings: Finding[] =
    record === undefined
      ? [...missingFindings(queue === null, sources)]
      : [...stateFindings(state, { pr, targetBranch, record, queue: queue ?? {}, entry, now }, run)]
  if (queue === null && terminalOutcome(state) === undefined)
    findings.push({
      code: 'no-queue',
      message: `${describeMissingQueue(sources)}.`,
      blocks: true,
      steps: [{ action: 'list-queues', why: `Lists the queues. Check ${placeNames(nameOf)}.` }],
    })
  const explained = explainState(record === undefined ? {} : { ...record, state }, run)
  const blocking = findings.filter(({ blocks }) => blocks === true)
  const others = findings.filter(({ blocks }) => blocks !== true)
  const verdict = verdictOf(state, findings, blocking.length > 0)
  const { steps, ...submitAgain } = conclude(verdict, state, record ?? {}, explained, sources)
  // Of steps with the same command the first is enough.
  const next = new Map<string, NextStep>()
  for (const step of [...findings.flatMap(finding => finding.steps ?? []), ...steps]) {
    const found = nextStep(step, { ...sources, record }, sources.commandLine)
    const key = found.command ?? found.why
    if (!next.has(key)) next.set(key, found)
  }
  return {
    pr,
    targetBranch,
    title: getString(record, 'prTitle') ?? getString(entry?.record, 'prTitle') ?? null,
    head: getString(record, 'prSha') ?? null,
    verdict,
    state: state === '' ? null : state,
    since: getString(record, 'stateChangedAt') ?? null,
    reason: explained.sentence,
    ...explained.words,
    stacked: isStacked(record, targetBranch),
    queue: queue == null ? null : describeQueue(queue, entry),
    testRun: run ?? null,
    reasons: [...blocking, ...others],
    next: [...next.values()],
    submitAgain,
    unread,
    estimate: sources.estimate ?? null,
    repo: repositoryName(repo),
    url: urlOfPullRequest(repo, pr),
  }
}

const placeNames = (nameOf: ExplainSources['nameOf']): string =>
  `${nameOf('repo')} and ${nameOf('targetBranch')}`

/** What a 404 for a pull request means: there is no queue, or it is not in the queue, perhaps not yet. */
function missingFindings(hasNoQueue: boolean, { targetBranch, nameOf }: ExplainSources): readonly Finding[] {
  const message = `It is not in the queue for ${targetBranch}.`
  const finding = { code: 'not-found', message, isSaidAbove: true }
  if (hasNoQueue) return [finding]
  const steps: readonly Step[] = [
    { action: 'wait', why: `If it was just submitted: ${newSubmissionNote}.` },
    { action: 'submit', why: 'If it was not submitted.' },
    { why: `If it should be there, check ${placeNames(nameOf)}.` },
  ]
  const delay = 'A new submission can take up to 90s to appear.'
  return [finding, { code: 'may-appear', message: delay, isSaidAbove: true, steps }]
}

/**
 * Returns the newer of a pull request's own record and its entry in the queue. The queue can list a new
 * attempt while the pull request's record still shows the end of the previous attempt.
 */
function newerRecord(record: JsonObject | undefined, entry: QueueEntry | undefined): JsonObject | undefined {
  if (entry === undefined || record === undefined) return record ?? entry?.record
  const isOver = isFailedOrCancelled(stateOf(record))
  const changedAt = (source: JsonObject) => Date.parse(getString(source, 'stateChangedAt') ?? '')
  return isOver && changedAt(entry.record) > changedAt(record)
    ? { ...entry.record, isCurrentlySubmittedToQueue: true }
    : record
}

/** The codes of findings after which the state of a pull request says nothing certain. */
const unclearStates: readonly string[] = ['settling', 'not-submitted', 'unknown-state', 'no-state']

function verdictOf(state: string, [first]: readonly Finding[], isBlocked: boolean): ExplanationVerdict {
  const code = first?.code ?? ''
  if (code === 'not-found') return code
  if (state === '' && isBlocked) return 'blocked'
  if (unclearStates.includes(code)) return 'unknown'
  if (state === 'MERGED') return 'merged'
  if (isFailedOrCancelled(state)) return 'dropped'
  if (state === 'TESTING') return 'testing'
  if (state === 'PENDING_FAILURE') return 'held'
  return isBlocked ? 'blocked' : 'waiting'
}

type Conclusion = Explanation['submitAgain'] & { readonly steps: readonly Step[] }

const conclusion = (safe: boolean | null, why: string, steps: readonly Step[]): Conclusion => ({
  safe,
  needsChange: false,
  why,
  steps,
})

const defaultPriority = 100

/**
 * Returns what to do, and whether another submit is safe. Submitting a queued pull request again resets its priority and
 * batching unless they are given again (docs/reference/service.md, "submitPullRequest").
 */
function conclude(
  verdict: ExplanationVerdict,
  state: string,
  record: JsonObject,
  explained: Explained,
  { run, nameOf, targetBranch }: ExplainSources,
): Conclusion {
  const wait: Step = { action: 'wait', why: 'Waits until it merges or leaves the queue.' }
  const showChecks: readonly Step[] =
    run === undefined ? [] : [{ action: 'show-test-run', why: 'Shows the checks of its test run.' }]
  const unclear = 'Its current state is unknown. Check it again first.'
  if (verdict === 'not-found')
    return conclusion(null, 'It is not in the queue. It may be too new to appear.', [])
  if (verdict === 'merged') return conclusion(false, 'It is already merged.', [])
  if (verdict === 'dropped') return concludeEnd(explained, showChecks, targetBranch)
  if (verdict === 'unknown')
    return conclusion(null, unclear, [
      { action: 'show-record', why: 'Shows the complete record from the service.' },
      wait,
    ])
  const restart: Step = {
    action: 'restart-tests',
    why: 'Runs its tests again, for a failure that may be flaky.',
  }
  const isHeld = verdict === 'held'
  const steps = [wait, ...(isHeld || verdict === 'testing' ? showChecks : []), ...(isHeld ? [restart] : [])]
  if (state === '') return conclusion(null, unclear, steps)
  const priority = getNumber(record, 'priorityValue')
  // A `usedDefaultPriorityName` may stand beside another priority that was given later.
  const isDefault = priority === defaultPriority
  const flags = [
    ...(isDefault || priority === undefined ? [] : [`${nameOf('priority')} ${priorityName(priority)}`]),
    ...(get(record, 'noBatch') === true ? [nameOf('noBatch')] : []),
  ].join(' ')
  if (flags !== '') {
    const why = `It is already in the queue. Submitting it without ${flags} may reset its settings.`
    return conclusion(false, why, steps)
  }
  return isDefault
    ? conclusion(true, 'It is already in the queue; submitting it again changes nothing.', steps)
    : conclusion(null, 'It is already in the queue, and its priority could not be read.', steps)
}

/** Returns what follows for a pull request that failed or was cancelled: first the advice, then a new submission. */
function concludeEnd(explained: Explained, showChecks: readonly Step[], targetBranch: string): Conclusion {
  const { words, sentence, known } = explained
  const { again, serviceReason, mayBeMerged } = words
  const judged = submissionsAgain[again ?? 'look']
  if (mayBeMerged) {
    const why = `Look at ${targetBranch} first: it may have merged. Do not submit it again before.`
    const wait: Step = { action: 'wait', why: 'Waits a moment for the merge to show.' }
    return { ...judged, why, steps: [{ why }, wait] }
  }
  // A word that is not known may mean anything.
  if (known === undefined && serviceReason !== null) {
    const why = 'mergeq does not know this reason. Find out what it means first.'
    return { ...judged, why, steps: [{ action: 'show-timeline', why: 'Shows what the service says of it.' }] }
  }
  const unsaid =
    again === 'look'
      ? 'Find out why before you submit it again.'
      : `It is no longer in the queue. ${sentence ?? ''}`.trim()
  const advice: readonly Step[] = known?.advice === undefined ? [] : [{ why: known.advice }]
  const checks = isFailureOfTestRun(explained) && again !== 'later' ? showChecks : []
  const steps = again === 'no' ? advice : [...checks, ...advice, submitStep(again, known !== undefined)]
  return { ...judged, why: known?.advice ?? known?.meaning ?? unsaid, steps }
}

function submitStep(again: Again | null, isKnown: boolean): Step {
  const action = 'submit'
  if (again === 'later') return { action, why: 'Submits it again.', ...(isKnown && { when: 'Later' }) }
  if (again !== 'after-change') return { action, why: 'If it should merge after all.' }
  return { action, why: 'After a fix; without one it will most likely fail again.', when: 'After a fix' }
}

function describeQueue(queue: JsonObject, entry: QueueEntry | undefined): Explanation['queue'] {
  const state = getString(queue, 'state')
  const { testing, concurrency = null } = testSlots(queue)
  const ahead = queueEntries(queue).filter(({ position }) => position < (entry?.position ?? 0))
  return {
    state: state === undefined ? null : normalizeState(state),
    position: entry?.position ?? null,
    length: getArray(queue, 'enqueuedPullRequests').length,
    ahead: ahead.map(({ pr }) => pr),
    testing: testing.length,
    concurrency,
  }
}

/** Returns an explanation as JSON: `explanationRecord`. */
export function explanationJson({ head: _, ...explanation }: Explanation): Infer<typeof explanationRecord> {
  const next = explanation.next.map(({ command, why }) => ({ command, why }))
  const reasons = explanation.reasons.map(({ code, message }) => ({ code, message }))
  if (explanation.testRun === null) return { ...explanation, next, reasons, testRun: null }
  const { id, status, failingChecks, pending, missing } = explanation.testRun
  const failing = failingChecks.map(({ name }) => name)
  return { ...explanation, next, reasons, testRun: { id, status, failing, pending, missing } }
}
