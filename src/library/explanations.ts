import { explain, explanationJson } from '../explain/read-pull-request.ts'
import { explainQueueAt, queueExplanationJson } from '../explain/read-queue.ts'
import type { PullRequest } from '../values/pull-request.ts'
import type { Queue } from '../values/repository.ts'
import type { CallOutcome } from './call-client.ts'
import type { OpenCall } from './methods.ts'

/** Explains a pull request. */
export async function explainOpened({ client, values }: OpenCall): Promise<CallOutcome> {
  const pullRequest = values as PullRequest
  return { document: explanationJson(await explain(pullRequest, client), pullRequest.repo) }
}

/** Explains a queue. */
export async function explainOpenedQueue({ client, values }: OpenCall): Promise<CallOutcome> {
  const queue = values as Queue
  return { document: queueExplanationJson(await explainQueueAt(queue, client), queue.repo) }
}
