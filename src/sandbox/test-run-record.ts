import { repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import type { Queue, SandboxTestRun } from './engine/queue.ts'
import { getTestBranch, getTitle } from './response-records.ts'
import { createHex } from './seed.ts'

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
