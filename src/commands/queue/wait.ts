import { callOperation } from '../../api/call.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { Wait } from '../../api/wait/poll.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { option } from '../../cli/inputs.ts'
import { reportErrors } from '../../cli/run.ts'
import { formatDuration } from '../../domain/format.ts'
import { defaultMaxErrors } from '../../domain/limits.ts'
import { queueSummary, testSlots } from '../../domain/queue-entries.ts'
import { type QueueCondition, queueConditions, queueOutcome } from '../../domain/queue-wait.ts'
import { canResume, kindOfOutcome, stateOf } from '../../domain/states.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { choice } from '../../domain/values/types.ts'
import { pollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { exitCodeOf, isPermanent, type MergeqError, toMergeqError, withPeriod } from '../../errors.ts'
import { getArray, type JsonObject } from '../../json.ts'
import { singleRecord } from '../../output/printer.ts'
import { type StyledLine, signSpan, styled } from '../../output/styled-text.ts'
import { linesView, table } from '../../output/view.ts'
import { waitInputs, waitLimit } from '../pr/wait/options.ts'
import type { QueueParams, QueueRequest } from './plan.ts'

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

export const queueWaitCommand = defineCommand({
  command: 'queue wait',
  summary: 'Wait until a queue is idle or empty',
  operation: getQueue,
  isComposition: true,
  options: {
    until: option(
      choice(queueConditions, 'condition'),
      'idle: nothing is tested or about to merge; empty: no pull request is listed',
      { default: 'idle' },
    ),
    interval: waitInputs.interval,
  },
  exitKinds: ['timed-out', 'pending'],
  output: {
    table: 'the result (on a pipe, one row); changes go to standard error',
    json: '{"type":"result","repo","targetBranch","until","outcome","depth","testing","elapsedSeconds","exit"}',
    ndjson: 'the same, on one line',
  },
  fields: resultRecord,
  examples: ['mergeq queue wait --timeout 30m', 'mergeq queue wait --until empty --json'],
  async run(values, context) {
    const request = await context.request()
    const { startCommandWait } = await import('../pr/wait/command-wait.ts')
    const wait = await startCommandWait({ ...values, limit: waitLimit(context.args) }, context)
    return printResult(await waitForQueue(request, wait, context), request, wait, context)
  },
})

interface QueueWaitOptions {
  readonly until: QueueCondition
  readonly interval: number | 'auto'
  readonly limit: number
}

/** How a wait ended, with the last reading of the queue. */
interface QueueWaitEnd {
  readonly outcome: 'reached' | 'pending' | 'timed-out' | 'error'
  readonly queue: JsonObject | undefined
  readonly failure?: MergeqError
}

const queueTitle = (queue: QueueParams): string => `The queue for ${queueName(queue)}`

/** Reads a queue until a wait is over. Throws only when a signal interrupts the command. */
async function waitForQueue(
  { values, overrides }: QueueRequest,
  wait: Wait<QueueWaitOptions>,
  context: CommandContext,
): Promise<QueueWaitEnd> {
  const { options, startedAt, pollLimits: limits } = wait
  const { host, logger, hasReader } = context
  let queue: JsonObject | undefined
  let [errors, unchanged, lastOutputAt] = [0, 0, startedAt]
  const summary = () => (queue === undefined ? 'not read yet' : queueSummary(queue))

  /** Returns the end of the wait, or the milliseconds until the next reading. */
  const poll = async (): Promise<QueueWaitEnd | number> => {
    if (!wait.hasTime()) return { outcome: 'timed-out', queue }
    let requested = 0
    try {
      const { response } = await callOperation(context.client(), getQueue, values, { overrides, limits })
      const before = summary()
      ;[queue = {}] = response.records
      errors = 0
      unchanged = summary() === before ? unchanged + 1 : 0
      if (unchanged === 0 && !hasReader) {
        lastOutputAt = host.clock.now()
        await logger.info(`${queueTitle(values)}: ${summary()}.`)
      }
      const outcome = queueOutcome(queue, options.until)
      if (outcome !== undefined) return { outcome, queue }
    } catch (error) {
      const failure = toMergeqError(error)
      if (failure.kind === 'interrupted') throw failure
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
      [{ pieces: [`${values.targetBranch}: ${summary().toLowerCase()}`], rank: 0 }],
      { now: host.clock.now(), startedAt, limit: options.limit },
      columns,
    )
  return logger.withSpinner(line, async () => {
    let next: QueueWaitEnd | number = first
    while (typeof next === 'number') {
      const describe = () => `${queueTitle(values)}: ${summary()}.`
      lastOutputAt = await sleepWithMessages(next, { startedAt, lastOutputAt, describe }, context)
      next = await poll()
    }
    return next
  })
}

/** Prints the result of a wait and its error, if there is one. Returns the exit code. */
async function printResult(
  { outcome, queue, failure }: QueueWaitEnd,
  { values }: QueueRequest,
  { options: { until }, startedAt }: Wait<QueueWaitOptions>,
  context: CommandContext,
): Promise<number> {
  const { host, printer, settings } = context
  const elapsed = host.clock.now() - startedAt
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
    const state = queue === undefined ? 'not read yet' : queueSummary(queue).toLowerCase()
    const is = outcome === 'reached' ? 'is' : 'is not'
    const sign = signSpan({ reached: 'PASS', error: 'FAIL', pending: 'WARN', 'timed-out': 'WARN' }[outcome])
    const resume = `  To resume the queue, run: ${settings.commandLine(['queue', 'resume'], values)}`
    return [
      [sign, ` ${values.targetBranch} ${is} ${until} after ${formatDuration(elapsed)}: ${state}`],
      ...(canResume(stateOf(queue)) && outcome !== 'reached' ? [[styled(resume, 'dim')]] : []),
    ]
  }
  const view = () => ({ ...table([record], resultRecord.columns), terminalView: () => linesView(lines()) })
  await printer.print(singleRecord(record, view))
  await printer.end()
  if (failure !== undefined) await reportErrors([failure], context)
  return exit
}
