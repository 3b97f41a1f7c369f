import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { type Answer, mergeq, noon, type Seen, type Setting } from '../support/harness.ts'
import { bisection, bucketLines, main } from '../support/metrics-text.ts'

/** The lines of a histogram, from its cumulative counts. */
const histogram = (name: string, labels: string, counts: readonly (number | string)[]): string =>
  [
    `# TYPE ${name} histogram`,
    ...bucketLines(name, labels, counts),
    `${name}_sum{${labels}} 1000`,
    `${name}_count{${labels}} ${counts.at(-1)}`,
    '',
  ].join('\n')

const text = `# TYPE mq_depth_current gauge
mq_depth_current{${main}} 23
mq_depth_current{${bisection}} 0
mq_testing_slots_active{${main}} 4
mq_awaiting_mergeability{${main}} 0
mq_pr_conclusions_1h_total{${main},conclusion="merged"} 60
mq_pr_conclusions_1h_total{${main},conclusion="failed"} 0
mq_pr_conclusions_1h_total{${main},conclusion="cancelled"} 4
mq_pr_restarts_1h_total{${main}} 2
${histogram('mq_pr_wait_duration_1h_seconds', main, [60, 60, 60, 60, 60, 60, 60, 60, 60])}
${histogram('mq_pr_test_duration_1h_seconds', main, [0, 0, 0, 0, 0, 0, 0, 0, 0])}
${histogram('mq_pr_time_in_queue_1h_seconds', `${main},conclusion="merged"`, [0, 10, 40, 50, 55, 60, 60, 60, 60])}
`

/** A queue with a depth, so that it has some activity. */
const queueOf = (branch: string, depth: number, repo = 'acme/web') =>
  `mq_depth_current{repo="${repo}",branch="${branch}",queue_type="main"} ${depth}\n`

const show = (words: string, body: string, setting: Setting = {}) =>
  mergeq(`metrics ${words} --color never`, { answer: () => ({ body }), terminal: true, ...setting })
/** Returns the summary without its last lines, which explain words. */
const printed = async (words: string, body: string, columns = 80) => {
  const { code, out, err } = await show(words, body, { columns })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out.replace(/\ndepth: queued pull requests; restarts: .*$/s, '')
}

describe('the summary on a terminal', () => {
  test('bisections count, and the queued pull requests in them are named', async () => {
    const body = `${text}mq_depth_current{${bisection}} 2
mq_testing_slots_active{${bisection}} 1
mq_awaiting_mergeability{${main}} 3
mq_pr_conclusions_1h_total{${bisection},conclusion="failed"} 3
`
    const out = await printed('', body, 120)
    expect(out).toContain('failed 3')
    expect(out).toContain('depth 25 (2 in bisection)   testing 5   not ready 3\n')
  })

  test('the times in states are shown, but those that another line says', async () => {
    const inState = (state: string, counts: readonly number[]) =>
      histogram('mq_pr_state_duration_1h_seconds', `${main},state="${state}"`, counts)
    const counts = [0, 10, 40, 50, 55, 60, 60, 60, 60]
    const states = ['tests_passed', 'warming_up_for_a_very_long_time', 'testing', 'pending', 'not_ready'].map(
      state => inState(state, counts),
    )
    const labels = (out: string) =>
      out.split('\n').flatMap(line => /^ {2}(.*?) {2,}p50/.exec(line)?.[1] ?? [])
    expect(labels(await printed('', text + states.join('')))).toEqual([
      'time in queue',
      'waiting',
      'in not ready',
      'in tests passed',
      'in warming_up_for_a_ve…',
    ])
    expect(labels(await printed('', states.join('')))).toEqual([
      'in not ready',
      'in pending',
      'in testing',
      'in tests passed',
      'in warming_up_for_a_ve…',
    ])
  })

  test('missing, NaN and infinite values are shown as unknown', async () => {
    const body = `mq_depth_current{${main}} NaN
mq_testing_slots_active{${main}} +Inf
${histogram('mq_pr_time_in_queue_1h_seconds', main, Array(9).fill('NaN'))}`
    expect(await printed('', body)).toBe(`acme/web main
  last hour       merged -   failed -   cancelled -   restarts -
  now             depth -   testing -
`)
  })

  test('a time in the last bucket is over the highest bound', async () => {
    const body = histogram('mq_pr_time_in_queue_1h_seconds', main, [0, 0, 0, 0, 5, 5, 5, 6, 10])
    expect(await printed('', body)).toContain('  time in queue   p50    ~30m   p95 over 2h   █  ▂▆\n')
  })

  test('series that are not known are counted in the last line, which names --raw', async () => {
    const out = await printed('', `${text}up 1\nmq_new{${main}} 1\n`)
    expect(out).toMatch(/\n\n2 other series\. To print all series, add --raw\.\n$/)
    expect(await printed('', 'up 1\n', 100)).toMatch(/^No queue metrics found\. .*\n\n1 other series\./s)
  })

  test.each(['', '--raw'])('without metrics `metrics %s` says so, with the next step', async flags => {
    expect(await printed(flags, '\n', 100)).toBe(
      `No metrics found. Does the queue exist, and was it active in the last hour?
To look up a queue, use queue get.
`,
    )
    expect(await printed(`${flags} -b quiet`, text, 100)).toBe(
      `No metrics found for branch quiet. Does the queue exist, and was it active in the last hour?
To list the queues that have metrics, use queue list.
`,
    )
  })

  test('of many queues the first are shown, in the order of the service', async () => {
    const body = Array.from({ length: 1_030 }, (_, index) => queueOf(`b${index}`, index)).join('')
    const out = await printed('', body)
    const shown = [...out.matchAll(/^acme\/web (b\d+)$/gm)].map(([, branch]) => branch)
    expect(shown).toEqual(Array.from({ length: 20 }, (_, index) => `b${index}`))
    expect(out).toMatch(/\n\n1,010 other queues\. To list all queues, use queue list\.\n$/)
  })
})

