import { usage } from '../errors.ts'
import { type JsonObject, textAt } from '../json.ts'
import { line, span } from '../output/view.ts'
import { endpoint } from '../api/operation.ts'
import { entriesOf } from './queue-entries.ts'
import type { Field } from '../cli/inputs.ts'
import { onQueue, poll } from '../api/operations/pull-requests.ts'
import { isUnderTest, spelled, standing } from './states.ts'

/** A branch that a push moves or deletes, as git tells its pre-push hook. */
export interface Push {
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
export function pushesIn(text: string): readonly Push[] {
  return text
    .split(/\r?\n/)
    .filter(told => told !== '')
    .flatMap(told => {
      const [, , to = '', remote = '', from = ''] = ref.exec(told) ?? []
      if (remote === '')
        throw usage(
          `'${told.slice(0, 80)}' is not what git tells a pre-push hook.`,
          'It writes `<local ref> <local sha> <remote ref> <remote sha>`, one a line.',
        )
      const branch = remote.startsWith('refs/heads/') ? remote.slice('refs/heads/'.length) : undefined
      if (branch === undefined || isNone(from) || to === from) return []
      return [{ branch, isDeletion: isNone(to), from, to }]
    })
}

const head: Field<string> = { words: [], at: 'body.pr.branch', needed: true, read: () => '' }

/** The read behind the guard: the pull request that was submitted from a branch (service-observed.md section 2.3). */
export const guarded = endpoint({
  command: 'guard',
  route: poll.route,
  summary: poll.summary,
  changes: false,
  fields: { ...onQueue, head },
  reply: poll.reply,
  view: () => line(''),
  examples: [],
})

/** Whether a pull request is in the queue, so that a push would take it out. */
export const isQueued = (record: JsonObject): boolean =>
  standing(record) === 'pending' && record.isCurrentlySubmittedToQueue !== false

/** What a push would take from a pull request: `#7 is TESTING for 4m, number 2 of 5 in the queue of main`. */
export function lossText(
  record: JsonObject,
  queue: JsonObject | undefined,
  { targetBranch, now }: { readonly targetBranch: string; readonly now: number },
): string {
  const state = spelled(textAt(record, 'state') ?? 'in an unknown state')
  const since = Date.parse(textAt(record, 'stateChangedAt') ?? '')
  const lasting = Number.isNaN(since) || since > now ? '' : ` for ${span(now - since)}`
  const entries = entriesOf(queue ?? {})
  const position = entries.find(({ pr }) => pr === record.prNumber)?.position
  const place =
    position === undefined ? 'in the queue' : `number ${position} of ${entries.length} in the queue`
  return `${nameOfRecord(record)} is ${state}${lasting}, ${place} of ${targetBranch}`
}

export const nameOfRecord = ({ prNumber }: JsonObject): string =>
  typeof prNumber === 'number' ? `#${prNumber}` : 'its pull request'

/** What is thrown away besides its place. */
export const isTested = (record: JsonObject): boolean => isUnderTest(textAt(record, 'state') ?? '')
