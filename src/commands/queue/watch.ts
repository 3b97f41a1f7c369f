import { callOperation } from '../../api/call.ts'
import { withTimeline } from '../../api/extra-reads.ts'
import type { BodyOverride } from '../../api/operation.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { type RequestLimits, type ServiceClient, withoutMessages } from '../../api/service-client.ts'
import { joinTruncated } from '../../domain/format.ts'
import { mapConcurrent, maxConcurrent } from '../../domain/map-concurrent.ts'
import {
  departedEntries,
  departureChange,
  describeCause,
  describeChange,
  type QueueChange,
  type QueueSnapshot,
  queueChanges,
  snapshotOf,
} from '../../domain/queue-changes.ts'
import { type QueueEntry, queueSummary, testSlots } from '../../domain/queue-entries.ts'
import { serviceWordNames } from '../../domain/service-words.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { duration, interval } from '../../domain/values/types.ts'
import type { Judgement } from '../../domain/wait-state.ts'
import { startWaitTime, type WaitTime } from '../../domain/wait-time.ts'
import { isPermanent, toMergeqError, usageError } from '../../errors.ts'
import type { Output } from '../../host/host.ts'
import type { JsonObject } from '../../json.ts'
import { columns, singleRecord } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { printRequests } from '../../run/dry-run.ts'
import { combineFields, type RecordFields } from '../../run/fields.ts'
import { flag, option } from '../../run/inputs.ts'
import { explainNotFound } from '../../run/send.ts'
import { paramsOf, type Queue, setOf } from '../../run/values.ts'
import { backOff, giveUpLimit, poll, readingOf } from '../../wait/poll.ts'
import { waitInputs } from '../pr/wait-options.ts'
import { printQueue, queueFields } from './get.ts'
import { readUsualTime } from './screen.ts'
import { isLive, type QueueUpdate, type WatchView, watchLive } from './watch-live.ts'

type QueueReader = (client: ServiceClient, limits?: RequestLimits) => Promise<QueueUpdate>

/** Reads how a pull request left the queue. Its new state is unknown if its record cannot be read. */
async function readDeparture(entry: QueueEntry, queue: Queue, client: ServiceClient): Promise<QueueChange> {
  const { clock } = client.host
  const params = { ...queue, pr: entry.pr }
  try {
    const { response } = await callOperation(client, getSubmittedPullRequest, params)
    const [record = {}] = response.records
    const complete = await withTimeline(client, record, params, { limits: { maxRetries: 0 } })
    return departureChange(entry, complete, clock.now())
  } catch (error) {
    const failure = toMergeqError(error)
    if (isPermanent(failure)) throw failure
    return departureChange(entry, undefined, clock.now())
  }
}

/** Creates a function that reads the queue and compares it with the previous reading. */
function createQueueReader(values: Queue, overrides: readonly BodyOverride[]): QueueReader {
  let before: QueueSnapshot | undefined
  /** The states of pull requests that the queue does not list, and that may return. */
  const unlistedStates = new Map<number, string>()
  return async (client, limits = {}) => {
    const { response } = await callOperation(client, getQueue, values, { overrides, limits })
    const [queue = {}] = response.records
    const [last, after] = [before, snapshotOf(queue)]
    before = after
    if (last === undefined) return { queue, changes: undefined }
    const changes = queueChanges(last, after, unlistedStates, client.host.clock.now())
    const departures: QueueChange[] = []
    const work = (entry: QueueEntry) => readDeparture(entry, values, client)
    for await (const change of mapConcurrent(departedEntries(last, after), maxConcurrent, work))
      departures.push(change)
    for (const pr of after.entries.keys()) unlistedStates.delete(pr)
    for (const { pr, from, to } of departures) {
      const state = to ?? from
      if (pr !== null && state !== null && (to === null || to === 'NOT_READY')) unlistedStates.set(pr, state)
    }
    return { queue, changes: [...departures, ...changes] }
  }
}

/** How long the usual time is shown before it is read again, in milliseconds. */
const maxUsualTimeAge = 30_000

/** Returns a reader that also reads the usual time in the queue, at the same time and not each time. */
function withUsualTime(readQueue: QueueReader, values: Queue): QueueReader {
  let usual: ReturnType<typeof readUsualTime> | undefined
  let readAt = Number.NEGATIVE_INFINITY
  return async (client, limits) => {
    const now = client.host.clock.now()
    if (now - readAt >= maxUsualTimeAge) {
      readAt = now
      usual = readUsualTime(client, values)
    }
    return { ...(await readQueue(client, limits)), usual: await usual }
  }
}

/** Times are in milliseconds. */
interface WatchOptions {
  readonly interval: number
  readonly limit: WaitTime
  readonly giveUpAfter: number
}

interface WatchJudgement extends Judgement<undefined> {
  readonly update?: QueueUpdate
}

/**
 * Polls and shows the readings until the time is over. Throws the error because of which polling ended. After
 * the reader of a pipe has closed it, the watch ends without an error.
 */
