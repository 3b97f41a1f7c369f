import type { Operation } from '../operation.ts'
import { explainPullRequest, explainQueue, listQueues } from './conclusions.ts'
import { getMergeQueueMetrics } from './metrics.ts'
import {
  cancelPullRequest,
  getMergeQueueTestingDetails,
  getSubmittedPullRequest,
  impactedTargetsRequest,
  listPullRequests,
  pullRequestsPage,
  restartTestsOnPullRequest,
  setImpactedTargets,
  submitPullRequest,
} from './pull-requests.ts'
import { createQueue, deleteQueue, getQueue, updateQueue } from './queues.ts'
import { getServiceStatus } from './status.ts'
import { listTestRuns, testingResultsPage } from './testing-results.ts'
import {
  failingTestsPage,
  getTestDetails,
  linkTicketToTestCase,
  listFailingTests,
  listQuarantinedTests,
  listUnhealthyTests,
  quarantinedTestsPage,
  unhealthyTestsPage,
} from './tests.ts'

/** The requests of the service, in the order of docs/reference/service.md, "Operations". */
export const serviceOperations = [
  submitPullRequest,
  cancelPullRequest,
  restartTestsOnPullRequest,
  getSubmittedPullRequest,
  impactedTargetsRequest,
  getMergeQueueTestingDetails,
  createQueue,
  getQueue,
  updateQueue,
  deleteQueue,
  getMergeQueueMetrics,
  failingTestsPage,
  getTestDetails,
  pullRequestsPage,
  testingResultsPage,
  quarantinedTestsPage,
  unhealthyTestsPage,
  linkTicketToTestCase,
  getServiceStatus,
] as const satisfies readonly Operation[]

type NameIn<P extends string> = P extends `${string} /${infer Name}` ? Name : never

export type OperationName = NameIn<(typeof serviceOperations)[number]['route']>

/** What command line and library call. */
export const clientOperations: readonly Operation[] = [
  submitPullRequest,
  cancelPullRequest,
  restartTestsOnPullRequest,
  getSubmittedPullRequest,
  setImpactedTargets,
  getMergeQueueTestingDetails,
  createQueue,
  getQueue,
  updateQueue,
  deleteQueue,
  getMergeQueueMetrics,
  listFailingTests,
  getTestDetails,
  listPullRequests,
  listTestRuns,
  listQuarantinedTests,
  listUnhealthyTests,
  linkTicketToTestCase,
  getServiceStatus,
  explainPullRequest,
  explainQueue,
  listQueues,
]
