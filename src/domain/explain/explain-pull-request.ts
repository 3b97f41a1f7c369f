import { get, getArray, getNumber, getString, type JsonObject } from '../../json.ts'
import { departureDetails, isService } from '../departure.ts'
import { type QueueEntry, queueEntries, testSlots } from '../queue-entries.ts'
import {
  isFailedOrCancelled,
  newSubmissionNote,
  normalizeState,
  stateOf,
  terminalOutcome,
} from '../states.ts'
import { isInconclusive, type TestRun } from '../test-run.ts'
import { describeMissingQueue, type Repository } from '../values/repository.ts'
import { stateFindings } from './findings.ts'
import type { Action, Finding, Step } from './readiness.ts'

/** `held` means PENDING_FAILURE, a state from which a pull request may still merge. */
export type ExplanationVerdict =
  | ('waiting' | 'blocked' | 'testing' | 'held')
  | ('dropped' | 'merged' | 'not-found' | 'unknown')

export type UnreadSource = { readonly what: 'queue' | 'test run'; readonly why: string }

export interface ExplainSources {
  readonly pr: number
  readonly repo: Repository
  readonly targetBranch: string
  /** Returns the command that does it, as the caller runs it. */
  commandFor(action: Action, subject: ActionSubject): string
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
}

/** What an action is about. */
export interface ActionSubject {
  readonly record: JsonObject | undefined
  readonly run: TestRun | undefined
}

/** A next step: a command, or, if `command` is null, something that a person does elsewhere. */
export type NextStep = Pick<Step, 'when' | 'why'> & { readonly command: string | null }

/** Why a pull request is not merging. The output of `pr explain --json` has exactly these keys. */
export interface Explanation {
  readonly pr: number
  readonly targetBranch: string
  readonly title: string | null
  readonly verdict: ExplanationVerdict
  readonly state: string | null
  /** When the pull request entered the state, as the service wrote it. */
  readonly since: string | null
  readonly queue: {
    readonly state: string | null
    /** The position, from 1; null if the queue does not list the pull request. */
    readonly position: number | null
    readonly length: number
    readonly ahead: readonly number[]
    readonly testing: number
    readonly concurrency: number | null
  } | null
  readonly testRun: TestRun | null
  /** The most important reason first; `code` is stable, `message` is text for people. */
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly next: readonly NextStep[]
  /**
   * Whether running `pr submit` now is safe; `safe` is null if that is unknown. With `needsChange` it would end as
   * before: after the pull request's own failure, and after a person cancelled it.
   */
  readonly submitAgain: { readonly safe: boolean | null; readonly needsChange: boolean; readonly why: string }
  readonly unread: readonly UnreadSource[]
}

/**
 * Explains why a pull request is not merging from the documents that were read. Never throws: missing
 * documents and unknown states are named in the explanation.
 */
export function explainPullRequest(sources: ExplainSources): Explanation {
  const { pr, targetBranch, queue, run, unread, now, nameOf } = sources
  const entry = queueEntries(queue ?? {}).find(candidate => candidate.pr === pr)
  const record = newerRecord(sources.record, entry)
  const state = stateOf(record) || stateOf(entry?.record)
  const commandFor = (action: Action) => sources.commandFor(action, { record, run })
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
  const isBlocking = ({ blocks = false }: Finding) => blocks
  const verdict = verdictOf(state, findings, findings.some(isBlocking))
  const submitAgain = {
    needsChange: false,
    ...assessResubmission(
      state === '' && record !== undefined ? 'unknown' : verdict,
      { record: record ?? {}, run },
      nameOf,
    ),
  }
  const steps = [
    ...findings.flatMap(finding => finding.steps ?? []),
    ...stepsFor(verdict, state, run, submitAgain),
  ]
  // Of steps with the same command the first is enough.
  const next = new Map<string, NextStep>()
  for (const { action, ...step } of steps) {
    const command = action === undefined ? null : commandFor(action)
    const key = command ?? step.why
    if (!next.has(key)) next.set(key, { command, ...step })
  }
  return {
    pr,
    targetBranch,
    title: getString(record, 'prTitle') ?? getString(entry?.record, 'prTitle') ?? null,
    verdict,
    state: state === '' ? null : state,
    since: getString(record, 'stateChangedAt') ?? null,
    queue: queue == null ? null : describeQueue(queue, entry),
    testRun: run ?? null,
    reasons: [...findings.filter(isBlocking), ...findings.filter(finding => !isBlocking(finding))].map(
      ({ code, message }) => ({ code, message }),
    ),
    next: [...next.values()],
    submitAgain,
    unread,
  }
}

