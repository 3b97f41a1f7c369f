import { oneOf, ownRecord } from '../api/operations/fields.ts'

/** A change of a state, in NDJSON. */
export const changeRecord = ownRecord({
  type: oneOf('change'),
  pr: 'number',
  from: 'string | null',
  to: 'string',
  at: 'string',
  position: 'number | null',
})
