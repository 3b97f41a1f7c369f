import type { Operation } from '../operation.ts'
import { listFailingTests } from './failing-tests.ts'
import { setImpactedTargets } from './impacted-targets.ts'
import { listPullRequests } from './pull-request-list.ts'
import {
  cancelPullRequest,
  getSubmittedPullRequest,
  restartTestsOnPullRequest,
  submitPullRequest,
} from './pull-requests.ts'
import { listQuarantinedTests } from './quarantined-tests.ts'
import { getMergeQueueMetrics } from './queue-metrics.ts'
import { createQueue, deleteQueue, getQueue, updateQueue } from './queues.ts'
import { getServiceStatus } from './service-status.ts'
import { getTestDetails } from './test-details.ts'
import { getMergeQueueTestingDetails } from './testing-details.ts'
import { linkTicketToTestCase } from './ticket-link.ts'
import { listUnhealthyTests } from './unhealthy-tests.ts'

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
