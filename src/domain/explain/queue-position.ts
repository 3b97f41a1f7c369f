import { at, textAt } from '../../json.ts'
import { count } from '../../output/view.ts'
import { type Entry, entriesOf, numberAt, slotsOf } from '../queue-entries.ts'
import { spelled } from '../states.ts'
import { brief, type Facts, type Finding, some } from './finding.ts'

const stops: Readonly<Record<string, string>> = {
  PAUSED: 'The queue is paused: it starts no tests and merges nothing.',
  DRAINING: 'The queue is draining: it starts no tests, and merges what is being tested.',
  SWITCHING_MODES: 'The queue is switching its mode: it starts no tests until that is done.',
}

/** What the queue's own state keeps from happening; `stopping` are the states in which it stops this pull request. */
export function queueStateFindings({ queue }: Facts, stopping: readonly string[]): readonly Finding[] {
  const state = spelled(textAt(queue, 'state') ?? '')
  if (state === '' || state === 'RUNNING') return []
  const message = Object.hasOwn(stops, state) ? stops[state] : undefined
  if (message === undefined)
    return [{ code: 'queue-state', message: `The queue is in the state '${brief(state)}'.` }]
  const resume = { command: 'mergeq queue resume', why: 'Lets the queue test and merge again.' }
  return [
    {
      code: `queue-${state.toLowerCase().replaceAll('_', '-')}`,
      message,
      blocks: stopping.includes(state),
      steps: state === 'SWITCHING_MODES' ? [] : [resume],
    },
  ]
}

const named = ({ pr, state }: Entry): string => (state === '' ? `#${pr}` : `#${pr} (${brief(state)})`)

/** Where it stands in the queue, and who is ahead. */
export function placeFindings({ queue, entry }: Facts): readonly Finding[] {
  if (entry === undefined) return []
  const all = entriesOf(queue)
  const ahead = all.filter(({ position }) => position < entry.position)
  const lanes = at(queue, 'mode') === 'parallel' ? ', in whatever lane' : ''
  return [
    {
      code: 'position',
      message:
        ahead.length === 0
          ? `It is ${all.length === 1 ? 'alone' : `the first of ${all.length}`} in the queue.`
          : `It is number ${entry.position} of ${all.length} in the queue; ahead of it${lanes}: ${some(ahead.map(named))}.`,
    },
  ]
}

/** What a pull request in PENDING waits for: a free test run, those of higher priority, a batch. */
export function slotFindings({ queue, entry }: Facts): readonly Finding[] {
  const { testing, concurrency, isBatching } = slotsOf(queue)
  const findings: Finding[] = []
  const isFull = concurrency !== undefined && testing.length >= concurrency && !isBatching
  if (isFull)
    findings.push({
      code: 'no-free-slot',
      message: `Testing is at its limit of ${count(concurrency, 'test run')} at a time: ${some(testing.map(({ pr }) => `#${pr}`))}.`,
    })
  const priority = numberAt(entry?.record, 'priorityValue')
  const first = entriesOf(queue).filter(
    ({ position, state, record }) =>
      state === 'PENDING' &&
      position < (entry?.position ?? 0) &&
      (numberAt(record, 'priorityValue') ?? Number.NaN) < (priority ?? Number.NaN),
  )
  if (first.length > 0)
    findings.push({
      code: 'lower-priority',
      message: `Its priority is ${priority}; ${some(first.map(({ pr }) => `#${pr}`))} ${first.length === 1 ? 'has' : 'have'} a higher one and ${first.length === 1 ? 'goes' : 'go'} first.`,
    })
  const size = numberAt(queue, 'batchingMinSize')
  const minutes = numberAt(queue, 'batchingMaxWaitTimeMinutes')
  if (isBatching && at(entry?.record, 'noBatch') !== true)
    findings.push({
      code: 'batching',
      message: `The queue tests in batches${size === undefined ? '' : ` of at least ${size}`}${minutes === undefined ? '' : `, and waits up to ${count(minutes, 'minute')} for one to fill`}.`,
    })
  return findings
}
