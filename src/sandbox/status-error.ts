import { type ErrorKind, MergeqError } from '../errors.ts'

const kindsByStatus = new Map<number, ErrorKind>([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not-found'],
  [503, 'unavailable'],
])

export const statusError = (status: number, message: string): MergeqError =>
  new MergeqError(kindsByStatus.get(status) ?? 'refused', message, { status })
