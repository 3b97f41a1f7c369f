import { describe, expect, test } from 'vitest'
import {
  findQueue,
  summarizeMetrics,
  usualRangeText,
  usualTimeInQueue,
  usualTimeText,
} from '../../src/domain/metrics/last-hour.ts'
import { bucketLines, main } from '../support/metrics-text.ts'
import { parseSamples } from '../support/prometheus-text.ts'

const web = { owner: 'acme', name: 'web' }

/** The lines of a histogram, from its cumulative counts. */
const histogram = (counts: readonly (number | string)[], labels = `${main},conclusion="merged"`): string =>
  `${bucketLines('mq_pr_time_in_queue_1h_seconds', labels, counts).join('\n')}\n`

const usual = (...parts: readonly string[]) =>
  usualTimeInQueue(findQueue(summarizeMetrics(parseSamples(parts.join(''))), web, 'main'))

/** Five in 10 to 15 minutes, ten in 15 to 30, four in 30 to 60, and one in 60 to 90. */
const busy = histogram([0, 0, 0, 5, 15, 19, 20, 20, 20])

describe('usualTimeInQueue', () => {
  test('the time that half and 19 of 20 did not exceed, in milliseconds', () => {
    const found = usual(busy)
    expect(found).toEqual({ median: 1_350_000, p95: 3_600_000, count: 20 })
    if (found === undefined) return
    expect(usualTimeText(found)).toBe('usually 22m')
    expect(usualRangeText(found)).toBe('usually 22m, 19 of 20 within 1h00m')
  })

  test('p95 is rounded up and the median down, to the minute', () => {
    const texts = (median: number, p95?: number) => usualRangeText({ median, p95, count: 20 })
    expect(texts(30_000, 57_000)).toBe('usually under 1m, 19 of 20 within 1m')
    expect(texts(119_000, 120_001)).toBe('usually 1m, 19 of 20 within 3m')
    expect(texts(3_599_000, 7_140_000)).toBe('usually 59m, 19 of 20 within 1h59m')
    expect(texts(3_900_000)).toBe('usually 1h05m')
  })

  test('fewer than 20 pull requests have a median only', () => {
    expect(usual(histogram([0, 0, 0, 5, 15, 19, 19, 19, 19]))).toEqual({
      median: 1_305_000,
      p95: undefined,
      count: 19,
    })
  })

  test('a time in the highest bucket is undefined', () => {
    expect(usual(histogram([0, 0, 0, 20, 20, 20, 20, 20, 40]))).toEqual({
      median: 900_000,
      p95: undefined,
      count: 40,
    })
    expect(usual(histogram([0, 0, 0, 0, 0, 0, 0, 0, 40]))).toBeUndefined()
  })

  test('pull requests that failed or were cancelled, other queues and other series do not count', () => {
    const labels = (repo: string, branch: string, conclusion: string) =>
      `repo="${repo}",branch="${branch}",queue_type="main",conclusion="${conclusion}"`
    const quick = [50, 50, 50, 50, 50, 50, 50, 50, 50]
    const others = [
      histogram(quick, labels('acme/web', 'main', 'failed')),
      histogram(quick, labels('acme/web', 'main', 'cancelled')),
      histogram(quick, labels('acme/web', 'main', 'skipped')),
      histogram(quick, labels('acme/web', 'release', 'merged')),
      histogram(quick, labels('acme/api', 'main', 'merged')),
      histogram(quick).replaceAll('time_in_queue', 'test_duration'),
      histogram(quick).replaceAll('queue_type="main"', 'queue_type="other"'),
    ]
    expect(usual(...others)).toBeUndefined()
    expect(usual(busy, ...others)).toEqual(usual(busy))
  })

  test('pull requests that merged after a bisection count too', () => {
    const bisection = histogram([20, 20, 20, 20, 20, 20, 20, 20, 20]).replaceAll(
      'queue_type="main"',
      'queue_type="bisection"',
    )
    expect(usual(busy, bisection)).toMatchObject({ median: 60_000, count: 40 })
  })

  test('a missing label is accepted, and the case of the name is ignored', () => {
    expect(usual(histogram([0, 0, 0, 5, 15, 19, 20, 20, 20], 'branch="main"'))).toEqual(usual(busy))
    expect(usual(busy.replaceAll('acme/web', 'Acme/Web'))).toEqual(usual(busy))
  })

  test.each([
    ['no metrics', ''],
    ['no buckets', 'mq_pr_time_in_queue_1h_seconds_count{repo="acme/web",branch="main"} 20\n'],
    ['no +Inf bucket', busy.split('\n').slice(0, -2).join('\n')],
    ['no pull requests', histogram([0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['NaN', histogram(['NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN'])],
    ['NaN in the last bucket', histogram([0, 0, 0, 5, 15, 19, 20, 20, 'NaN'])],
    ['a bound that is no number', busy.replaceAll(/le="[^"]*"/g, 'le="x"')],
  ])('undefined for %s', (_, text) => {
    expect(usual(text)).toBeUndefined()
  })

  test('a bucket that is NaN or smaller than the one before it does not spoil the others', () => {
    expect(usual(histogram([0, 'NaN', 0, 5, 15, 12, 20, 20, 20]))).toMatchObject({ median: 1_350_000 })
  })
})
