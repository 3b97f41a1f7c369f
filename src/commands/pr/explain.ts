import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { pullRequestArgument, webInput } from '../../cli/common-inputs.ts'
import type { RecordFields } from '../../cli/fields.ts'

const explanationRecord: RecordFields = {
  names: [
    ...['pr', 'targetBranch', 'title', 'verdict', 'state', 'since'],
    ...['queue', 'queue.state', 'queue.position', 'queue.length', 'queue.ahead'],
    ...['queue.testing', 'queue.concurrency'],
    ...['testRun', 'testRun.id', 'testRun.status', 'testRun.failing', 'testRun.pending'],
    ...['reasons', 'reasons.code', 'reasons.message'],
    ...['next', 'next.command', 'next.why'],
    ...['submitAgain', 'submitAgain.safe', 'submitAgain.why'],
    ...['unread', 'unread.what', 'unread.why'],
  ],
  columns: [],
}

export const prExplainCommand = defineCommand({
  command: 'pr explain',
  summary: 'Explain why a pull request is not merging and what to do next',
  operation: getPartialPullRequest,
  isComposition: true,
  params: ['repo', 'targetBranch', 'pr'],
  inputs: { pr: pullRequestArgument },
  options: { web: webInput },
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
  async run({ web }, context) {
    const requests = await context.requests()
    const { openPullRequest, printExplanation } = await import('./explain/report.ts')
    for (const request of requests) await (web ? openPullRequest : printExplanation)(request, context)
    await context.printer.end()
    return 0
  },
})
