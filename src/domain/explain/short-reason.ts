import { getString, type JsonObject } from '../../json.ts'
import { normalizeState } from '../states.ts'
import { factsOf } from './finding.ts'
import { stateFindings } from './state-findings.ts'

/** The codes of findings that another finding describes more exactly. */
const generalFindings: readonly string[] = ['not-mergeable', 'mergeability-in-progress']

/**
 * Returns in a few words what holds a pull request back: `queue paused`, `conflicts with main`. Undefined if
 * only its place in the queue does. `record` is its own record or its entry in the queue.
 */
export function shortReason(
  pr: number,
  targetBranch: string,
  record: JsonObject,
  queue: JsonObject,
): string | undefined {
  const state = normalizeState(getString(record, 'state') ?? '')
  const findings = stateFindings(state, factsOf(pr, targetBranch, record, queue), undefined).filter(
    ({ short }) => short !== undefined,
  )
  const exact = findings.filter(({ code }) => !generalFindings.includes(code))
  const candidates = exact.length === 0 ? findings : exact
  return (candidates.find(({ blocks }) => blocks === true) ?? candidates[0])?.short
}
