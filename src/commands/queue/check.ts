import {
  failureFields,
  type Infer,
  list,
  oneOf,
  ownRecord,
  queueNameFields,
} from '../../api/operations/fields.ts'
import { getMergeQueueMetrics, readSamplesIn } from '../../api/operations/metrics.ts'
import { getMergeQueueTestingDetails } from '../../api/operations/pull-requests.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { testingResultsPage } from '../../api/operations/testing-results.ts'
import { tryRead } from '../../api/reads/extra-reads.ts'
import { serviceStart } from '../../api/service-time.ts'
import { exitCodeOf, extendError, MergeqError, usageError } from '../../base/errors.ts'
import { getString, type JsonObject } from '../../base/json.ts'
import { memoize } from '../../base/scheduling.ts'
import { type Cli, command } from '../../command/command.ts'
import { reportErrors } from '../../command/each.ts'
import { flag, option } from '../../command/inputs.ts'
import { read } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import { forEachQueue, type NamedQueue, queueNameColumns } from '../../command/several-queues.ts'
import { queueInput } from '../../command/shared-inputs.ts'
import { findQueue, type QueueMetrics, summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { type QueueEntry, queueEntries } from '../../domain/queue-entries.ts'
import { stateOf, stateWords } from '../../domain/states.ts'
import { columns } from '../../output/view.ts'
import { formatAge, pluralize } from '../../values/format.ts'
import { type Queue, queueFieldsOf, queueName, type Repository } from '../../values/repository.ts'
import { duration, integer } from '../../values/types.ts'
import { limitOf, printSelection, selectQueues, severalQueues, unlessSeveral } from './shared/all-queues.ts'
import { notReadySentence } from './shared/screen.ts'

interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly reason: string
  readonly summary?: string
}

/** Queues do not list pull requests that are not ready (docs/reference/service.md, "getQueue"). */
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

/** Pull requests that left the queue do not count. Fails if no listed one has a valid `stateChangedAt`. */
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
    summary: describe(`#${pr} ${stateWords(state)}`),
  }
}

function checkFailures(metrics: QueueMetrics | undefined): HealthCheck[] {
  const { merged = 0, failed = 0, cancelled = 0 } = metrics?.numbers ?? {}
  const count = merged + failed + cancelled
  const reason = `${failed} of the ${pluralize(count, 'pull request')} that left in the last hour failed`
  return count === 0 ? [] : [{ check: 'failures', ok: failed * 2 <= count, reason }]
}

/** Checks that at most `max` pull requests are not ready. The check fails if the metrics do not say how many are. */
export function checkNotReady(count: number | undefined, max: number): HealthCheck {
  const check = 'max-not-ready'
  if (count === undefined)
    return { check, ok: false, reason: 'the metrics do not say how many pull requests are not ready' }
  const ok = count <= max
  const limit = `${ok ? 'within' : 'over'} the limit of ${max}`
  return { check, ok, reason: `${pluralize(count, 'pull request')} not ready, ${limit}` }
}

interface Conditions {
  readonly maxDepth?: number | undefined
  readonly maxNotReady?: number | undefined
  readonly stalled?: number | undefined
  readonly statuses?: number | undefined
  readonly notPaused: boolean
  readonly failures: boolean
}

const defaultStalled = 3_600_000

/** Returns a function that reads the metrics of a repository, or of the organization, on its first call. */
const metricsReader = (repo: Repository | undefined, { failures }: Conditions, cli: Cli) =>
  memoize(async () => {
    const { response, failure } = await tryRead(cli.client(), getMergeQueueMetrics, { repo })
    if (failure !== undefined && failures)
      await cli.logger.warn(`Failures were not checked: ${failure.message}`)
    return response && summarizeMetrics(readSamplesIn(response.bytes))
  })

