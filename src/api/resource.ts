import { maxPullRequestNumber } from '../domain/values/pull-request.ts'
import type { Repository } from '../domain/values/repository.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import type { Params, ParamValues } from './param.ts'

/** The queue or pull request that a request is about, as far as its params or its body name it. */
export interface Resource {
  readonly repo?: Repository | undefined
  readonly targetBranch?: string | undefined
  readonly pr?: number | undefined
  readonly head?: string | undefined
  readonly targets?: { readonly list: unknown; readonly number: number } | undefined
  /** The id of the run of a pull request from a fork, which was sent instead of the token. */
  readonly forkedRun?: string | undefined
}

export const resourceOfParams = (params: ParamValues<Params>): Resource => params

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value !== ''

function repositoryIn(value: Json | undefined): Repository | undefined {
  if (!isObject(value)) return undefined
  const { host, owner, name } = value
  return isText(host) && isText(owner) && isText(name) ? { host, owner, name } : undefined
}

const isPullRequestNumber = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxPullRequestNumber

/**
 * The resource that a request body names (docs/reference/service.md, "Common fields"); a member that is
 * missing or malformed in the body is left out. Confirmations, reads, receipts and messages name this
 * resource, whatever the settings say
 * (docs/reference/cli.md, "Fields that mergeq does not know").
 */
export function parseResource({ repo, targetBranch, pr }: JsonObject): Resource {
  const repository = repositoryIn(repo)
  const { number, branch } = isObject(pr) ? pr : { number: undefined, branch: undefined }
  return {
    ...(repository === undefined ? {} : { repo: repository }),
    ...(isText(targetBranch) ? { targetBranch } : {}),
    ...(isPullRequestNumber(number) ? { pr: number } : {}),
    ...(isText(branch) ? { head: branch } : {}),
  }
}
