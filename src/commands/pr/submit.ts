import { callOperation } from '../../api/call.ts'
import { getSubmittedPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { getMergeQueueMetrics } from '../../api/operations/queue-metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import type { ParamValues } from '../../api/param.ts'
import { type RequestLimits, withMaxRetries } from '../../api/service-client.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { receiptRecord } from '../../cli/fields/record-fields.ts'
import { flag, type Input, option } from '../../cli/inputs.ts'
import type { Invocation } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/preview.ts'
import { pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { reportResults } from '../../cli/report-results.ts'
import { executeAll, runInvocations } from '../../cli/run-invocations.ts'
import { isContinuousIntegration } from '../../config/continuous-integration.ts'
import { parsePriority, priorities } from '../../domain/values/text.ts'
import { kindOfOutcome } from '../../domain/wait-state.ts'
import { isNotFound, MergeqError, toMergeqError, usageError } from '../../errors.ts'
import { getNumber, getString, type JsonObject } from '../../json.ts'
import { styled } from '../../output/styled-text.ts'
import { message } from '../../output/view.ts'
import { explainFinished } from './state/explain-finished.ts'
import { createWaitLimits, readWaitOptions, type WaitOptions } from './wait/time-limits.ts'
import { reportUnwaited, waitForAll } from './wait/wait-for-all.ts'
import { waitInputs, waitRecord } from './wait/wait-inputs.ts'

/**
 * Returns what a submission changed of a pull request that was queued before:
 * `#501 was already queued; priority medium -> high.`
 */
function describeResubmission(pr: number, before: JsonObject, priority: number | string | undefined): string {
  const last = getString(before, 'priorityName') ?? getNumber(before, 'priorityValue')
  const isUnchanged = priority === last || priority === getNumber(before, 'priorityValue')
  const change =
    priority === undefined || last === undefined
      ? ''
      : isUnchanged
        ? `; priority ${last} (unchanged)`
        : `; priority ${last} -> ${priority}`
  return `#${pr} was already queued${change}.`
}

/** The current record of a pull request; undefined when it was never submitted. */
async function readRecord(
  { repo, targetBranch, pr }: ParamValues<typeof submitPullRequest.params>,
  limits: RequestLimits,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  try {
    const params = { repo, targetBranch, pr }
    const { response } = await callOperation(context.client(), getSubmittedPullRequest, params, { limits })
    return response.records[0]
  } catch (error) {
    const failure = toMergeqError(error)
    if (isNotFound(failure)) return undefined
    throw failure
  }
}

/** The request of `pr submit`, without a wait. */
const submitRequest = defineOperationCommand({
  command: 'pr submit',
  summary: 'Submit pull requests to the queue for testing and merging',
  operation: submitPullRequest,
  // Equal priority is first come, first served (docs/reference/service.md, "Priorities").
  isOrdered: true,
  inputs: {
    ...queueInputs,
    pr: pullRequestArguments,
    priority: option({
      name: 'priority',
      value: 'level',
      summary: 'Priority: urgent, high, medium, low, or 0 (first) to 255 (last)',
      suggestions: priorities,
      parse: parsePriority,
    }),
    noBatch: {
      ...flag({ name: 'no-batch', summary: 'Test the pull request alone, never in a batch' }),
      // Without the option the service decides.
      read: args => (args.has('--no-batch') ? true : undefined),
    } satisfies Input<boolean | undefined>,
  },
  readBefore: (values, context) => readRecord(values, withMaxRetries(context.client(), 0), context),
  explainError: explainFinished(['ok']),
  view: (_, { pr, targetBranch, priority }, before) =>
    message(
      before?.isCurrentlySubmittedToQueue === true
        ? describeResubmission(pr, before, priority)
        : `Submitted #${pr} to the queue for ${targetBranch}.`,
    ),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
})

type SubmitInvocation = Invocation<typeof submitRequest.inputs>

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted.
 */
async function submitAndWait(
  invocations: readonly SubmitInvocation[],
  options: WaitOptions,
  context: CommandContext,
): Promise<number> {
  const { clock, interrupted } = context.host
  const startedAt = clock.now()
  const remaining = () => startedAt + options.limit - clock.now()
  const limits = await createWaitLimits(options.limit, remaining, context)
  const recordsBeforeSubmit = new Map<Invocation, JsonObject | undefined>()
  const submittedAt = new Map<Invocation, number>()
  const results = await executeAll(submitRequest, invocations, context, {
    // The output of a wait is its results: receipts of the submissions would be further documents.
    isSilent: true,
    limits: limits.change,
    async beforeSend(invocation) {
      const submission = invocations.find(other => other === invocation)
      if (submission === undefined) return
      if (options.limit > 0 && remaining() <= 0)
        throw new MergeqError('timed-out', `Timed out before #${submission.values.pr} was submitted.`)
      recordsBeforeSubmit.set(submission, await readRecord(submission.values, limits.forRead(), context))
      submittedAt.set(submission, clock.now())
    },
  })
  const to = clock.now()
  const candidates = invocations.map((invocation, index) => ({
    invocation: { values: invocation.values, overrides: [] },
    recordBeforeSubmit: recordsBeforeSubmit.get(invocation),
    submission: { from: submittedAt.get(invocation) ?? startedAt, to },
    failure: results[index]?.failure,
  }))
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const isStopped = options.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, invocations, results, context)
  if (failures.length < invocations.length)
    for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, options, context, startedAt)
}

