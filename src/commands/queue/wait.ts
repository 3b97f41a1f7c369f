import { callOperation } from '../../api/call.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { Wait } from '../../api/wait/poll.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { type OptionValues, option } from '../../cli/inputs.ts'
import { reportErrors } from '../../cli/run.ts'
import { formatDuration } from '../../domain/format.ts'
import { defaultMaxErrors } from '../../domain/limits.ts'
import { queueSummary, testSlots } from '../../domain/queue-entries.ts'
import { queueConditions, queueOutcome } from '../../domain/queue-wait.ts'
import { canResume, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { choice } from '../../domain/values/types.ts'
import { pollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { exitCodeOf, isPermanent, type MergeqError, toFailure, withPeriod } from '../../errors.ts'
import { getArray, type JsonObject } from '../../json.ts'
import { singleRecord } from '../../output/printer.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { linesView, table } from '../../output/view.ts'
import { waitInputs, waitLimit } from '../pr/wait/options.ts'
import type { QueueRequest } from './plan.ts'

const resultRecord: RecordFields = {
  names: [
    ...['type', 'repo', 'targetBranch', 'until', 'outcome', 'depth', 'testing'],
    ...['elapsedSeconds', 'exit'],
  ],
  columns: [
    ['REPOSITORY', 'repo', 'id'],
    ['BRANCH', 'targetBranch', 'id'],
    ['OUTCOME', 'outcome'],
    ['DEPTH', 'depth', 'number'],
    ['TESTING', 'testing', 'number'],
    ['SECONDS', 'elapsedSeconds', 'number'],
  ],
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
    const { startCommandWait } = await import('../pr/wait/command-wait.ts')
    const wait = await startCommandWait({ until, interval, limit: waitLimit(context.args) }, context)
    const { outcome, queue, failure } = await waitForQueue(request, wait, context)
    const elapsed = context.host.clock.now() - wait.startedAt
    const exit = outcome === 'error' ? (failure?.exit ?? 1) : exitCodeOf(kindOfOutcome[outcome])
    const record = {
      type: 'result',
      repo: repositoryName(values.repo),
      targetBranch: values.targetBranch,
      until,
      outcome,
      depth: queue === undefined ? null : getArray(queue, 'enqueuedPullRequests').length,
      testing: queue === undefined ? null : testSlots(queue).testing.length,
      elapsedSeconds: Math.round(elapsed / 1_000),
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
    const view = () => ({ ...table([record], resultRecord.columns), terminalView: () => linesView(lines()) })
    await context.printer.print(singleRecord(record, view))
    await context.printer.end()
    if (failure !== undefined) await reportErrors([failure], context)
    return exit
  },
})

const summaryOf = (queue: JsonObject | undefined): string =>
  queue === undefined ? 'not read yet' : queueSummary(queue)

/** How a wait ended, with the last reading of the queue. */
interface QueueWaitEnd {
  readonly outcome: 'reached' | 'pending' | 'timed-out' | 'error'
  readonly queue: JsonObject | undefined
  readonly failure?: MergeqError
}

/** Reads a queue until a wait is over. Throws only when a signal interrupts the command. */
async function waitForQueue(
  { values, overrides }: QueueRequest,
  wait: Wait<OptionValues<typeof queueWaitInputs> & { readonly limit: number }>,
  context: CommandContext,
): Promise<QueueWaitEnd> {
  const { options, startedAt, pollLimits: limits } = wait
  const { host, logger, hasReader } = context
  let queue: JsonObject | undefined
  let [errors, unchanged, lastOutputAt] = [0, 0, startedAt]
  const describe = () => `The queue for ${queueName(values)}: ${summaryOf(queue)}.`

  /** Returns the end of the wait, or the milliseconds until the next reading. */
  const poll = async (): Promise<QueueWaitEnd | number> => {
    if (!wait.hasTime()) return { outcome: 'timed-out', queue }
    let requested = 0
    try {
      const { response } = await callOperation(context.client(), getQueue, values, { overrides, limits })
      const before = describe()
      ;[queue = {}] = response.records
      errors = 0
      unchanged = describe() === before ? unchanged + 1 : 0
      if (unchanged === 0 && !hasReader) {
        lastOutputAt = host.clock.now()
        await logger.info(describe())
      }
      const outcome = queueOutcome(queue, options.until)
      if (outcome !== undefined) return { outcome, queue }
    } catch (error) {
      const failure = toFailure(error)
      errors++
      const isFinal = isPermanent(failure) || failure.kind === 'not-found' || options.limit === 0
      if (isFinal || errors >= defaultMaxErrors) return { outcome: 'error', queue, failure }
      await logger.info(`${withPeriod(failure.message)} Still waiting.`)
      requested = requestedDelay([failure])
    }
    if (options.limit === 0) return { outcome: 'pending', queue }
    const delay =
      options.interval === 'auto' ? pollDelay({ unchanged }, errors, host.random()) : options.interval
    return Math.max(0, Math.min(Math.max(delay, requested), wait.remaining()))
  }

  const first = await poll()
  if (typeof first !== 'number') return first
  const { sleepWithMessages } = await import('../pr/wait/command-wait.ts')
  const { withTimes } = await import('../pr/wait/live-line.ts')
  const line = (columns: number) =>
    withTimes(
      [{ pieces: [`${values.targetBranch}: ${summaryOf(queue).toLowerCase()}`], rank: 0 }],
      { now: host.clock.now(), startedAt, limit: options.limit },
      columns,
    )
  return logger.withSpinner(line, async () => {
    let next: QueueWaitEnd | number = first
    while (typeof next === 'number') {
      lastOutputAt = await sleepWithMessages(next, { startedAt, lastOutputAt, describe }, context)
      next = await poll()
    }
    return next
  })
}
