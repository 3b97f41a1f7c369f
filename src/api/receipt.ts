import type { Inputs, InputValues } from '../cli/inputs.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import type { MergeqError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { operationName, type Route } from './operation.ts'

/** What a run was about, as far as its values name it: what messages and receipts say. */
export interface ResourceRef {
  readonly repo?: Repository | undefined
  readonly targetBranch?: string | undefined
  readonly pr?: number | undefined
  /** Its head branch, where it was asked for by that. */
  readonly head?: string | undefined
  /** The impacted targets: how many there are, and whether they are a list or the word ALL. */
  readonly targets?: { readonly list: unknown; readonly number: number } | undefined
  /** The run of a pull request from a fork, whose id was sent in place of the token. */
  readonly forkedRun?: string | undefined
}

/** What is known of a change after it was sent (WIRE.md section 2). */
export type Delivery = 'confirmed' | 'confirmed-by-read' | 'not-applied' | 'unknown'

/** Our own record of a change (CLI.md section 4.4); with a failure it also says the exit code and why. */
export function createReceipt(
  route: Route,
  about: ResourceRef,
  delivery: Delivery,
  failure?: MergeqError,
): JsonObject {
  const { repo, targetBranch, pr, targets } = about
  return {
    operation: operationName(route),
    ...(repo === undefined ? {} : { repo: repositoryName(repo) }),
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(pr === undefined ? {} : { pr }),
    ...(targets === undefined ? {} : { targets: targets.list === 'ALL' ? 'ALL' : targets.number }),
    ok: failure === undefined,
    delivery,
    ...(failure === undefined ? {} : { exit: failure.exit, message: failure.message }),
  }
}

/** What the values of any row name. */
export const resourceOf = (values: InputValues<Inputs>): ResourceRef => values
