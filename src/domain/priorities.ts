import { getNumber, getString, type JsonObject } from '../base/json.ts'
import { type PullRequest, pullRequestName } from '../values/pull-request.ts'
import { queueName } from '../values/repository.ts'

/** The numbers of the priorities that have names (docs/reference/service.md, "Priorities"). */
const names: ReadonlyMap<number, string> = new Map([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
])

export const priorityName = (priority: number): string => names.get(priority) ?? String(priority)

/**
 * Returns what a submission changed of a pull request that was queued before:
 * `#501 was already queued for main of acme/web; priority medium -> high; now tested alone.` What is undefined stays as it is.
 */
export function describeResubmission(
  pullRequest: PullRequest,
  before: JsonObject,
  {
    priority,
    noBatch,
  }: { readonly priority?: number | string | undefined; readonly noBatch?: boolean | undefined },
): string {
  const isChanged = noBatch !== undefined && before.noBatch === !noBatch
  const batching = isChanged ? [noBatch ? 'now tested alone' : 'now tested in batches'] : []
  return `${[
    `${pullRequestName(pullRequest)} was already queued for ${queueName(pullRequest)}`,
    ...describePriority(before, priority),
    ...batching,
  ].join('; ')}.`
}

function describePriority(before: JsonObject, priority: number | string | undefined): readonly string[] {
  const last = getString(before, 'priorityName') ?? getNumber(before, 'priorityValue')
  if (priority === undefined || last === undefined) return []
  const isSameName = String(priority).toUpperCase() === String(last).toUpperCase()
  const isUnchanged = isSameName || priority === getNumber(before, 'priorityValue')
  const change = isUnchanged ? `${last} (unchanged)` : `${last} -> ${priority}`
  return [`priority ${change}`]
}
