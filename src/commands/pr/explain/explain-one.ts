import { getQueue } from '../../../api/operations/queues.ts'
import { withTimeline } from '../../../api/read-timeline.ts'
import type { CommandRequest } from '../../../cli/command.ts'
import type { CommandContext } from '../../../cli/context.ts'
import { explainPullRequest } from '../../../domain/explain/explain-pull-request.ts'
import type { UnreadSource } from '../../../domain/explain/explanation.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { isNotFound } from '../../../errors.ts'
import type { JsonObject } from '../../../json.ts'
import { singleRecord } from '../../../output/printer.ts'
import type { RequestedPullRequest } from '../state/read-record.ts'
import { readDocument, readTestRun } from '../test-run/read-test-run.ts'
import { getPartialRecord } from './explain-request.ts'
import { explanationJson, explanationView } from './explanation-view.ts'

type ExplainRequest = CommandRequest<RequestedPullRequest>

/** Reads the record of a pull request; undefined if the pull request was never submitted. */
async function readRecord(request: ExplainRequest, context: CommandContext): Promise<JsonObject | undefined> {
  const { document, failure } = await readDocument(getPartialRecord, request.values, context, request)
  if (failure !== undefined && !isNotFound(failure)) throw failure
  return document
}

export async function explainOne(request: ExplainRequest, context: CommandContext): Promise<void> {
  const { pr, repo, targetBranch } = request.values
  const reads = [
    readRecord(request, context),
    readDocument(getQueue, { repo, targetBranch }, context),
  ] as const
  // Both reads finish before an error is thrown: otherwise the other would lose its connection and retry.
  await Promise.allSettled(reads)
  const [submitted, queue] = await Promise.all(reads)
  const hasNoQueue = queue.failure !== undefined && isNotFound(queue.failure)
  const record = submitted && (await withTimeline(context.client(), submitted, request.values, request))
  const testRun = record === undefined ? {} : await readTestRun(record, request.values, context)
  const unread: readonly UnreadSource[] = [
    ...(queue.failure === undefined || hasNoQueue
      ? []
      : [{ what: 'queue' as const, why: queue.failure.message }]),
    ...(testRun.unread === undefined ? [] : [testRun.unread]),
  ]
  const explanation = explainPullRequest({
    pr,
    targetBranch,
    commandLine: words => context.settings.commandLine(words, request.values),
    record,
    queue: hasNoQueue ? null : queue.document,
    run: testRun.run,
    unread,
  })
  await context.printer.print(
    singleRecord(explanationJson(explanation), () =>
      explanationView(explanation, urlOfPullRequest(repo, pr), context.host.clock.now()),
    ),
  )
}

export async function openOne(request: ExplainRequest, context: CommandContext): Promise<void> {
  await readRecord(request, context)
  const { openPage } = await import('../../../cli/run-requests.ts')
  return openPage(urlOfPullRequest(request.values.repo, request.values.pr), context)
}
