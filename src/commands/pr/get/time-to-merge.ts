import type { JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { forPerson } from '../../../command/send.ts'
import { canResume, stateOf, stateWords } from '../../../domain/states.ts'
import { describeEstimate, readEstimate } from '../../../explain/estimate.ts'
import type { PullRequest } from '../../../values/pull-request.ts'

/** With the grounds, or why that is not known; undefined if nothing is known, and for anyone but a person. */
export async function describeTimeToMerge(
  pullRequest: PullRequest,
  queue: JsonObject,
  cli: Cli,
): Promise<string | undefined> {
  const state = stateOf(queue)
  if (canResume(state)) return `not known: the queue is ${stateWords(state)}`
  const now = cli.serviceTime.startedAt()
  const estimate = await forPerson(cli, () => readEstimate(pullRequest, queue, cli.client(), now))
  return estimate == null ? undefined : describeEstimate(estimate)
}
