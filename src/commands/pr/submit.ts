import { callOperation } from '../../api/call.ts'
import { getSubmittedPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand, defineOperationCommand } from '../../cli/command.ts'
import { reportResults } from '../../cli/concurrency.ts'
import { type CommandContext, withoutOutput } from '../../cli/context.ts'
import { flag, type Input, type InputValues, option } from '../../cli/inputs.ts'
import { type Invocation, readInvocations } from '../../cli/invocation.ts'
import { pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { executeAll, printDryRun, runOperation } from '../../cli/run-operation.ts'
import { parsePriority, priorities } from '../../domain/values/text.ts'
import { kindOfOutcome } from '../../domain/wait-state.ts'
import { MergeqError, toMergeqError, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { message } from '../../output/view.ts'
import { limitRequestsBeforeWait, readWaitOptions, withoutWaitTimeout } from './wait/time-limits.ts'
import { reportUnwaited, waitForAll } from './wait/wait-for-all.ts'
import { type WaitInputValues, waitInputs } from './wait/wait-inputs.ts'

/** The request of `pr submit`, without a wait. */
export const submitRequest = defineOperationCommand({
  command: 'pr submit',
  summary: 'Submit pull requests to the queue for testing and merging',
  operation: submitPullRequest,
  // Equal priority is first come, first served (service-observed.md section 6).
  isOrdered: true,
  inputs: {
    ...queueInputs,
    pr: pullRequestArguments,
    priority: option({
      name: 'priority',
      value: 'level',
      summary: 'urgent, high, medium, low, or 0 (first) to 255 (last)',
      suggestions: priorities,
      parse: parsePriority,
    }),
    noBatch: {
      ...flag({ name: 'no-batch', summary: 'Test it alone, never in a batch' }),
      // Without the option the service decides.
      read: args => (args.has('--no-batch') ? true : undefined),
    } satisfies Input<boolean | undefined>,
  },
  view: (_, { pr, targetBranch }) => message(`Submitted #${pr} to the queue of ${targetBranch}.`),
  examples: [
    'mergeq pr submit 123',
    'mergeq pr submit 123 124 --priority high',
    'mergeq pr submit 123 --wait',
  ],
})

/** The current record of a pull request; undefined when it was never submitted. */
async function recordOf(
  { repo, targetBranch, pr }: InputValues<typeof submitRequest.inputs>,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  try {
    const { reply } = await callOperation(context, getSubmittedPullRequest, { repo, targetBranch, pr })
    return reply.records[0]
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind === 'not-found' && failure.details.isWebPage !== true) return undefined
    throw failure
  }
}

/**
 * Submits pull requests and waits for them. Each record is read before the submission, because an old record
 * is not the result of the new one. `--timeout` limits everything: when it is over, nothing more is
 * submitted.
 */
async function submitAndWait(flags: WaitInputValues, context: CommandContext): Promise<number> {
  const { clock, interrupted } = context.host
  const runs = await readInvocations(submitRequest, context)
  const terms = readWaitOptions(flags, runs.length, context)
  if (context.options.dryRun) return printDryRun(submitPullRequest, runs, context)
  const startedAt = clock.now()
  const left = () => startedAt + terms.limit - clock.now()
  // The output of a wait is its results: receipts of the submissions would be further documents.
  const { reading, change } = limitRequestsBeforeWait(
    withoutOutput(await withoutWaitTimeout(context)),
    terms,
    left,
  )
  const before = new Map<Invocation, JsonObject | undefined>()
  const begun = new Map<Invocation, number>()
  const results = await executeAll(submitRequest, runs, change, {
    async before(invocation) {
      const run = runs.find(other => other === invocation)
      if (run === undefined) return
      if (terms.limit > 0 && left() <= 0)
        throw new MergeqError('timed-out', `Timed out before #${run.values.pr} was submitted.`)
      before.set(run, await recordOf(run.values, reading))
      begun.set(run, clock.now())
    },
  })
  const to = clock.now()
  const candidates = runs.map((run, index) => ({
    invocation: { values: run.values, overrides: [] },
    before: before.get(run),
    submission: { from: begun.get(run) ?? startedAt, to },
    failure: results[index]?.failure,
  }))
  const failures = results.flatMap(({ failure }) => failure ?? [])
  const isStopped = terms.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, runs, results, context)
  if (failures.length < runs.length) for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, terms, context, startedAt)
}

/** `mergeq pr submit`: with --wait, it continues like `pr wait`. */
export const prSubmitCommand = defineCommand({
  ...submitRequest,
  request: submitRequest,
  operations: [getSubmittedPullRequest, getQueue],
  exitKinds: Object.values(kindOfOutcome),
  output: {
    table: 'a sentence for each; on a pipe the row pr, ok, delivery, message',
    json: 'a receipt for each, {"operation","repo","targetBranch","pr","ok","delivery"}; with --wait a result',
    ndjson: 'the same; with --wait the lines of `mergeq pr wait`',
  },
  inputs: {
    wait: flag({ name: 'wait', summary: 'Wait until it has merged, failed or been cancelled' }),
    ...waitInputs,
  },
  async run({ wait, ...flags }, context) {
    if (wait) return submitAndWait(flags, context)
    const waitOption = Object.values(waitInputs)
      .flatMap(({ definitions }) => definitions.map(({ name }) => name))
      .find(name => context.args.has(name))
    if (waitOption !== undefined)
      throw usageError(`${waitOption} requires --wait.`, `Add --wait, or leave out ${waitOption}.`)
    return runOperation(submitRequest, context)
  },
})
