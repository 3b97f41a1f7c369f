import { type ErrorKind, MergeqError } from '../errors.ts'

const kinds = new Map<number, ErrorKind>([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not-found'],
  [503, 'unavailable'],
])

/** What the service will not do, as a status of HTTP and one sentence (service-api.md section 7). */
export const statusError = (status: number, message: string): MergeqError =>
  new MergeqError(kinds.get(status) ?? 'refused', message, { status })
