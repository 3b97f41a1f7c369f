import { get, getNumber, getString } from '../../json.ts'
import { pluralize } from '../format.ts'
import { type QueueEntry, queueEntries, testSlots } from '../queue-entries.ts'
import { canResume, queueStateMessage } from '../queue-state-message.ts'
import { normalizeState } from '../states.ts'
import { type Facts, type Finding, joinSome, shorten } from './finding.ts'

export function queueStateFindings({ queue }: Facts, blockingStates: readonly string[]): readonly Finding[] {
  const state = normalizeState(getString(queue, 'state') ?? '')
  if (state === '' || state === 'RUNNING') return []
  const message = queueStateMessage(state)
  if (message === undefined)
    return [{ code: 'queue-state', message: `The queue is in the unknown state '${shorten(state)}'.` }]
  const resume = { words: ['queue', 'resume'], why: 'Resumes testing and merging.' }
  return [
    {
      code: `queue-${state.toLowerCase().replaceAll('_', '-')}`,
      message,
      short: `queue ${state.toLowerCase().replaceAll('_', ' ')}`,
      blocks: blockingStates.includes(state),
      steps: canResume(state) ? [resume] : [],
    },
  ]
}

const formatEntry = ({ pr, state }: QueueEntry): string =>
  state === '' ? `#${pr}` : `#${pr} (${shorten(state)})`

export function positionFindings({ queue, entry }: Facts): readonly Finding[] {
  if (entry === undefined) return []
  const all = queueEntries(queue)
  const ahead = all.filter(({ position }) => position < entry.position)
  const lanes = get(queue, 'mode') === 'parallel' ? ' in all lanes' : ''
  return [
    {
      code: 'position',
      message:
        ahead.length === 0
          ? all.length === 1
            ? 'It is the only pull request in the queue.'
            : `It is first of ${all.length} in the queue.`
          : `It is at position ${entry.position} of ${all.length} in the queue. Ahead of it${lanes}: ${joinSome(ahead.map(formatEntry))}.`,
    },
  ]
}

export function slotFindings({ queue, entry }: Facts): readonly Finding[] {
  const { testing, concurrency, isBatching } = testSlots(queue)
  const findings: Finding[] = []
  const isFull = concurrency !== undefined && testing.length >= concurrency && !isBatching
  if (isFull)
    findings.push({
      code: 'no-free-slot',
      message: `The queue is at its limit of ${pluralize(concurrency, 'concurrent test run')}: ${joinSome(testing.map(({ pr }) => `#${pr}`))}.`,
    })
  const priority = getNumber(entry?.record, 'priorityValue')
  const prioritized = queueEntries(queue).filter(
    ({ position, state, record }) =>
      state === 'PENDING' &&
      position < (entry?.position ?? 0) &&
      (getNumber(record, 'priorityValue') ?? Number.NaN) < (priority ?? Number.NaN),
  )
  if (prioritized.length > 0)
    findings.push({
      code: 'lower-priority',
      message: `Its priority value is ${priority}. Pull requests ahead with a higher priority: ${joinSome(prioritized.map(({ pr }) => `#${pr}`))}.`,
    })
  const minSize = getNumber(queue, 'batchingMinSize')
  const minutes = getNumber(queue, 'batchingMaxWaitTimeMinutes')
  if (isBatching && get(entry?.record, 'noBatch') !== true)
    findings.push({
      code: 'batching',
      message: `The queue tests pull requests in batches${minSize === undefined ? '' : ` of at least ${minSize}`}${minutes === undefined ? '' : ` and waits up to ${pluralize(minutes, 'minute')} to fill a batch`}.`,
    })
  return findings
}
