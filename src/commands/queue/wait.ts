import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { option } from '../../cli/inputs.ts'
import { reportErrors } from '../../cli/report.ts'
import { formatDuration } from '../../domain/format.ts'
import { testSlots } from '../../domain/queue-entries.ts'
import { queueConditions } from '../../domain/queue-wait.ts'
import { canResume, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { choice } from '../../domain/values/types.ts'
import { exitCodeOf, toMergeqError } from '../../errors.ts'
import { getArray } from '../../json.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { columns, singleRecord } from '../../output/view.ts'
import { waitInputs, waitLimit } from '../pr/wait/options.ts'

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

const queueWaitInputs = {
  until: option(
    choice(queueConditions, 'condition'),
    'idle: nothing is tested or about to merge; empty: no pull request is listed',
    { default: 'idle' },
  ),
  interval: waitInputs.interval,
}

export const queueWaitCommand = defineCommand({
  command: 'queue wait',
  summary: 'Wait until a queue is idle or empty',
  operation: getQueue,
  isComposition: true,
  options: queueWaitInputs,
  exitKinds: ['timed-out', 'pending'],
  output: {
    table: 'the result (on a pipe, one row); changes go to standard error',
    json: '{"type":"result","repo","targetBranch","until","outcome","depth","testing","elapsedSeconds","exit"}',
    ndjson: 'the same, on one line',
  },
  fields: resultRecord,
  examples: ['mergeq queue wait --timeout 30m', 'mergeq queue wait --until empty --json'],
  async run({ until, interval }, context) {
    const request = await context.request()
    const { values } = request
    const { summaryOf, waitForQueue } = await import('./wait-loop.ts')
    const limit = waitLimit(context.args)
    const { outcome, queue, failure, elapsed } = await waitForQueue(
      request,
      { until, interval, limit },
      context,
    ).catch(async error => {
      const { reportStop } = await import('../pr/wait/command-wait.ts')
      throw await reportStop(toMergeqError(error), 'Stopped waiting.', context)
    })
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
      const sign = signSpan({ reached: 'PASS', error: 'FAIL', pending: 'WARN', 'timed-out': 'WARN' }[outcome])
      const resume = `  To resume the queue, run: ${context.settings.commandLine(['queue', 'resume'], values)}`
      const sentence = ` ${values.targetBranch} ${is} ${until} after ${formatDuration(elapsed)}: `
      return [
        [sign, sentence, summaryOf(queue).toLowerCase()],
        ...(canResume(stateOf(queue)) && outcome !== 'reached' ? [[styled(resume, 'dim')]] : []),
      ]
    }
    await context.printer.print({
      ...singleRecord(record),
      columns: resultRecord.columns,
      screen: () => ({ heading: lines() }),
    })
    if (failure !== undefined) await reportErrors([failure], context)
    return exit
  },
})