async function checkQueue(
  { queue: place, metrics: known }: NamedQueue,
  conditions: Conditions,
  readMetrics: ReturnType<typeof metricsReader>,
  cli: Cli,
): Promise<Checked> {
  const { response, date = cli.serviceTime.now() } = await read(cli, getQueue, place)
  await serviceStart(cli)
  const [queue = {}] = response.records
  const summary = known === undefined ? await readMetrics() : undefined
  const metrics = known ?? (summary && findQueue(summary, place.repo, place.targetBranch))
  const notReady = metrics?.numbers.awaitingMergeability
  const { maxDepth, maxNotReady, stalled, statuses } = conditions
  const checks: HealthCheck[] = []
  if (maxDepth !== undefined) checks.push(checkDepth(queue, maxDepth))
  if (maxNotReady !== undefined) checks.push(checkNotReady(notReady, maxNotReady))
  if (stalled !== undefined) checks.push(checkStalled(queue, stalled, date))
  if (conditions.notPaused) checks.push(checkPaused(queue))
  if (conditions.failures) checks.push(...checkFailures(metrics))
  if (statuses !== undefined) {
    const { checkStatuses } = await import('./check/statuses.ts')
    checks.push(await checkStatuses(place, statuses, date, cli))
  }
  return { place, checks, notReady }
}

const failedOf = (checks: readonly HealthCheck[]) => checks.filter(({ ok }) => !ok)

/** What became of the checks of a queue; `failure` is why it could not be read. */
interface Checked {
  readonly place: Queue
  readonly checks: readonly HealthCheck[]
  readonly notReady: number | undefined
  readonly failure?: MergeqError | undefined
}

function recordOf({ place, checks, notReady, failure }: Checked): Infer<typeof queueCheckRecord> {
  const failed = failedOf(checks)
  const ok = failure === undefined && failed.length === 0
  return {
    ok,
    ...queueFieldsOf(place),
    result: failure !== undefined ? 'error' : ok ? 'pass' : 'fail',
    checks: checks.map(withoutSummary),
    notReady: notReady ?? null,
    exit: failure?.exit ?? (ok ? 0 : exitCodeOf('check-failed')),
    message:
      failure?.message ?? (ok ? 'All checks passed.' : `${failed.map(({ reason }) => reason).join('; ')}.`),
  }
}

const withoutSummary = ({ check, ok, reason }: HealthCheck): Infer<typeof conditionRecord> => ({
  check,
  ok,
  reason,
})

function hintOf(failed: readonly HealthCheck[], line: (words: readonly string[]) => string): string {
  const names = failed.map(({ check }) => check)
  if (names.includes('not-paused')) return `To resume a paused queue, run: ${line(['queue', 'resume'])}`
  if (names[0] === 'stalled' || names[0] === 'max-not-ready')
    return `To see why, run: ${line(['queue', 'explain'])}`
  if (names[0] === 'statuses') return `To list the test runs, run: ${line(['queue', 'runs'])}`
  return `To list the queued pull requests, run: ${line(['queue', 'get'])}`
}

function checkError({ place, checks }: Checked, cli: Cli): MergeqError | undefined {
  const failed = failedOf(checks)
  if (failed.length === 0) return undefined
  const reasons = failed.map(({ reason }) => reason).join('; ')
  const { commandLine } = cli.settings
  return new MergeqError('check-failed', `Queue check failed for ${queueName(place)}: ${reasons}.`, {
    hint: hintOf(failed, words => commandLine(words, place)),
    isShown: cli.results === 'screen',
    ...queueFieldsOf(place),
  })
}

const conditionRecord = ownRecord({ check: 'string', ok: 'boolean', reason: 'string' })

const conditionColumns = columns('check', 'ok', ['reason', { format: 'prose' }])

const queueCheckRecord = ownRecord({
  ok: 'boolean',
  ...queueNameFields,
  result: oneOf('pass', 'fail', 'error'),
  checks: list(conditionRecord),
  notReady: 'number | null',
  ...failureFields,
})

const queueCheckColumns = columns('repo', 'targetBranch', 'ok', 'result', 'message', 'notReady')

const printChecks = (checked: Checked, { printer }: Cli): Promise<void> =>
  printer.print({
    records: checked.checks.map(withoutSummary),
    document: records => ({ ...recordOf(checked), checks: records }),
    columns: conditionColumns,
    screen: () => ({
      columns: columns(['result', { format: 'state' }], 'check', 'summary'),
      // What failed is last, next to the error.
      rows: [...checked.checks.filter(({ ok }) => ok), ...failedOf(checked.checks)].map(
        ({ check, ok, reason, summary = reason }) => ({ result: ok ? 'pass' : 'fail', check, summary }),
      ),
      footer: [notReadySentence(checked.notReady) ?? []].flat(),
    }),
  })

