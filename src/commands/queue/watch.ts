import { outline, quoted } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getSubmittedPullRequest, listPullRequests } from '../../api/operations/pull-requests.ts'
import { getQueue, queueRecord } from '../../api/operations/queues.ts'
import { serviceWordFields } from '../../api/operations/records.ts'
import { getSubmittedPullRequests } from '../../api/operations/several-pull-requests.ts'
import { withoutMessages } from '../../api/service-client.ts'
import { startWaitTime } from '../../api/wait-time.ts'
import { mostSevere, usageError } from '../../base/errors.ts'
import { maxConcurrent } from '../../base/scheduling.ts'
import { rejectTogether } from '../../command/check-inputs.ts'
import { type Cli, command } from '../../command/command.ts'
import { flag, option } from '../../command/inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { queueInput } from '../../command/shared-inputs.ts'
import { waitInputs } from '../../command/wait-inputs.ts'
import { ringBell } from '../../command/waits.ts'
import { isSameLogin } from '../../values/login.ts'
import type { Queue } from '../../values/repository.ts'
import { duration, moment } from '../../values/types.ts'
import { watchInterval } from '../../wait/options.ts'
import type { QueueChange } from '../../wait/queue-changes.ts'
import { createQueueReader, type QueueUpdate } from '../../wait/queue-reader.ts'
import { readEach } from '../../wait/read-each.ts'
import { queueChangeRecord, submitterFields } from '../../wait/records.ts'
import { pollQueues, type QueuesView, type WatchedQueue } from '../../wait/watch-queues.ts'
import { printSelection, selectQueuesToWait, severalQueues, unlessSeveral } from './shared/all-queues.ts'
import { printQueue } from './shared/print-queue.ts'
import { isLive, watchLive, withActivity } from './watch/live.ts'
import { createStreamView, heartbeatRecord, queueChangeColumns } from './watch/stream.ts'

function checkOptions(heartbeat: number | undefined, isSeveral: boolean, { args, options }: Cli): void {
  const isStream = options.format.prints === 'records'
  const once = args.has('--once')
  rejectTogether(args, ['--once', '--for'], ['--once', '--heartbeat'])
  if (heartbeat !== undefined && heartbeat < 1_000)
    throw usageError('--heartbeat must be at least 1s.', 'For example: --heartbeat 1m')
  if (heartbeat !== undefined && !isStream)
    throw usageError('--heartbeat requires -o ndjson.', 'Add -o ndjson.')
  if (once && !isStream && args.has('--since'))
    throw usageError('--once with --since requires -o ndjson.', 'Add -o ndjson.')
  if (once && !isStream && isSeveral)
    throw usageError(
      '--once for several queues requires -o ndjson.',
      'Add -o ndjson. For a table, use queue list --include-state.',
    )
  if (!once && options.format.prints === 'document')
    throw usageError(
      'queue watch cannot print JSON, because its output is a stream.',
      'Use -o ndjson for the changes, or --once for the current queue.',
    )
}

