import { tryRead } from '../../api/extra-reads.ts'
import type { BodyOverride } from '../../api/operation.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { formatAge, pluralize } from '../../domain/format.ts'
import type { QueueMetrics } from '../../domain/metrics/last-hour.ts'
import { type QueueEntry, queueEntries } from '../../domain/queue-entries.ts'
import { stateOf, stateWords } from '../../domain/states.ts'
import {
  queueName,
  type Repository,
  repositoryName,
  shortRepositoryName,
} from '../../domain/values/repository.ts'
import { duration, integer } from '../../domain/values/types.ts'
import { exitCodeOf, extendError, MergeqError, usageError } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { columns } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { printRequests } from '../../run/dry-run.ts'
import type { RecordFields } from '../../run/fields.ts'
import { flag, option } from '../../run/inputs.ts'
import { read } from '../../run/send.ts'
import { type Queue, queueInput, setOf } from '../../run/values.ts'
import {
  limitOf,
  type NamedQueue,
  printSelection,
  readQueues,
  selectQueues,
  severalQueues,
  unlessSeveral,
  withMetrics,
} from './all-queues.ts'
import { reportFailures } from './live-queue.ts'

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
  const describe = (word: string) => (word === '' ? 'the queue reports no state' : `the queue is ${word}`)
  const ok = state !== 'PAUSED' && state !== ''
  return { check: 'not-paused', ok, reason: describe(state), summary: describe(stateWords(state)) }
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

/** Checks that at most half of the pull requests that left the queue in the last hour failed. */
function checkFailures(metrics: QueueMetrics | undefined): HealthCheck[] {
  const { merged = 0, failed = 0, cancelled = 0 } = metrics?.numbers ?? {}
  const count = merged + failed + cancelled
  const reason = `${failed} of the ${pluralize(count, 'pull request')} that left in the last hour failed`
  return count === 0 ? [] : [{ check: 'failures', ok: failed * 2 <= count, reason }]
}

interface Conditions {
  readonly maxDepth?: number | undefined
  readonly stalled?: number | undefined
  readonly notPaused?: boolean
}

/** What is checked where no condition was given, in addition to failures. */
const usualConditions: Conditions = { stalled: 3_600_000, notPaused: true }

const checkQueue = (
  queue: JsonObject,
  now: number,
  { maxDepth, stalled, notPaused }: Conditions,
): HealthCheck[] => [
  ...(maxDepth === undefined ? [] : [checkDepth(queue, maxDepth)]),
  ...(stalled === undefined ? [] : [checkStalled(queue, stalled, now)]),
  ...(notPaused ? [checkPaused(queue)] : []),
]

/** Reads the metrics of queues, which are those of a repository or of the organization. */
async function readMetrics(
  queues: readonly NamedQueue[],
  repo: Repository | undefined,
  cli: Cli,
): Promise<readonly NamedQueue[]> {
  const { response, failure } = await tryRead(cli.client(), getMergeQueueMetrics, { repo })
  if (failure !== undefined) await cli.logger.warn(`Failures were not checked: ${failure.message}`)
  return response === undefined ? queues : withMetrics(queues, response.bytes)
}

const replacesUsual = 'without the default checks'

/** Says on a terminal which of the usual checks the conditions leave out. */
async function reportLeftOut({ stalled, notPaused }: Conditions, cli: Cli): Promise<void> {
  const leftOut = [notPaused ? [] : 'not-paused', stalled === undefined ? 'stalled' : [], 'failures'].flat()
  if (cli.results === 'screen')
    await cli.logger.info(`Default checks that were left out: ${leftOut.join(', ')}.`)
}

const failedOf = (checks: readonly HealthCheck[]) => checks.filter(({ ok }) => !ok)

/** What became of the checks of a queue; `failure` is why it could not be read. */
interface Checked {
  readonly values: Queue
  readonly checks: readonly HealthCheck[]
  readonly failure?: MergeqError | undefined
}

function recordOf({ values: { repo, targetBranch }, checks, failure }: Checked) {
  const failed = failedOf(checks)
  const ok = failure === undefined && failed.length === 0
  return {
    ok,
    repo: repositoryName(repo),
    targetBranch,
    result: failure !== undefined ? 'error' : ok ? 'pass' : 'fail',
    checks: checks.map(withoutSummary),
    exit: failure?.exit ?? (ok ? 0 : exitCodeOf('check-failed')),
    message:
      failure?.message ?? (ok ? 'All checks passed.' : `${failed.map(({ reason }) => reason).join('; ')}.`),
  }
}

const withoutSummary = ({ check, ok, reason }: HealthCheck) => ({ check, ok, reason })

/** The error of a queue that failed checks. */
function checkError(values: Queue, failed: readonly HealthCheck[], cli: Cli): MergeqError {
  const reasons = failed.map(({ reason }) => reason).join('; ')
  const { commandLine } = cli.settings
  return new MergeqError('check-failed', `Queue check failed for ${queueName(values)}: ${reasons}.`, {
    hint: failed.some(({ check }) => check === 'not-paused')
      ? `To resume a paused queue, run: ${commandLine(['queue', 'resume'], values)}`
      : `To list the queued pull requests, run: ${commandLine(['queue', 'get'], values)}`,
    isShown: cli.results === 'screen',
    repo: repositoryName(values.repo),
    targetBranch: values.targetBranch,
  })
}

