import { getSubmittedPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { getMergeQueueMetrics } from '../../api/operations/queue-metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/testing-details.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { receiptRecord } from '../../cli/fields/record-fields.ts'
import { flag } from '../../cli/inputs.ts'
import { isContinuousIntegration } from '../../config/ci-systems.ts'
import { kindOfOutcome } from '../../domain/wait-outcomes.ts'
import { usageError } from '../../errors.ts'
import { styled } from '../../output/styled-text.ts'
import { type SubmitInvocation, submitRequest } from './submit/submit-request.ts'
import { waitInputs, waitRecord } from './wait/wait-inputs.ts'

/** The largest number of pull requests that the suggested command names. */
const maxSuggested = 10

/** Names the command that follows the pull requests, to a person at a terminal. */
async function suggestWait(
  invocations: readonly SubmitInvocation[],
  { host: { out, err, env }, options, logger, settings }: CommandContext,
): Promise<void> {
  const isSeen = out.terminal && err.terminal && options.format === 'table' && options.fields.length === 0
  if (!isSeen || isContinuousIntegration(env)) return
  if (invocations.length === 0 || invocations.length > maxSuggested) return
  const { waitCommand } = await import('./wait/end-lines.ts')
  const command = waitCommand(
    invocations.map(({ values }) => values),
    settings.commandLine,
  )
  await logger.infoLine([styled(`For the result, run: ${command}`, 'dim')])
}

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
    if (wait) {
      const { readWaitOptions } = await import('./wait/time-limits.ts')
      readWaitOptions(values, invocations.length, context)
    }
    const { printDryRun } = await import('../../cli/preview.ts')
    return printDryRun(submitPullRequest, invocations, context)
  },
  async run({ wait, ...values }, context, invocations) {
    if (!wait) {
      const { runInvocations } = await import('../../cli/run-invocations.ts')
      const code = await runInvocations(submitRequest, invocations, context)
      if (code === 0) await suggestWait(invocations, context)
      return code
    }
    const { submitAndWait } = await import('./submit/submit-and-wait.ts')
    const { readWaitOptions } = await import('./wait/time-limits.ts')
    return submitAndWait(invocations, readWaitOptions(values, invocations.length, context), context)
  },
})
