import { callOperation } from '../../api/call.ts'
import { getQueue } from '../../api/operations/queues.ts'
import type { CommandContext } from '../../cli/context.ts'
import { defaultMaxErrors } from '../../domain/limits.ts'
import { queueSummary } from '../../domain/queue-entries.ts'
import { type QueueCondition, queueOutcome, unknownStates } from '../../domain/queue-wait.ts'
import { queueName } from '../../domain/values/repository.ts'
import { pollDelay, requestedDelay } from '../../domain/wait-state.ts'
import { isPermanent, type MergeqError, toFailure, withPeriod } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { sleepWithMessages, startCommandWait } from '../pr/wait/command-wait.ts'
import { withTimes } from '../pr/wait/live-line.ts'
import type { QueueRequest } from './plan.ts'

export const summaryOf = (queue: JsonObject | undefined): string =>
  queue === undefined ? 'not read yet' : queueSummary(queue)

/** Times are in milliseconds; a limit of 0 reads the queue once. */
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

/** Reads a queue until a wait is over. Throws only when a signal interrupts the command. */
export async function waitForQueue(
  { values, overrides }: QueueRequest,
  options: QueueWaitOptions,
  context: CommandContext,
): Promise<QueueWaitEnd & { readonly elapsed: number }> {
  const wait = await startCommandWait(options, context)
  const { elapsed, pollLimits: limits } = wait
  const { host, logger, messages } = context
  let queue: JsonObject | undefined
  let [errors, unchanged, lastOutputAt] = [0, 0, 0]
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
      if (unchanged === 0 && messages === 'log') {
        lastOutputAt = elapsed()
        await logger.info(describe())
      }
      if (options.until === 'idle')
        for (const state of unknownStates(queue))
          await logger.warnOnce(`Unknown state ${state}; a queue with it does not count as idle.`)
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
  if (typeof first !== 'number') return { ...first, elapsed: elapsed() }
  const line = (columns: number) =>
    withTimes(
      [{ pieces: [`${values.targetBranch}: ${summaryOf(queue).toLowerCase()}`], rank: 0 }],
      { elapsed: elapsed(), limit: options.limit },
      columns,
    )
  return logger.withSpinner(line, async () => {
    let next: QueueWaitEnd | number = first
    while (typeof next === 'number') {
      lastOutputAt = await sleepWithMessages(next, { elapsed, lastOutputAt, describe }, context)
      next = await poll()
    }
    return { ...next, elapsed: elapsed() }
  })
}
