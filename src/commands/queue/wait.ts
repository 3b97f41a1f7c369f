import { getQueue } from '../../api/operations/queues.ts'
import { formatDuration } from '../../domain/format.ts'
import { queueSummary, testSlots } from '../../domain/queue-entries.ts'
import { queueConditions } from '../../domain/queue-wait.ts'
import { canResume, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { choice } from '../../domain/values/types.ts'
import { exitCodeOf, toMergeqError } from '../../errors.ts'
import { getArray, type JsonObject } from '../../json.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { drawsResults } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { printRequests } from '../../run/dry-run.ts'
import type { RecordFields } from '../../run/fields.ts'
import { option } from '../../run/inputs.ts'
import { explainNotFound } from '../../run/send.ts'
import { paramsOf, setOf } from '../../run/values.ts'
import { ringBell, timeOfWait, waitInputs, waitTimeLimit } from '../pr/wait-options.ts'

const resultRecord: RecordFields = {
  names: [
    ...['type', 'repo', 'targetBranch', 'until', 'outcome', 'depth', 'testing'],
    ...['elapsedSeconds', 'exit'],
  ],
  columns: columns(
    ['REPOSITORY', 'repo', 'id'],
    ['BRANCH', 'targetBranch', 'id'],
    ['OUTCOME', 'outcome'],
    ['DEPTH', 'depth', 'number'],
    ['TESTING', 'testing', 'number'],
    ['SECONDS', 'elapsedSeconds', 'number'],
  ),
}

const summaryOf = (queue: JsonObject | undefined): string =>
  queue === undefined ? 'not read yet' : queueSummary(queue)

const queueWaitInputs = {
  ...paramsOf(getQueue),
  until: option(
    choice(queueConditions, 'condition'),
    'idle: nothing is tested or about to merge; empty: no pull request is listed',
    { default: 'idle' },
  ),
  interval: waitInputs.interval,
  giveUpAfter: waitInputs.giveUpAfter,
  noBell: waitInputs.noBell,
  set: setOf(getQueue),
}

export const queueWaitCommand = command({
  name: 'queue wait',
  summary: 'Wait until a queue is idle or empty',
  alsoSends: [getQueue],
  options: queueWaitInputs,
  timeLimit: () => waitTimeLimit,
  exits: ['timed-out', 'pending'],
  prints: {
    table: 'the result (on a pipe, one row); changes go to standard error',
    json: '{"type":"result","repo","targetBranch","until","outcome","depth","testing","elapsedSeconds","exit"}',
    ndjson: 'the same, on one line',
  },
  fields: resultRecord,
  examples: ['mergeq queue wait --timeout 30m', 'mergeq queue wait --until empty --json'],
  async run({ repo, targetBranch, until, interval, giveUpAfter, set }, cli) {
    const values = { repo, targetBranch }
    if (cli.options.dryRun) return printRequests(cli, getQueue, [values], set)
    const { logger } = cli
    const client = cli.client()
    const time = timeOfWait(cli)
    const { waitForQueue } = await import('../../wait/queue.ts')
    const { reportStop, SignsOfLife } = await import('../pr/wait-report.ts')
    const { withTimes } = await import('../pr/wait-screen.ts')
    const signs = new SignsOfLife(time, cli)
    const describe = (queue: JsonObject | undefined) =>
      `The queue for ${queueName(values)}: ${summaryOf(queue)}.`
    const { outcome, queue, failure } = await waitForQueue(
      { queue: values, overrides: set, until, interval, giveUpAfter, time },
      client,
      {
        async reportChange(queue, isEnd) {
          if (logger.hasSpinner || (isEnd && drawsResults(cli))) return
          signs.noteOutput()
          await logger.info(describe(queue))
        },
        reportOutage: (text, isOver) => signs.reportOutage(text, isOver),
        sleep: (delay, queue) => signs.sleep(delay, () => describe(queue)),
        during(queue, rounds) {
          const text = () => `${values.targetBranch}: ${summaryOf(queue()).toLowerCase()}`
          const times = () => ({ elapsed: time.elapsed(), limit: time.waitLimit })
          const line = (columns: number) => withTimes([{ pieces: [text()], rank: 0 }], times(), columns)
          return logger.withSpinner(line, rounds)
        },
      },
    ).catch(async error => {
      throw await reportStop(toMergeqError(error), 'Stopped waiting.', cli)
    })
    await ringBell(time, cli)
    if (outcome === 'pending' && cli.results !== 'screen')
      await logger.warn(
        `The queue for ${queueName(values)} is not ${until}: ${summaryOf(queue).toLowerCase()}.`,
      )
    const elapsed = time.elapsed()
    const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
    const record = {
      type: 'result',
      repo: repositoryName(values.repo),
      targetBranch: values.targetBranch,
      until,
      outcome,
      depth: queue === undefined ? null : getArray(queue, 'enqueuedPullRequests').length,
      testing: queue === undefined ? null : testSlots(queue).testing.length,
      elapsedSeconds: Math.floor(elapsed / 1_000),
      exit,
    }
    const lines = (): readonly StyledLine[] => {
      const is = outcome === 'reached' ? 'is' : 'is not'
      const sign = signSpan(outcome === 'reached' ? 'PASS' : outcome === 'error' ? 'FAIL' : 'WARN')
      const resume = `  To resume the queue, run: ${cli.settings.commandLine(['queue', 'resume'], values)}`
      const sentence = ` ${values.targetBranch} ${is} ${until} after ${formatDuration(elapsed)}: `
      return [
        [sign, sentence, summaryOf(queue).toLowerCase()],
        ...(canResume(stateOf(queue)) && outcome !== 'reached' ? [[styled(resume, 'dim')]] : []),
      ]
    }
    await cli.printer.print({
      ...singleRecord(record),
      columns: resultRecord.columns,
      screen: () => ({ heading: lines() }),
    })
    if (failure !== undefined) throw await explainNotFound(cli, getQueue, values, failure)
    return exit
  },
})
