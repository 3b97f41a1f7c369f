import { readIfFound } from '../api/call.ts'
import type { Infer } from '../api/operations/fields.ts'
import { getPartialPullRequest } from '../api/operations/partial-pull-request.ts'
import { getQueue } from '../api/operations/queues.ts'
import type { explanationRecord } from '../api/operations/records.ts'
import { tryRead, withTimeline } from '../api/reads/extra-reads.ts'
import type { UnreadSource } from '../api/reads/test-run.ts'
import { readTestRunOf } from '../api/reads/test-run.ts'
import type { ServiceClient } from '../api/service-client.ts'
import { serviceStart } from '../api/service-time.ts'
import { isNotFound } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { testSlots } from '../domain/queue-entries.ts'
import { stateOf } from '../domain/states.ts'
import { testRunOf } from '../domain/test-run.ts'
import type { PullRequest } from '../values/pull-request.ts'
import { readEstimate } from './estimate.ts'
import { type Explanation, explanationOf } from './explain-pull-request.ts'
import { nextCommands } from './next-commands.ts'

/** Reads what explains a pull request; `known` is its queue, if that was read. Throws the error of its record. */
export async function explain(
  pullRequest: PullRequest,
  client: ServiceClient,
  known?: JsonObject,
): Promise<Explanation> {
  const { pr, repo, targetBranch } = pullRequest
  const reads = [
    readIfFound(client, getPartialPullRequest, { repo, targetBranch, pr }),
    known === undefined
      ? tryRead(client, getQueue, { repo, targetBranch })
      : { record: known, failure: undefined },
  ] as const
  // Both reads finish before an error is thrown: otherwise the other would lose its connection and retry.
  await Promise.allSettled(reads)
  const [submitted, queue] = await Promise.all(reads)
  const hasNoQueue = queue.failure !== undefined && isNotFound(queue.failure)
  // The timeline of one that is tested names its batch, and its test run if the record does not.
  const isNamed = submitted !== undefined && testRunOf(submitted) !== undefined
  const isBatching = testSlots(queue.record ?? null).isBatching
  const states = isNamed && !isBatching ? ['PENDING'] : ['PENDING', 'TESTING']
  const record = submitted && (await withTimeline(client, submitted, pullRequest, { states }))
  // What waits for its tests has no test run; its timeline may name one that ended.
  const isTested = record !== undefined && !['NOT_READY', 'PENDING'].includes(stateOf(record))
  const testRun = isTested ? await readTestRunOf(record, pullRequest, client) : {}
  const unread: UnreadSource[] = []
  if (queue.failure !== undefined && !hasNoQueue) unread.push({ what: 'queue', why: queue.failure.message })
  if (testRun.unread !== undefined) unread.push(testRun.unread)
  const now = await serviceStart(client)
  // Of the first in a queue that is explained, the time is not said.
  const estimate =
    known === undefined ? await readEstimate(pullRequest, queue.record ?? {}, client, now) : null
  return explanationOf({
    pr,
    repo,
    targetBranch,
    nameOf: client.nameOf,
    commandFor: nextCommands(client.settings, pullRequest),
    record,
    queue: hasNoQueue ? null : queue.record,
    run: testRun.run,
    unread,
    now,
    estimate,
  })
}

/** Returns an explanation as JSON: `explanationRecord`. */
export function explanationJson({ head: _, ...explanation }: Explanation): Infer<typeof explanationRecord> {
  const next = explanation.next.map(({ command, why }) => ({ command, why }))
  const reasons = explanation.reasons.map(({ code, message }) => ({ code, message }))
  if (explanation.testRun === null) return { ...explanation, next, reasons, testRun: null }
  const { id, status, failingChecks, pending, missing } = explanation.testRun
  const failing = failingChecks.map(({ name }) => name)
  return { ...explanation, next, reasons, testRun: { id, status, failing, pending, missing } }
}
