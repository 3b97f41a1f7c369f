import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import { defineCommand } from '../../cli/command.ts'
import type { RecordFields } from '../../cli/fields/record-fields.ts'
import { webInput } from '../../cli/web-input.ts'
import { explainRequest } from './explain/explain-request.ts'

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
    const { explainOne, openOne } = await import('./explain/explain-one.ts')
    const run = web ? openOne : explainOne
    for (const invocation of invocations) await run(invocation, context)
    await context.printer.end()
    return 0
  },
})
