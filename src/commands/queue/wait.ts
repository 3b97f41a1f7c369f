import { callOperation } from '../../api/call.ts'
import { type Infer, oneOf, ownRecord, queueNameFields } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { exitCodeOf, type MergeqError, mostSevere, toMergeqError } from '../../base/errors.ts'
import { getArray, type JsonObject } from '../../base/json.ts'
import { type Cli, command, drawsResults, timeOfWait } from '../../command/command.ts'
import { reportErrors, withResource } from '../../command/each.ts'
import { type OptionValues, option } from '../../command/inputs.ts'
import { explainNotFound } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { queueInput } from '../../command/shared-inputs.ts'
import { waitInputs, waitTimeLimit } from '../../command/wait-inputs.ts'
import { createSignsOfLife, reportStop, ringBell, withTimes } from '../../command/waits.ts'
import { summarizeQueue, testSlots } from '../../domain/queue-entries.ts'
import { canResume, isKnownState, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { columns, type Result, singleRecord } from '../../output/view.ts'
import { formatDuration, pluralize } from '../../values/format.ts'
import { type Queue, queueFieldsOf, queueName } from '../../values/repository.ts'
import { choice } from '../../values/types.ts'
import { automaticDelay, backOff, giveUpLimit, limitsOfReading, poll } from '../../wait/poll.ts'
import { readEach } from '../../wait/read-each.ts'
import type { Judgement, WaitEnd } from '../../wait/wait-state.ts'
import { printSelection, selectQueuesToWait, severalQueues, unlessSeveral } from './shared/all-queues.ts'

/** The conditions that a wait for a queue can have as its goal (docs/reference/cli.md, "Waiting"). */
const queueConditions = ['idle', 'empty'] as const
type QueueCondition = (typeof queueConditions)[number]

/** Returns the states in a queue that are not known; `-` for an entry without one. */
const unknownStates = (queue: JsonObject): readonly string[] =>
  getArray(queue, 'enqueuedPullRequests')
    .map(stateOf)
    .filter(state => !isKnownState(state))
    .map(state => state || '-')

/**
 * Returns `reached` for a queue that meets a condition, `pending` for one that cannot become empty until it is
 * resumed, and undefined for one to wait for.
 */
export function queueOutcome(
  queue: JsonObject,
  condition: QueueCondition,
): 'reached' | 'pending' | undefined {
  const queueState = stateOf(queue)
  const states = getArray(queue, 'enqueuedPullRequests').map(stateOf)
  const isPaused = queueState === 'PAUSED'
  const hasPassed = states.includes('TESTS_PASSED')
  if (condition === 'idle') {
    // An unknown state may mean that something is tested.
    const isBusy = states.includes('TESTING') || unknownStates(queue).length > 0
    return isBusy || (hasPassed && !isPaused) ? undefined : 'reached'
  }
  if (states.length === 0) return 'reached'
  const isHeld = (canResume(queueState) && states.includes('PENDING')) || (isPaused && hasPassed)
  return isHeld ? 'pending' : undefined
}

export const queueWaitRecord = ownRecord({
  type: oneOf('result'),
  ...queueNameFields,
  until: 'string',
  outcome: 'string',
  depth: 'number | null',
  testing: 'number | null',
  elapsedSeconds: 'number',
  exit: 'number',
})

const resultColumns = columns('repo', 'targetBranch', 'outcome', 'depth', 'testing', 'elapsedSeconds')

const summaryOf = (queue: JsonObject | undefined): string =>
  queue === undefined ? 'not read yet' : summarizeQueue(queue)

const queueWaitInputs = {
  queue: unlessSeveral(queueInput),
  ...severalQueues('Wait for'),
  until: option(
    choice(queueConditions, 'condition'),
    'idle: nothing is tested or about to merge; empty: no pull request is listed',
    { default: 'idle' },
  ),
  interval: waitInputs.interval,
  giveUpAfter: waitInputs.giveUpAfter,
  noBell: waitInputs.noBell,
}

/** How the wait for one of the queues stands, or has ended. */
interface QueueProgress {
  readonly place: Queue
  /** Undefined before the first reading. */
  readonly queue?: JsonObject | undefined
  /** How many readings in a row showed nothing new. */
  readonly unchanged: number
  /** Undefined while the wait goes on. */
  readonly end?: WaitEnd | undefined
  /** How long the wait has lasted, in milliseconds. */
  readonly elapsed: number
}

type Ended = QueueProgress & { readonly end: WaitEnd }

const exitOf = ({ end: { outcome, failure } }: Ended): number =>
  outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])