const conditionRecord: RecordFields = {
  names: ['check', 'ok', 'reason'],
  columns: columns(['CHECK', 'check'], ['OK', 'ok'], ['REASON', 'reason', 'prose']),
}

const queueCheckRecord: RecordFields = {
  names: ['repo', 'targetBranch', 'ok', 'result', 'checks', 'exit', 'message'],
  columns: columns(
    ['REPOSITORY', 'repo', 'id'],
    ['BRANCH', 'targetBranch', 'id'],
    ['OK', 'ok'],
    ['RESULT', 'result'],
    ['MESSAGE', 'message', 'prose'],
  ),
}

interface SeveralOptions {
  /** The files that name the queues; undefined for every queue that the metrics name. */
  readonly file: string | undefined
  readonly conditions: Conditions
  /** Whether failures are checked, too. */
  readonly isUsual: boolean
  /** What `--set` adds to the requests. */
  readonly set: readonly BodyOverride[]
}

/** Checks several queues, and prints a row for each. Returns the exit code. */
async function checkSeveral({ file, conditions, isUsual, set }: SeveralOptions, cli: Cli): Promise<number> {
  const { queues: selected, limit } = await selectQueues(file, cli)
  for (const text of limit) await cli.logger.info(text)
  const queues =
    file === undefined || !isUsual ? selected : await readMetrics(selected, await limitOf(cli), cli)
  const { outcomes, failed: unread } = await readQueues(queues, cli, set)
  const checked = outcomes.map(({ item: { metrics, queue: values }, result, failure }) => {
    const { queue = {}, now = 0 } = result ?? {}
    const checks = failure === undefined ? checkQueue(queue, now, conditions) : []
    if (failure === undefined && isUsual) checks.push(...checkFailures(metrics))
    return { values, checks, failed: failedOf(checks), failure }
  })
  await cli.printer.print({
    records: checked.map(recordOf),
    columns: queueCheckRecord.columns,
    screen: () => ({
      columns: columns(
        ['REPOSITORY', 'repo', 'id'],
        ['BRANCH', 'targetBranch', 'id'],
        ['RESULT', 'result', 'state'],
        ['REASON', 'reason', 'prose'],
      ),
      rows: checked.map(each => ({
        ...recordOf(each),
        repo: shortRepositoryName(each.values.repo),
        reason:
          each.failure?.message ?? each.failed.map(({ reason, summary = reason }) => summary).join('; '),
      })),
    }),
  })
  const isShown = cli.results === 'screen'
  const failures = [
    ...unread.map(({ failure }) => extendError(failure, { isShown })),
    ...checked.flatMap(({ values, failed }) =>
      failed.length === 0 ? [] : [checkError(values, failed, cli)],
    ),
  ]
  return reportFailures(
    failures.map(failure => ({ failure })),
    cli,
  )
}

export const queueCheckCommand = command({
  name: 'queue check',
  summary: 'Check that a queue runs, moves, and does not fail too often',
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['check-failed'],
  prints: {
    table: 'one row per condition; with --all or --file, one row per queue',
    json: '{"ok","repo","targetBranch","result","checks","exit","message"}; with --all or --file, a list of them',
    ndjson: 'one condition per line; with --all or --file, one queue per line',
  },
  fields: typed => (typed.has('--all') || typed.has('--file') ? queueCheckRecord : conditionRecord),
  options: {
    queue: unlessSeveral(queueInput),
    maxDepth: option(integer(0), `Fail if more than <n> pull requests are queued; ${replacesUsual}`),
    stalled: option(
      duration,
      `Fail if pull requests are queued and none changed state for this long; ${replacesUsual}`,
    ),
    notPaused: flag(`Fail if the queue is paused; ${replacesUsual}`),
    ...severalQueues('Check'),
    set: setOf(getQueue),
  },
  examples: [
    'mergeq queue check',
    'mergeq queue check --not-paused --stalled 2h',
    'mergeq queue check --max-depth 20 --json | jq .ok',
    'mergeq queue check --all',
    'mergeq queue check -f queues/',
  ],
  async run({ queue, file, maxDepth, stalled, notPaused, set }, cli) {
    if (stalled === 0) throw usageError('--stalled must be more than 0.', 'For example: --stalled 2h')
    const isUsual = maxDepth === undefined && stalled === undefined && !notPaused
    const conditions = isUsual ? usualConditions : { maxDepth, stalled, notPaused }
    if (!isUsual) await reportLeftOut(conditions, cli)
    if (queue === undefined && cli.options.dryRun) return printSelection(file, cli)
    if (queue === undefined) return checkSeveral({ file, conditions, isUsual, set }, cli)
    const values = queue
    if (cli.options.dryRun) return printRequests(cli, getQueue, [values], set)
    const { response, date } = await read(cli, getQueue, values, { overrides: set })
    const named = { name: queueName(values), queue: values }
    const [withFailures] = isUsual ? await readMetrics([named], values.repo, cli) : []
    const checks = [
      ...checkQueue(response.records[0] ?? {}, date ?? cli.host.clock.now(), conditions),
      ...checkFailures(withFailures?.metrics),
    ]
    const failed = failedOf(checks)
    await cli.printer.print({
      records: checks.map(withoutSummary),
      document: records => ({ ...recordOf({ values, checks }), checks: records }),
      columns: conditionRecord.columns,
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
    throw checkError(values, failed, cli)
  },
})
