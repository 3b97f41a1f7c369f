import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mergeq, noon, openStory, type Seen, type Setting, type Story } from '../support/harness.ts'
import { entry, queue } from '../support/queue-watch.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', NO_COLOR: '1' }
const minutesAgo = (minutes: number) => new Date(noon - minutes * 60_000).toISOString()

const running = queue(
  'RUNNING',
  entry(5, 'TESTING', {
    stateChangedAt: minutesAgo(4),
    priorityName: 'urgent',
    prAuthor: 'barbara',
    prTitle: 'Cache the suggestions of the search box',
  }),
  entry(6, 'PENDING_FAILURE', {
    stateChangedAt: minutesAgo(1),
    priorityName: 'medium',
    prTitle: 'Speed up the order export',
  }),
  entry(1_207, 'PENDING', {
    stateChangedAt: minutesAgo(200),
    priorityName: 'medium',
    prTitle: `Rename the settings of the importer ${'and more '.repeat(20)}`,
  }),
)

/** Returns metrics in which 20 pull requests merged after less than 15 minutes, and others are not ready. */
const metricsOf = (branch: string, notReady: number) => {
  const labels = `repo="acme/web",branch="${branch}",queue_type="main"`
  const bucket = (le: string, count: number) =>
    `mq_pr_time_in_queue_1h_seconds_bucket{${labels},conclusion="merged",le="${le}"} ${count}\n`
  return `mq_awaiting_mergeability{${labels}} ${notReady}\n${bucket('600', 5)}${bucket('900', 20)}${bucket('+Inf', 20)}`
}

const serve =
  (record: object, metrics: string | number = metricsOf('main', 2) + metricsOf('dev', 9)) =>
  ({ path }: Seen) =>
    !path.startsWith('/v1/getMergeQueueMetrics')
      ? { body: JSON.stringify(record) }
      : typeof metrics === 'number'
        ? { status: metrics }
        : { body: metrics }

interface ShowOptions extends Setting {
  readonly line?: string
  readonly metrics?: string | number
}

const show = (record: object, { line = 'queue get', metrics, ...setting }: ShowOptions = {}) =>
  mergeq(line, { terminal: true, columns: 120, env, answer: serve(record, metrics), ...setting })

