import { usageError } from '../errors.ts'
import { getString, type JsonObject } from '../json.ts'
import { elapsedSince, formatAge } from './format.ts'
import { queueEntries } from './queue-entries.ts'
import { isUnderTest, normalizeState, outcomeOfRecord } from './states.ts'

export interface PushedBranch {
  readonly branch: string
  readonly isDeletion: boolean
  readonly from: string
}

const refUpdate = /^(\S+) ([\da-f]{40,64}) (\S+) ([\da-f]{40,64})$/
const isZero = (sha: string): boolean => /^0+$/.test(sha)

/**
 * Parses the standard input of a git pre-push hook (githooks(5)): `<local ref> <local sha> <remote ref>
 * <remote sha>` on each line. Omits tags, branches that do not move, and branches that the remote does not
 * have yet, because no pull request can come from them. Throws a usage error for any other line.
 */
export function parsePushes(text: string): readonly PushedBranch[] {
  return text
    .split(/\r?\n/)
    .filter(line => line !== '')
    .flatMap(line => {
      const [, , to = '', remote = '', from = ''] = refUpdate.exec(line) ?? []
      if (remote === '')
        throw usageError(
          `'${line.slice(0, 80)}' is not valid input for a pre-push hook.`,
          'Git writes `<local ref> <local sha> <remote ref> <remote sha>` on each line.',
        )
      const branch = remote.startsWith('refs/heads/') ? remote.slice('refs/heads/'.length) : undefined
      if (branch === undefined || isZero(from) || to === from) return []
      return [{ branch, isDeletion: isZero(to), from }]
    })
}

/** Whether a record says that its pull request is in the queue, so that a push would remove it. */
export const isQueued = (record: JsonObject): boolean =>
  outcomeOfRecord(record) === 'pending' && record.isCurrentlySubmittedToQueue !== false

/**
 * Describes what a pull request loses if a push removes it from the queue:
 * `#7 has been TESTING for 4m, position 2 of 5 in the queue for main`. `now` is in milliseconds since 1970.
 */
export function describeLoss(
  record: JsonObject,
  queue: JsonObject | undefined,
  { targetBranch, now }: { readonly targetBranch: string; readonly now: number },
): string {
  const state = normalizeState(getString(record, 'state') ?? 'in an unknown state')
  const elapsed = elapsedSince(getString(record, 'stateChangedAt'), now)
  const duration = elapsed === undefined ? '' : ` for ${formatAge(elapsed)}`
  const entries = queueEntries(queue ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place =
    position === undefined ? 'in the queue' : `position ${position} of ${entries.length} in the queue`
  return `${pullRequestName(record)} ${duration === '' ? 'is' : 'has been'} ${state}${duration}, ${place} for ${targetBranch}`
}

export const pullRequestName = ({ prNumber }: JsonObject): string =>
  typeof prNumber === 'number' ? `#${prNumber}` : 'its pull request'

/** Whether a push would also discard test results: tests are running, have passed or have failed. */
export const isTested = (record: JsonObject): boolean => isUnderTest(getString(record, 'state') ?? '')
