import { extendError, type MergeqError } from '../base/errors.ts'
import { type Repository, repositoryName } from '../values/repository.ts'

/**
 * The queue, pull request or test that a request is about, as far as its params name it. Confirmations, reads, receipts
 * and messages name this resource; nothing else in a body may name another (docs/reference/cli.md, "Fields that mergeq
 * does not know").
 */
export interface Resource {
  readonly repo?: Repository | undefined
  readonly targetBranch?: string | undefined
  readonly pr?: number | undefined
  readonly head?: string | undefined
  /** A test and the ticket that is linked to it. */
  readonly testId?: string | undefined
  readonly ticket?: string | undefined
  readonly targets?: { readonly list: unknown; readonly number: number } | undefined
  /** The id of the run of a pull request from a fork, which was sent instead of the token. */
  readonly forkedRun?: string | undefined
}

/** Returns an error with what it is about; not one that every other request would have, too. */
export function withSubject(failure: MergeqError, { repo, targetBranch, pr }: Resource): MergeqError {
  const { kind, details } = failure
  const isOfAll = kind === 'usage' || (kind === 'auth' && details.status === undefined)
  if (isOfAll || details.repo !== undefined || repo === undefined) return failure
  return extendError(failure, {
    repo: repositoryName(repo),
    ...(targetBranch !== undefined && { targetBranch }),
    ...(pr !== undefined && { pr }),
  })
}
