import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bar, sparkline } from '../../src/commands/metrics.ts'
import { parseSamples } from '../../src/domain/metrics/exposition.ts'
import { histogramsIn } from '../../src/domain/metrics/histogram.ts'
import { MergeqError } from '../../src/errors.ts'
import { type Answer, mergeq } from '../support/harness.ts'

const text = `# HELP mq_depth_current Queued
# TYPE mq_depth_current gauge
mq_depth_current{repo="acme/web",branch="main",queue_type="main"} 12
mq_depth_current{repo="acme/web",branch="main",queue_type="bisection"} 3

# TYPE mq_pr_restarts_1h_total gauge
mq_pr_restarts_1h_total{repo="acme/web",branch="main",queue_type="main"} NaN

# TYPE mq_pr_time_in_queue_1h_seconds histogram
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="60"} 2
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="300"} 10
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="main",le="+Inf"} 11
mq_pr_time_in_queue_1h_seconds_sum{repo="acme/web",branch="main"} 2200
mq_pr_time_in_queue_1h_seconds_count{repo="acme/web",branch="main"} 11
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="quiet",le="60"} 0
mq_pr_time_in_queue_1h_seconds_bucket{repo="acme/web",branch="quiet",le="+Inf"} 0
mq_pr_time_in_queue_1h_seconds_count{repo="acme/web",branch="quiet"} 0
`
const answer = (): Answer => ({ body: text })

describe('all series on a terminal', () => {
  test('bars, small histograms, and common labels only once', async () => {
    const { code, out } = await mergeq('metrics --raw --color never', {
      answer,
      terminal: true,
      columns: 110,
    })
    expect(code).toBe(0)
    expect(out).toBe(`5 series of repo=acme/web
NAME                            LABELS                            VALUE  PICTURE
mq_depth_current                branch=main queue_type=main          12  ████████████████
mq_depth_current                branch=main queue_type=bisection      3  ████
mq_pr_restarts_1h_total         branch=main queue_type=main         NaN  -
mq_pr_time_in_queue_1h_seconds  branch=main                          11  [▂█▁] 60 to +Inf, mean 200
mq_pr_time_in_queue_1h_seconds  branch=quiet                          0  -
`)
  })

  test('is drawn on a pipe with -o table; otherwise the bytes stay unchanged', async () => {
    const bytes = await mergeq('metrics', { answer })
    expect(bytes.out).toBe(text)
    const drawn = await mergeq('metrics --raw -o table --color never', { answer, columns: 110 })
    expect(drawn.out).toContain('████')
    const csv = await mergeq('metrics -o csv', { answer, terminal: true })
    expect(csv.out.split('\r\n')[1]).toBe('mq_depth_current,repo=acme/web branch=main queue_type=main,12')
  })

  test('a bar and a sparkline have the requested length, and values other than 0 are visible', () => {
    const value = fc.oneof(fc.double({ noNaN: true }), fc.integer(), fc.constant(Number.NaN))
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), values => {
        expect([...sparkline(values)]).toHaveLength(values.length)
        for (const one of values) {
          const drawn = bar(one, 100, 8)
          expect(drawn.length).toBeLessThanOrEqual(8)
          expect(drawn === '').toBe(!(one > 0))
        }
      }),
    )
    expect(sparkline([0, 1, 2, 4, 8])).toBe(' ▁▂▄█')
    expect(sparkline([5, 5, 5])).toBe('███')
    expect(sparkline([-4, 0, 4])).toBe('▁▄█')
    expect([bar(8, 8, 4), bar(4, 8, 4), bar(8, 64, 4), bar(9, 8, 4)]).toEqual(['████', '██', '▌', '████'])
  })
})

describe('metrics of one branch', () => {
  const crlf = 'odd{branch="re\\"lease\\n"} 1\r\n'
  const body = `${text}other{repo="acme/web"} 1\n${crlf}last{branch="main"} 2`
  const serves = { answer: () => ({ body }) }

  test('on a pipe the lines of the branch and the comments keep their bytes', async () => {
    const { code, out, requests } = await mergeq('metrics -b main', serves)
    const kept = body.split('\n').filter(line => /^#|^$|branch="main"/.test(line))
    expect({ code, out }).toEqual({ code: 0, out: kept.join('\n') })
    // The service has no such parameter.
    expect(requests.map(({ path }) => path)).toEqual(['/v1/getMergeQueueMetrics'])
    const odd = await mergeq(['metrics', '-b', 're"lease'], {
      answer: () => ({ body: 'a{branch="re\\"lease"} 1\r\n' }),
    })
    expect(odd.out).toBe('a{branch="re\\"lease"} 1\r\n')
  })

  test('every format has the samples of the branch', async () => {
    const labels = JSON.parse((await mergeq('metrics -b quiet --json', serves)).out)
    expect(labels).toHaveLength(3)
    for (const one of labels) expect(one.labels.branch).toBe('quiet')
    const drawn = await mergeq('metrics --raw -b quiet', { ...serves, terminal: true })
    expect(drawn.out).toContain('quiet')
    expect(drawn.out).not.toContain('mq_depth_current')
  })

  test('without -b all branches are shown, even if the environment names one', async () => {
    expect((await mergeq('metrics', { ...serves, env: { MERGEQ_TARGET_BRANCH: 'main' } })).out).toBe(body)
  })

  test('a line that is not of the format is refused, too', async () => {
    const { code } = await mergeq('metrics -b main', { answer: () => ({ body: `${text}<oops>\n` }) })
    expect(code).toBe(15)
  })
})

test('a histogram of 50,000 buckets takes time in proportion to them', () => {
  const buckets = Array.from({ length: 50_000 }, (_, bound) => `h_bucket{le="${bound}"} ${bound}`)
  const samples = parseSamples(`# TYPE h histogram\n${buckets.toReversed().join('\n')}\nh_sum 3\n`)
  const start = performance.now()
  const [histogram] = histogramsIn(samples).values()
  expect(performance.now() - start).toBeLessThan(3_000)
  expect(histogram).toMatchObject({ name: 'h', sum: 3, count: undefined })
  expect(histogram?.buckets.slice(0, 2)).toEqual([
    { bound: 0, count: 0 },
    { bound: 1, count: 1 },
  ])
})

test('a signal leaves whole JSON of the metrics', async () => {
  const stop = new AbortController()
  const lines = Array.from({ length: 20_000 }, (_, index) => `a{branch="b${index}"} ${index}\n`).join('')
  const screen: string[] = []
  const push = screen.push.bind(screen)
  screen.push = piece => {
    stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.'))
    return push(piece)
  }
  const { code, out } = await mergeq('metrics --json', {
    signal: stop.signal,
    screen,
    answer: () => ({ body: lines }),
  })
  expect(code).toBe(130)
  expect(JSON.parse(out).length).toBeLessThan(20_000)
})
