import { getArray, getString, isObject, type JsonObject } from '../../json.ts'
import { type QueueEntry, queueEntries, testSlots } from '../queue-entries.ts'
import { isFailedOrCancelled, normalizeState, terminalOutcome } from '../states.ts'
import type { ExplainSources, Explanation, ExplanationVerdict } from './explanation.ts'
import { type Facts, type Finding, manualStep, type NextStep } from './finding.ts'
import { stateFindings } from './state-findings.ts'
import { isSafeToSubmit } from './submit-again.ts'
import type { TestRun } from './test-run.ts'

/**
 * The freshest word on a pull request: a queue that lists a newer attempt, or knows it first, is ahead of
 * its record.
 */
function freshest(record: JsonObject | undefined, entry: QueueEntry | undefined): JsonObject | undefined {
  if (entry === undefined) return record
  if (record === undefined) return entry.record
  const isOver = isFailedOrCancelled(normalizeState(getString(record, 'state') ?? ''))
  const moment = (of: JsonObject) => Date.parse(getString(of, 'stateChangedAt') ?? '')
  return isOver && moment(entry.record) > moment(record)
    ? { ...entry.record, isCurrentlySubmittedToQueue: true }
    : record
}

function verdictOf(state: string, [first]: readonly Finding[], isBlocked: boolean): ExplanationVerdict {
  if (state === '' && isBlocked) return 'blocked'
  if (/^(settling|not-submitted|unknown-state|no-state)$/.test(first?.code ?? '')) return 'unknown'
  if (state === 'MERGED') return 'merged'
  if (isFailedOrCancelled(state)) return 'dropped'
  if (state === 'TESTING') return 'testing'
  if (state === 'PENDING_FAILURE') return 'held'
  return isBlocked ? 'blocked' : 'waiting'
}

/** What to do next, after what the findings themselves ask for. */
function stepsFor(
  verdict: ExplanationVerdict,
  state: string,
  pr: number,
  run: TestRun | undefined,
): readonly NextStep[] {
  const wait = { command: `mergeq pr wait ${pr}`, why: 'Waits until it has merged or has left the queue.' }
  const look =
    run === undefined
      ? []
      : [{ command: `mergeq pr testing ${run.id}`, why: 'Shows the checks of its test run.' }]
  const submit = (why: string) => ({ command: `mergeq pr submit ${pr}`, why })
  switch (verdict) {
    case 'merged':
      return []
    case 'never-submitted':
      return [submit('Submits it to the queue.')]
    case 'dropped':
      if (state === 'CANCELLED') return [submit('Submits it again.')]
      return [
        ...look,
        manualStep('Mend what failed, and push.'),
        submit('Submits it again, once it is mended.'),
      ]
    case 'held':
      return [
        wait,
        ...look,
        { command: `mergeq pr restart ${pr}`, why: 'Tests it again, if the failure was a chance.' },
      ]
    case 'testing':
      return [wait, ...look]
    case 'unknown':
      return [
        { command: `mergeq pr get ${pr} --json`, why: 'Shows its record as the service sent it.' },
        wait,
      ]
    default:
      return [wait]
  }
}

/** What is found where there is no queue to be in. */
const noQueue = (targetBranch: string): Finding => ({
  code: 'no-queue',
  message: `The service knows no queue of ${targetBranch} in this repository.`,
  blocks: true,
  steps: [
    manualStep('Check --repo and --target-branch: the queue may be that of another branch.'),
    { command: 'mergeq queue create', why: 'Creates the queue, if there is to be one.' },
  ],
})

/** Judges what was read. Pure, and never fails: what is missing or unheard of is said, not assumed. */
export function explainPullRequest({
  pr,
  targetBranch,
  flags,
  record,
  queue,
  run,
  unread,
}: ExplainSources): Explanation {
  const entry = queueEntries(queue ?? {}).find(one => one.pr === pr)
  const fresh = freshest(record, entry)
  const { testing, concurrency } = testSlots(queue ?? {})
  const state = normalizeState(getString(fresh, 'state') || getString(entry?.record, 'state') || '')
  const about = fresh ?? {}
  const queueState = getString(queue, 'state')
  const newest = getArray(about, 'timeline')[0]
  const moment = isObject(newest) ? newest : about
  const facts: Facts = { pr, record: about, moment, queue: queue ?? {}, entry }
  const findings: Finding[] =
    fresh === undefined
      ? [{ code: 'never-submitted', message: `It was never submitted to the queue of ${targetBranch}.` }]
      : [...stateFindings(state, facts, run)]
  if (queue === null && terminalOutcome(state) === undefined) findings.push(noQueue(targetBranch))
  const isBlocked = findings.some(({ blocks }) => blocks === true)
  const verdict = fresh === undefined ? 'never-submitted' : verdictOf(state, findings, isBlocked)
  const asked = findings.flatMap(({ steps = [] }) => steps)
  const next = [...asked, ...stepsFor(verdict, state, pr, run)]
  return {
    pr,
    targetBranch,
    title: getString(about, 'prTitle') ?? getString(entry?.record, 'prTitle') ?? null,
    verdict,
    state: state === '' ? null : state,
    since: getString(about, 'stateChangedAt') ?? null,
    queue:
      queue == null
        ? null
        : {
            state: queueState === undefined ? null : normalizeState(queueState),
            position: entry?.position ?? null,
            length: getArray(queue, 'enqueuedPullRequests').length,
            ahead: queueEntries(queue).flatMap(one =>
              one.position < (entry?.position ?? 0) ? [one.pr] : [],
            ),
            testing: testing.length,
            concurrency: concurrency ?? null,
          },
    testRun: run ?? null,
    reasons: ordered(findings).map(({ code, message }) => ({ code, message })),
    next: next
      .filter((step, index) => next.findIndex(other => isSame(step, other)) === index)
      .map(({ command, why }) => ({ command: command === null ? null : `${command}${flags}`, why })),
    submitAgain: isSafeToSubmit(
      state === '' && fresh !== undefined ? 'unknown' : verdict,
      about,
      `mergeq pr submit ${pr}${flags}`,
    ),
    unread,
  }
}

const isSame = (one: NextStep, other: NextStep): boolean =>
  one.command === other.command && (one.command !== null || one.why === other.why)

/** What blocks comes before what only explains. */
const ordered = (findings: readonly Finding[]): readonly Finding[] => [
  ...findings.filter(({ blocks }) => blocks === true),
  ...findings.filter(({ blocks }) => blocks !== true),
]
