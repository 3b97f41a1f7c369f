import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { mergeq, openStory, type Setting } from '../support/harness.ts'
import { bisection, bucketLines, main } from '../support/metrics-text.ts'

/** The lines of a histogram, from its cumulative counts. */
const histogram = (name: string, labels: string, counts: readonly (number | string)[]): string =>
  [
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
# TYPE mq_pr_wait_duration_1h_seconds histogram
${histogram('mq_pr_wait_duration_1h_seconds', main, [60, 60, 60, 60, 60, 60, 60, 60, 60])}
# TYPE mq_pr_test_duration_1h_seconds histogram
${histogram('mq_pr_test_duration_1h_seconds', main, [0, 0, 0, 0, 0, 0, 0, 0, 0])}
# TYPE mq_pr_time_in_queue_1h_seconds histogram
${histogram('mq_pr_time_in_queue_1h_seconds', `${main},conclusion="merged"`, [0, 10, 40, 50, 55, 60, 60, 60, 60])}
${histogram('mq_pr_time_in_queue_1h_seconds', `${main},conclusion="failed"`, [9, 9, 9, 9, 9, 9, 9, 9, 9])}
`
const show = (words: string, body: string, setting: Setting = {}) =>
  mergeq(`${words} --color never`, { answer: () => ({ body }), terminal: true, columns: 80, ...setting })
const printed = async (words: string, body: string, setting: Setting = {}) => {
  const { code, out, err } = await show(words, body, setting)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

/** A queue with a depth, so that it has some activity. */
const queueOf = (repo: string, branch: string, depth: number) =>
  `mq_depth_current{repo="${repo}",branch="${branch}",queue_type="main"} ${depth}\n`

describe('the summary on a terminal', () => {
  test('a few lines for each queue; a histogram without observations has no line', async () => {
    expect(await printed('metrics', text)).toBe(`acme/web main, last hour
  merged 60   failed 0   cancelled 4   restarts 2      depth 23   testing 4
  time in queue   p50 8m20s   p95 42m00s   ▃█▃▁▁
  waiting         p50 under 1m   p95 under 1m   █
`)
  })

  test.each([60, 80, 120, 200])('every line fits %d columns', async columns => {
    const long = `mq_awaiting_mergeability{${main}} 3\n${queueOf('acme/platform-tools', 'release/2026.01', 4)}up 1\n`
    const out = await printed('metrics', text.replace(`${main}} 0\nmq_pr_c`, `${main}} 1\nmq_pr_c`) + long, {
      columns,
    })
    for (const line of out.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    expect(out).toContain('acme/platform-tools release/2026.01, last hour\n')
    expect(out).toMatch(/depth 23 {3}testing 4 {3}not ready 4\n/)
  })

  test('a narrow terminal shows the current numbers on a separate line', async () => {
    expect(await printed('metrics', text, { columns: 60 })).toContain(`
  merged 60   failed 0   cancelled 4   restarts 2
  depth 23   testing 4
`)
  })

  test('bisections count, and the queued pull requests in them are named', async () => {
    const body = `${text}mq_depth_current{${bisection}} 2
mq_testing_slots_active{${bisection}} 1
mq_pr_conclusions_1h_total{${bisection},conclusion="failed"} 3
`
    const out = await printed('metrics', body, { columns: 120 })
    expect(out).toContain('failed 3')
    expect(out).toContain('depth 25 (2 in bisection)   testing 5\n')
  })

  test('missing, NaN and infinite values are shown as unknown', async () => {
    const body = `mq_depth_current{${main}} NaN
mq_testing_slots_active{${main}} +Inf
${histogram('mq_pr_time_in_queue_1h_seconds', main, Array(9).fill('NaN'))}`
    expect(await printed('metrics', body)).toBe(`acme/web main, last hour
  merged -   failed -   cancelled -   restarts -      depth -   testing -
`)
  })

  test('a time in the last bucket is over the highest bound', async () => {
    const body = histogram('mq_pr_time_in_queue_1h_seconds', main, [0, 0, 0, 0, 5, 5, 5, 6, 10])
    expect(await printed('metrics', body)).toContain('  time in queue   p50 30m00s   p95 over 2h   █  ▂▆\n')
  })

  test('series that are not known are counted in the last line, which names --raw', async () => {
    const out = await printed('metrics', `${text}up 1\nmq_new{${main}} 1\n`)
    expect(out).toMatch(/\n\n2 other series\. To print all series, run: mergeq metrics --raw\n$/)
    expect(
      await printed('metrics', 'up 1\n', { columns: 100 }),
    ).toBe(`No queue metrics found. Does the queue exist, and was it active in the last hour?
