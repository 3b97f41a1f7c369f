import { type Infer, oneOf, ownRecord, queueNameFields } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { exitCodeOf, type MergeqError, mostSevere, toMergeqError } from '../../base/errors.ts'
import { getArray, type JsonObject } from '../../base/json.ts'
import { type Cli, command, drawsResults, timeOfWait } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { reportErrors, withResource } from '../../command/each.ts'
import { option } from '../../command/inputs.ts'
import { explainNotFound } from '../../command/send.ts'
import { queueInput, setOf } from '../../command/values.ts'
import { waitInputs, waitTimeLimit } from '../../command/wait-inputs.ts'
import { summarizeQueue, testSlots } from '../../domain/queue-entries.ts'
import { canResume, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { columns, type Result, singleRecord } from '../../output/view.ts'
import { formatDuration, pluralize } from '../../values/format.ts'
import { type Queue, queueName, repositoryName } from '../../values/repository.ts'
import { choice } from '../../values/types.ts'
import type { WaitEnd } from '../../wait/wait-state.ts'
import { printSelection, selectQueuesToWait, severalQueues, unlessSeveral } from './shared/all-queues.ts'
import { type QueueCondition, queueConditions } from './wait/judge.ts'
import type { QueueProgress } from './wait/wait-for-queue.ts'

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
    repo: repositoryName(place.repo),
    targetBranch: place.targetBranch,
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
  async run({ queue: place, file, until, interval, giveUpAfter }, cli) {
    if (cli.options.dryRun && place !== undefined) return printRequests(cli, getQueue, [place])
    if (cli.options.dryRun) return printSelection(file, cli)
    const { logger } = cli
    const client = cli.client()
    const time = timeOfWait(cli)
    const queues = place === undefined ? await selectQueuesToWait(file, cli) : [place]
    const isOne = queues.length === 1
    const nameOf = (queue: Queue) => (place === undefined ? queueName(queue) : queue.targetBranch)
    const { waitForQueues } = await import('./wait/wait-for-queue.ts')
    const { reportStop, ringBell, SignsOfLife, withTimes } = await import('../../command/waits.ts')
    const signs = new SignsOfLife(time, cli)
    /** Returns how the queues stand that are waited for: that of one, or the number of several. */
    const describeRest = (all: readonly QueueProgress[], describeOne: (one: QueueProgress) => string) => {
      const rest = all.filter(({ end }) => end === undefined)
      const [first] = rest
      return rest.length === 1 && first !== undefined
        ? describeOne(first)
        : `${rest.length} of ${pluralize(all.length, 'queue')}, which are not ${until} yet.`
    }
    const results = await waitForQueues({ queues, until, interval, giveUpAfter, time }, client, {
      async reportChange(progress) {
        const isResult = progress.end !== undefined && (!isOne || drawsResults(cli))
        if (logger.hasSpinner || isResult) return
        signs.noteOutput()
        await logger.info(describe(progress))
      },
      reportOutage: (text, isOver) => signs.reportOutage(text, isOver),
      sleep: (delay, all) => signs.sleep(delay, () => describeRest(all, describe)),
      during(all, rounds) {
        const textOf = (one: QueueProgress) => `${nameOf(one.place)}: ${summaryOf(one.queue).toLowerCase()}`
        const times = () => ({ elapsed: time.elapsed(), limit: time.waitLimit })
        const line = (columns: number) =>
          withTimes([{ pieces: [describeRest(all(), textOf)], rank: 0 }], times(), columns)
        return logger.withSpinner(line, rounds)
      },
    }).catch(async error => {
      throw await reportStop(toMergeqError(error), 'Stopped waiting.', cli)
    })
    await ringBell(time, cli)
    for (const each of results) {
      if (each.end.outcome === 'pending' && cli.results !== 'screen')
        await logger.warn(
          `The queue for ${queueName(each.place)} is not ${until}: ${summaryOf(each.queue).toLowerCase()}.`,
        )
      await cli.printer.add(resultOf(each, nameOf(each.place), until, cli))
    }
    await cli.printer.end()
    await reportErrors(await errorsOf(results, cli), cli)
    return mostSevere(results.map(exitOf))
  },
})
