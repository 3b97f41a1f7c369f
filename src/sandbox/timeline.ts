import type { JsonObject } from '../base/json.ts'
import { repositoryName } from '../values/repository.ts'
import type { Dialect } from './dialects.ts'
import {
  isStillQueued,
  type PullRequest,
  type Queue,
  type SandboxTestRun,
  type Transition,
} from './engine/queue.ts'
import { getTestBranch, getTestBranchSha, listChecks } from './records.ts'
import { createUuid } from './sample-data.ts'

/**
 * Formats the timeline, the newest event first, of all attempts (docs/reference/service.md, "Timeline"): the state and
 * the test run at the top of an event, everything else in the object of its state.
 */
export const formatTimeline = (
  queue: Queue,
  { number }: PullRequest,
  { formatState, formatTime }: Dialect,
): readonly JsonObject[] =>
  queue.transitions
    .filter(transition => transition.number === number)
    .map(transition => ({
      timestamp: formatTime(transition.at),
      state: formatState(transition.to),
      ...formatDetails(queue, transition),
    }))
    .reverse()

function formatDetails(queue: Queue, transition: Transition): JsonObject {
  const { to, run, ahead, message } = transition
  const cause = formatCause(transition)
  switch (to) {
    case 'NOT_READY':
      return { notReady: { ...cause, noBatch: queue.pullRequests.get(transition.number)?.noBatch ?? false } }
    case 'PENDING':
      return { pending: { ...cause, prerequisitePullRequests: formatNumbers(queue, ahead) } }
    case 'TESTING':
      return run === undefined ? {} : { testRun: formatRun(queue, run) }
    case 'TESTS_PASSED':
      return { testsPassed: { ...cause, ...formatPass(queue, run) } }
    case 'PENDING_FAILURE':
      return {
        pendingFailure: {
          eventualFailureReason: 'test_run_required_status_failed',
          waitingFor: formatUnfinished(queue, run),
          failureCausingStatuses: formatFailures(queue, run),
        },
      }
    case 'MERGED':
      return { merged: cause }
    case 'FAILED':
      return {
        failure: {
          ...cause,
          ...(transition.reason === 'test_run_required_status_failed' && {
            failureCausingStatuses: formatFailures(queue, run),
          }),
          ...(message !== undefined && { apiFailureMessage: message }),
        },
      }
    case 'CANCELLED':
      return { cancellation: cause }
  }
}

/** The service and programs are no actors. */
const formatCause = ({ reason, actor }: Transition): JsonObject => ({
  ...(reason !== undefined && { reason }),
  ...(actor !== undefined && { actor: { gitHubLogin: actor, trunkUserId: createUuid('user', actor) } }),
})

const formatNumbers = ({ repo }: Queue, numbers: readonly number[]): readonly JsonObject[] =>
  numbers.map(number => ({ prNumber: number, prUrl: `https://${repositoryName(repo)}/pull/${number}` }))

const formatUnfinished = (queue: Queue, run: SandboxTestRun | undefined): readonly JsonObject[] => {
  const isUnfinished = (number: number) => {
    const pullRequest = queue.pullRequests.get(number)
    return pullRequest !== undefined && isStillQueued(pullRequest)
  }
  return formatNumbers(queue, (run?.builtOn ?? []).filter(isUnfinished))
}

const formatRun = (queue: Queue, run: SandboxTestRun): JsonObject => ({
  branch: getTestBranch(run),
  sha: getTestBranchSha(run),
  status: run.status,
  requiredStatuses: listChecks(queue),
  testedPullRequests: formatNumbers(queue, run.tested),
})

const formatPass = (queue: Queue, run: SandboxTestRun | undefined): JsonObject =>
  run === undefined
    ? {}
    : {
        testRunId: run.id,
        testBranchSha: getTestBranchSha(run),
        testBranchUrl: `https://${repositoryName(queue.repo)}/commit/${getTestBranchSha(run)}`,
        waitingFor: formatUnfinished(queue, run),
      }

/** The last check of a failed run fails. */
function formatFailures(queue: Queue, run: SandboxTestRun | undefined): readonly JsonObject[] {
  const name = listChecks(queue).at(-1)
  if (run === undefined || name === undefined) return []
  const url = `https://${repositoryName(queue.repo)}/actions/${run.id}/runs/${encodeURIComponent(name)}`
  return [{ name, url, conclusion: 'FAILURE' }]
}
