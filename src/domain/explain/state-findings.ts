import { getNumber, isObject } from '../../json.ts'
import { departureDetails } from '../departure.ts'
import { pluralize } from '../format.ts'
import { isFailedOrCancelled, isKnownState, terminalOutcome } from '../states.ts'
import { type Facts, type Finding, shorten } from './finding.ts'
import { hostFindings } from './host-reasons.ts'
import { positionFindings, queueStateFindings, slotFindings } from './queue-position.ts'
import { readinessFindings } from './readiness.ts'
import { type TestRun, testRunFindings } from './test-run.ts'

function describeState(state: string, { record, entry, queue }: Facts): readonly Finding[] {
  const isSubmitted = record.isCurrentlySubmittedToQueue
  if (state === '') return [{ code: 'no-state', message: 'The service reports no state.' }]
  if (!isKnownState(state))
    return [
      {
        code: 'unknown-state',
        message: `Its state '${shorten(state)}' is unknown to this version of mergeq.`,
      },
    ]
  if (isFailedOrCancelled(state) && isSubmitted === true)
    return [{ code: 'settling', message: `It is ${state}, but the service still reports it as submitted.` }]
  if (terminalOutcome(state) === undefined && isSubmitted === false && entry === undefined)
    return [
      { code: 'not-submitted', message: `It is ${state}, but the service reports it as not submitted.` },
    ]
  const depth = getNumber(queue, 'pendingFailureDepth') ?? 0
  const findingByState: Readonly<Record<string, readonly [code: string, message: string]>> = {
    NOT_READY: ['not-ready', 'It is submitted, but not ready to be queued yet.'],
    PENDING: ['pending', 'It is ready and waiting for its tests to start.'],
    TESTING: ['testing', 'Its tests are running.'],
    TESTS_PASSED: [
      'tests-passed',
      'Its tests passed. It is waiting for the pull requests ahead of it to merge.',
    ],
    PENDING_FAILURE: [
      'pending-failure',
      `Its tests failed; the cause is not determined yet. It may still merge.${depth > 0 ? ` The failure is final after up to ${pluralize(depth, 'later test run')}.` : ''}`,
    ],
    MERGED: ['merged', 'It was merged.'],
    FAILED: ['failed', 'Its tests failed; its own change caused the failure. It was removed from the queue.'],
    CANCELLED: ['cancelled', 'It was cancelled by a person or a push, or because it was not ready in time.'],
  }
  const [code, message] = findingByState[state] ?? ['unknown-state', state]
  return [{ code, message }]
}

export function stateFindings(state: string, facts: Facts, run: TestRun | undefined): readonly Finding[] {
  const first = describeState(state, facts)
  const checks = run === undefined ? [] : testRunFindings(run)
  const hostReasons = hostFindings(facts)
  const position = positionFindings(facts)
  switch (state) {
    case 'NOT_READY':
      return [
        ...first,
        ...readinessFindings(facts),
        ...hostReasons,
        ...timeLimit(facts),
        ...queueStateFindings(facts, []),
      ]
    case 'PENDING':
      return [
        ...first,
        ...queueStateFindings(facts, ['PAUSED', 'DRAINING', 'SWITCHING_MODES']),
        ...position,
        ...slotFindings(facts),
        ...hostReasons,
      ]
    case 'TESTS_PASSED':
      return [...first, ...queueStateFindings(facts, ['PAUSED']), ...position, ...hostReasons]
    case 'TESTING':
    case 'PENDING_FAILURE':
      return [...first, ...checks, ...queueStateFindings(facts, []), ...position, ...hostReasons]
    case 'FAILED':
      return [
        ...first,
        ...checks.filter(({ code }) => code === 'failing-checks'),
        ...hostReasons,
        ...submitterFindings(facts),
      ]
    case 'CANCELLED':
      return [...first, ...hostReasons, ...submitterFindings(facts)]
    case 'MERGED':
      return [...first, ...submitterFindings(facts)]
    case '':
      // A pull request that is not submitted does not wait to become ready.
      return facts.record.isCurrentlySubmittedToQueue === false || !isObject(facts.record.readiness)
        ? [...first, ...hostReasons]
        : [...first, ...readinessFindings(facts), ...hostReasons]
    default:
      return [...first, ...hostReasons]
  }
}

function submitterFindings({ record }: Facts): readonly Finding[] {
  const { submittedBy, author } = departureDetails(record)
  if (submittedBy !== undefined)
    return [{ code: 'submitted-by', message: `It was submitted by ${shorten(submittedBy)}.` }]
  return author === undefined ? [] : [{ code: 'author', message: `Its author is ${shorten(author)}.` }]
}

/**
 * Returns a finding about the time limit for pull requests that are not ready
 * (docs/reference/service.md, "Queue settings").
 */
function timeLimit({ queue }: Facts): readonly Finding[] {
  const hours = getNumber(queue, 'notReadyTimeoutHours') ?? 0
  return hours <= 0
    ? []
    : [
        {
          code: 'time-limit',
          message: `The queue cancels it if it is not ready within ${pluralize(hours, 'hour')}.`,
        },
      ]
}
