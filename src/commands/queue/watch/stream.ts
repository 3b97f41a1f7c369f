import { oneOf, ownRecord } from '../../../api/operations/fields.ts'
import { readActivity } from '../../../api/reads/queue-activity.ts'
import { isNotFound } from '../../../base/errors.ts'
import { getArray, type JsonObject } from '../../../base/json.ts'
import { type Cli, readsMore } from '../../../command/command.ts'
import { withResource } from '../../../command/each.ts'
import { summarizeQueue, testSlots } from '../../../domain/queue-entries.ts'
import { columns, singleRecord } from '../../../output/view.ts'
import { joinTruncated, shorten } from '../../../values/format.ts'
import { type Queue, queueFieldsOf, queueName } from '../../../values/repository.ts'
import { toIso } from '../../../values/time.ts'
import type { QueueChange } from '../../../wait/queue-changes.ts'
import type { QueuesView } from '../../../wait/watch-queues.ts'
import { notReadySentence } from '../shared/screen.ts'

export const heartbeatRecord = ownRecord({ type: oneOf('heartbeat'), at: 'string', oldest: 'number' })

export const queueChangeColumns = columns(
  'at',
  'pr',
  ['from', { format: 'state' }],
  'to',
  'position',
  'repo',
  'targetBranch',
  ['reason', { format: 'text' }],
  'actor',
)

interface StreamOptions {
  /** Whether there are several queues: then sentences name them, and one that is lost does not end the watch. */
  readonly isSeveral: boolean
  readonly heartbeat?: number | undefined
}

/** Creates the view for pipes, CI jobs, several queues and every format except the table: it prints each change. */
export function createStreamView({ isSeveral, heartbeat }: StreamOptions, cli: Cli): QueuesView {
  const { printer, logger, host, options, serviceTime } = cli
  const isStream = options.format.prints === 'records'
  const print = (record: JsonObject, sentence = '') =>
    printer.addNow({
      ...singleRecord(record),
      columns: queueChangeColumns,
      screen: () => ({ sentence }),
    })
  const printChange = (place: Queue, change: QueueChange) => {
    const cause = describeCause(change)
    const name = isSeveral ? `${queueName(place)}: ` : ''
    const sentence = `${name}${describeQueueChange(change)}${cause === '' ? '' : `: ${cause}`}`
    return print({ type: 'change', ...change, ...queueFieldsOf(place) }, sentence)
  }
  const printQueueEvent = (place: Queue, { type: _, at: __, ...queue }: JsonObject) =>
    // The fields that this program adds replace those of the service.
    print({ type: 'queue', at: toIso(serviceTime.now()), ...queueFieldsOf(place), ...queue })
  let beatAt = host.clock.monotonic()
  const sleepWithBeats = async (delay: number, interval: number, oldest: () => number) => {
    const { clock, interrupted } = host
    const wakeAt = clock.monotonic() + delay
    for (;;) {
      if (clock.monotonic() - beatAt >= interval) {
        beatAt = clock.monotonic()
        const seconds = Math.floor(oldest() / 1_000)
        await print({ type: 'heartbeat', at: toIso(serviceTime.now()), oldest: seconds })
      }
      const now = clock.monotonic()
      if (now >= wakeAt) return
      await clock.sleep(Math.min(wakeAt, beatAt + interval) - now, interrupted)
    }
  }
  return {
    async show(place, { queue, isFirst, changes }) {
      if (isFirst && isStream) await printQueueEvent(place, queue)
      else if (isFirst) {
        const tested = testSlots(queue).testing.map(({ pr }) => `#${pr}`)
        const numbers = tested.length === 0 ? [] : `Under test: ${joinTruncated(tested)}.`
        const isEmpty = getArray(queue, 'enqueuedPullRequests').length === 0
        const { notReady } = isEmpty && readsMore(cli) ? await readActivity(cli.client(), place) : {}
        const sentences = [
          `Queue for ${queueName(place)}: ${summarizeQueue(queue)}.`,
          numbers,
          notReadySentence(notReady) ?? [],
        ]
        await logger.info(sentences.flat().join(' '))
      }
      for (const change of changes) await printChange(place, change)
    },
    async lose({ place, state }, failure) {
      if (!isSeveral) throw failure
      if (state !== undefined && isNotFound(failure)) {
        const gone = { pr: null, from: state || null, to: null, position: null }
        await printChange(place, { ...gone, at: toIso(serviceTime.now()) })
        await logger.warn(`The queue for ${queueName(place)} is gone, and no longer watched.`)
      } else await logger.error(withResource(failure, queueName(place)))
    },
    notify: text => logger.info(text),
    ...(heartbeat === undefined
      ? {}
      : { sleep: (delay, oldest) => sleepWithBeats(delay, heartbeat, oldest) }),
  }
}

/** Returns why a pull request left: ` A required check failed (<word>). Submitted by grace.`; empty if nothing is known. */
function describeCause({ reason, serviceReason, actor, submittedBy, author }: QueueChange): string {
  const word = serviceReason == null || reason?.includes(serviceReason) ? '' : ` (${serviceReason})`
  const cause = reason == null ? [] : [`${reason.replace(/\.$/, '')}${word}.`]
  const causer = actor == null || reason?.includes(actor) ? [] : [`Actor: ${shorten(actor)}.`]
  const submitter =
    submittedBy !== undefined
      ? [`Submitted by ${submittedBy}.`]
      : author !== undefined
        ? [`Author: ${author}.`]
        : []
  return [...cause, ...causer, ...submitter].join(' ')
}

export const describeQueueChange = ({ pr, from, to, position }: QueueChange): string =>
  [
    pr === null ? 'The queue:' : `#${pr}`,
    ...(from === null ? [] : [`${from} ->`]),
    // An entry that is still listed, and the queue itself, have not left: the service reports no state.
    `${to ?? (pr === null || position !== null ? 'unknown state' : 'left the queue')}${position === null ? '' : `, position ${position}`}`,
  ].join(' ')
