import type { Repository } from '../domain/values/repository.ts'
import type { Lane, Queue, Transition } from './engine/queue.ts'

/** The content type of the metrics (service-api.md section 4.3). */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

const hour = 3_600_000

/** Upper bounds in seconds (service-observed.md section 4). */
const bounds = [60, 300, 600, 900, 1800, 3600, 5400, 7200, Number.POSITIVE_INFINITY]

/** One line of a family, without the labels that every line has. */
interface Line {
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric of a queue's lane, computed from its state and from the moves of its last hour. */
interface Family {
  readonly name: string
  readonly type: 'gauge' | 'histogram'
  readonly help: string
  lines(queue: Queue, lane: Lane, moves: readonly Transition[]): readonly Line[]
}

const gauge = (
  name: string,
  help: string,
  value: (queue: Queue, lane: Lane, moves: readonly Transition[]) => number,
): Family => ({
  name,
  type: 'gauge',
  help,
  lines: (queue, lane, moves) => [{ value: value(queue, lane, moves) }],
})

/** The lines of a histogram of durations in milliseconds; what is handed in has one label set. */
function histogram(
  durations: readonly number[],
  labels: Readonly<Record<string, string>> = {},
): readonly Line[] {
  const seconds = durations.map(duration => duration / 1000)
  return [
    ...bounds.map(bound => ({
      suffix: '_bucket',
      labels: { ...labels, le: bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound) },
      value: seconds.filter(second => second <= bound).length,
    })),
    { suffix: '_sum', labels, value: seconds.reduce((sum, second) => sum + second, 0) },
    { suffix: '_count', labels, value: seconds.length },
  ]
}

const conclusions = [
  ['merged', 'MERGED'],
  ['failed', 'FAILED'],
  ['cancelled', 'CANCELLED'],
] as const

const inLane = ({ batches }: Queue, lane: Lane) => batches.filter(batch => batch.lane === lane)

/** The metrics of the service (service-observed.md section 4). `_1h_` looks back an hour of the true clock. */
const families: readonly Family[] = [
  gauge('mq_depth_current', 'Pull requests in the queue, without those that are not ready', (queue, lane) =>
    inLane(queue, lane).reduce(
      (sum, { members }) => sum + members.length,
      lane === 'main' ? queue.waiting.length : 0,
    ),
  ),
  gauge('mq_awaiting_mergeability', 'Pull requests that wait to become mergeable', ({ unready }, lane) =>
    lane === 'main' ? unready.size : 0,
  ),
  gauge(
    'mq_testing_slots_active',
    'Test runs in progress',
    (queue, lane) => inLane(queue, lane).filter(({ phase }) => phase === 'TESTING').length,
  ),
  {
    name: 'mq_pr_conclusions_1h_total',
    type: 'gauge',
    help: 'Pull requests that left the queue in the last hour',
    lines: (_, __, moves) =>
      conclusions.map(([conclusion, state]) => ({
        labels: { conclusion },
        value: moves.filter(({ to }) => to === state).length,
      })),
  },
  gauge(
    'mq_pr_restarts_1h_total',
    'Times in the last hour that a pull request went from testing back to pending',
    (_, __, moves) => moves.filter(({ from, to }) => from === 'TESTING' && to === 'PENDING').length,
  ),
  {
    name: 'mq_pr_wait_duration_1h_seconds',
    type: 'histogram',
    help: 'Wait before testing, of what started in the last hour',
    lines: (_, __, moves) =>
      histogram(
        moves.filter(({ from, to }) => from === 'PENDING' && to === 'TESTING').map(({ after }) => after),
      ),
  },
  {
    name: 'mq_pr_test_duration_1h_seconds',
    type: 'histogram',
    help: 'Testing, of what ended in the last hour',
    lines: (_, __, moves) =>
      histogram(moves.filter(({ from }) => from === 'TESTING').map(({ after }) => after)),
  },
  {
    name: 'mq_pr_time_in_queue_1h_seconds',
    type: 'histogram',
    help: 'From entry to exit, of what left in the last hour',
    lines: (_, __, moves) =>
      conclusions.flatMap(([conclusion, state]) =>
        histogram(
          moves.filter(({ to }) => to === state).map(({ sinceSubmit }) => sinceSubmit),
          { conclusion },
        ),
      ),
  },
]

const lanes = ['main', 'bisection'] as const

const escaped = (text: string): string =>
  text.replaceAll(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))

const labelled = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}="${escaped(value)}"`)
    .join(',')

/** The metrics of some queues in the text format 0.0.4, as of each queue's own moment. */
export function exposition(queues: readonly Queue[]): string {
  const views = queues.flatMap(queue => {
    const recent = queue.transitions.filter(({ at }) => at > queue.now - hour)
    return lanes.map(lane => ({ queue, lane, moves: recent.filter(move => move.lane === lane) }))
  })
  const blocks = families.map(({ name, type, help, lines }) => {
    const samples = views.flatMap(({ queue, lane, moves }) => {
      const own = {
        repo: `${queue.repo.owner}/${queue.repo.name}`,
        branch: queue.targetBranch,
        queue_type: lane,
      }
      return lines(queue, lane, moves).map(
        ({ suffix = '', labels, value }) => `${name}${suffix}{${labelled({ ...own, ...labels })}} ${value}`,
      )
    })
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples].join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}

/** The queues of one repository, by `owner/name` and host (service-api.md section 4.3); without one, all. */
export const queuesOf = (
  queues: readonly Queue[],
  repo: string | undefined,
  host: string | undefined,
): readonly Queue[] => (repo === undefined ? queues : queues.filter(queue => isOf(queue.repo, repo, host)))

const isOf = ({ host, owner, name }: Repository, repo: string, repoHost: string | undefined): boolean =>
  host === repoHost && `${owner}/${name}` === repo
