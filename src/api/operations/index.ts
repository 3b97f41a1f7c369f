import type { Operation } from '../operation.ts'
import { getMergeQueueMetrics } from './metrics.ts'
import {
  cancelPullRequest,
  getMergeQueueTestingDetails,
  getSubmittedPullRequest,
  listPullRequests,
  restartTestsOnPullRequest,
  setImpactedTargets,
  submitPullRequest,
} from './pull-requests.ts'
import { createQueue, deleteQueue, getQueue, updateQueue } from './queues.ts'
import { getServiceStatus } from './status.ts'
import {
  getTestDetails,
  linkTicketToTestCase,
  listFailingTests,
  listQuarantinedTests,
  listUnhealthyTests,
} from './tests.ts'

/** The operations of the service, in the order of docs/reference/service.md, "Operations". */
export const serviceOperations = [
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
  listQuarantinedTests,
  listUnhealthyTests,
  linkTicketToTestCase,
  getServiceStatus,
] as const satisfies readonly Operation[]

type NameIn<P extends string> = P extends `${string} /${infer Name}` ? Name : never

export type OperationName = NameIn<(typeof serviceOperations)[number]['route']>
