import { field, named, oneOf, optional, type RecordType, usual } from './fields.ts'

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
