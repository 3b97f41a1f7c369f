import { Failure, type Kind } from '../errors.ts'

const kinds = new Map<number, Kind>([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not-found'],
  [503, 'unavailable'],
])

/** What the service will not do, as a status of HTTP and one sentence (service-api.md section 7). */
export const refusal = (status: number, message: string): Failure =>
  new Failure(kinds.get(status) ?? 'refused', message, { status })
