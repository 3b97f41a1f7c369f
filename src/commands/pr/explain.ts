import { getMergeQueueTestingDetails, getPartialPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand, type RequestResult } from '../../cli/command.ts'
import { pullRequestArguments, webInput } from '../../cli/common-inputs.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { nameOf, reportResults, withResource } from '../../cli/run.ts'
import { mapConcurrent, maxConcurrent } from '../../domain/map-concurrent.ts'
import { toMergeqError } from '../../errors.ts'

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
  summary: 'Explain why pull requests are not merging and what to do next',
  operation: getPartialPullRequest,
  isComposition: true,
  params: ['repo', 'targetBranch', 'pr'],
  inputs: { pr: pullRequestArguments },
  options: { web: webInput },
  fields: explanationRecord,
  operations: [getQueue, getMergeQueueTestingDetails],
  output: {
    table:
      'the verdict, the reasons, the next steps, and whether to submit again; of several pull requests, their numbers first',
    json: '{"pr","targetBranch","title","verdict","state","since","queue","testRun","reasons","next","submitAgain","unread"}',
    ndjson: 'the same, on one line for each pull request',
  },
  examples: [
    'mergeq pr explain 123',
    'mergeq pr explain 123 124',
    'mergeq pr explain 123 --json | jq -r .verdict',
    'mergeq pr explain 123 --set includeTimeline=true',
  ],
  async run({ web }, context) {
    const requests = await context.requests()
    const { explain, openPullRequest, printExplanation } = await import('./explain/report.ts')
    const isOnly = requests.length === 1
    const stopsOnError = context.args.has('--stop-on-error')
    const results: RequestResult[] = []
    const read = async (request: (typeof requests)[number]) => {
      try {
        if (web) await openPullRequest(request, context)
        return { request, explanation: web ? undefined : await explain(request, context) }
      } catch (error) {
        const failure = toMergeqError(error)
        return { request, failure: isOnly ? failure : withResource(failure, nameOf(request.values)) }
      }
    }
    const width = web || stopsOnError ? 1 : maxConcurrent
    const mayStart = () => !context.host.interrupted.aborted
    for await (const { request, explanation, failure } of mapConcurrent(requests, width, read, mayStart)) {
      const isFirst = results.every(({ code }) => code !== 0)
      if (explanation !== undefined)
        await printExplanation(explanation, request, { isOnly, isFirst }, context)
      results.push({ code: failure?.exit ?? 0, failure })
      if (stopsOnError && failure !== undefined) break
    }
    await context.printer.end()
    return reportResults(getPartialPullRequest, requests, results, context)
  },
})
