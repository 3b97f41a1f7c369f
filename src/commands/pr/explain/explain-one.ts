import { getQueue } from '../../../api/operations/queues.ts'
import { withTimeline } from '../../../api/read-timeline.ts'
import type { CommandContext } from '../../../cli/context.ts'
import type { Invocation } from '../../../cli/invocation.ts'
import { repeatedOptionsOf } from '../../../cli/repeated-options.ts'
import { explainPullRequest } from '../../../domain/explain/explain-pull-request.ts'
import type { UnreadSource } from '../../../domain/explain/explanation.ts'
import { urlOfPullRequest } from '../../../domain/values/pull-request.ts'
import { isNotFound } from '../../../errors.ts'
import { singleRecord } from '../../../output/printer.ts'
import { readDocument, readTestRun } from '../test-run/read-test-run.ts'
import { explainRequest } from './explain-request.ts'
import { explanationJson, explanationView } from './explanation-view.ts'

/** The pull request to explain. */
type ExplainInvocation = Invocation<typeof explainRequest.inputs>

/** Reads what an explanation needs, and prints the explanation; with `isWeb`, opens the page instead. */
export async function explainOne(
  invocation: ExplainInvocation,
  isWeb: boolean,
  context: CommandContext,
): Promise<void> {
  const { pr, repo, targetBranch } = invocation.values
  const reads = [
    readDocument(explainRequest.operation, invocation.values, context, invocation),
    readDocument(getQueue, { repo, targetBranch }, context),
  ] as const
  // Both reads finish before an error is thrown: otherwise the other would lose its connection and retry.
  await Promise.allSettled(reads)
  const [pullRequest, queue] = await Promise.all(reads)
  if (pullRequest.failure !== undefined && !isNotFound(pullRequest.failure)) throw pullRequest.failure
  const hasNoQueue = queue.failure !== undefined && isNotFound(queue.failure)
  const record =
    pullRequest.document === undefined
      ? undefined
      : await withTimeline(context.client(), pullRequest.document, invocation.values, invocation)
  const testRun = record === undefined ? {} : await readTestRun(record, invocation.values, context)
  const unread: readonly UnreadSource[] = [
    ...(queue.failure === undefined || hasNoQueue
      ? []
      : [{ what: 'queue' as const, why: queue.failure.message }]),
    ...(testRun.unread === undefined ? [] : [testRun.unread]),
  ]
  if (isWeb) {
    const { openPage } = await import('../../../cli/open-page.ts')
    return openPage(urlOfPullRequest(repo, pr), context)
  }
  const explanation = explainPullRequest({
    pr,
    targetBranch,
    flags: repeatedOptionsOf(repo, context.args),
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
