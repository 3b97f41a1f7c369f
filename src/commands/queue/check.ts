import { callOperation } from '../../api/call.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { flag, option } from '../../cli/inputs.ts'
import { readInvocations } from '../../cli/invocation.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { checkDepth, checkPaused, checkStalled, type HealthCheck } from '../../domain/queue-health.ts'
import { integerParser, maxInteger } from '../../domain/values/numbers.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { parseDuration } from '../../domain/values/time.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { table } from '../../output/view.ts'
import { queueGetCommand } from './get.ts'

/** `queue check`: checks the health of a queue; throws a `check-failed` error if a condition fails. */
export const queueCheckCommand = defineCommand({
  command: 'queue check',
  summary: 'Check how a queue is: 0 if all conditions hold, 21 if one does not',
  request: queueGetCommand,
  exitKinds: ['check-failed'],
  output: {
    table: 'a row for each condition',
    json: '{"ok","repo","targetBranch","checks"}',
    ndjson: 'one condition a line',
  },
  inputs: {
    maxDepth: option({
      name: 'max-depth',
      value: 'n',
      summary: 'It lists at most so many pull requests',
      parse: integerParser(0, maxInteger),
    }),
    stalled: option({
      name: 'stalled',
      value: 'duration',
      summary: 'Of the pull requests that it lists, one changed its state in that time; or it lists none',
      parse: parseDuration,
    }),
    notPaused: flag({ name: 'not-paused', summary: 'It is not PAUSED' }),
  },
  examples: [
    'mergeq queue check --not-paused --stalled 2h',
    'mergeq queue check --max-depth 20 --json | jq .ok',
  ],
  async run({ maxDepth, stalled, notPaused }, context) {
    if (maxDepth === undefined && stalled === undefined && !notPaused)
      throw usageError('No condition was given.', 'Add --max-depth, --stalled or --not-paused.')
    if (stalled === 0) throw usageError('--stalled must be more than 0.', 'For example: --stalled 2h')
    const invocations = await readInvocations(queueGetCommand, context)
    const [invocation] = invocations
    if (context.options.dryRun || invocation === undefined) return printDryRun(getQueue, invocations, context)
    const { reply, date } = await callOperation(context, getQueue, invocation.values, invocation)
    const [queue = {}] = reply.records
    const checks: readonly HealthCheck[] = [
      ...(maxDepth === undefined ? [] : [checkDepth(queue, maxDepth)]),
      ...(stalled === undefined ? [] : [checkStalled(queue, stalled, date ?? context.host.clock.now())]),
      ...(notPaused ? [checkPaused(queue)] : []),
    ]
    const failed = checks.filter(({ ok }) => !ok)
    const { repo, targetBranch } = invocation.values
    await context.printer.print({
      records: checks.map(result => ({ ...result })),
      document: records => ({
        ok: failed.length === 0,
        repo: repositoryName(repo),
        targetBranch,
        checks: records,
      }),
      shape: records =>
        table(records, [
          ['CHECK', 'check'],
          ['OK', 'ok'],
          ['REASON', 'reason', 'prose'],
        ]),
    })
    await context.printer.end()
    if (failed.length === 0) return 0
    throw new MergeqError(
      'check-failed',
      `Queue check failed for ${targetBranch} in ${repositoryName(repo)}: ${failed.map(({ reason }) => reason).join('; ')}.`,
      { hint: 'To list the queued pull requests, run: mergeq queue get' },
    )
  },
})