const placeNames = (nameOf: ExplainSources['nameOf']): string =>
  `${nameOf('repo')} and ${nameOf('targetBranch')}`

/** What a 404 for a pull request means: there is no queue, or it is not in the queue, perhaps not yet. */
function missingFindings(hasNoQueue: boolean, { targetBranch, nameOf }: ExplainSources): readonly Finding[] {
  const finding = { code: 'not-found', message: `It is not in the queue for ${targetBranch}.` }
  if (hasNoQueue) return [finding]
  const steps: readonly Step[] = [
    { action: 'wait', why: 'Waits until it appears, and merges or leaves the queue.' },
    { why: `If it does not appear, check ${placeNames(nameOf)}.` },
  ]
  return [finding, { code: 'may-appear', message: newSubmissionNote, steps }]
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

function stepsFor(
  verdict: ExplanationVerdict,
  state: string,
  run: TestRun | undefined,
  { needsChange }: Explanation['submitAgain'],
): readonly Step[] {
  const wait: Step = { action: 'wait', why: 'Waits until it merges or leaves the queue.' }
  const showChecks: readonly Step[] =
    run === undefined ? [] : [{ action: 'show-test-run', why: 'Shows the checks of its test run.' }]
  const submit = (why: string): Step => ({ action: 'submit', why })
  switch (verdict) {
    case 'merged':
      return []
    case 'not-found':
      return []
    case 'dropped': {
      if (!needsChange) return [submit('Submits it again.')]
      if (state === 'CANCELLED') return [submit('If it should merge after all.')]
      const why = 'After a fix; without one it will most likely fail again.'
      return [...showChecks, { ...submit(why), when: 'After a fix' }]
    }
    case 'held': {
      const why = 'Runs its tests again, for a failure that may be flaky.'
      return [wait, ...showChecks, { action: 'restart-tests', why }]
    }
    case 'testing':
      return [wait, ...showChecks]
    case 'unknown': {
      const why = 'Shows the complete record from the service.'
      return [{ action: 'show-record', why }, wait]
    }
    default:
      return [wait]
  }
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

/** Returns whether a pull request that failed or was cancelled needs a change before it is submitted again. */
function assessDeparture(record: JsonObject, run: TestRun | undefined) {
  const { reason, actor } = departureDetails(record)
  if (stateOf(record) === 'FAILED')
    return isInconclusive(reason, run)
      ? { needsChange: false, why: 'It is no longer in the queue, and its tests did not finish.' }
      : { needsChange: true, why: 'Its own change caused the failure. Fix it first.' }
  // What the service cancelled for a push, because it was closed or for a word of its own needs a look first.
  return isService(actor) && reason === undefined
    ? { needsChange: false, why: 'It is no longer in the queue. The service cancelled it.' }
    : { needsChange: true, why: 'It was cancelled. Find out why before you submit it again.' }
}

const defaultPriority = 100

/**
 * Returns whether another submit is safe. Submitting a queued pull request again resets its priority and
 * batching unless they are given again (docs/reference/service.md, "submitPullRequest").
 */
function assessResubmission(
  verdict: ExplanationVerdict,
  { record, run }: ActionSubject & { readonly record: JsonObject },
  nameOf: ExplainSources['nameOf'],
): Omit<Explanation['submitAgain'], 'needsChange'> & { readonly needsChange?: boolean } {
  if (verdict === 'not-found')
    return { safe: null, why: 'It is not in the queue. It may be too new to appear.' }
  if (verdict === 'merged') return { safe: false, why: 'It is already merged.' }
  if (verdict === 'dropped') return { safe: true, ...assessDeparture(record, run) }
  if (verdict === 'unknown') return { safe: null, why: 'Its current state is unknown. Check it again first.' }
  const priority = getNumber(record, 'priorityValue')
  const isDefault = priority === defaultPriority || getString(record, 'usedDefaultPriorityName') !== undefined
  const flags = [
    ...(isDefault || priority === undefined ? [] : [`${nameOf('priority')} ${priority}`]),
    ...(get(record, 'noBatch') === true ? [nameOf('noBatch')] : []),
  ].join(' ')
  if (flags !== '')
    return {
      safe: false,
      why: `It is already in the queue. Submitting it without ${flags} may reset its settings.`,
    }
  return isDefault
    ? { safe: true, why: 'It is already in the queue; submitting it again changes nothing.' }
    : { safe: null, why: 'It is already in the queue, and its priority could not be read.' }
}
