import type { Answer, Seen, Setting } from './harness.ts'

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

export const hookPath = '/repo/.git/hooks/pre-push'

/** git in a checkout without settings of hooks, or with a folder of hooks that a file of settings names. */
export const hookGit =
  (
    top: string,
    hooks?: {
      readonly folder: string
      readonly scope: 'local' | 'worktree' | 'global'
      readonly setIn?: string
    },
  ): NonNullable<Setting['spawn']> =>
  (_, args) => {
    if (args.includes('config')) {
      const isAsked =
        !args.some(arg => /^--(?:local|worktree)$/.test(arg)) || args.includes(`--${hooks?.scope}`)
      const { folder, setIn = '.git/config' } = hooks ?? {}
      return hooks !== undefined && isAsked
        ? { code: 0, out: `file:${setIn}\t${folder}\n` }
        : { code: 1, out: '' }
    }
    const folder = hooks?.folder ?? '.git/hooks'
    return { code: 0, out: args.includes('--git-path') ? `${folder}/pre-push\n` : `${top}\n` }
  }
