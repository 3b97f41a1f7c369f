import { pullRequest } from './fake-queue.ts'
import type { FaultServer } from './fault-server.ts'
import { type Behavior, respondWith, withoutEffect } from './responders.ts'

const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
export const pulls = { 7: pullRequest(7), 8: pullRequest(8) }

/** The commands that read, and the operation that each calls. */
export const reads = [
  { line: 'pr get 7', operation: 'getSubmittedPullRequest' },
  { line: `pr testing ${id}`, operation: 'getMergeQueueTestingDetails' },
  { line: 'queue get', operation: 'getQueue' },
  { line: 'metrics', operation: 'getMergeQueueMetrics' },
  { line: 'flaky list', operation: 'flaky-tests/list-failing-tests' },
  { line: `flaky get ${id}`, operation: 'flaky-tests/get-test-details' },
] as const
export const [get] = reads
export const rateLimited = (retryAfter: string): Behavior =>
  withoutEffect(respondWith(429, '', { 'retry-after': retryAfter }))

export const operationNames = (server: FaultServer): readonly string[] =>
  server.log.map(({ operation }) => operation)
