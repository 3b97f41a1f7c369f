import { repositoryName } from '../domain/values/parsers.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import type { Queue, Run } from './engine/queue.ts'
import { pullRequestTitle } from './response-records.ts'
import { hex } from './seed.ts'

/** The checks of a run where the queue requires none by name. The sandbox's own. */
const usualChecks = ['build', 'test']

/** What a check shows: it is over once its share of the run is, and the last one brings the verdict. */
function checkRun(name: string, home: string, share: number, run: Run, now: number): JsonObject {
  const { startedAt, endsAt, endedAt = now, status } = run
  const about = { name, url: `${home}/runs/${encodeURIComponent(name)}` }
  const isOver = endedAt >= startedAt + (endsAt - startedAt) * share
  if (share < 1 && isOver) return { ...about, status: 'COMPLETED', conclusion: 'SUCCESS' }
  if (status === 'in_progress') return { ...about, status: now > startedAt ? 'IN_PROGRESS' : 'QUEUED' }
  const conclusion = { succeeded: 'SUCCESS', failed: 'FAILURE', cancelled: 'CANCELLED' }[status]
  return { ...about, status: 'COMPLETED', conclusion }
}

/** The statuses of a run, a log with the newest first and a pending row for each context (service-observed.md 2.5). */
function statusLog(home: string, { status }: Run): readonly JsonObject[] {
  const row = (state: string) => ({ context: 'ci/deploy-preview', url: `${home}/deploy`, state })
  const last = {
    in_progress: [],
    succeeded: [row('SUCCESS')],
    failed: [row('FAILURE')],
    cancelled: [row('ERROR')],
  }[status]
  return [...last, row('PENDING')]
}

function targetNames({ heads }: Queue, number: number): readonly string[] {
  const known = heads.get(number)?.targets ?? []
  return known === 'ALL' ? [known] : [...known]
}

/** A test run (service-api.md section 4.1 shows no shape; the fields are those of service-observed.md section 2.5). */
export function testingRecord(queue: Queue, run: Run, { instant }: Dialect): JsonObject {
  const { requiredStatuses, mode } = queue.settings
  const [first = 0] = run.tested
  const repo = `https://${repositoryName(queue.repo)}`
  const checks = requiredStatuses.length > 0 ? requiredStatuses : usualChecks
  const targetsOf = (numbers: readonly number[]) => [
    ...new Set(numbers.flatMap(number => targetNames(queue, number))),
  ]
  return {
    requiredStatuses: checks,
    requiredStatusesSource:
      requiredStatuses.length > 0 ? 'merge_instance' : 'repo_provider_branch_protection',
    testBranch: `trunk-merge/pr-${first}/${run.id}${run.lane === 'bisection' ? '-bisection' : ''}`,
    testBranchSha: hex(40, 'test branch', run.id),
    createdAt: instant(run.startedAt),
    status: run.status,
    checkSuites: [
      {
        checkRuns: checks.map((name, index) =>
          checkRun(name, `${repo}/actions/${run.id}`, (index + 1) / checks.length, run, queue.now),
        ),
      },
    ],
    statusChecks: statusLog(`${repo}/actions/${run.id}`, run),
    testedPullRequests: run.tested.map(number => ({
      prNumber: number,
      prUrl: `${repo}/pull/${number}`,
      title: pullRequestTitle(queue, number),
    })),
    ...(mode === 'parallel'
      ? {
          impactedTargetsForTestedPrs: targetsOf(run.tested),
          impactedTargets: targetsOf([...run.tested, ...run.builtOn]),
        }
      : {}),
    dependentPrs: run.builtOn,
  }
}
