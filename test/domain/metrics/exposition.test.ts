import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberText, type Sample } from '../../../src/domain/metrics/exposition.ts'
import { summarizeMetrics } from '../../../src/domain/metrics/last-hour.ts'
import { bisection, main } from '../../support/metrics-text.ts'
import { isRead, parseSamples } from '../../support/prometheus-text.ts'

const summarize = (text: string) => summarizeMetrics(parseSamples(text))

describe('summarizeMetrics', () => {
  test('the numbers of a queue, with its bisections, and the times of those that merged', () => {
    const wait = 'mq_pr_wait_duration_1h_seconds_bucket'
    const inQueue = 'mq_pr_time_in_queue_1h_seconds_bucket'
    const { queues, otherSeries } = summarize(`mq_depth_current{${main}} 12
mq_depth_current{${bisection}} 3
mq_awaiting_mergeability{${main}} 2
mq_testing_slots_active{${main}} 4
mq_testing_slots_active{${bisection}} 1
mq_pr_conclusions_1h_total{${main},conclusion="merged"} 60
mq_pr_conclusions_1h_total{${main},conclusion="failed"} 0
mq_pr_conclusions_1h_total{${bisection},conclusion="failed"} 2
mq_pr_conclusions_1h_total{${main},conclusion="cancelled"} 4
mq_pr_restarts_1h_total{${main}} 5
${wait}{${main},le="+Inf"} 7
${wait}{${main},le="60"} 6
mq_pr_wait_duration_1h_seconds_sum{${main}} 300
mq_pr_wait_duration_1h_seconds_count{${main}} 7
${inQueue}{${main},conclusion="merged",le="60"} 1
${inQueue}{${main},conclusion="failed",le="60"} 10
${inQueue}{${bisection},conclusion="merged",le="60"} 100
`)
    const now = { depth: 15, awaitingMergeability: 2, testing: 5 }
    const lastHour = { merged: 60, failed: 2, cancelled: 4, restarts: 5 }
    const waitDuration = [
      { bound: 60, count: 6 },
      { bound: Number.POSITIVE_INFINITY, count: 7 },
    ]
    const histograms = { waitDuration, timeInQueue: [{ bound: 60, count: 101 }] }
    const queue = { repo: 'acme/web', branch: 'main', bisecting: 3, histograms }
    expect(queues).toEqual([{ ...queue, numbers: { ...now, ...lastHour } }])
    expect(otherSeries).toBe(0)
  })

  test('the earlier name of the depth counts only where the present name is missing', () => {
    const depths = summarize(`mq_queue_depth_current{branch="old"} 5
mq_queue_depth_current{branch="both"} 5
mq_depth_current{branch="both"} 6
`).queues.map(({ numbers }) => numbers.depth)
    expect(depths).toEqual([5, 6])
  })

  test('series that are not known are counted, a histogram once', () => {
    expect(
      summarize(`mq_depth_current 1
mq_depth_current{repo="acme/web"} 1
mq_depth_current{repo="acme/web",branch="main",queue_type="draft"} 1
mq_pr_conclusions_1h_total{${main}} 1
mq_pr_conclusions_1h_total{${main},conclusion="skipped"} 1
constructor{${main}} 1
# TYPE new_seconds histogram
new_seconds_bucket{${main},le="60"} 1
new_seconds_bucket{${main},le="+Inf"} 1
new_seconds_sum{${main}} 1
new_seconds_count{${main}} 1
up 1
`),
    ).toEqual({ queues: [], otherSeries: 8 })
  })
})

describe('the text format of Prometheus', () => {
  const label = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/).filter(name => name !== '__name__')
  const labels = fc.dictionary(label, fc.string({ unit: 'grapheme', maxLength: 12 }), { maxKeys: 4 })
  const value = fc.oneof(
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  )
  const sample: fc.Arbitrary<Sample> = fc.record({
    name: fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,12}$/),
    type: fc.constant('untyped'),
    labels,
    value,
  })
  const seriesText = ({ name, labels }: Sample) => {
    const pairs = Object.entries(labels).map(
      ([key, value]) => `${key}="${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`,
    )
    return `${name}{${pairs.join(', ')}}`
  }
  const plain = (samples: readonly Sample[]) => samples.map(one => ({ ...one, labels: { ...one.labels } }))

  test('any text in the format is read, with blank lines, comments, timestamps and either line ending', () => {
    const between = fc.constantFrom('', '\n', '# only a comment\n', ' \t \n', '\r\n')
    const stamp = fc.option(fc.maxSafeInteger(), { nil: undefined })
    const end = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, between, stamp, end)), written => {
        const text = written
          .map(
            ([sample, before, stamp, end]) =>
              `${before}${seriesText(sample)} ${numberText(sample.value)}${stamp === undefined ? '' : ` ${stamp}`}${end}`,
          )
          .join('')
        expect(plain(parseSamples(text))).toEqual(
          written.map(([{ value, ...rest }]) => ({ ...rest, value: value === 0 ? 0 : value })),
        )
      }),
    )
  })

  test('any other text is read or rejected', () => {
    const pieces = fc.constantFrom('TYPE', ...'a{}"\\,= \n1#e+\ré')
    fc.assert(fc.property(fc.string({ unit: pieces, maxLength: 40 }), text => void isRead(text)))
  })

  test('parts belong to a histogram or a summary, and to nothing else', () => {
    const text = '# TYPE h histogram\n# TYPE s summary\n# TYPE g gauge\n'
    const types = (names: readonly string[]) =>
      parseSamples(text + names.map(name => `${name} 1\n`).join('')).map(({ type }) => type)
    expect(types(['h_sum', 'h_count', 'h'])).toEqual(Array(3).fill('histogram'))
    expect(types(['s_sum', 's_count'])).toEqual(Array(2).fill('summary'))
    expect(types(['s_bucket', 'g_sum', 'g'])).toEqual(['untyped', 'untyped', 'gauge'])
    expect(parseSamples(`${text}h_bucket{le="1"} 1\ns{quantile="0.5"} 1\n`).map(({ type }) => type)).toEqual([
      'histogram',
      'summary',
    ])
  })
})
