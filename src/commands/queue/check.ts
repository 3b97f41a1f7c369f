import { getQueue } from '../../api/operations/queues.ts'
import { call } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { flag, option } from '../../cli/inputs.ts'
import { requestOf } from '../../cli/requests.ts'
import { formatAge, pluralize } from '../../domain/format.ts'
import { type QueueEntry, queueEntries } from '../../domain/queue-entries.ts'
import { stateOf } from '../../domain/states.ts'
import { queueName, repositoryName } from '../../domain/values/repository.ts'
import { duration, integer } from '../../domain/values/types.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { columns } from '../../output/view.ts'

interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly reason: string
  readonly summary?: string
}

/**
 * Checks that a queue lists at most `max` pull requests. Queues do not list pull requests that are not ready
 * (docs/reference/service.md, "getQueue").
 */
export function checkDepth(queue: JsonObject, max: number): HealthCheck {
  const depth = queueEntries(queue).length
  const ok = depth <= max
  const reason = `${pluralize(depth, 'pull request')} queued, ${ok ? 'within' : 'over'} the limit of ${max}`
  return { check: 'max-depth', ok, reason }
}

/** Checks that a queue is not paused. A draining queue passes, because it still merges. */
export function checkPaused(queue: JsonObject): HealthCheck {
  const state = stateOf(queue)
  const reason = state === '' ? 'the queue reports no state' : `the queue is ${state}`
  return { check: 'not-paused', ok: state !== 'PAUSED' && state !== '', reason }
}

const changedAt = ({ record }: QueueEntry): number => Date.parse(getString(record, 'stateChangedAt') ?? '')

/**
 * Checks that a listed pull request changed its state less than `maxIdle` milliseconds before `now`, the
 * service's time in milliseconds since 1970, or that the queue is empty. Pull requests that left the queue
 * do not count. The check fails if no listed pull request has a valid `stateChangedAt`.
 */
export function checkStalled(queue: JsonObject, maxIdle: number, now: number): HealthCheck {
  const check = 'stalled'
  const entries = queueEntries(queue)
  if (entries.length === 0) return { check, ok: true, reason: 'no pull requests are queued' }
  const [newest] = entries
    .filter(entry => !Number.isNaN(changedAt(entry)))
    .sort((one, other) => changedAt(other) - changedAt(one))
  if (newest === undefined)
    return { check, ok: false, reason: 'no queued pull request reports when its state changed' }
  const idle = Math.max(0, now - changedAt(newest))
  const ok = idle < maxIdle
  const describe = (newestChange: string) =>
    ok
      ? `last state change ${formatAge(idle)} ago: ${newestChange}`
      : `no state change for ${formatAge(idle)} with ${pluralize(entries.length, 'pull request')} queued; last change: ${newestChange}`
  const { pr, state, record } = newest
  return {
    check,
    ok,
    reason: describe(`#${pr} ${state} since ${getString(record, 'stateChangedAt')}`),
    summary: describe(`#${pr} ${state.toLowerCase().replaceAll('_', ' ')}`),
  }
}

const conditionColumns = columns(['CHECK', 'check'], ['OK', 'ok'], ['REASON', 'reason', 'prose'])

const conditionRecord: RecordFields = {
  names: ['check', 'ok', 'reason'],
  columns: conditionColumns,
}

export const queueCheckCommand = command({
  name: 'queue check',
  summary: 'Check the health of a queue',
  alsoSends: [getQueue],
  exits: ['check-failed'],
  prints: {
    table: 'one row per condition',
    json: '{"ok","repo","targetBranch","checks"}',
    ndjson: 'one condition per line',
  },
  fields: conditionRecord,
  options: {
    request: requestOf(getQueue),
    maxDepth: option(integer(0), 'Fail if more than <n> pull requests are queued'),
    stalled: option(duration, 'Fail if pull requests are queued and none changed state for this long'),
    notPaused: flag('Fail if the queue is paused'),
  },
  examples: [
    'mergeq queue check --not-paused --stalled 2h',
    'mergeq queue check --max-depth 20 --json | jq .ok',
  ],
  async run({ request, maxDepth, stalled, notPaused }, cli) {
    if (maxDepth === undefined && stalled === undefined && !notPaused)
      throw usageError('No condition was given.', 'Add --max-depth, --stalled or --not-paused.')
    if (stalled === 0) throw usageError('--stalled must be more than 0.', 'For example: --stalled 2h')
    const { response, date } = await call(cli, request)
    const [queue = {}] = response.records
    const checks: readonly HealthCheck[] = [
      ...(maxDepth === undefined ? [] : [checkDepth(queue, maxDepth)]),
      ...(stalled === undefined ? [] : [checkStalled(queue, stalled, date ?? cli.host.clock.now())]),
      ...(notPaused ? [checkPaused(queue)] : []),
    ]
    const failed = checks.filter(({ ok }) => !ok)
    const { repo, targetBranch } = request.values
    await cli.printer.print({
      records: checks.map(({ check, ok, reason }) => ({ check, ok, reason })),
      document: records => ({
        ok: failed.length === 0,
        repo: repositoryName(repo),
        targetBranch,
        checks: records,
      }),
      columns: conditionColumns,
      screen: () => ({
        columns: columns(
          ['RESULT', 'result', 'state'],
          ['CHECK', 'check', 'id'],
          ['REASON', 'summary', 'prose'],
        ),
        // What failed is last, next to the error.
        rows: [...checks.filter(({ ok }) => ok), ...failed].map(
          ({ check, ok, reason, summary = reason }) => ({
            result: ok ? 'pass' : 'fail',
            check,
            summary,
          }),
        ),
      }),
    })
    if (failed.length === 0) return 0
    throw new MergeqError(
      'check-failed',
      `Queue check failed for ${queueName({ repo, targetBranch })}: ${failed.map(({ reason }) => reason).join('; ')}.`,
      {
        hint: failed.some(({ check }) => check === 'not-paused')
          ? 'To resume a paused queue, run: mergeq queue resume'
          : 'To list the queued pull requests, run: mergeq queue get',
        isShown: cli.results === 'screen',
      },
    )
  },
})