describe('all series', () => {
  test('are drawn with --raw where a table is asked for; a pipe gets the same bytes with it', async () => {
    const answer = () => ({ body: text })
    expect((await mergeq('metrics --raw', { answer })).out).toBe(text)
    const drawn = await mergeq('metrics --raw -o table --color never', { answer, columns: 110 })
    expect(drawn.out).toMatch(/^SERIES +VALUE\n/)
  })

  test('a signal leaves whole JSON', async () => {
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
})

describe('metrics of one branch', () => {
  const body = `${text}${queueOf('quiet', 1)}other{repo="acme/web"} 1\nodd{branch="re\\"lease\\n"} 1\r\nlast{branch="main"} 2`
  const answer = () => ({ body })

  test('on a pipe the lines of the branch and the comments keep their bytes', async () => {
    const { code, out, requests } = await mergeq('metrics -b main', { answer })
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
    const samples = JSON.parse((await mergeq('metrics -b quiet --json', { answer })).out)
    expect(samples).toMatchObject([{ labels: { branch: 'quiet' } }])
    expect(await printed('-b quiet', body)).toMatch(/^acme\/web quiet\n.*\n.*depth 1 .*\n$/)
    expect(await printed('--raw -b quiet', body)).toMatch(/^SERIES.*\n.* branch=quiet .*\n$/)
  })

  test('without -b all branches are shown, even if the environment names one', async () => {
    expect((await mergeq('metrics', { answer, env: { MERGEQ_TARGET_BRANCH: 'main' } })).out).toBe(body)
  })
})

describe('metrics --queues', () => {
  const ago = (seconds: number) => new Date(noon - seconds * 1000).toISOString()
  const entry = (state: string, seconds: number) => ({ prNumber: 1, state, stateChangedAt: ago(seconds) })
  const answer = ({ path, body }: Seen): Answer => {
    if (path.includes('Metrics'))
      return { body: queueOf('main', 2) + queueOf('a\\"b', 0) + queueOf('gone', 0) }
    if (body.includes('gone')) return { status: 404, body: 'no such queue' }
    const enqueuedPullRequests = body.includes('main') ? [entry('testing', 60), entry('pending', 90)] : []
    const document = { state: 'paused', enqueuedPullRequests }
    return { body: JSON.stringify(document), headers: { date: new Date(noon).toUTCString() } }
  }

  test('prints state, pull requests and ages of each queue that can be read', async () => {
    const { code, out, err, requests } = await mergeq('metrics --queues', { answer })
    const reads = requests.filter(({ path }) => path.endsWith('getQueue'))
    expect({ code, reads: reads.length }).toEqual({ code: 17, reads: 3 })
    expect(err).toContain('acme/web has no queue for gone.\n  It has queues for: main, a"b.\n')
    const main = 'repo="acme/web",branch="main"'
    const lines = out.split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE mergeq_queue_state gauge',
        `mergeq_queue_state{${main},state="paused"} 1`,
        `mergeq_queue_state{${main},state="running"} 0`,
        `mergeq_queue_pull_requests{${main},state="testing"} 1`,
        `mergeq_queue_pull_requests{${main},state="pending_failure"} 0`,
        'mergeq_queue_pull_requests{repo="acme/web",branch="a\\"b",state="testing"} 0',
      ]),
    )
    expect(lines.filter(line => /^mergeq_queue_\w+_age/.test(line))).toEqual([
      `mergeq_queue_head_age_seconds{${main}} 60`,
      `mergeq_queue_oldest_age_seconds{${main}} 90`,
    ])
  })

  test('is a table of series on a terminal, and records in JSON', async () => {
    const { out } = await show('--queues -b main', '', { answer, columns: 120 })
    expect(out).toMatch(/^mergeq_queue_head_age_seconds +repo=acme\/web branch=main +60$/m)
    const json = JSON.parse((await show('--queues -b main --json', '', { answer })).out)
    expect(json[0]).toMatchObject({ name: 'mergeq_queue_state', type: 'gauge', labels: { state: 'running' } })
  })
})
