import type { MethodDefinition, MethodName } from './define-method.ts'
import { listQueued } from './pull-request-list-method.ts'
import { cancel, getSubmitted, getTestRun, restart, setTargets, submit } from './pull-request-methods.ts'
import { create, get, getMetrics, getStatus, remove, update } from './queue-methods.ts'
import { linkTicket, listQuarantined, listUnhealthy } from './test-health-methods.ts'
import { getTest, listTests } from './test-methods.ts'

/** The methods of a client, by name. */
export const methods: { readonly [M in MethodName]: MethodDefinition<M> } = {
  submitPullRequest: submit,
  cancelPullRequest: cancel,
  restartTestsOnPullRequest: restart,
  getSubmittedPullRequest: getSubmitted,
  setImpactedTargets: setTargets,
  getMergeQueueTestingDetails: getTestRun,
  createQueue: create,
  getQueue: get,
  updateQueue: update,
  deleteQueue: remove,
  getMergeQueueMetrics: getMetrics,
  listFailingTests: listTests,
  getTestDetails: getTest,
  listPullRequests: listQueued,
  listQuarantinedTests: listQuarantined,
  listUnhealthyTests: listUnhealthy,
  linkTicketToTestCase: linkTicket,
  status: getStatus,
}
