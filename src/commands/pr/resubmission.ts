import { getNumber, getString, type JsonObject } from '../../json.ts'

/** How a pull request is submitted; undefined as it is already. */
interface Requested {
  readonly priority: number | string | undefined
  readonly noBatch: boolean | undefined
}

/**
 * Returns what a submission changed of a pull request that was queued before:
 * `#501 was already queued; priority medium -> high; now tested alone.`
 */
export function describeResubmission(
  pr: number,
  before: JsonObject,
  { priority, noBatch }: Requested,
): string {
  const isChanged = noBatch !== undefined && before.noBatch === !noBatch
  const batching = isChanged ? [noBatch ? 'now tested alone' : 'now tested in batches'] : []
  return `${[`#${pr} was already queued`, ...describePriority(before, priority), ...batching].join('; ')}.`
}

function describePriority(before: JsonObject, priority: number | string | undefined): readonly string[] {
  const last = getString(before, 'priorityName') ?? getNumber(before, 'priorityValue')
  if (priority === undefined || last === undefined) return []
  const isSameName = String(priority).toUpperCase() === String(last).toUpperCase()
  const isUnchanged = isSameName || priority === getNumber(before, 'priorityValue')
  const change = isUnchanged ? `${last} (unchanged)` : `${last} -> ${priority}`
  return [`priority ${change}`]
}
