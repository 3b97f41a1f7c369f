import { getArray, getString, type JsonObject } from '../../json.ts'
import { type QueueEntry, queueEntries, testSlots } from '../queue-entries.ts'
import { isFailedOrCancelled, normalizeState, terminalOutcome } from '../states.ts'
import type { ExplainSources, Explanation, ExplanationVerdict, NextStep } from './explanation.ts'
import { type Finding, factsOf, manualStep, type Step } from './finding.ts'
import { stateFindings } from './state-findings.ts'
import { assessResubmission } from './submit-again.ts'
import type { TestRun } from './test-run.ts'

/**
 * Returns the newer of a pull request's own record and its entry in the queue. The queue can list a new
 * attempt while the pull request's record still shows the end of the previous attempt.
 */
function newerRecord(record: JsonObject | undefined, entry: QueueEntry | undefined): JsonObject | undefined {
  if (entry === undefined) return record
  if (record === undefined) return entry.record
  const isOver = isFailedOrCancelled(normalizeState(getString(record, 'state') ?? ''))
  const changedAt = (source: JsonObject) => Date.parse(getString(source, 'stateChangedAt') ?? '')
  return isOver && changedAt(entry.record) > changedAt(record)
    ? { ...entry.record, isCurrentlySubmittedToQueue: true }
    : record
}

/** The codes of findings after which the state of a pull request says nothing certain. */
const unclearStates: ReadonlySet<string> = new Set(['settling', 'not-submitted', 'unknown-state', 'no-state'])

function verdictOf(state: string, [first]: readonly Finding[], isBlocked: boolean): ExplanationVerdict {
  if (state === '' && isBlocked) return 'blocked'
  if (first !== undefined && unclearStates.has(first.code)) return 'unknown'
  if (state === 'MERGED') return 'merged'
  if (isFailedOrCancelled(state)) return 'dropped'
  if (state === 'TESTING') return 'testing'
  if (state === 'PENDING_FAILURE') return 'held'
  return isBlocked ? 'blocked' : 'waiting'
}

function stepsFor(
  verdict: ExplanationVerdict,
  state: string,
  pr: number,
  run: TestRun | undefined,
): readonly Step[] {
  const wait = { words: ['pr', 'wait', pr], why: 'Waits until it merges or leaves the queue.' }
  const showChecks =
    run === undefined ? [] : [{ words: ['pr', 'testing', run.id], why: 'Shows the checks of its test run.' }]
  const submit = (why: string) => ({ words: ['pr', 'submit', pr], why })
  switch (verdict) {
    case 'merged':
      return []
    case 'never-submitted':
      return [submit('Submits it to the queue.')]
    case 'dropped':
      if (state === 'CANCELLED') return [submit('Submits it again.')]
      return [
        ...showChecks,
        manualStep('Fix the failure, then push.'),
        submit('Submits it again after the fix.'),
      ]
    case 'held':
      return [
        wait,
        ...showChecks,
        { words: ['pr', 'restart', pr], why: 'Runs its tests again, for a failure that may be flaky.' },
      ]
    case 'testing':
      return [wait, ...showChecks]
    case 'unknown':
      return [
        { words: ['pr', 'get', pr, '--json'], why: 'Shows the complete record from the service.' },
        wait,
      ]
    default:
      return [wait]
  }
}

const noQueueFinding = (targetBranch: string): Finding => ({
  code: 'no-queue',
  message: `This repository has no queue for ${targetBranch}.`,
  blocks: true,
  steps: [
    manualStep('Check --repo and --target-branch; the queue may belong to another branch.'),
    { words: ['queue', 'create'], why: 'Creates the queue, if the branch needs one.' },
  ],
})

/**
 * Explains why a pull request is not merging from the documents that were read. Never throws: missing
 * documents and unknown states are named in the explanation.
 */
export function explainPullRequest({
  pr,
  targetBranch,
  commandLine,
  record,
  queue,
  run,
  unread,
}: ExplainSources): Explanation {
  const entry = queueEntries(queue ?? {}).find(candidate => candidate.pr === pr)
  const current = newerRecord(record, entry)
  const { testing, concurrency } = testSlots(queue ?? {})
  const state = normalizeState(getString(current, 'state') || getString(entry?.record, 'state') || '')
  const details = current ?? {}
  const queueState = getString(queue, 'state')
  const facts = factsOf(pr, targetBranch, details, queue ?? {})
  const findings: Finding[] =
    current === undefined
      ? [{ code: 'never-submitted', message: `It was never submitted to the queue for ${targetBranch}.` }]
      : [...stateFindings(state, facts, run)]
  if (queue === null && terminalOutcome(state) === undefined) findings.push(noQueueFinding(targetBranch))
  const isBlocked = findings.some(({ blocks }) => blocks === true)
  const verdict = current === undefined ? 'never-submitted' : verdictOf(state, findings, isBlocked)
  const stepsOfFindings = findings.flatMap(({ steps = [] }) => steps)
  const next = [...stepsOfFindings, ...stepsFor(verdict, state, pr, run)].map(({ words, why }) => ({
    command: words === undefined ? null : commandLine(words),
    why,
  }))
  return {
    pr,
    targetBranch,
    title: getString(details, 'prTitle') ?? getString(entry?.record, 'prTitle') ?? null,
    verdict,
    state: state === '' ? null : state,
    since: getString(details, 'stateChangedAt') ?? null,
    queue:
      queue == null
        ? null
        : {
            state: queueState === undefined ? null : normalizeState(queueState),
            position: entry?.position ?? null,
            length: getArray(queue, 'enqueuedPullRequests').length,
            ahead: queueEntries(queue).flatMap(other =>
              other.position < (entry?.position ?? 0) ? [other.pr] : [],
            ),
            testing: testing.length,
            concurrency: concurrency ?? null,
          },
    testRun: run ?? null,
    reasons: blockingFirst(findings).map(({ code, message }) => ({ code, message })),
    next: next.filter((step, index) => next.findIndex(other => isSame(step, other)) === index),
    submitAgain: assessResubmission(
      state === '' && current !== undefined ? 'unknown' : verdict,
      details,
      commandLine(['pr', 'submit', pr]),
    ),
    unread,
  }
}

const isSame = (one: NextStep, other: NextStep): boolean =>
  one.command === other.command && (one.command !== null || one.why === other.why)

const blockingFirst = (findings: readonly Finding[]): readonly Finding[] => [
  ...findings.filter(({ blocks }) => blocks === true),
  ...findings.filter(({ blocks }) => blocks !== true),
]
