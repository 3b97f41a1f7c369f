import { pullRequestStates } from '../domain/states.ts'
import { finalStates, type Queue, type RunKind, type Transition } from './engine/queue.ts'

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

/** One kind of test runs of a queue, with its transitions of the last hour. */
interface MetricSource {
  readonly queue: Queue
  readonly kind: RunKind
  readonly transitions: readonly Transition[]
}

interface MetricFamily {
  readonly name: string
  readonly type: 'gauge' | 'histogram'
  readonly help: string
  compute(source: MetricSource): readonly MetricSample[]
}

const gauge = (name: string, help: string, compute: (source: MetricSource) => number): MetricFamily => ({
  name,
  type: 'gauge',
  help,
  compute: source => [{ value: compute(source) }],
})

/** Durations in milliseconds as the samples of a histogram in seconds. */
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

const statesOnTheWay = pullRequestStates.filter(state => !finalStates.includes(state))

const batchesOfKind = ({ queue, kind }: MetricSource) => queue.batches.filter(batch => batch.kind === kind)

const conclusions = ['merged', 'failed', 'cancelled'] as const

const concluded = ({ transitions }: MetricSource, conclusion: string) =>
  transitions.filter(({ to }) => to === conclusion.toUpperCase())

/** Pull requests that no batch contains count as `main`. */
const families: readonly MetricFamily[] = [
  gauge('mq_depth_current', 'Pull requests in the queue, except pull requests that are not ready', source => {
    const inBatches = batchesOfKind(source).flatMap(({ members }) => members).length
    return source.kind === 'main' ? inBatches + source.queue.waiting.length : inBatches
  }),
  gauge('mq_awaiting_mergeability', 'Pull requests that wait to become mergeable', ({ queue, kind }) =>
    kind === 'main' ? queue.notReady.size : 0,
  ),
  gauge(
    'mq_testing_slots_active',
    'Test runs in progress',
    source => batchesOfKind(source).filter(({ phase }) => phase === 'TESTING').length,
  ),
  {
    name: 'mq_pr_conclusions_1h_total',
    type: 'gauge',
    help: 'Pull requests that left the queue in the last hour',
    compute: source =>
      conclusions.map(conclusion => ({
        labels: { conclusion },
        value: concluded(source, conclusion).length,
      })),
  },
  gauge(
    'mq_pr_restarts_1h_total',
    'Times in the last hour that a pull request went from testing back to pending',
    ({ transitions }) => transitions.filter(({ from, to }) => from === 'TESTING' && to === 'PENDING').length,
  ),
  {
    name: 'mq_pr_wait_duration_1h_seconds',
    type: 'histogram',
    help: 'Time from pending to testing, of tests that started in the last hour',
    compute({ transitions }) {
      const started = transitions.filter(({ from, to }) => from === 'PENDING' && to === 'TESTING')
      return createHistogram(started.map(({ timeInPreviousState }) => timeInPreviousState))
    },
  },
  {
    name: 'mq_pr_test_duration_1h_seconds',
    type: 'histogram',
    help: 'Time in testing, of tests that ended in the last hour',
    compute({ transitions }) {
      const ended = transitions.filter(({ from }) => from === 'TESTING')
      return createHistogram(ended.map(({ timeInPreviousState }) => timeInPreviousState))
    },
  },
  {
    name: 'mq_pr_time_in_queue_1h_seconds',
    type: 'histogram',
    help: 'Time in the queue, of pull requests that left in the last hour',
    compute: source =>
      conclusions.flatMap(conclusion => {
        const durations = concluded(source, conclusion).map(({ timeSinceSubmit }) => timeSinceSubmit)
        return createHistogram(durations, { conclusion })
      }),
  },
  {
    name: 'mq_pr_state_duration_1h_seconds',
    type: 'histogram',
    help: 'Time in a state, of pull requests that left the state in the last hour',
    compute: ({ transitions }) =>
      statesOnTheWay.flatMap(state => {
        const left = transitions.filter(({ from }) => from === state)
        const durations = left.map(({ timeInPreviousState }) => timeInPreviousState)
        return createHistogram(durations, { state: state.toLowerCase() })
      }),
  },
]

const formatLabels = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
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
  const blocks = families.map(({ name, type, help, compute }) => {
    const lines = sources.flatMap(source => {
      const { repo, targetBranch: branch } = source.queue
      const commonLabels = { repo: `${repo.owner}/${repo.name}`, branch, queue_type: source.kind }
      return compute(source).map(
        ({ suffix = '', labels, value }) =>
          `${name}${suffix}{${formatLabels({ ...commonLabels, ...labels })}} ${value}`,
      )
    })
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}
