import { type Operation, operationName } from '../api/operation.ts'
import { type OperationName, serviceOperations } from '../api/operations/index.ts'
import type { OperationCommand } from '../cli/command.ts'
import { flakyGet } from '../commands/flaky/get.ts'
import { flakyList } from '../commands/flaky/list.ts'
import { metrics } from '../commands/metrics.ts'
import { prCancel } from '../commands/pr/cancel.ts'
import { prGet } from '../commands/pr/get.ts'
import { prRestart } from '../commands/pr/restart.ts'
import { submitRequest } from '../commands/pr/submit.ts'
import { prTargets } from '../commands/pr/targets.ts'
import { prTesting } from '../commands/pr/testing.ts'
import { queueCreate } from '../commands/queue/create.ts'
import { deleteRequest } from '../commands/queue/delete.ts'
import { queueGet } from '../commands/queue/get.ts'
import { queueUpdate } from '../commands/queue/update.ts'

const commands: Readonly<Record<OperationName, OperationCommand>> = {
  submitPullRequest: submitRequest,
  cancelPullRequest: prCancel,
  restartTestsOnPullRequest: prRestart,
  getSubmittedPullRequest: prGet,
  setImpactedTargets: prTargets,
  getMergeQueueTestingDetails: prTesting,
  createQueue: queueCreate,
  getQueue: queueGet,
  updateQueue: queueUpdate,
  deleteQueue: deleteRequest,
  getMergeQueueMetrics: metrics,
  'flaky-tests/list-failing-tests': flakyList,
  'flaky-tests/get-test-details': flakyGet,
}

const commandsByName: ReadonlyMap<string, OperationCommand> = new Map(Object.entries(commands))

/**
 * The command of each operation of the service, in the order of the operations: a client has a method for
 * each.
 */
export const operationCommands: readonly OperationCommand[] = serviceOperations.flatMap(
  ({ route }: Operation) => commandsByName.get(operationName(route)) ?? [],
)
