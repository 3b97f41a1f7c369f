import { explain, explanationJson } from '../api/explain.ts'
import { explainQueueAt, queueExplanationJson } from '../api/explain-queue.ts'
import { nextCommands, nextQueueCommands } from '../config/next-commands.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import type { Queue } from '../domain/values/repository.ts'
import type { CallOutcome } from './call-client.ts'
import type { OpenCall } from './methods.ts'

/** Explains a pull request. */
export async function explainOpened({ client, values }: OpenCall): Promise<CallOutcome> {
  const pullRequest = values as PullRequest
  const commandFor = nextCommands(client.settings, pullRequest)
  return { document: explanationJson(await explain(pullRequest, client, commandFor)) }
}

/** Explains a queue. */
export async function explainOpenedQueue({ client, values }: OpenCall): Promise<CallOutcome> {
  const queue = values as Queue
  const explanation = await explainQueueAt(queue, client, {
    ofQueue: nextQueueCommands(client.settings, queue),
    ofPullRequest: pr => nextCommands(client.settings, { ...queue, pr }),
  })
  return { document: queueExplanationJson(explanation) }
}
