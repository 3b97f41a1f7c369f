import { parseRepository } from '../../src/values/repository.ts'
import { type TrackedPullRequest, track } from '../../src/wait/wait-state.ts'
import { noon } from './harness.ts'

const pullRequest = (pr: number) => ({ repo: parseRepository('acme/web'), targetBranch: 'main', pr })
/** A pull request that was read in a state, or not yet. */
export const seenAs = (pr: number, state?: string, position?: number): TrackedPullRequest => ({
  ...track(pullRequest(pr), { isDue: false }),
  seen: { state, position },
})
/** A pull request that readings do not show, and that was perhaps submitted. */
export const missing = (pr: number, isSubmitted = false): TrackedPullRequest => ({
  ...track(pullRequest(pr), { isDue: false, ...(isSubmitted && { sent: { from: noon, to: noon } }) }),
  phase: { name: 'absent', absence: { since: 0, readings: 1 } },
})
