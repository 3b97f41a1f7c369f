import { explain, explanationJson } from '../explain/explain-pull-request.ts'
import { explainQueueAt, queueExplanationJson } from '../explain/explain-queue.ts'
import type { PullRequest } from '../values/pull-request.ts'
import type { Queue } from '../values/repository.ts'
import type { CallOutcome } from './call-client.ts'
import type { OpenCall } from './methods.ts'

/** Explains a pull request. */
export async function explainOpened({ client, values }: OpenCall): Promise<CallOutcome> {
  return { document: explanationJson(await explain(values as PullRequest, client)) }
}

/** Explains a queue. */
export async function explainOpenedQueue({ client, values }: OpenCall): Promise<CallOutcome> {
  return { document: queueExplanationJson(await explainQueueAt(values as Queue, client)) }
}
