import type { MergeqError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { repositoryName } from '../values/repository.ts'
import { type Operation, operationName } from './operation.ts'
import { field, named, oneOf, optional, type RecordType, usual } from './operations/fields.ts'
import type { Resource } from './resource.ts'

/** What a receipt has of what was sent. */
export const sentFields = {
  operation: 'string',
  delivery: oneOf('confirmed', 'confirmed-by-read', 'not-applied', 'unknown'),
}

/** The receipt of a change (docs/reference/cli.md, "Receipts"). */
export const receiptRecord: RecordType = named('Receipt', 'The result of a change.', {
  operation: field(sentFields.operation, 'The name of the operation: `submitPullRequest`.'),
  repo: usual(field('string', 'As `host/owner/name`.')),
  targetBranch: usual('string'),
  pr: usual('number'),
  testId: optional('string'),
  ticket: optional('string'),
  targets: optional(field("number | 'ALL'", 'The number of impacted targets, or `ALL`.')),
  ok: 'boolean',
  delivery: field(
    sentFields.delivery,
    '`confirmed-by-read`: no response arrived, and reading the record back shows the change.',
  ),
  exit: optional(
    field('number', 'The exit code of the command line for the same error; only when `ok` is false.'),
  ),
  message: optional(field('string', 'What happened; only when `ok` is false.')),
})

/** What is known of a change after it was sent (docs/reference/network.md, "Write recovery"). */
export type Delivery = 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'

/** The receipt of a change (docs/reference/cli.md, "Receipts"), with exit code and message after an error. */
export function createReceipt(
  { route, change }: Pick<Operation, 'route' | 'change'>,
  resource: Resource,
  delivery: Delivery,
  failure?: MergeqError,
  wasQueued = false,
): JsonObject {
  const { repo, targetBranch, pr, testId, ticket, targets } = resource
  return {
    operation: operationName(route),
    ...(repo !== undefined && { repo: repositoryName(repo) }),
    ...(targetBranch !== undefined && { targetBranch }),
    ...(pr !== undefined && { pr }),
    ...(testId !== undefined && { testId }),
    ...(ticket !== undefined && { ticket }),
    ...(targets !== undefined && { targets: targets.list === 'ALL' ? 'ALL' : targets.number }),
    ok: failure === undefined,
    delivery,
    // Null where it is not known.
    ...(change?.isSubmission === true && {
      submitted: delivery === 'unknown' ? null : delivery !== 'not-applied' && !wasQueued,
    }),
    ...(failure !== undefined && { exit: failure.exit, message: failure.message }),
  }
}