describe('queue get on a terminal', () => {
  test('says what is known of the queue, and of each pull request', async () => {
    const { code, out, requests } = await show(running)
    expect(code).toBe(0)
    expect(
      out,
    ).toBe(`acme/web main  ● RUNNING   testing 1/2   waiting 1   not ready 2   usually 11m, 19 of 20 within 15m
   PR     STATE              FOR  PRIORITY  AUTHOR   TITLE
1  #5     ◐ testing          4m   urgent    barbara  Cache the suggestions of the search box
2  #6     ! pending failure  1m   medium    -        Speed up the order export
3  #1207  ● pending          3h   medium    -        Rename the settings of the importer and more and more and more and…
`)
    expect(requests.map(({ path }) => path).sort()).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
      '/v1/getQueue',
    ])
  })

  test('omits the author if no record has one; shows a priority that all share', async () => {
    const { out } = await show(queue('RUNNING', entry(5, 'TESTING', { priorityName: 'medium' })))
    expect(out).toMatch(/^ {3}PR {2}STATE {6}PRIORITY {2}TITLE\n1 {2}#5 {2}◐ testing {2}medium {4}-$/m)
  })

  test('links each number to its pull request where the terminal has links', async () => {
    const { out } = await mergeq('queue get', {
      terminal: true,
      hasLinks: true,
      env,
      answer: serve(running),
    })
    expect(out).toContain('\u001B]8;;https://github.com/acme/web/pull/5\u0007#5\u001B]8;;\u0007')
  })

  test.each([
    ['PAUSED', 'The queue is paused: no tests start and nothing merges. '],
    ['DRAINING', 'The queue is draining: running tests finish and merge, but no new tests start. '],
  ])('%s is yellow and says how to resume the same queue', async (state, message) => {
    const { out } = await show(queue(state, entry(5, 'PENDING')), {
      line: 'queue get -R acme/web -b main --color always',
      metrics: 503,
      env: { ...env, NO_COLOR: '' },
      columns: 200,
    })
    expect(out).toContain(`\u001B[33m● ${state}\u001B[39m`)
    expect(out).toContain(
      `\u001B[33m${message}To resume the queue, run: mergeq queue resume --repo acme/web --target-branch main\u001B[39m\n`,
    )
  })

  test('SWITCHING_MODES cannot be resumed', async () => {
    const { out } = await show(queue('SWITCHING_MODES'), { metrics: 503 })
    expect(out).toContain('The queue is switching modes: no tests start until the switch is complete.\n')
    expect(out).not.toContain('resume')
  })

  test('an empty queue says that others are not listed, and how to see one', async () => {
    const { out } = await show(queue('RUNNING'), { metrics: '' })
    expect(out).toBe(`acme/web main  ● RUNNING   testing 0/2   waiting 0
No pull requests are queued. Pull requests that are not ready are not listed.
To check a pull request, run: mergeq pr get 7
`)
  })

  test('counts the pull requests of a queue that batches, and not its test runs', async () => {
    const { out } = await show({ ...running, batch: true }, { metrics: 503 })
    expect(out).toContain('   testing 1 in batches, 2 runs at a time   waiting 1\n')
  })

  test.each([401, 404, 429, 503])('a %i for the metrics is not reported, and not retried', async status => {
    const { code, out, err, requests } = await show(running, { metrics: status })
    expect({ code, err, requests: requests.length }).toEqual({ code: 0, err: '', requests: 2 })
    expect(out).toMatch(/^acme\/web main {2}● RUNNING {3}testing 1\/2 {3}waiting 1\n/)
  })

  test('metrics that do not answer cost at most about a second', async () => {
    const began = Date.now()
    const { code, out } = await mergeq('queue get', {
      terminal: true,
      env,
      answer: async seen => {
        if (seen.path.startsWith('/v1/getMergeQueueMetrics'))
          await new Promise(done => setTimeout(done, 4_000))
        return serve(running)(seen)
      },
    })
    expect(code).toBe(0)
    expect(out).not.toContain('usually')
    expect(Date.now() - began).toBeLessThan(3_500)
  })

  test.each(['--json', '-o ndjson', '-o csv', '-o markdown', '--fields state', '--dry-run'])(
    'asks for no metrics with %s',
    async flags => {
      const { code, requests } = await show(running, { line: `queue get ${flags}` })
      expect(code).toBe(0)
      expect(requests.filter(({ path }) => path !== '/v1/getQueue')).toEqual([])
    },
  )

  test('a pipe asks for no metrics; with -o table it gets the screen without them', async () => {
    const pipe = { terminal: false }
    const { out, requests } = await show(running, pipe)
    expect(out).toMatch(/^1\t5\tTESTING\turgent\t2026-01-05T11:56:00.000Z\tbarbara\tCache the/)
    const forced = await show(running, { ...pipe, line: 'queue get -o table' })
    expect(forced.out).toMatch(/^acme\/web main {2}● RUNNING {3}testing 1\/2 {3}waiting 1\n {3}PR/)
    expect([requests.length, forced.requests.length]).toEqual([1, 1])
  })

  test('names nothing that --set has replaced', async () => {
    const { out } = await show(running, { line: 'queue get --set repo=x' })
    expect(out).toMatch(/^POSITION {2}PR/)
  })

  test('watch --once shows the same', async () => {
    const { out } = await show(running, { line: 'queue watch --once' })
    expect(out).toBe((await show(running)).out)
  })

  test.each([60, 80, 120, 200])('fits %i columns, and cuts only titles', async columns => {
    const { out } = await show(queue('PAUSED', ...(running.enqueuedPullRequests as [])), { columns })
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    for (const text of ['#1207', '! pending failure', 'not ready 2', 'mergeq queue resume'])
      expect(out).toContain(text)
  })
})

describe.each(['document', 'hosted'] as const)('the screens of a queue, %s', dialect => {
  let story: Story
  beforeAll(async () => {
    const scenario = { scripts: [{ pr: 4, runs: ['fail'] }], settings: { concurrency: 3 } }
    story = await openStory({
      dialect,
      speed: 0.01,
      scenario: 'mine.json',
      readScenario: async () => JSON.stringify(scenario),
    })
    for (const group of ['2 3 4', '5 6 7 8 9']) {
      await story.mergeq(`pr submit ${group} --priority high`)
      story.clock.now += 150_000
    }
    await story.mergeq('pr submit 10 11 --priority urgent')
    await story.mergeq('queue create -b empty')
    story.clock.now += 10_000
  })
  afterAll(() => story.close())

  test.each([60, 80, 120, 200])('%i columns', async columns => {
    let golden = ''
    const setting = { terminal: true, columns, env: { NO_COLOR: '1' } }
    for (const line of ['queue get', 'queue pause', 'queue get', 'queue resume', 'queue get -b empty']) {
      const { out, code } = await story.mergeq(line, setting)
      if (line.startsWith('queue get')) golden += `$ mergeq ${line}\n${out}-> ${code}\n\n`
    }
    await expect(golden).toMatchFileSnapshot(`../golden/${dialect}/queue-screens-${columns}.txt`)
  })
})
