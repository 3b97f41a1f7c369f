import { noon } from './harness.ts'
import type { Reply } from './responders.ts'

export type Json = Readonly<Record<string, unknown>>

/** What the tiny service holds. */
export interface QueueData {
  readonly pulls: Map<number, Json>
  queue: Json | undefined
  readonly targets: Map<number, unknown>
  /** Milliseconds since 1970 by the service's own clock. */
  now(): number
}

const priorityValues = new Map([
  ['urgent', 0],
  ['high', 10],
  ['medium', 100],
  ['low', 200],
])

/** A record as the service tells it, a submitted one unless said otherwise. */
export const pullRequest = (number: number, more: Json = {}): Json => ({
  id: `entry-${number}`,
  state: 'pending',
  stateChangedAt: iso(noon - 3_600_000),
  priorityValue: 100,
  priorityName: 'medium',
  skipTheLine: false,
  isCurrentlySubmittedToQueue: true,
  noBatch: false,
  prNumber: number,
  prTitle: `Change ${number}`,
  ...more,
})

/** The service's dates count whole seconds. */
export const iso = (time: number): string =>
  new Date(Math.floor(time / 1_000) * 1_000).toISOString().replace(/\.\d+Z$/, '.000Z')

export const emptyQueue: Json = {
  state: 'running',
  mode: 'single',
  concurrency: 1,
  batch: false,
  requiredStatuses: [],
  branch: 'main',
}

const notFound: Reply = { status: 404, body: 'Not Found' }

export const ok: Reply = { status: 200, body: 'OK' }

const asJson = (document: unknown): Reply => ({
  status: 200,
  body: JSON.stringify(document),
  headers: { 'content-type': 'application/json' },
})

const numberIn = ({ pr }: Json): number =>
  typeof pr === 'object' && pr !== null && 'number' in pr && typeof pr.number === 'number' ? pr.number : 0

const isSubmitted = (record: Json | undefined): boolean => record?.isCurrentlySubmittedToQueue === true

const submittedPullRequests = ({ pulls }: QueueData): readonly Json[] =>
  [...pulls.values()].filter(isSubmitted)

export type Schedule = (milliseconds: number, deed: () => void) => void

/** The changes: each makes itself felt on the stage and answers, or answers why it does not. */
export const writeOperations: Readonly<
  Record<string, (stage: QueueData, body: Json, later: Schedule) => Reply>
> = {
  submitPullRequest({ pulls, now }, body) {
    const number = numberIn(body)
    const before = pulls.get(number)
    const { priority = 'medium', noBatch = false } = body
    const priorityValue = priorityValues.get(String(priority)) ?? priority
    const asked = { priorityValue, priorityName: String(priority), noBatch }
    const fresh = { state: 'pending', isCurrentlySubmittedToQueue: true, stateChangedAt: iso(now()) }
    pulls.set(number, { ...pullRequest(number), ...before, ...(isSubmitted(before) ? {} : fresh), ...asked })
    return ok
  },
  cancelPullRequest({ pulls, now }, body) {
    const before = pulls.get(numberIn(body))
    if (!isSubmitted(before)) return notFound
    const left = { state: 'cancelled', isCurrentlySubmittedToQueue: false, stateChangedAt: iso(now()) }
    pulls.set(numberIn(body), { ...before, ...left })
    return ok
  },
  restartTestsOnPullRequest({ pulls, now }, body, later) {
    const set = (state: string) => {
      const before = pulls.get(numberIn(body))
      if (isSubmitted(before)) pulls.set(numberIn(body), { ...before, state, stateChangedAt: iso(now()) })
    }
    if (!isSubmitted(pulls.get(numberIn(body)))) return notFound
    set('pending')
    later(1_000, () => set('testing'))
    return ok
  },
  setImpactedTargets({ targets }, body) {
    targets.set(numberIn(body), body.impactedTargets)
    return ok
  },
  createQueue(stage, { repo, targetBranch, ...settings }) {
    if (stage.queue !== undefined) return { status: 409, body: 'Conflict' }
    stage.queue = { ...emptyQueue, branch: targetBranch, ...settings }
    return { status: 200 }
  },
  updateQueue(stage, { repo, targetBranch, ...settings }) {
    if (stage.queue === undefined) return notFound
    stage.queue = { ...stage.queue, ...settings }
    return asJson(stage.queue)
  },
  deleteQueue(stage) {
    if (stage.queue === undefined) return notFound
    if (submittedPullRequests(stage).length > 0) return { status: 409, body: 'The queue is not empty' }
    stage.queue = undefined
    return ok
  },
}

export const writeOperationNames: readonly string[] = Object.keys(writeOperations)

export const test = {
  id: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
  name: 'adds to the cart',
  codeowners: ['@acme/web'],
}

/** The reads. */
export function readOperation(stage: QueueData, operation: string, body: Json): Reply {
  const record = stage.pulls.get(numberIn(body))
  if (operation === 'getSubmittedPullRequest') return record === undefined ? notFound : asJson(record)
  if (operation === 'getQueue')
    return stage.queue === undefined
      ? notFound
      : asJson({ ...stage.queue, enqueuedPullRequests: submittedPullRequests(stage) })
  if (operation === 'getMergeQueueTestingDetails')
    return asJson({ testBranch: 'trunk-merge/pr-7/x', status: 'in_progress', testedPullRequests: [] })
  if (operation === 'flaky-tests/list-failing-tests')
    return asJson({ tests: [test], page: { total_rows: 1, total_pages: 1, next_page_token: '' } })
  if (operation === 'flaky-tests/get-test-details') return asJson({ test })
  if (operation === 'getMergeQueueMetrics')
    return { status: 200, body: 'mq_depth_current{repo="acme/web"} 2\n' }
  return notFound
}
