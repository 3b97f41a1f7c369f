import { MergeqError, toMergeqError } from '../../base/errors.ts'
import { get, getNumber, getString, type JsonObject } from '../../base/json.ts'
import { type Queue, queueName } from '../../values/repository.ts'
import { callOperation } from '../call.ts'
import {
  getSubmittedPullRequests,
  maxPullRequests,
  numbersNotFound,
} from '../operations/several-pull-requests.ts'
import type { ParamValues } from '../params.ts'
import type { Resource } from '../resource.ts'
import type { RequestLimits, ServiceClient } from '../service-client.ts'

interface ReadOptions extends Pick<ParamValues<typeof getSubmittedPullRequests.params>, 'includeTimeline'> {
  readonly limits?: RequestLimits
}

/** What one request says of several pull requests. A pull request of which it says nothing is read alone. */
interface SeveralPullRequests {
  readonly records: ReadonlyMap<number, JsonObject>
  /** Those that were never submitted to the queue. */
  readonly notFound: ReadonlySet<number>
  /** The time of the response by the service's clock, in milliseconds since 1970. */
  readonly date: number | undefined
}

/** Reads pull requests of a queue with one request; undefined if the service does not tell of several. */
export type ReadSeveral = ReturnType<typeof severalReader>

/** Whether a record says all that one says which is read alone (docs/reference/service.md, "getSubmittedPullRequests"). */
const isWhole = (record: JsonObject): boolean =>
  (getString(record, 'state') ?? '') !== '' &&
  (get(record, 'readiness.requiresImpactedTargets') !== true ||
    typeof get(record, 'readiness.hasImpactedTargets') === 'boolean')

/** Returns the function that reads several pull requests, until the service lacks the operation or refuses it. */
export function severalReader(client: ServiceClient) {
  let isAvailable = true
  return async (
    { repo, targetBranch }: Queue,
    prs: readonly number[],
    { includeTimeline, limits = {} }: ReadOptions = {},
  ): Promise<SeveralPullRequests | undefined> => {
    if (!isAvailable) return undefined
    try {
      const values = { repo, targetBranch, prs, includeTimeline }
      const { response, date } = await callOperation(client, getSubmittedPullRequests, values, { limits })
      const records = new Map<number, JsonObject>()
      for (const record of response.records.filter(isWhole)) {
        const number = getNumber(record, 'prNumber')
        if (number !== undefined) records.set(number, record)
      }
      return { records, notFound: new Set(numbersNotFound(response.envelope)), date }
    } catch (error) {
      const { kind } = toMergeqError(error)
      if (kind === 'not-found' || kind === 'refused') isAvailable = false
      else if (kind !== 'bad-answer') throw error
      return undefined
    }
  }
}

/** Returns the parts of a list of which each fits into one request; a single pull request is read alone. */
export const partsToRead = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / maxPullRequests) }, (_, index) =>
    items.slice(index * maxPullRequests, (index + 1) * maxPullRequests),
  ).filter(part => part.length > 1)

/** Returns the error of a pull request that was never submitted to a queue, as of one that was read alone. */
export function neverSubmittedError(
  { repo, targetBranch, pr }: Resource & Queue,
  { advice, nameOf }: Pick<ServiceClient, 'advice' | 'nameOf'>,
): MergeqError {
  const operation = 'getSubmittedPullRequest'
  const hint =
    advice.afterRefusal({ operation, status: 404, resource: { repo, targetBranch, pr }, token: undefined }) ??
    `Check ${nameOf('repo')} and ${nameOf('targetBranch')}.`
  const message = `#${pr} is not in the queue for ${queueName({ repo, targetBranch })}.`
  return new MergeqError('not-found', message, { status: 404, operation: 'getSubmittedPullRequests', hint })
}
