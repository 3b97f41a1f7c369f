import { nextCommands, nextQueueCommands } from '../explain/next-commands.ts'
import { explain, explanationJson } from '../explain/read-pull-request.ts'
import { explainQueueAt, queueExplanationJson } from '../explain/read-queue.ts'
import type { PullRequest } from '../values/pull-request.ts'
import type { Queue } from '../values/repository.ts'
import type { CallOutcome } from './call-client.ts'
import type { OpenCall } from './methods.ts'

/** Explains a pull request. */
export async function explainOpened({ client, values }: OpenCall): Promise<CallOutcome> {
  const pullRequest = values as PullRequest
  const commandFor = nextCommands(client.settings, pullRequest)
  return { document: explanationJson(await explain(pullRequest, client, commandFor), pullRequest.repo) }
}

/** Explains a queue. */
export async function explainOpenedQueue({ client, values }: OpenCall): Promise<CallOutcome> {
  const queue = values as Queue
  const explanation = await explainQueueAt(queue, client, {
    ofQueue: nextQueueCommands(client.settings, queue),
    ofPullRequest: pr => nextCommands(client.settings, { ...queue, pr }),
  })
  return { document: queueExplanationJson(explanation, queue.repo) }
}
