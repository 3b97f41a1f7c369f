import { pullRequestStates } from '../domain/states.ts'
import { finalStates, type Queue, type RunKind, type Transition } from './engine/queue.ts'

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

const hour = 3_600_000

/** Upper bounds of the histogram buckets in seconds (docs/reference/service.md, "Metrics"). */
const bucketBounds = [60, 300, 600, 900, 1800, 3600, 5400, 7200, Number.POSITIVE_INFINITY]

type Labels = Readonly<Record<string, string>>

interface MetricSample {
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

/** One kind of test runs of a queue, with its transitions of the last hour. */
interface MetricSource {
  readonly queue: Queue
  readonly kind: RunKind
  readonly transitions: readonly Transition[]
}

/**
 * A gauge, or a histogram: the name of a histogram ends with `_seconds`. `compute` returns the value, or the durations
 * in milliseconds, for each of the labels.
 */
type MetricFamily = readonly [
  name: string,
  help: string,
  compute: (source: MetricSource, labels: Labels) => number | readonly number[],
  labels?: readonly Labels[],
]

function samplesOf(value: number | readonly number[], labels: Labels): readonly MetricSample[] {
  if (typeof value === 'number') return [{ labels, value }]
  const seconds = value.map(duration => duration / 1000)
  return [
    ...bucketBounds.map(bound => ({
      suffix: '_bucket',
      labels: { ...labels, le: bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound) },
      value: seconds.filter(second => second <= bound).length,
    })),
    { suffix: '_sum', labels, value: seconds.reduce((sum, second) => sum + second, 0) },
    { suffix: '_count', labels, value: seconds.length },
  ]
}

const batchesOfKind = ({ queue, kind }: MetricSource) => queue.batches.filter(batch => batch.kind === kind)

const conclusions = finalStates.map(state => ({ conclusion: state.toLowerCase() }))
const concluded = ({ transitions }: MetricSource, { conclusion }: Labels) =>
  transitions.filter(({ to }) => to.toLowerCase() === conclusion)

const statesOnTheWay = pullRequestStates
  .filter(state => !finalStates.includes(state))
  .map(state => ({ state: state.toLowerCase() }))

const timesInState = (
  { transitions }: MetricSource,
  isMeant: (transition: Transition) => boolean,
): readonly number[] => transitions.filter(isMeant).map(({ timeInPreviousState }) => timeInPreviousState)

/** Pull requests that no batch contains count as `main`. */
const families: readonly MetricFamily[] = [
  [
    'mq_depth_current',
    'Pull requests in the queue, except pull requests that are not ready',
    source => {
      const inBatches = batchesOfKind(source).flatMap(({ members }) => members).length
      return source.kind === 'main' ? inBatches + source.queue.waiting.length : inBatches
    },
  ],
  [
    'mq_awaiting_mergeability',
    'Pull requests that wait to become mergeable',
    ({ queue, kind }) => (kind === 'main' ? queue.notReady.size : 0),
  ],
  [
    'mq_testing_slots_active',
    'Test runs in progress',
    source => batchesOfKind(source).filter(({ phase }) => phase === 'TESTING').length,
  ],
  [
    'mq_pr_conclusions_1h_total',
    'Pull requests that left the queue in the last hour',
    (source, labels) => concluded(source, labels).length,
    conclusions,
  ],
  [
    'mq_pr_restarts_1h_total',
    'Times in the last hour that a pull request went from testing back to pending',
    ({ transitions }) => transitions.filter(({ from, to }) => from === 'TESTING' && to === 'PENDING').length,
  ],
  [
    'mq_pr_wait_duration_1h_seconds',
    'Time from pending to testing, of tests that started in the last hour',
    source => timesInState(source, ({ from, to }) => from === 'PENDING' && to === 'TESTING'),
  ],
  [
    'mq_pr_test_duration_1h_seconds',
    'Time in testing, of tests that ended in the last hour',
    source => timesInState(source, ({ from }) => from === 'TESTING'),
  ],
  [
    'mq_pr_time_in_queue_1h_seconds',
    'Time in the queue, of pull requests that left in the last hour',
    (source, labels) => concluded(source, labels).map(({ timeSinceSubmit }) => timeSinceSubmit),
    conclusions,
  ],
  [
    'mq_pr_state_duration_1h_seconds',
    'Time in a state, of pull requests that left the state in the last hour',
    (source, { state }) => timesInState(source, ({ from }) => from?.toLowerCase() === state),
    statesOnTheWay,
  ],
]

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => {
      const escaped = value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
      return `${name}="${escaped}"`
    })
    .join(',')

export function renderMetrics(queues: readonly Queue[]): string {
  const sources = queues.flatMap(queue => {
    const recent = queue.transitions.filter(({ at }) => at > queue.now - hour)
    return (['main', 'bisection'] as const).map(kind => ({
      queue,
      kind,
      transitions: recent.filter(transition => transition.kind === kind),
    }))
  })
  const blocks = families.map(([name, help, compute, series = [{}]]) => {
    const lines = sources.flatMap(source => {
      const { repo, targetBranch: branch } = source.queue
      const commonLabels = { repo: `${repo.owner}/${repo.name}`, branch, queue_type: source.kind }
      return series
        .flatMap(labels => samplesOf(compute(source, labels), labels))
        .map(
          ({ suffix = '', labels, value }) =>
            `${name}${suffix}{${formatLabels({ ...commonLabels, ...labels })}} ${value}`,
        )
    })
    const type = name.endsWith('_seconds') ? 'histogram' : 'gauge'
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}
