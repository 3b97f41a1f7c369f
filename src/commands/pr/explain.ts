import { withDecoder } from '../../api/operation.ts'
import { getSubmittedPullRequest, partialPullRequestDecoder } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import { withTimeline } from '../../api/read-timeline.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { Invocation } from '../../cli/invocation.ts'
import { openPage } from '../../cli/open-page.ts'
import { pullRequestArgument } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { repeatedOptionsOf } from '../../cli/repeated-options.ts'
import { webInput } from '../../cli/web-input.ts'
import { explainPullRequest } from '../../domain/explain/explain-pull-request.ts'
import type { UnreadSource } from '../../domain/explain/explanation.ts'
import { urlOfPullRequest } from '../../domain/values/pull-request.ts'
import { isNotFound } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { singleRecord } from '../../output/printer.ts'
import { explanationJson, explanationRecord, explanationView } from './explain/explanation-view.ts'
import { readDocument, readTestRun } from './test-run/read-test-run.ts'

/** The request that an explanation begins with; its record may lack the state. */
const explainRequest = {
  command: 'pr explain',
  operation: withDecoder(getSubmittedPullRequest, partialPullRequestDecoder),
  inputs: {
    ...queueInputs,
    pr: {
      ...pullRequestArgument,
      definitions: pullRequestArgument.definitions.map(definition => ({
        ...definition,
        values: 'recent-pull-requests' as const,
      })),
    },
  },
}

/** The pull request to explain. */
type ExplainInvocation = Invocation<typeof explainRequest.inputs>

/** Reads the record of a pull request; undefined if the pull request was never submitted. */
async function readRecord(
  invocation: ExplainInvocation,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  const { document, failure } = await readDocument(
    explainRequest.operation,
    invocation.values,
    context,
    invocation,
  )
  if (failure !== undefined && !isNotFound(failure)) throw failure
  return document
}

/** Reads what an explanation needs, and prints the explanation. */
async function explainOne(invocation: ExplainInvocation, context: CommandContext): Promise<void> {
  const { pr, repo, targetBranch } = invocation.values
  const reads = [
    readRecord(invocation, context),
    readDocument(getQueue, { repo, targetBranch }, context),
  ] as const
  // Both reads finish before an error is thrown: otherwise the other would lose its connection and retry.
  await Promise.allSettled(reads)
  const [submitted, queue] = await Promise.all(reads)
  const hasNoQueue = queue.failure !== undefined && isNotFound(queue.failure)
  const record = submitted && (await withTimeline(context.client(), submitted, invocation.values, invocation))
  const testRun = record === undefined ? {} : await readTestRun(record, invocation.values, context)
  const unread: readonly UnreadSource[] = [
    ...(queue.failure === undefined || hasNoQueue
      ? []
      : [{ what: 'queue' as const, why: queue.failure.message }]),
    ...(testRun.unread === undefined ? [] : [testRun.unread]),
  ]
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

/** Opens the page of a pull request after reading its record. */
async function openOne(invocation: ExplainInvocation, context: CommandContext): Promise<void> {
  await readRecord(invocation, context)
  return openPage(urlOfPullRequest(invocation.values.repo, invocation.values.pr), context)
}

/** `pr explain`: explains the state of a pull request; the exit code is 0 for any verdict. */
export const prExplainCommand = defineCommand({
  command: 'pr explain',
  summary: 'Explain why a pull request is not merging and what to do next',
  request: explainRequest,
  inputs: { web: webInput },
  fields: explanationRecord,
  operations: [getQueue, getMergeQueueTestingDetails],
  output: {
    table: 'the verdict, the reasons, the next steps, and whether to submit again',
    json: '{"pr","targetBranch","title","verdict","state","since","queue","testRun","reasons","next","submitAgain","unread"}',
    ndjson: 'the same, on one line',
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run({ web }, context, invocations) {
    const run = web ? openOne : explainOne
    for (const invocation of invocations) await run(invocation, context)
    await context.printer.end()
    return 0
  },
})
