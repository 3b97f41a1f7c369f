import { describe, expect, test } from 'vitest'
import { findQueue, summarizeMetrics, usualTimeInQueue } from '../../../src/domain/metrics/last-hour.ts'
import { formatEstimate } from '../../../src/values/format.ts'
import { bucketLines, main } from '../../support/metrics-text.ts'
import { parseSamples } from '../../support/prometheus-text.ts'

const web = { owner: 'acme', name: 'web' }

/** The lines of a histogram, from its cumulative counts. */
const histogram = (counts: readonly (number | string)[], labels = `${main},conclusion="merged"`): string =>
  `${bucketLines('mq_pr_time_in_queue_1h_seconds', labels, counts).join('\n')}\n`

const usual = (...parts: readonly string[]) =>
  usualTimeInQueue(findQueue(summarizeMetrics(parseSamples(parts.join(''))), web, 'main'))

/** Five in 10 to 15 minutes, ten in 15 to 30, four in 30 to 60, and one in 60 to 90. */
const busy = histogram([0, 0, 0, 5, 15, 19, 20, 20, 20])

describe('the usual time in the queue', () => {
  test.each([
    ['what half did not exceed, in milliseconds', busy, 1_350_000],
    ['the bound where half are in the highest bucket', histogram([0, 0, 0, 20, 20, 20, 20, 20, 40]), 900_000],
    ['nothing where all are in the highest', histogram([0, 0, 0, 0, 0, 0, 0, 0, 40]), undefined],
    ['nothing without observations', histogram(Array(9).fill(0)), undefined],
    ['nothing without a last bucket', busy.replace(/.*\+Inf.*\n/, ''), undefined],
    ['nothing of NaN', histogram(Array(9).fill('NaN')), undefined],
    [
      'borne by a bucket that is NaN or smaller than the one before it',
      histogram([0, 'NaN', 0, 5, 15, 12, 20, 20, 20]),
      1_350_000,
    ],
    ['nothing with bounds that are no numbers', busy.replaceAll(/le="[^"]*"/g, 'le="x"'), undefined],
  ])('is %s', (_, text, expected) => {
    expect(usual(text)).toBe(expected)
  })

  test('counts neither pull requests that did not merge nor other queues and series', () => {
    const labels = (repo: string, branch: string, conclusion: string) =>
      `repo="${repo}",branch="${branch}",queue_type="main",conclusion="${conclusion}"`
    const quick = Array(9).fill(50)
    const others = [
      ...['failed', 'cancelled', 'skipped'].map(how => histogram(quick, labels('acme/web', 'main', how))),
      histogram(quick, labels('acme/web', 'release', 'merged')),
      histogram(quick, labels('acme/api', 'main', 'merged')),
      histogram(quick).replaceAll('time_in_queue', 'test_duration'),
      histogram(quick).replaceAll('queue_type="main"', 'queue_type="other"'),
    ]
    expect(usual(...others)).toBeUndefined()
    expect(usual(busy, ...others)).toEqual(usual(busy))
  })

  test('counts merges after a bisection, a missing label and a name in any case', () => {
    const bisection = histogram(Array(9).fill(20)).replace(/queue_type="main"/g, 'queue_type="bisection"')
    expect(usual(busy, bisection)).toBe(60_000)
    expect(usual(histogram([0, 0, 0, 5, 15, 19, 20, 20, 20], 'branch="main"'))).toEqual(usual(busy))
    expect(usual(busy.replaceAll('acme/web', 'Acme/Web'))).toEqual(usual(busy))
  })
})

test.each([
  [59_999, 'under 1m'],
  [89_999, '~1m'],
  [90_000, '~2m'],
  [5_699_000, '~1h35m'],
])('an estimate of %i ms is %s', (milliseconds, text) => expect(formatEstimate(milliseconds)).toBe(text))
