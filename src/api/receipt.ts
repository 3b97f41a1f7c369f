import type { Failure } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { operationOf, type Route } from './operation.ts'
import type { Fields, Values } from '../cli/inputs.ts'
import { nameOf, type Repository } from '../domain/values/parsers.ts'

/** What a run was about, as far as its values name it: what messages and receipts say. */
export interface About {
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
export function receiptOf(route: Route, about: About, delivery: Delivery, failure?: Failure): JsonObject {
  const { repo, targetBranch, pr, targets } = about
  return {
    operation: operationOf(route),
    ...(repo === undefined ? {} : { repo: nameOf(repo) }),
    ...(targetBranch === undefined ? {} : { targetBranch }),
    ...(pr === undefined ? {} : { pr }),
    ...(targets === undefined ? {} : { targets: targets.list === 'ALL' ? 'ALL' : targets.number }),
    ok: failure === undefined,
    delivery,
    ...(failure === undefined ? {} : { exit: failure.exit, message: failure.message }),
  }
}

/** What the values of any row name. */
export const aboutOf = (values: Values<Fields>): About => values
