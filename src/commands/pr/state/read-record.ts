import { callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest } from '../../../api/operations/pull-requests.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { Repository } from '../../../domain/values/repository.ts'
import { isNotFound, toMergeqError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

/** The pull request of a request. */
export type RequestedPullRequest = {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number
}

/** The current record of a pull request; undefined when it was never submitted. */
export async function readRecord(
  { repo, targetBranch, pr }: RequestedPullRequest,
  limits: RequestLimits,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  try {
    const params = { repo, targetBranch, pr }
    const { response } = await callOperation(context.client(), getSubmittedPullRequest, params, { limits })
    return response.records[0]
  } catch (error) {
    const failure = toMergeqError(error)
    if (isNotFound(failure)) return undefined
    throw failure
  }
}
