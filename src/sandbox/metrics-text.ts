import type { Repository } from '../domain/values/repository.ts'
import type { Queue, RunKind, Transition } from './engine/queue.ts'

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

const hour = 3_600_000

/** Upper bounds of the histogram buckets in seconds (docs/reference/service.md, "Metrics"). */
const bucketBounds = [60, 300, 600, 900, 1800, 3600, 5400, 7200, Number.POSITIVE_INFINITY]

type Labels = Readonly<Record<string, string>>

const escapeLabel = (text: string): string =>
  text.replaceAll(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))

interface MetricSample {
  readonly suffix?: string
  readonly labels?: Labels
  readonly value: number
}

/** Computed from one kind of test runs of a queue and its transitions of the last hour. */
interface MetricFamily {
  readonly name: string
  readonly type: 'gauge' | 'histogram'
  readonly help: string
  compute(queue: Queue, kind: RunKind, transitions: readonly Transition[]): readonly MetricSample[]
}

const gauge = (
  name: string,
  help: string,
  compute: (queue: Queue, kind: RunKind, transitions: readonly Transition[]) => number,
): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  compute: (queue, kind, transitions) => [{ value: compute(queue, kind, transitions) }],
})

function createHistogram(durations: readonly number[], labels: Labels = {}): readonly MetricSample[] {
  const seconds = durations.map(duration => duration / 1000)
  return [
    ...bucketBounds.map(bound => ({
      suffix: '_bucket',
      labels: { ...labels, le: bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound) },
      value: seconds.filter(value => value <= bound).length,
    })),
    { suffix: '_sum', labels, value: seconds.reduce((sum, value) => sum + value, 0) },
    { suffix: '_count', labels, value: seconds.length },
  ]
}

const conclusions = [
  ['merged', 'MERGED'],
  ['failed', 'FAILED'],
  ['cancelled', 'CANCELLED'],
] as const

const batchesOfKind = ({ batches }: Queue, kind: RunKind) => batches.filter(batch => batch.kind === kind)

/**
 * The metrics of the service (docs/reference/service.md, "Metrics"). `_1h_` in a name is an hour of real
 * time, whatever the speed of the sandbox.
 */
const families: readonly MetricFamily[] = [
  gauge(
    'mq_depth_current',
    'Pull requests in the queue, except pull requests that are not ready',
    (queue, kind) =>
      batchesOfKind(queue, kind).reduce(
        (sum, { members }) => sum + members.length,
        kind === 'main' ? queue.waiting.length : 0,
      ),
  ),
  gauge('mq_awaiting_mergeability', 'Pull requests that wait to become mergeable', ({ notReady }, kind) =>
    kind === 'main' ? notReady.size : 0,
  ),
  gauge(
    'mq_testing_slots_active',
    'Test runs in progress',
    (queue, kind) => batchesOfKind(queue, kind).filter(({ phase }) => phase === 'TESTING').length,
  ),
  {
    name: 'mq_pr_conclusions_1h_total',
    type: 'gauge',
    help: 'Pull requests that left the queue in the last hour',
    compute: (_, __, transitions) =>
      conclusions.map(([conclusion, state]) => ({
        labels: { conclusion },
        value: transitions.filter(({ to }) => to === state).length,
      })),
  },
  gauge(
    'mq_pr_restarts_1h_total',
    'Times in the last hour that a pull request went from testing back to pending',
    (_, __, transitions) =>
      transitions.filter(({ from, to }) => from === 'TESTING' && to === 'PENDING').length,
  ),
  {
    name: 'mq_pr_wait_duration_1h_seconds',
    type: 'histogram',
    help: 'Time from pending to testing, of tests that started in the last hour',
    compute: (_, __, transitions) =>
      createHistogram(
        transitions
          .filter(({ from, to }) => from === 'PENDING' && to === 'TESTING')
          .map(({ timeInPreviousState }) => timeInPreviousState),
      ),
  },
  {
    name: 'mq_pr_test_duration_1h_seconds',
    type: 'histogram',
    help: 'Time in testing, of tests that ended in the last hour',
    compute: (_, __, transitions) =>
      createHistogram(
        transitions
          .filter(({ from }) => from === 'TESTING')
          .map(({ timeInPreviousState }) => timeInPreviousState),
      ),
  },
  {
    name: 'mq_pr_time_in_queue_1h_seconds',
    type: 'histogram',
    help: 'Time in the queue, of pull requests that left in the last hour',
    compute: (_, __, transitions) =>
      conclusions.flatMap(([conclusion, state]) =>
        createHistogram(
          transitions.filter(({ to }) => to === state).map(({ timeSinceSubmit }) => timeSinceSubmit),
          { conclusion },
        ),
      ),
  },
]

const runKinds = ['main', 'bisection'] as const

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',')

export function renderMetrics(queues: readonly Queue[]): string {
  const sources = queues.flatMap(queue => {
    const recent = queue.transitions.filter(({ at }) => at > queue.now - hour)
    return runKinds.map(kind => ({
      queue,
      kind,
      transitions: recent.filter(transition => transition.kind === kind),
    }))
  })
  const blocks = families.map(({ name, type, help, compute }) => {
    const lines = sources.flatMap(({ queue, kind, transitions }) => {
      const commonLabels = {
        repo: `${queue.repo.owner}/${queue.repo.name}`,
        branch: queue.targetBranch,
        queue_type: kind,
      }
      return compute(queue, kind, transitions).map(
        ({ suffix = '', labels, value }) =>
          `${name}${suffix}{${formatLabels({ ...commonLabels, ...labels })}} ${value}`,
      )
    })
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}

/** Without `repo`, all queues (docs/reference/service.md, "Metrics"). */
export const filterQueues = (
  queues: readonly Queue[],
  repo: string | undefined,
  host: string | undefined,
): readonly Queue[] =>
  repo === undefined ? queues : queues.filter(queue => isRepository(queue.repo, repo, host))

const isRepository = (
  { host, owner, name }: Repository,
  repo: string,
  repoHost: string | undefined,
): boolean => host === repoHost && `${owner}/${name}` === repo