export const definition = command({
  name: 'queue watch',
  summary: 'Watch a queue and show every change',
  alsoSends: [
    getQueue,
    getSubmittedPullRequest,
    getSubmittedPullRequests,
    getMergeQueueMetrics,
    listPullRequests,
  ],
  options: {
    queue: unlessSeveral(queueInput),
    ...severalQueues('Watch'),
    once: flag('Print the queue once and exit'),
    since: option(
      moment,
      'Print first which pull requests left the queue since then (not in the API document)',
    ),
    interval: watchInterval,
    duration: option(duration, 'Stop after this long and exit 0', { option: 'for' }),
    heartbeat: option(duration, 'Print a line this often, to show that the watch still runs (-o ndjson)'),
    giveUpAfter: waitInputs.giveUpAfter,
    noBell: {
      ...flag('Do not ring the terminal bell when your pull request (setting user) leaves'),
      advanced: true,
    },
  },
  set: setOf(getQueue),
  exits: ['timed-out'],
  timeLimit: args => (args.has('--for') ? { option: '--for' } : undefined),
  prints: {
    table: 'a live view on a terminal; elsewhere, and with --all or --file, one line per change',
    json: 'the current queue; requires --once',
    ndjson: `one {"type":"queue"} line per queue, then ${outline(queueChangeRecord)} lines; a pull request that left the queue also has ${quoted(submitterFields)} if known, and ${quoted(serviceWordFields)}; with --heartbeat also ${outline(heartbeatRecord)}`,
    documents: [queueRecord],
    records: [queueChangeRecord, queueRecord],
    columns: queueChangeColumns,
  },
  examples: [
    'mergeq queue watch',
    'mergeq queue watch --once',
    'mergeq queue watch -o ndjson --for 1h | jq -r \'select(.to == "FAILED") | .pr\'',
    'mergeq queue watch --all -o ndjson --since 10m --for 1h',
  ],
  async run({ queue: place, file, once, since, interval, heartbeat, giveUpAfter }, cli) {
    const { host, options } = cli
    const isSeveral = place === undefined
    if (cli.args.has('--timeout'))
      throw usageError(
        '--timeout does not end a watch.',
        'To stop after a time, use --for. To limit each request, set MERGEQ_TIMEOUT.',
      )
    checkOptions(heartbeat, isSeveral, cli)
    if (place !== undefined && once && options.format.prints !== 'records') return printQueue(place, cli)
    if (options.dryRun) return printSelection({ queue: place, file }, cli)
    const limit = cli.time ?? startWaitTime(Number.POSITIVE_INFINITY, host.clock)
    const isDrawn = place !== undefined && isLive(cli)
    // Several queues are read at a time, and of each one departure.
    const readerOptions = { since, atOnce: isSeveral ? 1 : maxConcurrent }
    const queues = place === undefined ? await selectQueuesToWait(file, cli) : [{ queue: place }]
    const watched = queues.map(({ queue: place }) => {
      const readQueue = createQueueReader(place, readerOptions)
      return { place, read: isDrawn ? withActivity(readQueue, place) : readQueue }
    })
    const stream = createStreamView({ isSeveral, heartbeat }, cli)
    if (once) return printOnce(watched, stream, cli)
    const limited = { ...cli.client(), time: limit }
    // Other output to the terminal would corrupt the screen.
    const client = isDrawn ? withoutMessages(limited) : limited
    const user = cli.messages === 'person' ? await cli.settings.read('user') : undefined
    const watch = (view: QueuesView) => {
      const show = async (shown: Queue, update: QueueUpdate) => {
        await view.show(shown, update)
        if (update.changes.some(change => isDepartureOf(user, change))) await ringBell(limit, cli)
      }
      return pollQueues(watched, { interval, limit, giveUpAfter }, { ...view, show }, client, host.out)
    }
    if (isDrawn) {
      await watchLive(place, interval, view => watch({ ...stream, ...view }), cli)
      return 0
    }
    const code = await watch(stream)
    await cli.printer.end()
    return code
  },
})

async function printOnce(watched: readonly WatchedQueue[], view: QueuesView, cli: Cli): Promise<number> {
  const readings = await readEach(watched, ({ read }) => read(cli.client()), undefined)
  const codes: number[] = []
  for (const [index, queue] of watched.entries()) {
    const reading = readings[index]
    if (reading === undefined) continue
    if ('value' in reading) await view.show(queue.place, reading.value)
    else {
      codes.push(reading.failure.exit)
      await view.lose(queue, reading.failure)
    }
  }
  await cli.printer.end()
  return mostSevere(codes)
}

/** Whether a pull request left that a user made or submitted. */
const isDepartureOf = (
  user: string | undefined,
  { pr, position, author, submittedBy }: QueueChange,
): boolean =>
  user !== undefined &&
  pr !== null &&
  position === null &&
  (isSameLogin(author, user) || isSameLogin(submittedBy, user))