async function pollQueue(
  readQueue: (limits: RequestLimits) => Promise<QueueUpdate>,
  { interval, limit, giveUpAfter }: WatchOptions,
  view: WatchView,
  client: ServiceClient,
  out: Output,
): Promise<void> {
  const { host } = client
  await poll<undefined, QueueUpdate, WatchJudgement>({
    items: [undefined],
    // The watch repeats a failed reading by itself (docs/reference/network.md, "Retries").
    read: async () => [await readingOf(() => readQueue({ maxRetries: 0 }))],
    judge: (item, update) => ({ item, update }),
    schedule: (_, failures) => (failures === 0 ? interval : backOff(interval, failures, host.random())),
    limit,
    giveUpAfter: giveUpLimit(giveUpAfter, limit, client),
    host,
    async onChange(judgements: readonly WatchJudgement[]) {
      const { update, end } = judgements[0] ?? {}
      if (end?.failure !== undefined) throw end.failure
      if (update !== undefined) await view.show(update)
      return out.isClosed !== true
    },
    onOutage: view.notify,
    sleep: view.sleep,
  })
}

/** A record is the queue, as the first reading shows it, or a change. */
const changeRecord: RecordFields = {
  names: [
    ...['type', 'at', 'pr', 'from', 'to', 'position', 'repo', 'targetBranch'],
    ...['author', 'submittedBy', 'reason', ...serviceWordNames],
  ],
  columns: columns(
    ['AT', 'at'],
    ['PR', 'pr', 'pr'],
    ['FROM', 'from', 'state'],
    ['TO', 'to', 'state'],
    ['POSITION', 'position', 'number'],
  ),
}

/** Creates the view for pipes, CI jobs and every format except the table: it prints each change. */
function createStreamView({ repo, targetBranch }: Queue, cli: Cli): WatchView {
  const { printer, logger, host } = cli
  const printChange = (change: QueueChange) => {
    const record = { type: 'change', ...change }
    const cause = describeCause(change)
    const sentence = `${describeChange(change)}${cause === '' ? '' : `: ${cause}`}`
    return printer.print({
      ...singleRecord(record),
      columns: changeRecord.columns,
      screen: () => ({ sentence }),
    })
  }
  const printQueueEvent = ({ type: _, at: __, ...queue }: JsonObject) => {
    const at = new Date(host.clock.now()).toISOString()
    // The fields that this program adds replace those of the service.
    const event = { type: 'queue', at, repo: repositoryName(repo), targetBranch, ...queue }
    return printer.print({ ...singleRecord(event), columns: changeRecord.columns })
  }
  return {
    async show({ queue, changes }) {
      if (changes !== undefined) for (const change of changes) await printChange(change)
      else if (cli.options.format.prints === 'records') await printQueueEvent(queue)
      else {
        const tested = testSlots(queue).testing.map(({ pr }) => `#${pr}`)
        const numbers = tested.length === 0 ? '' : ` Under test: ${joinTruncated(tested)}.`
        await logger.info(`Queue for ${queueName({ repo, targetBranch })}: ${queueSummary(queue)}.${numbers}`)
      }
    },
    notify: text => logger.info(text),
  }
}

export const queueWatchCommand = command({
  name: 'queue watch',
  summary: 'Watch a queue and show every change',
  alsoSends: [getQueue, getSubmittedPullRequest, getMergeQueueMetrics],
  options: {
    ...paramsOf(getQueue),
    once: flag('Print the queue once and exit'),
    interval: option(interval, 'Time between polls', { default: '10s' }),
    duration: option(duration, 'Stop after this long and exit 0', { option: 'for' }),
    giveUpAfter: waitInputs.giveUpAfter,
    set: setOf(getQueue),
  },
  fields: combineFields(changeRecord, { ...queueFields, columns: [] }),
  prints: {
    table: 'a live view on a terminal; elsewhere one line per change',
    json: 'the current queue; requires --once',
    ndjson:
      'one {"type":"queue"} line, then {"type":"change","pr","from","to","at","position"} lines; a pull request that left the queue also has "author","submittedBy" if known, and "reason","serviceReason","by","actor","again","mayBeMerged"',
  },
  examples: [
    'mergeq queue watch',
    'mergeq queue watch --once',
    'mergeq queue watch -o ndjson --for 1h | jq -r \'select(.to == "FAILED") | .pr\'',
  ],
  async run({ repo, targetBranch, once, interval, duration, giveUpAfter, set }, cli) {
    if (once && duration !== undefined)
      throw usageError('--once and --for cannot be used together.', 'Use only one of them.')
    const { host, options } = cli
    const values = { repo, targetBranch }
    if (once && options.format.prints !== 'records') return printQueue(values, set, cli)
    if (options.format.prints === 'document')
      throw usageError(
        '`mergeq queue watch` cannot print JSON, because its output is a stream.',
        'Use -o ndjson for the changes, or --once for the current queue.',
      )
    if (options.dryRun) return printRequests(cli, getQueue, [values], set)
    const limit = startWaitTime(duration ?? Number.POSITIVE_INFINITY, host.clock)
    const live = isLive(cli)
    const readQueue = createQueueReader(values, set)
    const reader = live ? withUsualTime(readQueue, values) : readQueue
    const read: QueueReader = (client, limits) =>
      reader(client, limits).catch(async error => {
        throw await explainNotFound(cli, getQueue, values, toMergeqError(error))
      })
    if (once) {
      await createStreamView(values, cli).show(await read(cli.client()))
      return 0
    }
    const limited = { ...cli.client(), time: limit }
    // Other output to the terminal would corrupt the screen.
    const client = live ? withoutMessages(limited) : limited
    const watchOptions = { interval, limit, giveUpAfter }
    const watch = (view: WatchView) =>
      pollQueue(limits => read(client, limits), watchOptions, view, client, host.out)
    if (live) await watchLive(values, interval, watch, cli)
    else await watch(createStreamView(values, cli))
    return 0
  },
})
