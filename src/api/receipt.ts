import { repositoryName } from '../domain/values/repository.ts'
import type { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { operationName, type Resource, type Route } from './operation.ts'

/** What is known of a change after it was sent (docs/reference/network.md, "Write recovery"). */
export type Delivery = 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'

export const receiptFields: readonly string[] = [
  'operation',
  'repo',
  'targetBranch',
  'pr',
  'targets',
  'ok',
  'delivery',
  'exit',
  'message',
]

/** The receipt of a change (docs/reference/cli.md, "Receipts"), with exit code and message after an error. */
export function createReceipt(
  route: Route,
  resource: Resource,
  delivery: Delivery,
  failure?: MergeqError,
): JsonObject {
  const { repo, targetBranch, pr, targets } = resource
  return {
    operation: operationName(route),
    ...(repo === undefined ? {} : { repo: repositoryName(repo) }),
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(pr === undefined ? {} : { pr }),
    ...(targets === undefined ? {} : { targets: targets.list === 'ALL' ? 'ALL' : targets.number }),
    ok: failure === undefined,
    delivery,
    ...(failure === undefined ? {} : { exit: failure.exit, message: failure.message }),
  }
}
