import { callOperation } from '../../../api/call.ts'
import { getSubmittedPullRequest, type submitPullRequest } from '../../../api/operations/pull-requests.ts'
import type { ParamValues } from '../../../api/param.ts'
import type { RequestLimits } from '../../../api/service-client.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { isNotFound, toMergeqError } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'

/** The current record of a pull request; undefined when it was never submitted. */
export async function readRecord(
  { repo, targetBranch, pr }: ParamValues<typeof submitPullRequest.params>,
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
