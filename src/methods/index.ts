import { serviceOperations } from '../api/operations/index.ts'
import type { Method } from './method.ts'
import { getMergeQueueMetrics, listQueues } from './metrics.ts'
import { explainPullRequest, listPullRequests, setImpactedTargets } from './pull-requests.ts'
import { updateQueue } from './queues.ts'
import { listFailingTests, listQuarantinedTests, listUnhealthyTests } from './tests.ts'

const ownMethods: readonly Method[] = [
  setImpactedTargets,
  updateQueue,
  getMergeQueueMetrics,
  listPullRequests,
  listFailingTests,
  listQuarantinedTests,
  listUnhealthyTests,
]

/** A method for each operation of the service, in their order. */
const serviceMethods: readonly Method[] = serviceOperations.map(
  operation => ownMethods.find(({ route }) => route === operation.route) ?? operation,
)

/** The methods of the library. */
export const libraryMethods: readonly Method[] = [...serviceMethods, explainPullRequest, listQueues]
