import { type Repository, repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from './dialects.ts'
import { headOf } from './engine/head-commits.ts'
import type { Entry, Queue } from './engine/queue.ts'
import { enqueued, stateOf } from './engine/queue-order.ts'
import { isSubmitted } from './engine/queue-queries.ts'
import type { SandboxTest } from './failing-tests.ts'
import { authors, titles } from './sample-texts.ts'
import { pick, randomSequence, uuid } from './seed.ts'

/** What the sandbox tells of itself on the wire, field by field; the sections named are those of service-observed.md. */

const names = new Map([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
])

/** The number of a priority's name (section 6); undefined when there is no such name. */
export const priorityNamed = (name: string): number | undefined =>
  [...names].find(([, known]) => known === name.toLowerCase())?.[0]

/** The branch that a pull request comes from: `pr-123`. The sandbox's own, as the pull requests are invented. */
export const branchOf = (number: number): string => `pr-${number}`

const sourceOf = ({ seed, repo }: Queue, number: number) => [seed, repositoryName(repo), number] as const

/** The title that was invented for a pull request. */
export const pullRequestTitle = (queue: Queue, number: number): string =>
  pick(randomSequence('title', ...sourceOf(queue, number))(), titles)

/** What a pull request's own record and its entry in the queue have in common (sections 2.3 and 3.4). */
function summaryOf(queue: Queue, entry: Entry, { tellsMore, state, instant }: Dialect): JsonObject {
  const { number, priority, usesDefaultPriority, noBatch } = entry
  const source = sourceOf(queue, number)
  const name = names.get(priority) ?? String(priority)
  return {
    ...(tellsMore ? { id: uuid('entry', queue.targetBranch, ...source) } : {}),
    state: state(entry.state),
    stateChangedAt: instant(entry.stateChangedAt),
    priorityValue: priority,
    priorityName: name,
    noBatch,
    prNumber: number,
    prTitle: pullRequestTitle(queue, number),
    ...(tellsMore
      ? {
          ...(usesDefaultPriority ? { usedDefaultPriorityName: name } : {}),
          skipTheLine: priority === 0,
          prSha: headOf(queue, number).sha,
          prBaseBranch: queue.targetBranch,
          prAuthor: pick(randomSequence('author', ...source)(), authors),
        }
      : {}),
  }
}

/** The record of a pull request (service-api.md section 2.3). */
export function pullRequestRecord(
  queue: Queue,
  entry: Entry,
  dialect: Dialect,
  withTimeline: boolean,
): JsonObject {
  const isMergeable = queue.now >= entry.mergeableAt
  return {
    ...summaryOf(queue, entry, dialect),
    isCurrentlySubmittedToQueue: isSubmitted(entry),
    ...(dialect.tellsMore
      ? {
          forceEnqueued: false,
          readiness: {
            doesBaseBranchMatch: true,
            requiresImpactedTargets: queue.settings.mode === 'parallel',
            hasImpactedTargets: headOf(queue, entry.number).targets !== undefined,
            gitHubMergeability: isMergeable ? 'mergeable' : 'in_progress',
          },
          verifiedByTestRun: entry.state === 'MERGED' ? (entry.lastRun?.id ?? null) : null,
        }
      : {}),
    ...(withTimeline ? { timeline: timelineOf(queue, entry, dialect) } : {}),
  }
}

/** Newest first, failed is called `failure`; everything else about it is the sandbox's own (section 2.3). */
const timelineOf = (
  { transitions }: Queue,
  { number }: Entry,
  { state, instant }: Dialect,
): readonly JsonObject[] =>
  transitions
    .filter(move => move.number === number)
    .map(({ at, to, reason }) => ({
      timestamp: instant(at),
      state: state(to === 'FAILED' ? 'FAILURE' : to),
      reason: reason.replaceAll(/\W+/g, '_').toLowerCase(),
    }))
    .reverse()

/** A queue's state and settings (service-api.md section 2.4, names of section 3.1). */
export function settingsRecord(queue: Queue, { state }: Dialect): JsonObject {
  const { others, bisectionConcurrency, ...settings } = queue.settings
  return {
    ...others,
    state: state(stateOf(queue)),
    branch: queue.targetBranch,
    ...settings,
    bisectionConcurrency: bisectionConcurrency ?? settings.concurrency,
    allowedBotSubmitters: [],
    batchingRules: [],
  }
}

/** A queue with the pull requests in it, in the order in which they are taken (section 3.4). */
export const queueRecord = (queue: Queue, dialect: Dialect): JsonObject => ({
  ...settingsRecord(queue, dialect),
  enqueuedPullRequests: enqueued(queue).map(entry => summaryOf(queue, entry, dialect)),
})

/** A test case record (service-api.md section 2.5); `status.value` is known from section 5 only. */
export function testRecord(test: SandboxTest, repo: Repository, { tellsMore, instant }: Dialect): JsonObject {
  const home = `https://${repositoryName(repo)}`
  return {
    id: test.id,
    repository: { html_url: home },
    html_url: `https://app.sandbox.example/${repo.owner}/flaky-tests/test/${test.id}`,
    name: test.name,
    variant: test.variant,
    status: {
      ...(tellsMore ? { value: test.value } : {}),
      reason: test.reason,
      timestamp: instant(test.since),
    },
    most_common_failures: test.common.map(({ summary, count, lastAt }) => ({
      summary,
      occurrence_count: count,
      last_occurrence: instant(lastAt),
    })),
    failure_rate_last_7d: test.rate7d,
    failure_rate_last_24h: test.rate24h,
    codeowners: test.owners,
    pull_requests_impacted_last_7d: test.impacted7d,
    quarantined: test.quarantined,
    file_path: test.file,
    parent: test.parent,
    classname: test.classname,
    ...(test.ticket === undefined ? {} : { ticket: { html_url: test.ticket } }),
  }
}