const describe = ({ place, queue }: QueueProgress): string => `${queueName(place)}: ${summaryOf(queue)}.`

/** Returns the result of a queue; `name` is what a person calls it. */
function resultOf(ended: Ended, name: string, until: QueueCondition, { settings }: Cli): Result {
  const { place, queue, end, elapsed } = ended
  const { outcome } = end
  const record: Infer<typeof queueWaitRecord> = {
    type: 'result',
    ...queueFieldsOf(place),
    until,
    outcome,
    depth: queue === undefined ? null : getArray(queue, 'enqueuedPullRequests').length,
    testing: queue === undefined ? null : testSlots(queue).testing.length,
    elapsedSeconds: Math.floor(elapsed / 1_000),
    exit: exitOf(ended),
  }
  const lines = (): readonly StyledLine[] => {
    const is = outcome === 'reached' ? 'is' : 'is not'
    const sign = signSpan(outcome === 'reached' ? 'PASS' : outcome === 'error' ? 'FAIL' : 'WARN')
    const resume = `  To resume the queue, run: ${settings.commandLine(['queue', 'resume'], place)}`
    const sentence = ` ${name} ${is} ${until} after ${formatDuration(elapsed)}: `
    return [
      [sign, sentence, summaryOf(queue).toLowerCase()],
      ...(canResume(stateOf(queue)) && outcome !== 'reached' ? [[styled(resume, 'dim')]] : []),
    ]
  }
  return {
    ...singleRecord(record),
    columns: resultColumns,
    screen: () => ({ heading: lines() }),
  }
}

/** Returns the errors of the queues that could not be read; that of a single one says which was probably meant. */
const errorsOf = (results: readonly Ended[], cli: Cli): Promise<readonly MergeqError[]> =>
  Promise.all(
    results.flatMap(({ place, end: { failure } }) => {
      if (failure === undefined) return []
      return results.length > 1 ? withResource(failure, queueName(place)) : explainNotFound(cli, failure)
    }),
  )

/** The time between two readings for each queue, with the interval `auto`, in milliseconds. */
const timePerQueue = 250

/**
 * Reads queues until the wait for each is over, and says what changes. Returns how each ended, in their order. Throws
 * only when a signal interrupts the command.
 */
