import { tryRead } from '../../api/extra-reads.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import {
  getMergeQueueTestingDetails,
  getSubmittedPullRequest,
  submitPullRequest,
} from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { withoutMessages } from '../../api/service-client.ts'
import type { Cli } from '../../cli/cli.ts'
import { pullRequestArguments } from '../../cli/common-inputs.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { printDryRun } from '../../cli/dry-run.ts'
import { receiptRecord } from '../../cli/fields.ts'
import { flag, optionName } from '../../cli/inputs.ts'
import { joinList } from '../../domain/format.ts'
import { kindOfOutcome, stateOf } from '../../domain/states.ts'
import type { RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { queueName } from '../../domain/values/repository.ts'
import { usageError } from '../../errors.ts'
import { getNumber, getString, type JsonObject } from '../../json.ts'
import type { ServiceRequest } from '../../methods/resolve.ts'
import { styled } from '../../output/styled-text.ts'
import { explainFinished, readRecordOnce } from './reads.ts'
import { readWaitOptions, waitCommand, waitInputs, waitRecord } from './wait-options.ts'

/** The largest number of pull requests that the suggested command names. */
const maxSuggested = 10

/** Says whether the queue is paused, and names the command that follows, to a person at a terminal. */
async function suggestWait(
  requests: readonly ServiceRequest<RequestedPullRequest>[],
  { results, messages, logger, settings, client, options }: Cli,
): Promise<void> {
  if (results !== 'screen' || messages !== 'person') return
  const [first] = requests
  if (first === undefined || requests.length > maxSuggested) return
  const { repo, targetBranch } = first.values
  const { record } =
    options.retries === 0
      ? {}
      : await tryRead(
          withoutMessages(client()),
          getQueue,
          { repo, targetBranch },
          { limits: { maxRetries: 0 } },
        )
  if (stateOf(record) === 'PAUSED') {
    const queued = requests.filter(({ values }) => queueName(values) === queueName(first.values))
    const numbers = queued.map(({ values }) => `#${values.pr}`)
    await logger.info(
      `The queue is paused; ${joinList(numbers)} ${numbers.length === 1 ? 'starts' : 'start'} when it resumes.`,
    )
  }
  const command = waitCommand(
    requests.map(({ values }) => values),
    settings.commandLine,
  )
  await logger.infoLine([styled(`For the result, run: ${command}`, 'dim')])
}

/**
 * Returns what a submission changed of a pull request that was queued before:
 * `#501 was already queued; priority medium -> high.`
 */
function describeResubmission(pr: number, before: JsonObject, priority: number | string | undefined): string {
  const last = getString(before, 'priorityName') ?? getNumber(before, 'priorityValue')
  if (priority === undefined || last === undefined) return `#${pr} was already queued.`
  const isSameName = String(priority).toUpperCase() === String(last).toUpperCase()
  const isUnchanged = isSameName || priority === getNumber(before, 'priorityValue')
  const change = isUnchanged ? `${last} (unchanged)` : `${last} -> ${priority}`
  return `#${pr} was already queued; priority ${change}.`
}

export const prSubmitCommand = defineCommand({
  command: 'pr submit',
  summary: 'Submit pull requests to the queue for testing and merging',
  operation: submitPullRequest,
  inputs: { pr: pullRequestArguments },
  options: {
    wait: flag('Wait for the pull request to merge, fail or be cancelled'),
    ...waitInputs,
  },
  operations: [getSubmittedPullRequest, getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  exitKinds: Object.values(kindOfOutcome),
  output: {
    table: 'one sentence per pull request; on a pipe, a row with pr, ok, delivery, message',
    json: 'one receipt per pull request, {"operation","repo","targetBranch","pr","ok","delivery"}; with --wait, one result',
    ndjson: 'the same, one per line; with --wait, the lines of `mergeq pr wait`',
  },
  fields: typed => (typed.has('--wait') ? waitRecord : receiptRecord),
  readBefore: readRecordOnce,
  explainRejection: (failure, values, context) =>
    explainFinished(context, ['ok'])(failure, { operation: submitPullRequest, values, overrides: [] }),
  present: (_, { pr, targetBranch, priority }, { before }) => ({
    sentence:
      before?.isCurrentlySubmittedToQueue === true
        ? describeResubmission(pr, before, priority)
        : `Submitted #${pr} to the queue for ${targetBranch}.`,
  }),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
  check({ wait }, { args }) {
    const typed = Object.keys(waitInputs)
      .map(key => `--${optionName(key)}`)
      .find(name => args.has(name))
    if (typed !== undefined && !wait)
      throw usageError(`${typed} requires --wait.`, `Add --wait, or omit ${typed}.`)
  },
  async dryRun({ wait, ...waitValues }, context) {
    const requests = await context.requests()
    if (wait) await readWaitOptions(waitValues, requests.length, context)
    return printDryRun(requests, context)
  },
  async run({ wait, ...waitValues }, context) {
    const requests = await context.requests()
    if (wait) {
      const waitOptions = await readWaitOptions(waitValues, requests.length, context)
      const { submitAndWait } = await import('./submit-and-wait.ts')
      return submitAndWait(requests, waitOptions, context)
    }
    // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
    const code = await context.send(requests, 1)
    if (code === 0) await suggestWait(requests, context)
    return code
  },
})
