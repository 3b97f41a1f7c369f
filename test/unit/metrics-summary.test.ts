import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { summarizeMetrics } from '../../src/domain/metrics/last-hour.ts'
import { bisection, main } from '../support/metrics-text.ts'
import { parseSamples } from '../support/prometheus-text.ts'

const summarize = (text: string) => summarizeMetrics(parseSamples(text))

describe('summarizeMetrics', () => {
  test('the numbers of a queue, with its bisections, and the times of those that merged', () => {
    const wait = 'mq_pr_wait_duration_1h_seconds_bucket'
    const inQueue = 'mq_pr_time_in_queue_1h_seconds_bucket'
    expect(
      summarize(`mq_depth_current{${main}} 12
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
`),
    ).toEqual({
      queues: [
        {
          repo: 'acme/web',
          branch: 'main',
          numbers: {
            depth: 15,
            awaitingMergeability: 2,
            testing: 5,
            merged: 60,
            failed: 2,
            cancelled: 4,
            restarts: 5,
          },
          bisecting: 3,
          histograms: {
            waitDuration: [
              { bound: 60, count: 6 },
              { bound: Number.POSITIVE_INFINITY, count: 7 },
            ],
            timeInQueue: [{ bound: 60, count: 101 }],
          },
        },
      ],
      otherSeries: 0,
    })
  })

  test('a queue is a repository and a branch, in the order of their first series', () => {
    const { queues } = summarize(`mq_depth_current{repo="a/b",branch="two"} 1
mq_depth_current{repo="a/c",branch="one"} 2
mq_depth_current{branch="one"} 3
mq_testing_slots_active{repo="a/b",branch="two"} 4
mq_depth_current{repo="a/",branch="btwo"} 5
`)
    expect(queues.map(({ repo, branch, numbers }) => [repo, branch, numbers])).toEqual([
      ['a/b', 'two', { depth: 1, testing: 4 }],
      ['a/c', 'one', { depth: 2 }],
      [undefined, 'one', { depth: 3 }],
      ['a/', 'btwo', { depth: 5 }],
    ])
  })

  test('the earlier name of the depth counts only where the present name is missing', () => {
    const depths = summarize(`mq_queue_depth_current{branch="old"} 5
mq_queue_depth_current{branch="both"} 5
mq_depth_current{branch="both"} 6
`).queues.map(({ numbers }) => numbers.depth)
    expect(depths).toEqual([5, 6])
  })

  test('NaN and infinities are omitted', () => {
    expect(
      summarize(`mq_depth_current{${main}} NaN
mq_depth_current{${bisection}} 2
mq_testing_slots_active{${main}} +Inf
mq_pr_time_in_queue_1h_seconds_bucket{${main},le="60"} NaN
`).queues,
    ).toEqual([
      {
        repo: 'acme/web',
        branch: 'main',
        numbers: { depth: 2 },
        bisecting: 2,
        histograms: { timeInQueue: [] },
      },
    ])
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

  test('every series is in a queue or counted, with any labels', () => {
    const label = fc.constantFrom('main', 'bisection', 'merged', 'other', '60', '')
    const name = fc.constantFrom(
      'mq_depth_current',
      'mq_pr_conclusions_1h_total',
      'mq_pr_time_in_queue_1h_seconds_bucket',
      'mq_pr_time_in_queue_1h_seconds_sum',
      'mq_pr_time_in_queue_1h_seconds',
      'up',
    )
    const labels = fc.record(
      { repo: label, branch: label, queue_type: label, conclusion: label, le: label },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(name, labels, (name, labels) => {
        const { queues, otherSeries } = summarizeMetrics([{ name, labels, type: 'untyped', value: 1 }])
        expect(queues.length + otherSeries).toBe(1)
      }),
    )
  })

  test('no metrics are no queues', () => {
    expect(summarize('')).toEqual({ queues: [], otherSeries: 0 })
  })
})
