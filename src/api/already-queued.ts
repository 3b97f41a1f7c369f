import { extendError, failureOrThrow, type MergeqError } from '../base/errors.ts'
import { getNumber, getString, type JsonObject } from '../base/json.ts'
import { getSubmittedPullRequest } from './operations/pull-requests.ts'
import { hasSentBatching, hasSentPriority, isSubmitted } from './recovery-rules.ts'
import { buildRequest, type Request, sentObject } from './request.ts'
import { exchange } from './send.ts'
import type { RequestLimits, ServiceClient } from './service-client.ts'

/**
 * Reads, after the service refused the first sending of a submission with 409, whether the pull request is in the queue
 * already (docs/reference/network.md, "What is read back"), and returns its record. Throws an error if it is, but not as
 * it was submitted, and `refusal` if it is not in the queue, or if that cannot be read.
 */
export async function requireQueued(
  client: ServiceClient,
  request: Request,
  refusal: MergeqError,
  limits: RequestLimits,
): Promise<JsonObject> {
  const { resource } = request
  const record = client.maxRetries === 0 ? undefined : await readRecord(client, resource, limits)
  if (record === undefined || !isSubmitted(record)) throw refusal
  const sent = sentObject(request)
  if (hasSentPriority(record, sent) && hasSentBatching(record, sent)) return record
  const [inspect] = client.advice.toInspect([resource])
  throw extendError(
    refusal,
    inspect === undefined ? {} : { hint: `Nothing was changed. To see how it is queued, run: ${inspect}` },
    `#${resource.pr} is queued already with ${describeValues(record, sent)}; the service refuses to change it.`,
  )
}

/** Undefined if the service does not know the pull request, and if it cannot be asked. */
async function readRecord(
  client: ServiceClient,
  resource: Request['resource'],
  limits: RequestLimits,
): Promise<JsonObject | undefined> {
  const { repo, targetBranch, pr } = resource
  if (repo === undefined || targetBranch === undefined) return undefined
  try {
    const reading = await buildRequest(client, getSubmittedPullRequest, { repo, targetBranch, pr })
    const { response } = await exchange(client, getSubmittedPullRequest, reading, { limits })
    return response.records[0]
  } catch (error) {
    failureOrThrow(error)
    return undefined
  }
}

/** Returns the value of a record that is not the one that was sent: `priority medium`. */
function describeValues(record: JsonObject, sent: JsonObject): string {
  const batching = record.noBatch === true ? 'noBatch' : 'batching'
  if (hasSentPriority(record, sent)) return batching
  return `priority ${getString(record, 'priorityName') ?? getNumber(record, 'priorityValue') ?? 'unknown'}`
}
