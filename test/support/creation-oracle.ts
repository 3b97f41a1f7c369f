import { isDeepStrictEqual } from 'node:util'
import type { Sending } from './faulty-sandbox.ts'
import type { Outcome } from './harness.ts'

/** The settings of the queue file that the histories apply. */
const fileSettings = { concurrency: 5, batch: true }

/** What `queue apply --create` sends for a queue that is missing, in this order: it runs only with all its settings. */
const steps = [
  { operation: 'createQueue', settings: { concurrency: 5 } },
  { operation: 'updateQueue', settings: { batch: true, state: 'PAUSED' } },
  { operation: 'updateQueue', settings: { state: 'RUNNING' } },
]

/** The name of the step to which a sending of `queue apply` belongs; its replay belongs to the same. */
export const stepOf = ({ operation, body: { state } }: Sending): string =>
  [operation, ...(state === undefined ? [] : [state])].join(' ')

/** Whether a change was applied before a moment, or was so without it. */
type IsDone = (sending: Sending, until: number) => boolean

/**
 * Everything that `queue apply` does or says wrongly about a queue that was missing when it was read
 * (docs/reference/cli.md, "Queue files"), and about one that was there: that gets one update with what differs. The exit
 * code is that of the queue; undefined if the command did not say it.
 */
export function creationContradictions(
  sendings: readonly Sending[],
  { code, err }: Pick<Outcome, 'err'> & { readonly code: number | undefined },
  end: number,
  isDone: IsDone,
): readonly string[] {
  const firsts = sendings.filter(
    (sending, index) => sendings.findIndex(one => stepOf(one) === stepOf(sending)) === index,
  )
  const settingsOf = ({ body: { repo, targetBranch, ...settings } }: Sending) => settings
  if (firsts[0]?.operation !== 'createQueue') {
    const isAsInFile = firsts.every(sending =>
      Object.entries(settingsOf(sending)).every(([name, value]) =>
        isDeepStrictEqual(value, { ...fileSettings }[name]),
      ),
    )
    return isAsInFile ? [] : ['an update has more than the file']
  }
  const found: string[] = []
  for (const [index, sending] of firsts.entries()) {
    const { operation, settings } = steps[index] ?? {}
    if (sending.operation !== operation || !isDeepStrictEqual(settingsOf(sending), settings))
      found.push(`step ${index + 1} of a creation is ${sending.operation} ${sending.text}`)
    const previous = firsts[index - 1]
    if (previous !== undefined && !isDone(previous, sending.at))
      found.push(`step ${index + 1} of a creation came before step ${index} was done`)
  }
  if (code === 0 && firsts.length < steps.length)
    found.push(`exit 0 after step ${firsts.length} of a creation`)
  if (code === 0 && !firsts.every(sending => isDone(sending, end)))
    found.push('exit 0, and not every step of the creation was done')
  const [, paused] = firsts
  const branch = firsts[0].body.targetBranch
  if (
    new RegExp(`for ${branch}\\b.* was created and is paused\\.`).test(err) &&
    !(paused !== undefined && isDone(paused, end))
  )
    found.push('said to be paused, and it never was')
  if (code === 7 && firsts.length > 1) found.push('7 after a queue was created')
  return found
}
