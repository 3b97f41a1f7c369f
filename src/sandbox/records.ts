// Members that are undefined are not sent.

import type { JsonObject } from '../base/json.ts'
import { repositoryName } from '../values/repository.ts'
import type { Dialect } from './dialects.ts'
import {
  finalStates,
  getHeadCommit,
  isStillQueued,
  listEnqueued,
  type PullRequest,
  type Queue,
  type SandboxTestRun,
  type Transition,
} from './engine/queue.ts'
import { authors, changes, createHex, createRandom, createUuid, pick } from './sample-data.ts'
import { listBelow } from './scenarios.ts'

const priorityNames = new Map([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
])

/** In either case (docs/reference/service.md, "Priorities"); undefined for an unknown name. */
export const findPriority = (name: string): number | undefined =>
  [...priorityNames].find(([, known]) => known === name.toLowerCase())?.[0]

const getTitle = ({ seed, repo }: Queue, number: number): string =>
  pick(createRandom('title', seed, repositoryName(repo), number)(), Object.keys(changes))

/**
 * Returns the head branch of a pull request. The sandbox's own: of several pull requests with the same change, the
 * second has the branch `fix-cart-2`, in the order of their first submits.
 */
function getHeadBranch(queue: Queue, number: number): string {
  const nameOf = (other: number) => changes[getTitle(queue, other)] ?? ''
  const name = nameOf(number)
  const alike = [...queue.pullRequests.keys()].filter(other => nameOf(other) === name)
  const index = alike.indexOf(number)
  return index <= 0 ? name : `${name}-${index + 1}`
}

export const findByHead = (queue: Queue, head: string): PullRequest | undefined =>
  [...queue.pullRequests.values()].find(({ number }) => head === getHeadBranch(queue, number))

/** Returns the base branch of a pull request: in a stack the head branch of the one below it. */
function getBaseBranch(queue: Queue, number: number): string {
  const below = listBelow(queue.scenario, number).at(-1)
  return below === undefined ? queue.targetBranch : getHeadBranch(queue, below)
}

const getAuthor = ({ seed, repo }: Queue, number: number): string =>
  pick(createRandom('author', seed, repositoryName(repo), number)(), authors)

function formatSummary(
  queue: Queue,
  { number, state, stateChangedAt, priority, usesDefaultPriority, noBatch }: PullRequest,
  { hasObservedFields, formatState, formatTime }: Dialect,
): JsonObject {
  const { seed, repo, targetBranch } = queue
  const priorityName = priorityNames.get(priority) ?? String(priority)
  const documented = {
    state: formatState(state),
    stateChangedAt: formatTime(stateChangedAt),
    priorityValue: priority,
    priorityName,
    noBatch,
    prNumber: number,
    prTitle: getTitle(queue, number),
  }
  if (!hasObservedFields) return documented
  return {
    id: createUuid('entry', targetBranch, seed, repositoryName(repo), number),
    ...documented,
    usedDefaultPriorityName: usesDefaultPriority ? priorityName : undefined,
    skipTheLine: priority === 0,
    prSha: getHeadCommit(queue, number).sha,
    prBaseBranch: getBaseBranch(queue, number),
    prAuthor: getAuthor(queue, number),
  }
}

/** In a stack each pull request needs an upload. */
const hasTargets = (queue: Queue, number: number): boolean =>
  [...listBelow(queue.scenario, number), number].every(
    member => getHeadCommit(queue, member).targets !== undefined,
  )

const formatMergeability = ({ now }: Queue, mergeableAt: number): string => {
  if (mergeableAt === Number.POSITIVE_INFINITY) return 'not_mergeable'
  return now >= mergeableAt ? 'mergeable' : 'in_progress'
}

