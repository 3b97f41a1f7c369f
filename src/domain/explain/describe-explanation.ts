import type { Explanation } from './explanation.ts'
import { joinSome } from './finding.ts'
import type { TestRun } from './test-run.ts'

/** Returns a position as an ordinal number: `1st`, `2nd`, `3rd`, `11th`. */
export function formatOrdinal(position: number): string {
  const lastTwo = position % 100
  const suffix = lastTwo >= 11 && lastTwo <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][position % 10] ?? 'th')
  return `${position}${suffix}`
}

const numbers = (pullRequests: readonly number[]): string => joinSome(pullRequests.map(pr => `#${pr}`))

/**
 * Returns how a pull request was or is tested: alone or with others, and on top of which; undefined if the
 * service does not name the tested pull requests.
 */
export function describeTesting(
  { tested, builtOn }: TestRun,
  pr: number,
  targetBranch: string,
  isOver: boolean,
): string | undefined {
  if (!tested.includes(pr)) return undefined
  const others = tested.filter(other => other !== pr)
  const company = others.length === 0 ? 'alone' : `in a batch with ${numbers(others)}`
  const base = builtOn.length === 0 ? targetBranch : `${targetBranch} with ${numbers(builtOn)}`
  return `It ${isOver ? 'was' : 'is being'} tested ${company}, on top of ${base}.`
}

/** What the first line of the prose says already: the state itself, and the position in the queue. */
const saidInHeading: ReadonlySet<string> = new Set([
  'never-submitted',
  'pending',
  'testing',
  'merged',
  'position',
  'failing-checks',
])

export const otherReasons = ({ reasons }: Explanation): readonly string[] =>
  reasons.filter(({ code }) => !saidInHeading.has(code)).map(({ message }) => message)
