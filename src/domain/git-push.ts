import { usageError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { formatDuration } from './format.ts'
import { queueEntries } from './queue-entries.ts'
import { isUnderTest, normalizeState, settledOutcome } from './states.ts'

/** A branch that a push moves or deletes, as git tells its pre-push hook. */
export interface PushedBranch {
  readonly branch: string
  /** Whether the push deletes the branch at the remote. */
  readonly isDeletion: boolean
  /** The commit that the branch points to at the remote now. */
  readonly from: string
  /** The commit that the branch is to point to; zeros for a deletion. */
  readonly to: string
}

const ref = /^(\S+) ([\da-f]{40,64}) (\S+) ([\da-f]{40,64})$/
const isNone = (sha: string): boolean => /^0+$/.test(sha)

/**
 * Reads what git tells a pre-push hook (githooks(5)): `<local ref> <local sha> <remote ref> <remote sha>`, one a line.
 * Tags are left out, and branches that the remote does not have: no pull request is from there.
 */
export function parsePushes(text: string): readonly PushedBranch[] {
  return text
    .split(/\r?\n/)
    .filter(told => told !== '')
    .flatMap(told => {
      const [, , to = '', remote = '', from = ''] = ref.exec(told) ?? []
      if (remote === '')
        throw usageError(
          `'${told.slice(0, 80)}' is not what git tells a pre-push hook.`,
          'It writes `<local ref> <local sha> <remote ref> <remote sha>`, one a line.',
        )
      const branch = remote.startsWith('refs/heads/') ? remote.slice('refs/heads/'.length) : undefined
      if (branch === undefined || isNone(from) || to === from) return []
      return [{ branch, isDeletion: isNone(to), from, to }]
    })
}

/** Whether a pull request is in the queue, so that a push would take it out. */
export const isQueued = (record: JsonObject): boolean =>
  settledOutcome(record) === 'pending' && record.isCurrentlySubmittedToQueue !== false

/** What a push would take from a pull request: `#7 is TESTING for 4m, number 2 of 5 in the queue of main`. */
export function describeLoss(
  record: JsonObject,
  queue: JsonObject | undefined,
  { targetBranch, now }: { readonly targetBranch: string; readonly now: number },
): string {
  const state = normalizeState(getString(record, 'state') ?? 'in an unknown state')
  const since = Date.parse(getString(record, 'stateChangedAt') ?? '')
  const lasting = Number.isNaN(since) || since > now ? '' : ` for ${formatDuration(now - since)}`
  const entries = queueEntries(queue ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place =
    position === undefined ? 'in the queue' : `number ${position} of ${entries.length} in the queue`
  return `${pullRequestName(record)} is ${state}${lasting}, ${place} of ${targetBranch}`
}

export const pullRequestName = ({ prNumber }: JsonObject): string =>
  typeof prNumber === 'number' ? `#${prNumber}` : 'its pull request'

/** What is thrown away besides its place. */
export const isTested = (record: JsonObject): boolean => isUnderTest(getString(record, 'state') ?? '')