const printQueues = (checked: readonly Checked[], { printer }: Cli): Promise<void> =>
  printer.print({
    records: checked.map(recordOf),
    columns: queueCheckColumns,
    screen: () => ({
      columns: [
        ...queueNameColumns(),
        ...columns(
          ['result', { format: 'state' }],
          ['notReady', { priority: 1 }],
          ['reason', { format: 'prose' }],
        ),
      ],
      rows: checked.map(each => ({
        ...recordOf(each),
        reason:
          each.failure?.message ??
          failedOf(each.checks)
            .map(({ reason, summary = reason }) => summary)
            .join('; '),
      })),
    }),
  })

async function checkSeveral(file: string | undefined, conditions: Conditions, cli: Cli): Promise<number> {
  const queues = await selectQueues(file, cli)
  const readMetrics = metricsReader(await limitOf(cli), conditions, cli)
  const { outcomes, failures } = await forEachQueue(cli, queues, queue =>
    checkQueue(queue, conditions, readMetrics, cli),
  )
  const checked = outcomes.map(({ item, result, failure }): Checked => {
    const notReady = item.metrics?.numbers.awaitingMergeability
    return result ?? { place: item.queue, checks: [], notReady, failure }
  })
  await printQueues(checked, cli)
  const isShown = cli.results === 'screen'
  const unread = failures.map(failure => extendError(failure, { isShown }))
  return reportErrors([...unread, ...checked.flatMap(each => checkError(each, cli) ?? [])], cli)
}

export const definition = command({
  name: 'queue check',
  summary: 'Check that a queue runs, moves, and does not fail too often',
  alsoSends: [getQueue, getMergeQueueMetrics, testingResultsPage, getMergeQueueTestingDetails],
  exits: ['check-failed', 'incomplete'],
  prints: {
    table: 'one row per condition; with --all or --file, one row per queue',
    note: 'with --all or --file, a list of them',
    ndjson: 'one condition per line; with --all or --file, one queue per line',
    documents: [queueCheckRecord],
    records: [conditionRecord],
    columns: conditionColumns,
    with: {
      options: ['--all', '--file'],
      documents: [list(queueCheckRecord)],
      records: [queueCheckRecord],
      columns: queueCheckColumns,
    },
  },
  options: {
    queue: unlessSeveral(queueInput),
    maxDepth: option(integer(0), 'Fail if more than <n> pull requests are queued'),
    maxNotReady: option(integer(0), 'Fail if more than <n> submitted pull requests are not ready'),
    stalled: option(
      duration,
      'Fail if pull requests are queued and none changed state for this long (default 1h)',
    ),
    notPaused: flag('Fail if the queue is paused (checked by default)'),
    statuses: option(
      integer(1, 100),
      'Fail if a required status never reported or never passed in the last <n> finished test runs (not in the API document)',
    ),
    only: flag('Check only the conditions that are given, not the default ones'),
    ...severalQueues('Check'),
  },
  set: setOf(getQueue),
  examples: [
    'mergeq queue check',
    'mergeq queue check --stalled 2h --max-not-ready 5',
    'mergeq queue check --only --statuses 20',
    'mergeq queue check --max-depth 20 --json | jq .ok',
    'mergeq queue check --all',
    'mergeq queue check -f queues/',
  ],
  async run({ queue, file, only, stalled, notPaused, ...others }, cli) {
    const { maxDepth, maxNotReady, statuses } = others
    if (stalled === 0) throw usageError('--stalled must be more than 0.', 'For example: --stalled 2h')
    const isGiven = [maxDepth, maxNotReady, statuses, stalled].some(value => value !== undefined)
    if (only && !isGiven && !notPaused)
      throw usageError('--only needs a condition.', 'For example: --only --not-paused')
    const conditions: Conditions = only
      ? { ...others, stalled, notPaused, failures: false }
      : { ...others, stalled: stalled ?? defaultStalled, notPaused: true, failures: true }
    if (cli.options.dryRun) return printSelection({ queue, file }, cli)
    if (queue === undefined) return checkSeveral(file, conditions, cli)
    const readMetrics = metricsReader(queue.repo, conditions, cli)
    const checked = await checkQueue({ name: queueName(queue), queue }, conditions, readMetrics, cli)
    await printChecks(checked, cli)
    const failure = checkError(checked, cli)
    if (failure === undefined) return 0
    throw failure
  },
})
