import { exclusiveError } from '../../../api/resolve.ts'
import type { ParsedArgs } from '../../../config/settings.ts'

/** Throws a usage error if both options of a pair were typed. */
export function rejectTogether(
  args: ParsedArgs,
  ...pairs: readonly (readonly [one: string, other: string])[]
): void {
  const typed = pairs.find(pair => pair.every(name => args.has(name)))
  if (typed !== undefined) throw exclusiveError(typed)
}