export function formatPullRequest(queue: Queue, pullRequest: PullRequest, dialect: Dialect): JsonObject {
  const { number, mergeableAt, state, lastRun } = pullRequest
  const documented = {
    ...formatSummary(queue, pullRequest, dialect),
    isCurrentlySubmittedToQueue: isStillQueued(pullRequest),
  }
  if (!dialect.hasObservedFields) return documented
  return {
    ...documented,
    forceEnqueued: false,
    readiness: {
      doesBaseBranchMatch: true,
      requiresImpactedTargets: queue.settings.mode === 'parallel',
      hasImpactedTargets: hasTargets(queue, number),
      gitHubMergeability: formatMergeability(queue, mergeableAt),
    },
    verifiedByTestRun: state === 'MERGED' ? (lastRun?.id ?? null) : null,
  }
}

const getTestBranchSha = ({ id }: SandboxTestRun): string => createHex(40, 'test branch', id)

const getTestBranch = ({ id, kind, tested: [first = 0] }: SandboxTestRun): string =>
  `trunk-merge/pr-${first}/${id}${kind === 'bisection' ? '-bisection' : ''}`

export function formatQueueSettings(queue: Queue, { formatState }: Dialect): JsonObject {
  const { state, bisectionConcurrency, others, ...settings } = queue.settings
  return {
    ...others,
    state: formatState(state),
    branch: queue.targetBranch,
    ...settings,
    bisectionConcurrency: bisectionConcurrency || settings.concurrency,
    allowedBotSubmitters: [],
    batchingRules: [],
  }
}

/** Formats a queue with its pull requests in the order of testing (docs/reference/service.md, "getQueue"). */
export const formatQueue = (queue: Queue, dialect: Dialect): JsonObject => ({
  ...formatQueueSettings(queue, dialect),
  enqueuedPullRequests: listEnqueued(queue).map(pullRequest => formatSummary(queue, pullRequest, dialect)),
})

/** The checks of a run in a queue without required statuses. The names are the sandbox's own. */
const defaultChecks = ['build', 'test']

const listChecks = ({ settings: { requiredStatuses } }: Queue): readonly string[] =>
  requiredStatuses.length > 0 ? requiredStatuses : defaultChecks

const conclusions = { succeeded: 'SUCCESS', failed: 'FAILURE', cancelled: 'CANCELLED' } as const

/** Formats the checks that reported: the last one has the result of the run. Where one never does, the others succeed. */
function formatChecks(queue: Queue, runUrl: string, runStatus: SandboxTestRun['status']) {
  const { silentCheck } = queue.scenario
  const status = silentCheck === undefined ? runStatus : 'succeeded'
  const names = listChecks(queue).filter(name => name !== silentCheck)
  return names.map((name, index) => {
    const check = { name, url: `${runUrl}/runs/${encodeURIComponent(name)}` }
    if (status === 'in_progress') return { ...check, status: 'IN_PROGRESS' }
    const conclusion = index < names.length - 1 ? 'SUCCESS' : conclusions[status]
    return { ...check, status: 'COMPLETED', conclusion }
  })
}

/** The newest status first, `PENDING` last (docs/reference/service.md, "getMergeQueueTestingDetails"). */
const formatStatusLog = (runUrl: string, status: SandboxTestRun['status']): readonly JsonObject[] => {
  const finalState = { in_progress: [], succeeded: ['SUCCESS'], failed: ['FAILURE'], cancelled: ['ERROR'] }
  return [...finalState[status], 'PENDING'].map(state => ({
    context: 'ci/deploy-preview',
    url: `${runUrl}/deploy`,
    state,
  }))
}