async function waitForQueues(
  queues: readonly Queue[],
  nameOf: (queue: Queue) => string,
  { until, interval, giveUpAfter }: OptionValues<typeof queueWaitInputs>,
  cli: Cli,
): Promise<readonly Ended[]> {
  const { host, logger } = cli
  const client = cli.client()
  const time = timeOfWait(cli)
  const signs = createSignsOfLife(time, cli)
  const items: readonly QueueProgress[] = queues.map(place => ({ place, unchanged: 0, elapsed: 0 }))
  const progress = new Map(items.map(item => [item.place, item]))
  /** Returns how the queues stand that are waited for: that of one, or the number of several. */
  const describeRest = (describeOne: (one: QueueProgress) => string) => {
    const rest = [...progress.values()].filter(({ end }) => end === undefined)
    const [first] = rest
    return rest.length === 1 && first !== undefined
      ? describeOne(first)
      : `${rest.length} of ${pluralize(queues.length, 'queue')}, which are not ${until} yet.`
  }
  const reportChange = async (change: QueueProgress) => {
    const isResult = change.end !== undefined && (queues.length > 1 || drawsResults(cli))
    if (logger.hasSpinner || isResult) return
    signs.noteOutput()
    await logger.info(describe(change))
  }
  const read = async ({ place }: QueueProgress): Promise<JsonObject> => {
    const options = { limits: limitsOfReading(time) }
    const { response } = await callOperation(client, getQueue, place, options)
    return response.records[0] ?? {}
  }
  await poll<QueueProgress, JsonObject, Judgement<QueueProgress>>({
    items,
    read: items => readEach(items, read, time),
    judge({ place, queue: before, unchanged }, queue) {
      const isUnchanged = before !== undefined && summarizeQueue(before) === summarizeQueue(queue)
      const outcome = queueOutcome(queue, until)
      return {
        item: { place, queue, unchanged: isUnchanged ? unchanged + 1 : 0, elapsed: time.elapsed() },
        end: outcome && { outcome },
      }
    },
    schedule: ({ unchanged }, failures) =>
      interval === 'auto'
        ? Math.max(
            backOff(automaticDelay({ unchanged }), failures, host.random()),
            queues.length * timePerQueue,
          )
        : interval,
    limit: time,
    giveUpAfter: giveUpLimit(giveUpAfter, time, client),
    differInAccess: queues.length > 1,
    host,
    async onChange(judgements) {
      for (const { item, end } of judgements) {
        const { place, queue, unchanged } = item
        const isChanged = progress.get(place)?.queue !== queue && unchanged === 0
        const next = { ...item, end, elapsed: time.elapsed() }
        progress.set(place, next)
        if (queue === undefined || !isChanged) continue
        await reportChange(next)
        if (until === 'idle')
          for (const state of unknownStates(queue))
            await logger.warnOnce(`Unknown state ${state}; a queue with it does not count as idle.`)
      }
      return true
    },
    onOutage: (text, isOver) => signs.reportOutage(text, isOver),
    sleep: delay => signs.sleep(delay, () => describeRest(describe)),
    during(rounds) {
      const textOf = (one: QueueProgress) => `${nameOf(one.place)}: ${summaryOf(one.queue).toLowerCase()}`
      const times = () => ({ elapsed: time.elapsed(), limit: time.waitLimit })
      const line = (columns: number) =>
        withTimes([{ pieces: [describeRest(textOf)], rank: 0 }], times(), columns)
      return logger.withSpinner(line, rounds)
    },
  }).catch(async error => {
    throw await reportStop(toMergeqError(error), 'Stopped waiting.', cli)
  })
  await ringBell(time, cli)
  return [...progress.values()].map(each => ({ ...each, end: each.end ?? { outcome: 'pending' } }))
}

export const definition = command({
  name: 'queue wait',
  summary: 'Wait until a queue is idle or empty',
  alsoSends: [getQueue, getMergeQueueMetrics],
  options: queueWaitInputs,
  set: setOf(getQueue),
  timeLimit: () => waitTimeLimit,
  exits: ['timed-out', 'pending'],
  prints: {
    table:
      'the result (on a pipe, one row); with --all or --file, one per queue; changes go to standard error',
    note: 'with --all or --file, one per queue',
    documents: [queueWaitRecord],
    columns: resultColumns,
  },
  examples: [
    'mergeq queue wait --timeout 30m',
    'mergeq queue wait --until empty --json',
    'mergeq queue wait -f queues/ --timeout 30m',
  ],
  async run(values, cli) {
    const { queue: place, file, until } = values
    if (cli.options.dryRun) return printSelection({ queue: place, file }, cli)
    const found = place === undefined ? await selectQueuesToWait(file, cli) : [{ queue: place }]
    const queues = found.map(({ queue }) => queue)
    const nameOf = (queue: Queue) => (place === undefined ? queueName(queue) : queue.targetBranch)
    const results = await waitForQueues(queues, nameOf, values, cli)
    for (const each of results) {
      if (each.end.outcome === 'pending' && cli.results !== 'screen')
        await cli.logger.warn(
          `The queue for ${queueName(each.place)} is not ${until}: ${summaryOf(each.queue).toLowerCase()}.`,
        )
      await cli.printer.add(resultOf(each, nameOf(each.place), until, cli))
    }
    await cli.printer.end()
    await reportErrors(await errorsOf(results, cli), cli)
    return mostSevere(results.map(exitOf))
  },
})
