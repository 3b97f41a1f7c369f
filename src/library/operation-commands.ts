import { type Operation, operationName } from '../api/operation.ts'
import { type OperationName, serviceOperations } from '../api/operations/index.ts'
import type { OperationCommand } from '../cli/command.ts'
import { flakyGetCommand } from '../commands/flaky/get.ts'
import { flakyListCommand } from '../commands/flaky/list.ts'
import { metricsCommand } from '../commands/metrics.ts'
import { prCancelCommand } from '../commands/pr/cancel.ts'
import { prGetCommand } from '../commands/pr/get.ts'
import { prRestartCommand } from '../commands/pr/restart.ts'
import { submitRequest } from '../commands/pr/submit.ts'
import { prTargetsCommand } from '../commands/pr/targets.ts'
import { prTestingCommand } from '../commands/pr/testing.ts'
import { queueCreateCommand } from '../commands/queue/create.ts'
import { deleteRequest } from '../commands/queue/delete.ts'
import { queueGetCommand } from '../commands/queue/get.ts'
import { queueUpdateCommand } from '../commands/queue/update.ts'

const commands: Readonly<Record<OperationName, OperationCommand>> = {
  submitPullRequest: submitRequest,
  cancelPullRequest: prCancelCommand,
  restartTestsOnPullRequest: prRestartCommand,
  getSubmittedPullRequest: prGetCommand,
  setImpactedTargets: prTargetsCommand,
  getMergeQueueTestingDetails: prTestingCommand,
  createQueue: queueCreateCommand,
  getQueue: queueGetCommand,
  updateQueue: queueUpdateCommand,
  deleteQueue: deleteRequest,
  getMergeQueueMetrics: metricsCommand,
  'flaky-tests/list-failing-tests': flakyListCommand,
  'flaky-tests/get-test-details': flakyGetCommand,
}

const commandsByName: ReadonlyMap<string, OperationCommand> = new Map(Object.entries(commands))

/**
 * The command of each operation of the service, in the order of the operations: a client has a method for
 * each.
 */
export const operationCommands: readonly OperationCommand[] = serviceOperations.flatMap(
  ({ route }: Operation) => commandsByName.get(operationName(route)) ?? [],
)
