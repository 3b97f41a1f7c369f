import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, openStory, type Seen, type Setting } from '../../support/harness.ts'
import { entry, queue } from '../../support/queue-watch.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', NO_COLOR: '1' }
/** A moment so many milliseconds ago. */
const ago = (milliseconds: number) => new Date(noon - milliseconds).toISOString()
const paths = (requests: readonly Seen[]) => requests.map(({ path }) => path)

describe('queue get on a terminal', () => {
  const running = queue(
    'RUNNING',
    entry(5, 'TESTING', {
      stateChangedAt: ago(4 * 60_000),
      priorityName: 'urgent',
      prAuthor: 'barbara',
      prTitle: 'Cache the suggestions of the search box',
    }),
    entry(6, 'PENDING_FAILURE'),
    entry(8, 'PENDING'),
  )

  /** Returns metrics in which 20 pull requests merged after less than 15 minutes, and others are not ready. */
  const metricsOf = (branch: string, notReady: number) => {
    const labels = `repo="acme/web",branch="${branch}",queue_type="main"`
    const bucket = (le: string, count: number) =>
      `mq_pr_time_in_queue_1h_seconds_bucket{${labels},conclusion="merged",le="${le}"} ${count}\n`
    return `mq_awaiting_mergeability{${labels}} ${notReady}\n${bucket('600', 5)}${bucket('900', 20)}${bucket('+Inf', 20)}`
  }
  const goodMetrics = { body: metricsOf('main', 2) + metricsOf('dev', 9) }
  const noMetrics = { status: 503 }

  interface ShowOptions extends Setting {
    readonly line?: string
    readonly metrics?: Answer | Promise<Answer>
  }
  const show = (
    record: object,
    { line = 'queue get', metrics = goodMetrics, ...setting }: ShowOptions = {},
  ) =>
    mergeq(line, {
      terminal: true,
      columns: 120,
      env,
      answer: ({ path }) => (path === '/v1/getQueue' ? { body: JSON.stringify(record) } : metrics),
      ...setting,
    })

  test.each([
    ['PAUSED', 'The queue is paused: no tests start and nothing merges. '],
    ['DRAINING', 'The queue is draining: running tests finish and merge, but no new tests start. '],
    ['SWITCHING_MODES', 'The queue is switching modes: no tests start until the switch is complete.'],
  ])('%s is yellow, and says how to resume the same queue if it can be resumed', async (state, message) => {
    const { out } = await show(queue(state, entry(5, 'PENDING')), {
      line: 'queue get -R acme/web -b main --color always',
      metrics: noMetrics,
      env: { ...env, NO_COLOR: '' },
      columns: 200,
    })
    expect(out).toContain(`\u001B[33m! ${state.toLowerCase().replace('_', ' ')}\u001B[39m`)
    const resume = 'If you manage the queue: mergeq queue resume --repo acme/web --target-branch main'
    expect(out).toContain(`\u001B[33m${message}${message.endsWith(' ') ? resume : ''}\u001B[39m\n`)
  })

  test.each([401, 503])('a %i for the metrics is not reported, and not retried', async status => {
    const { code, out, err, requests } = await show(running, { metrics: { status } })
    expect({ code, err, requests: requests.length }).toEqual({ code: 0, err: '', requests: 2 })
    expect(out).toMatch(/^acme\/web main {2}► running {3}1 of 2 test runs · 1 pending failure · 1 waiting\n/)
  })

  test('says who is tested together, with one request, where the service says it', async () => {
    const prs = [5, 6, 8, 9, 12]
    // One is tested alone.
    const runs = ['one', 'one', 'two', 'two', 'three']
    const listed = queue('RUNNING', ...prs.map(pr => entry(pr, 'TESTING')))
    const batching = { ...listed, batch: true, concurrency: 3 }
    const pullRequests = prs.map((prNumber, index) => ({
      prNumber,
      state: 'testing',
      testRunId: runs[index],
    }))
    const showWith = (several: Answer) =>
      show(batching, {
        answer: ({ path, body }) => {
          if (path === '/v1/getQueue') return { body: JSON.stringify(batching) }
          if (path !== '/v1/getSubmittedPullRequests') return noMetrics
          expect(JSON.parse(body).includeTimeline).toBe(true)
          return several
        },
      })
    const { out, requests } = await showWith({ body: JSON.stringify({ pullRequests }) })
    expect(out).toMatch(/ 3 of 3 test runs\nTested together: #5, #6; #8, #9\n/)
    expect(paths(requests).filter(path => path.includes('PullRequest'))).toHaveLength(1)
    const unknown = await showWith({ status: 404 })
    expect(unknown.out).toMatch(/ 5 testing in batches\n {3}PR/)
  })

  test('does not wait for metrics that never come', async () => {
    const { code, out } = await show(running, { metrics: new Promise(() => undefined) })
    expect({ code, isSaid: out.includes('median') }).toEqual({ code: 0, isSaid: false })
  })

  test.each(['--json', '-o csv', '--fields state'])('asks for no metrics with %s', async flags => {
    const { code, requests } = await show(running, { line: `queue get ${flags}` })
    expect(code).toBe(0)
    expect(paths(requests).filter(path => path !== '/v1/getQueue')).toEqual([])
  })

  test('an empty queue says how many pull requests are not ready, on a pipe too', async () => {
    const { out } = await show(queue('RUNNING'))
    expect(out).toContain('No pull requests are queued. 2 pull requests are not ready.\n')
    const pipe = await show(queue('RUNNING'), { terminal: false })
    expect(pipe).toMatchObject({ out: '', err: expect.stringMatching(/ 2 pull requests are not ready\.\n$/) })
    const page = await show(queue('RUNNING'), { terminal: false, line: 'queue get -o table' })
    expect(page.out).toContain('No pull requests are queued. 2 pull requests are not ready.\n')
    const watch = await show(queue('RUNNING'), { terminal: false, line: 'queue watch --for 1s' })
    expect(watch.err).toContain('2 pull requests are not ready.')
  })

  test('a pipe asks for no metrics; with -o table it gets the screen without them', async () => {
    const pipe = { terminal: false }
    const { out, requests } = await show(running, pipe)
    expect(out).toMatch(/^1\t5\tTESTING\turgent\t2026-01-05T11:56:00.000Z\tbarbara\tCache the/)
    const forced = await show(running, { ...pipe, line: 'queue get -o table' })
    expect(forced.out).toMatch(
      /^acme\/web main {2}► running {3}1 of 2 test runs · 1 pending failure · 1 waiting\n {3}PR/,
    )
    expect([requests.length, forced.requests.length]).toEqual([1, 1])
  })
})

describe('queue get on a pipe', () => {
  test('-o ndjson prints a pull request a line', async () => {
    const body =
      '{"state":"RUNNING","enqueuedPullRequests":[{"prNumber":7,"state":"TESTING"},{"prNumber":8,"state":"PENDING"}]}'
    const { out } = await mergeq('queue get -o ndjson', { env, answer: () => ({ body }) })
    expect(out).toBe('{"prNumber":7,"state":"TESTING"}\n{"prNumber":8,"state":"PENDING"}\n')
    expect((await mergeq('queue get --help')).out).toMatch(/ndjson +a pull request of the queue per line/)
  })

  const err = async (flags: string, record = queue('PAUSED')) =>
    (await mergeq(`queue get ${flags}`, { env, answer: () => ({ body: JSON.stringify(record) }) })).err

  test('says on standard error that no pull requests are queued, and the state of the queue', async () => {
    const note = 'No pull requests are queued for main of acme/web. The queue is PAUSED.\n'
    for (const flags of ['', '-o csv']) expect(await err(flags)).toBe(note)
    for (const flags of ['--json', '-o ndjson', '--fields state', '-q']) expect(await err(flags)).toBe('')
    expect(await err('', queue('PAUSED', entry(5, 'PENDING')))).toBe('')
  })
})

test('CSV of pull requests has the names of their fields, in the order of pr list', async () => {
  const story = await openStory({ dialect: 'hosted' })
  await story.mergeq('pr submit 8 9')
  story.clock.now += 1_000
  const table = async (line: string) =>
    (await story.mergeq(`${line} -o csv`)).out.split('\r\n').map(row => row.split(','))
  const [queue, list] = [await table('queue get'), await table('pr list --state pending --state testing')]
  const names = ['prNumber', 'state', 'stateChangedAt', 'prAuthor', 'priorityName', 'prTitle']
  expect(list[0]).toEqual(names)
  expect(queue[0]).toEqual([...names, 'position'])
  const found = queue.slice(1, -1).map(row => row.slice(0, -1).join())
  expect(found).toHaveLength(2)
  expect(found.sort()).toEqual(
    list
      .slice(1, -1)
      .map(row => row.join())
      .sort(),
  )
})
