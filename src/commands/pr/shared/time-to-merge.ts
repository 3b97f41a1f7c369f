import { readQueueMetrics } from '../../../api/reads/queue-activity.ts'
import type { Cli } from '../../../command/command.ts'
import { forPerson } from '../../../command/send.ts'
import { usualTimeInQueue } from '../../../domain/metrics/last-hour.ts'
import { normalizeState, stateWords } from '../../../domain/states.ts'
import { formatEstimate } from '../../../values/format.ts'
import type { Queue } from '../../../values/repository.ts'

/**
 * Says to a person how long pull requests usually took in a queue, or why that says nothing: `usually ~4m (median of the last
 * hour)`. Undefined for anyone else, and if the metrics cannot be read.
 *
 * @param queueState the state of the queue; empty if it is not known
 */
export async function describeTimeToMerge(
  place: Queue,
  queueState: string,
  cli: Cli,
): Promise<string | undefined> {
  const state = normalizeState(queueState)
  if (state === 'PAUSED' || state === 'DRAINING') return `not known: the queue is ${stateWords(state)}`
  const read = await forPerson(cli, () => readQueueMetrics(cli.client(), place))
  if (read === undefined) return undefined
  const usual = usualTimeInQueue(read.queue)
  return usual === undefined
    ? 'not known: no pull request merged in the last hour'
    : `usually ${formatEstimate(usual)} (median of the last hour)`
}