/** The largest number of pull requests that the suggested command names. */
const maxSuggested = 10

/** Names the command that follows the pull requests, to a person at a terminal. */
async function suggestWait(
  invocations: readonly SubmitInvocation[],
  { host: { out, err, env }, options, logger, args }: CommandContext,
): Promise<void> {
  const [first] = invocations
  const isSeen = out.terminal && err.terminal && options.format === 'table' && options.fields.length === 0
  if (!isSeen || isContinuousIntegration(env)) return
  if (first === undefined || invocations.length > maxSuggested) return
  const { waitCommand } = await import('./wait/end-lines.ts')
  const numbers = invocations.map(({ values }) => values.pr)
  const command = waitCommand(numbers, { repo: first.values.repo, args })
  const object = invocations.length === 1 ? 'it' : 'them'
  await logger.infoLine([styled(`To follow ${object}: ${command}`, 'dim')])
}

/** `mergeq pr submit`: with --wait, it continues like `pr wait`. */
export const prSubmitCommand = defineCommand({
  ...submitRequest,
  request: submitRequest,
  operations: [getSubmittedPullRequest, getQueue, getMergeQueueTestingDetails, getMergeQueueMetrics],
  exitKinds: Object.values(kindOfOutcome),
  output: {
    table: 'one sentence per pull request; on a pipe, a row with pr, ok, delivery, message',
    json: 'one receipt per pull request, {"operation","repo","targetBranch","pr","ok","delivery"}; with --wait, one result',
    ndjson: 'the same, one per line; with --wait, the lines of `mergeq pr wait`',
  },
  fields: typed => (typed.has('--wait') ? waitRecord : receiptRecord),
  inputs: {
    wait: flag({ name: 'wait', summary: 'Wait for the pull request to merge, fail or be cancelled' }),
    ...waitInputs,
  },
  validate({ wait }, { args }) {
    const waitOption = Object.values(waitInputs)
      .flatMap(({ definitions }) => definitions.map(({ name }) => name))
      .find(name => args.has(name))
    if (!wait && waitOption !== undefined)
      throw usageError(`${waitOption} requires --wait.`, `Add --wait, or omit ${waitOption}.`)
  },
  async dryRun({ wait, ...values }, context, invocations) {
    if (wait) readWaitOptions(values, invocations.length, context)
    return printDryRun(submitPullRequest, invocations, context)
  },
  async run({ wait, ...values }, context, invocations) {
    if (!wait) {
      const code = await runInvocations(submitRequest, invocations, context)
      if (code === 0) await suggestWait(invocations, context)
      return code
    }
    return submitAndWait(invocations, readWaitOptions(values, invocations.length, context), context)
  },
})
