import { callOperation } from '../../api/call.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { defineCustomCommand } from '../../cli/custom-command.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { checkDepth, checkPaused, checkStalled, type HealthCheck } from '../../domain/queue-health.ts'
import { integerParser, maxInteger } from '../../domain/values/numbers.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { parseDuration } from '../../domain/values/time.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { type ColumnSpec, table } from '../../output/view.ts'
import { queueRequest } from './get/queue-request.ts'

const columns: readonly ColumnSpec[] = [
  ['CHECK', 'check'],
  ['OK', 'ok'],
  ['REASON', 'reason', 'prose'],
]

const conditionRecord: RecordFields = {
  names: ['check', 'ok', 'reason'],
  columns: [...columns, ['RESULT', 'ok']],
}

/** `queue check`: checks the health of a queue; throws a `check-failed` error if a condition fails. */
export const queueCheckCommand = defineCustomCommand({
  command: 'queue check',
  summary: 'Check the health of a queue',
  request: queueRequest,
  exitKinds: ['check-failed'],
  output: {
    table: 'one row per condition',
    json: '{"ok","repo","targetBranch","checks"}',
    ndjson: 'one condition per line',
  },
  fields: conditionRecord,
  inputs: {
    maxDepth: option({
      name: 'max-depth',
      value: 'n',
      summary: 'Fail if more than <n> pull requests are queued',
      parse: integerParser(0, maxInteger),
    }),
    stalled: option({
      name: 'stalled',
      value: 'duration',
      summary: 'Fail if pull requests are queued and none changed state for this long',
      parse: parseDuration,
    }),
    notPaused: flag({ name: 'not-paused', summary: 'Fail if the queue is paused' }),
  },
  examples: [
    'mergeq queue check --not-paused --stalled 2h',
    'mergeq queue check --max-depth 20 --json | jq .ok',
  ],
  validate({ maxDepth, stalled, notPaused }) {
    if (maxDepth === undefined && stalled === undefined && !notPaused)
      throw usageError('No condition was given.', 'Add --max-depth, --stalled or --not-paused.')
    if (stalled === 0) throw usageError('--stalled must be more than 0.', 'For example: --stalled 2h')
  },
  async run({ maxDepth, stalled, notPaused }, context, [invocation]) {
    if (invocation === undefined) return 0
    const { response, date } = await callOperation(context.client(), getQueue, invocation.values, invocation)
    const [queue = {}] = response.records
    const checks: readonly HealthCheck[] = [
      ...(maxDepth === undefined ? [] : [checkDepth(queue, maxDepth)]),
      ...(stalled === undefined ? [] : [checkStalled(queue, stalled, date ?? context.host.clock.now())]),
      ...(notPaused ? [checkPaused(queue)] : []),
    ]
    const failed = checks.filter(({ ok }) => !ok)
    const { repo, targetBranch } = invocation.values
    await context.printer.print({
      records: checks.map(({ check, ok, reason }) => ({ check, ok, reason })),
      document: records => ({
        ok: failed.length === 0,
        repo: repositoryName(repo),
        targetBranch,
        checks: records,
      }),
      view: records => ({
        ...table(records, columns),
        terminalView: () =>
          table(
            // What failed is last, next to the error.
            [...checks.filter(({ ok }) => ok), ...failed].map(({ check, ok, reason, summary = reason }) => ({
              result: ok ? 'pass' : 'fail',
              check,
              summary,
            })),
            [
              ['RESULT', 'result', 'state'],
              ['CHECK', 'check', 'id'],
              ['REASON', 'summary', 'prose'],
            ],
          ),
      }),
    })
    await context.printer.end()
    if (failed.length === 0) return 0
    throw new MergeqError(
      'check-failed',
      `Queue check failed for ${targetBranch} in ${repositoryName(repo)}: ${failed.map(({ reason }) => reason).join('; ')}.`,
      {
        hint: failed.some(({ check }) => check === 'not-paused')
          ? 'To resume a paused queue, run: mergeq queue resume'
          : 'To list the queued pull requests, run: mergeq queue get',
      },
    )
  },
})