To look up a queue, run: mergeq queue get

1 other series. To print all series, run: mergeq metrics --raw
`)
  })

  test.each(['metrics', 'metrics --raw'])('without metrics `%s` says so, with the next step', async words => {
    expect(await printed(words, '\n', { columns: 100 })).toBe(
      `No metrics found. Does the queue exist, and was it active in the last hour?
To look up a queue, run: mergeq queue get
`,
    )
    expect(await printed(`${words} -b quiet`, text, { columns: 100 })).toBe(
      `No metrics found for branch quiet. Does the queue exist, and was it active in the last hour?
To list the queues that have metrics, run: mergeq queue list
`,
    )
  })

  test('of many queues the first are shown, in the order of the service', async () => {
    const body = Array.from({ length: 3_000 }, (_, index) => queueOf('acme/web', `b${index}`, index)).join('')
    const out = await printed('metrics', body)
    const shown = [...out.matchAll(/^acme\/web (b\d+), last hour$/gm)].map(([, branch]) => branch)
    expect(shown).toEqual(Array.from({ length: 20 }, (_, index) => `b${index}`))
    expect(out).toMatch(/\n\n2,980 other queues\. To list all queues, run: mergeq queue list\n$/)
  })

  test('-b and -R choose what is shown', async () => {
    const body = queueOf('acme/web', 'main', 1) + queueOf('acme/web', 'release', 2)
    expect(await printed('metrics -b release', body)).toMatch(/^acme\/web release, .*\n.*depth 2 .*\n$/)
    const { requests } = await show('metrics -R acme/web', body)
    expect(requests.map(({ path }) => path)).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
    ])
  })

  test('a failed pull request is red, and a name of the service is harmless', async () => {
    const body = `mq_pr_conclusions_1h_total{repo="acme/w\u001B]0;eb",branch="m\u0007ain",conclusion="failed"} 3\n`
    const { out } = await mergeq('metrics --color always', { answer: () => ({ body }), terminal: true })
    expect(out).toContain('\u001B[31mfailed 3\u001B[39m')
    expect(out).not.toMatch(/\u001B\]|\u0007/)
  })
})

describe('metrics --raw', () => {
  const similar = ['merged', 'failed', 'cancelled']
    .map(
      conclusion =>
        `mq_pr_conclusions_1h_total{repo="acme/web",branch="release/2026-01-of-the-platform",queue_type="bisection",conclusion="${conclusion}"} 1234567\n`,
    )
    .join('')
  const body = `${text}${similar}`

  test.each([60, 80, 120, 200])('on %d columns no name, label or value is cut', async columns => {
    const out = await printed('metrics --raw', body, { columns })
    for (const line of out.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
    expect(out).not.toContain('…')
    expect(out.match(/mq_pr_time_in_queue_1h_seconds/g)).toHaveLength(2)
    const words = out.split(/\s+/)
    for (const word of ['conclusion=merged', 'conclusion=failed', 'conclusion=cancelled', '1234567'])
      expect(words).toContain(word)
  })

  test('a pipe gets the same bytes, and other formats the same records', async () => {
    const answer = () => ({ body })
    for (const flags of ['', '--json', '-o ndjson', '-o csv', '-o markdown', '--fields name'])
      expect((await mergeq(`metrics --raw ${flags}`, { answer })).out).toBe(
        (await mergeq(`metrics ${flags}`, { answer })).out,
      )
    expect((await mergeq('metrics --raw', { answer })).out).toBe(body)
  })
})

describe.each(['document', 'hosted'] as const)('the summary of the sandbox, %s', dialect => {
  test('has what was merged, and no series that it does not know', async () => {
    const story = await openStory({ dialect })
    await story.mergeq('pr submit 7 8 9')
    story.clock.now += 60_000
    const { code, out } = await story.mergeq('metrics --color never', { terminal: true, columns: 80 })
    await story.close()
    expect(code).toBe(0)
    expect(out).toBe(`acme/web main, last hour
  merged 3   failed 0   cancelled 0   restarts 0      depth 0   testing 0
  time in queue   p50 under 1m   p95 under 1m   █
  waiting         p50 under 1m   p95 under 1m   █
  testing         p50 under 1m   p95 under 1m   █
`)
  })
})
