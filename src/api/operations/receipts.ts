import { oneOf, optional, ownRecord, type RecordType, usual } from './fields.ts'

/** What a receipt has of what was sent. */
export const sentFields = {
  operation: 'string',
  delivery: oneOf('confirmed', 'confirmed-by-read', 'not-applied', 'unknown'),
}

/** The receipt of a change (docs/reference/cli.md, "Receipts"). */
export const receiptRecord: RecordType = ownRecord({
  operation: sentFields.operation,
  repo: usual('string'),
  targetBranch: usual('string'),
  pr: usual('number'),
  testId: optional('string'),
  ticket: optional('string'),
  targets: optional("number | 'ALL'"),
  ok: 'boolean',
  delivery: sentFields.delivery,
  exit: optional('number'),
  message: optional('string'),
})
