import { callOperation } from '../../api/call.ts'
import { readPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { reportResults } from '../../cli/concurrency.ts'
import { type CommandContext, withoutOutput } from '../../cli/context.ts'
import { flag, optionName } from '../../cli/inputs.ts'
import { type Invocation, readInvocations } from '../../cli/invocation.ts'
import { executeAll, printDryRun, runOperation } from '../../cli/run-operation.ts'
import { kindOfOutcome } from '../../domain/wait-state.ts'
import { MergeqError, toMergeqError, usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { limitRequestsBeforeWait, readWaitOptions, withoutWaitTimeout } from './wait/time-limits.ts'
import { reportUnwaited, waitForAll } from './wait/wait-for-all.ts'
import { type WaitInputValues, waitInputs } from './wait/wait-inputs.ts'

/** The record of a pull request as it stands; undefined where it was never submitted. */
async function recordOf(
  { values }: Invocation<typeof readPullRequest.inputs>,
  context: CommandContext,
): Promise<JsonObject | undefined> {
  try {
    return (await callOperation(readPullRequest, { values, overrides: [] }, context)).reply.records[0]
  } catch (error) {
    const failure = toMergeqError(error)
    if (failure.kind === 'not-found' && failure.details.isWebPage !== true) return undefined
    throw failure
  }
}

/**
 * Submits, and waits for what was submitted. What stood there before is read first: it is no answer. `--timeout` bounds
 * all of it: nothing more is submitted once it is over, and what that takes is less for the waiting.
 */
async function submitAndWait(flags: WaitInputValues, context: CommandContext): Promise<number> {
  const { clock, interrupted } = context.host
  const runs = await readInvocations(submitPullRequest, context)
  const terms = readWaitOptions(flags, runs.length, context)
  if (context.options.dryRun) return printDryRun(submitPullRequest, runs, context)
  const startedAt = clock.now()
  const left = () => startedAt + terms.limit - clock.now()
  // The answer of a wait is its result: receipts of the submission would be a second document.
  const { reading, change } = limitRequestsBeforeWait(
    withoutOutput(await withoutWaitTimeout(context)),
    terms,
    left,
  )
  const before = new Map<Invocation, JsonObject | undefined>()
  const begun = new Map<Invocation, number>()
  const endings = await executeAll(submitPullRequest, runs, change, {
    async before(one) {
      const run = runs.find(other => other === one)
      if (run === undefined) return
      if (terms.limit > 0 && left() <= 0)
        throw new MergeqError('timed-out', `the time was over before #${run.values.pr} was submitted.`)
      before.set(run, await recordOf(run, reading))
      begun.set(run, clock.now())
    },
  })
  const to = clock.now()
  const candidates = runs.map((run, index) => ({
    invocation: { values: run.values, overrides: [] },
    before: before.get(run),
    submission: { from: begun.get(run) ?? startedAt, to },
    failure: endings[index]?.failure,
  }))
  const failures = endings.flatMap(({ failure }) => failure ?? [])
  const isStopped = terms.stopsOnError && failures.length > 0
  if (isStopped && !interrupted.aborted) await reportUnwaited(candidates, startedAt, context)
  if (isStopped || interrupted.aborted) return reportResults(submitPullRequest, runs, endings, context)
  if (failures.length < runs.length) for (const { message } of failures) await context.logger.info(message)
  return waitForAll(candidates, terms, context, startedAt)
}

/** `pr submit`, which with --wait goes on as `pr wait`. */
export const submitCommand = defineCommand({
  ...submitPullRequest,
  operation: submitPullRequest,
  operations: [readPullRequest, getQueue],
  exitKinds: Object.values(kindOfOutcome),
  output: {
    table: 'a sentence for each; on a pipe the row pr, ok, delivery, message',
    json: 'a receipt for each, {"operation","repo","targetBranch","pr","ok","delivery"}; with --wait a result',
    ndjson: 'the same; with --wait the lines of `mergeq pr wait`',
  },
  inputs: { wait: flag('--wait', 'Wait until it has merged, failed or been cancelled'), ...waitInputs },
  async run({ wait, ...flags }, context) {
    if (wait) return submitAndWait(flags, context)
    const stray = Object.values(waitInputs)
      .flatMap(({ definitions }) => definitions.map(({ syntax }) => optionName(syntax)))
      .find(name => context.args.has(name))
    if (!wait && stray !== undefined) throw usageError(`${stray} says how to wait.`, 'Give --wait with it.')
    return runOperation(submitPullRequest, context)
  },
})