export function formatTestRun(queue: Queue, run: SandboxTestRun, { formatTime }: Dialect): JsonObject {
  const { requiredStatuses, mode } = queue.settings
  const { id, startedAt, status, tested, builtOn } = run
  const repositoryUrl = `https://${repositoryName(queue.repo)}`
  const runUrl = `${repositoryUrl}/actions/${id}`
  const isOverridden = requiredStatuses.length > 0
  const checks = listChecks(queue)
  const listTargets = (numbers: readonly number[]) => {
    const targets = numbers.map(number => queue.headCommits.get(number)?.targets ?? [])
    return [...new Set(targets.flatMap(names => (names === 'ALL' ? [names] : [...names])))]
  }
  return {
    requiredStatuses: checks,
    requiredStatusesSource: isOverridden ? 'merge_instance' : 'repo_provider_branch_protection',
    testBranch: getTestBranch(run),
    testBranchSha: getTestBranchSha(run),
    createdAt: formatTime(startedAt),
    status,
    checkSuites: [{ checkRuns: formatChecks(queue, runUrl, status) }],
    statusChecks: formatStatusLog(runUrl, status),
    testedPullRequests: tested.map(number => ({
      prNumber: number,
      prUrl: `${repositoryUrl}/pull/${number}`,
      title: getTitle(queue, number),
    })),
    ...(mode === 'parallel' && {
      impactedTargetsForTestedPrs: listTargets(tested),
      impactedTargets: listTargets([...tested, ...builtOn]),
    }),
    dependentPrs: builtOn,
  }
}

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
  const { to, run, ahead, message, reason } = transition
  const isOfTests = reason === 'test_run_required_status_failed'
  const cause = formatCause(transition)
  switch (to) {
    case 'NOT_READY':
      return { notReady: { ...cause, noBatch: queue.pullRequests.get(transition.number)?.noBatch ?? false } }
    case 'PENDING':
      return { pending: { ...cause, prerequisitePullRequests: formatNumbers(queue, ahead) } }
    case 'TESTING':
      return { testRun: run && formatRun(queue, run) }
    case 'TESTS_PASSED':
      return { testsPassed: { ...cause, ...(run && formatPass(queue, run)) } }
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
          failureCausingStatuses: isOfTests ? formatFailures(queue, run) : undefined,
          apiFailureMessage: message,
        },
      }
    case 'CANCELLED':
      return { cancellation: cause }
  }
}

/** The service and programs are no actors. */
const formatCause = ({ reason, actor }: Transition): JsonObject => ({
  reason,
  actor: actor === undefined ? actor : { gitHubLogin: actor, trunkUserId: createUuid('user', actor) },
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

const formatPass = (queue: Queue, run: SandboxTestRun): JsonObject => ({
  testRunId: run.id,
  testBranchSha: getTestBranchSha(run),
  testBranchUrl: `https://${repositoryName(queue.repo)}/commit/${getTestBranchSha(run)}`,
  waitingFor: formatUnfinished(queue, run),
})

/** The last check of a failed run fails. */
function formatFailures(queue: Queue, run: SandboxTestRun | undefined): readonly JsonObject[] {
  const name = listChecks(queue).at(-1)
  if (run === undefined || name === undefined) return []
  const url = `https://${repositoryName(queue.repo)}/actions/${run.id}/runs/${encodeURIComponent(name)}`
  return [{ name, url, conclusion: 'FAILURE' }]
}

/** The sandbox's own: it keeps all that it played (docs/reference/service.md, "listMergeQueueTestingResults"). */
export function listTestingResults(
  { runs, transitions }: Queue,
  since: number,
  until: number,
  { formatTime }: Dialect,
): readonly JsonObject[] {
  const finished = [...runs.values()].flatMap(({ endedAt, ...run }) =>
    endedAt === undefined || endedAt < since || endedAt > until
      ? []
      : run.tested.map(number => ({ ...run, number, endedAt })),
  )
  finished.sort((one, other) => other.endedAt - one.endedAt || other.number - one.number)
  return finished.map(({ id, number, kind, startedAt, endedAt, status, tested }) => {
    const end = transitions.find(
      ({ number: other, at, to }) => other === number && at >= endedAt && finalStates.includes(to),
    )
    const hasLeft = end?.at === endedAt && end.to !== 'MERGED'
    const isSplit = status === 'failed' && tested.length > 1
    const bisection = isSplit ? 'entered_bisection' : kind === 'bisection' ? 'in_bisection' : undefined
    const outcomes = {
      succeeded: 'passed',
      failed: 'failed',
      cancelled: hasLeft ? 'cancelled' : 'interrupted',
      in_progress: null,
    }
    return {
      prNumber: number,
      endedAt: formatTime(endedAt),
      testingDurationMs: Math.round((endedAt - startedAt) / 1_000) * 1_000,
      outcome: outcomes[status],
      cycleConclusion: end?.to.toLowerCase(),
      bisection,
      testRunId: id,
    }
  })
}
