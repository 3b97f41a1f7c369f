import { type Repository, repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import { getHeadCommit, getReportedState, isSubmitted, listEnqueued } from './engine/queries.ts'
import type { PullRequest, Queue, SandboxTestRun } from './engine/queue.ts'
import { authors, createHex, createRandom, createUuid, pick, titles } from './sample-data.ts'
import type { SandboxTest } from './test-history.ts'

const priorityNames = new Map([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
])

/** In either case (docs/reference/service.md, "Priorities"); undefined for an unknown name. */
export const findPriority = (name: string): number | undefined =>
  [...priorityNames].find(([, known]) => known === name.toLowerCase())?.[0]

/** The name is the sandbox's own: its pull requests are invented. */
export const getHeadBranch = (number: number): string => `pr-${number}`

const seedPartsFor = ({ seed, repo }: Queue, number: number) => [seed, repositoryName(repo), number] as const

const getTitle = (queue: Queue, number: number): string =>
  pick(createRandom('title', ...seedPartsFor(queue, number))(), titles)

const getAuthor = (queue: Queue, number: number): string =>
  pick(createRandom('author', ...seedPartsFor(queue, number))(), authors)

/**
 * Formats the fields that a pull request has both in its own record and in the record of its queue
 * (docs/reference/service.md, "getSubmittedPullRequest" and "getQueue").
 */
function formatSummary(
  queue: Queue,
  pullRequest: PullRequest,
  { hasObservedFields, formatState, formatTime }: Dialect,
): JsonObject {
  const { number, priority, usesDefaultPriority, noBatch } = pullRequest
  const seedParts = seedPartsFor(queue, number)
  const priorityName = priorityNames.get(priority) ?? String(priority)
  return {
    ...(hasObservedFields ? { id: createUuid('entry', queue.targetBranch, ...seedParts) } : {}),
    state: formatState(pullRequest.state),
    stateChangedAt: formatTime(pullRequest.stateChangedAt),
    priorityValue: priority,
    priorityName,
    noBatch,
    prNumber: number,
    prTitle: getTitle(queue, number),
    ...(hasObservedFields
      ? {
          ...(usesDefaultPriority ? { usedDefaultPriorityName: priorityName } : {}),
          skipTheLine: priority === 0,
          prSha: getHeadCommit(queue, number).sha,
          prBaseBranch: queue.targetBranch,
          prAuthor: getAuthor(queue, number),
        }
      : {}),
  }
}

export function formatPullRequest(
  queue: Queue,
  pullRequest: PullRequest,
  dialect: Dialect,
  withTimeline: boolean,
): JsonObject {
  const isMergeable = queue.now >= pullRequest.mergeableAt
  return {
    ...formatSummary(queue, pullRequest, dialect),
    isCurrentlySubmittedToQueue: isSubmitted(pullRequest),
    ...(dialect.hasObservedFields
      ? {
          forceEnqueued: false,
          readiness: {
            doesBaseBranchMatch: true,
            requiresImpactedTargets: queue.settings.mode === 'parallel',
            hasImpactedTargets: getHeadCommit(queue, pullRequest.number).targets !== undefined,
            gitHubMergeability: isMergeable ? 'mergeable' : 'in_progress',
          },
          verifiedByTestRun: pullRequest.state === 'MERGED' ? (pullRequest.lastRun?.id ?? null) : null,
        }
      : {}),
    ...(withTimeline ? { timeline: formatTimeline(queue, pullRequest, dialect) } : {}),
  }
}

/**
 * Formats the timeline: the newest event first, FAILED as `failure`
 * (docs/reference/service.md, "getSubmittedPullRequest"). The rest is the sandbox's own: every pull request
 * is submitted by its author.
 */
const formatTimeline = (
  queue: Queue,
  { number }: PullRequest,
  { hasObservedFields, formatState, formatTime }: Dialect,
): readonly JsonObject[] =>
  queue.transitions
    .filter(transition => transition.number === number)
    .map(({ at, to, reason }) => {
      const run = [...queue.runs.values()].findLast(
        ({ tested, startedAt }) => startedAt <= at && tested.includes(number),
      )
      return {
        timestamp: formatTime(at),
        state: formatState(to === 'FAILED' ? 'FAILURE' : to),
        reason: reason.replaceAll(/\W+/g, '_').toLowerCase(),
        ...(to === 'NOT_READY' ? { actor: getAuthor(queue, number) } : {}),
        ...(hasObservedFields && run !== undefined && to === 'TESTING'
          ? { testRun: { branch: getTestBranch(run), status: run.status } }
          : {}),
      }
    })
    .reverse()

const getTestBranch = ({ id, kind, tested: [first = 0] }: SandboxTestRun): string =>
  `trunk-merge/pr-${first}/${id}${kind === 'bisection' ? '-bisection' : ''}`

export function formatQueueSettings(queue: Queue, { formatState }: Dialect): JsonObject {
  const { others, bisectionConcurrency, ...settings } = queue.settings
  return {
    ...others,
    state: formatState(getReportedState(queue)),
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

/** The API document has no `status.value` (docs/reference/service.md, "Test records"). */
export function formatTest(
  test: SandboxTest,
  repo: Repository,
  { hasObservedFields, formatTime }: Dialect,
): JsonObject {
  const repositoryUrl = `https://${repositoryName(repo)}`
  return {
    id: test.id,
    repository: { html_url: repositoryUrl },
    html_url: `https://app.sandbox.example/${repo.owner}/flaky-tests/test/${test.id}`,
    name: test.name,
    variant: test.variant,
    status: {
      ...(hasObservedFields ? { value: test.health } : {}),
      reason: test.healthReason,
      timestamp: formatTime(test.healthSince),
    },
    most_common_failures: test.commonFailures.map(({ summary, count, lastFailedAt }) => ({
      summary,
      occurrence_count: count,
      last_occurrence: formatTime(lastFailedAt),
    })),
    failure_rate_last_7d: test.failureRate7d,
    failure_rate_last_24h: test.failureRate24h,
    codeowners: test.owners,
    pull_requests_impacted_last_7d: test.pullRequestsImpacted7d,
    quarantined: test.isQuarantined,
    file_path: test.filePath,
    parent: test.parent,
    classname: test.className,
    ...(test.ticketUrl === undefined ? {} : { ticket: { html_url: test.ticketUrl } }),
  }
}

/** The checks of a run in a queue without required statuses. The names are the sandbox's own. */
const defaultChecks = ['build', 'test']

/**
 * Formats a check of a test run. The check succeeds after its share of the run, a number over 0 and up to 1;
 * the last check, whose share is 1, has the result of the run.
 */
function formatCheckRun(
  name: string,
  runUrl: string,
  share: number,
  run: SandboxTestRun,
  now: number,
): JsonObject {
  const { startedAt, endsAt, endedAt = now, status } = run
  const check = { name, url: `${runUrl}/runs/${encodeURIComponent(name)}` }
  const isShareOver = endedAt >= startedAt + (endsAt - startedAt) * share
  if (share < 1 && isShareOver) return { ...check, status: 'COMPLETED', conclusion: 'SUCCESS' }
  if (status === 'in_progress') return { ...check, status: now > startedAt ? 'IN_PROGRESS' : 'QUEUED' }
  const conclusion = { succeeded: 'SUCCESS', failed: 'FAILURE', cancelled: 'CANCELLED' }[status]
  return { ...check, status: 'COMPLETED', conclusion }
}

/** The newest status first, `PENDING` last (docs/reference/service.md, "getMergeQueueTestingDetails"). */
function formatStatusLog(runUrl: string, { status }: SandboxTestRun): readonly JsonObject[] {
  const formatStatus = (state: string) => ({ context: 'ci/deploy-preview', url: `${runUrl}/deploy`, state })
  const finalStatus = {
    in_progress: [],
    succeeded: [formatStatus('SUCCESS')],
    failed: [formatStatus('FAILURE')],
    cancelled: [formatStatus('ERROR')],
  }[status]
  return [...finalStatus, formatStatus('PENDING')]
}

function listTargets({ headCommits }: Queue, number: number): readonly string[] {
  const targets = headCommits.get(number)?.targets ?? []
  return targets === 'ALL' ? [targets] : [...targets]
}

export function formatTestRun(queue: Queue, run: SandboxTestRun, { formatTime }: Dialect): JsonObject {
  const { requiredStatuses, mode } = queue.settings
  const repositoryUrl = `https://${repositoryName(queue.repo)}`
  const runUrl = `${repositoryUrl}/actions/${run.id}`
  const checks = requiredStatuses.length > 0 ? requiredStatuses : defaultChecks
  const combineTargetNames = (numbers: readonly number[]) => [
    ...new Set(numbers.flatMap(number => listTargets(queue, number))),
  ]
  return {
    requiredStatuses: checks,
    requiredStatusesSource:
      requiredStatuses.length > 0 ? 'merge_instance' : 'repo_provider_branch_protection',
    testBranch: getTestBranch(run),
    testBranchSha: createHex(40, 'test branch', run.id),
    createdAt: formatTime(run.startedAt),
    status: run.status,
    checkSuites: [
      {
        checkRuns: checks.map((name, index) =>
          formatCheckRun(name, runUrl, (index + 1) / checks.length, run, queue.now),
        ),
      },
    ],
    statusChecks: formatStatusLog(runUrl, run),
    testedPullRequests: run.tested.map(number => ({
      prNumber: number,
      prUrl: `${repositoryUrl}/pull/${number}`,
      title: getTitle(queue, number),
    })),
    ...(mode === 'parallel'
      ? {
          impactedTargetsForTestedPrs: combineTargetNames(run.tested),
          impactedTargets: combineTargetNames([...run.tested, ...run.builtOn]),
        }
      : {}),
    dependentPrs: run.builtOn,
  }
}
