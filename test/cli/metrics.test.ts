import { describe, expect, test } from 'vitest'
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
  test('one row for each series, and for a histogram its count', async () => {
    const { code, out } = await mergeq('metrics --raw --color never', {
      answer,
      terminal: true,
      columns: 110,
    })
    expect(code).toBe(0)
    expect(out).toBe(`SERIES                                                             VALUE
mq_depth_current repo=acme/web branch=main queue_type=main            12
mq_depth_current repo=acme/web branch=main queue_type=bisection        3
mq_pr_restarts_1h_total repo=acme/web branch=main queue_type=main    NaN
mq_pr_time_in_queue_1h_seconds_count repo=acme/web branch=main        11
mq_pr_time_in_queue_1h_seconds_count repo=acme/web branch=quiet        0
`)
  })

  test('is drawn on a pipe with -o table; otherwise the bytes stay unchanged', async () => {
    const bytes = await mergeq('metrics', { answer })
    expect(bytes.out).toBe(text)
    const drawn = await mergeq('metrics --raw -o table --color never', { answer, columns: 110 })
    expect(drawn.out).toMatch(/^SERIES +VALUE\n/)
    const csv = await mergeq('metrics -o csv', { answer, terminal: true })
    expect(csv.out.split('\r\n')[1]).toBe('mq_depth_current,repo=acme/web branch=main queue_type=main,12')
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
