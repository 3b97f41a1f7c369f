import type { Repository } from '../values/repository.ts'
import { parseNumber, type Sample } from './exposition.ts'

/** The numbers of a queue that have a series of their own (docs/reference/service.md, "Metrics"). */
export type QueueNumber = 'depth' | 'awaitingMergeability' | 'testing' | 'restarts' | Conclusion

type Conclusion = 'merged' | 'failed' | 'cancelled'

/** The histograms of a queue: times in seconds, of pull requests in the last hour. */
export type QueueHistogram = 'timeInQueue' | 'waitDuration' | 'testDuration'

export type QueueSeries = QueueLabels & (NumberSeries | BucketSeries | { readonly kind: 'rest' })

interface QueueLabels {
  /** `owner/name`; undefined if the series does not say it. */
  readonly repo: string | undefined
  readonly branch: string
  readonly isBisection: boolean
}

interface NumberSeries {
  readonly kind: 'number'
  readonly number: QueueNumber
  /** Whether the series has the earlier name of a series that replaced it. */
  readonly isEarlierName: boolean
}

interface BucketSeries {
  readonly kind: 'bucket'
  readonly histogram: QueueHistogram
  /** Undefined for a histogram that does not distinguish conclusions. */
  readonly conclusion: Conclusion | undefined
  /** The upper bound in seconds. */
  readonly bound: number
}

const numbers: Readonly<Record<string, Exclude<QueueNumber, Conclusion>>> = {
  mq_depth_current: 'depth',
  mq_queue_depth_current: 'depth',
  mq_awaiting_mergeability: 'awaitingMergeability',
  mq_testing_slots_active: 'testing',
  mq_pr_restarts_1h_total: 'restarts',
}
const earlierName = 'mq_queue_depth_current'
const conclusionsName = 'mq_pr_conclusions_1h_total'

const histograms: Readonly<Record<string, QueueHistogram>> = {
  mq_pr_time_in_queue_1h_seconds: 'timeInQueue',
  mq_pr_wait_duration_1h_seconds: 'waitDuration',
  mq_pr_test_duration_1h_seconds: 'testDuration',
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const conclusionOf = (text: string | undefined): Conclusion | undefined =>
  text === 'merged' || text === 'failed' || text === 'cancelled' ? text : undefined

/**
 * Returns the place of a sample among the metrics of its queue; `rest` for the sum and the count of a
 * histogram. Undefined for a series whose name, `queue_type` or `conclusion` is not known, or that does not
 * name its branch.
 */
export function toQueueSeries({ name, labels }: Sample): QueueSeries | undefined {
  const { repo, branch, queue_type: queueType = 'main', conclusion: text, le } = labels
  if (branch === undefined || (queueType !== 'main' && queueType !== 'bisection')) return undefined
  const queue = { repo, branch, isBisection: queueType === 'bisection' }
  const conclusion = conclusionOf(text)
  if (text !== undefined && conclusion === undefined) return undefined
  const number = name === conclusionsName ? conclusion : own(numbers, name)
  if (number !== undefined) return { ...queue, kind: 'number', number, isEarlierName: name === earlierName }
  const end = name.lastIndexOf('_')
  const histogram = own(histograms, name.slice(0, end))
  if (histogram === undefined) return undefined
  const part = name.slice(end)
  if (part === '_sum' || part === '_count') return { ...queue, kind: 'rest' }
  if (part !== '_bucket') return undefined
  const bound = parseNumber(le ?? '')
  return bound === undefined ? undefined : { ...queue, kind: 'bucket', histogram, conclusion, bound }
}

/**
 * Whether a series is of a queue. The series do not say the host of the repository, and its name is compared
 * without case, as GitHub does.
 */
export const isOfQueue = (
  series: QueueSeries,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
  branch: string,
): boolean =>
  series.branch === branch &&
  (series.repo === undefined || series.repo.toLowerCase() === `${owner}/${name}`.toLowerCase())
