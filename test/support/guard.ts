import type { Answer, Seen } from './harness.ts'

export const record = {
  prNumber: 7,
  state: 'testing',
  stateChangedAt: '2026-01-05T11:56:00.000Z',
  isCurrentlySubmittedToQueue: true,
}
const queue = {
  state: 'running',
  enqueuedPullRequests: [
    { prNumber: 5, state: 'testing' },
    { prNumber: 7, state: 'testing' },
  ],
}
/** A service that knows one pull request, submitted from the branch fix. */
export const serviceKnowing =
  (found: object = record, other: Answer = { body: JSON.stringify(queue) }) =>
  ({ path, body }: Seen): Answer => {
    if (path.endsWith('/getQueue')) return other
    return JSON.parse(body).pr.branch === 'fix'
      ? { body: JSON.stringify(found) }
      : { status: 404, body: 'Not Found' }
  }
export const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
