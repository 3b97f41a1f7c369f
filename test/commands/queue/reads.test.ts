import { describe, expect, test } from 'vitest'
import { checkDepth, checkPaused, checkStalled } from '../../../src/commands/queue/check.ts'
import type { JsonObject } from '../../../src/json.ts'
import { type Answer, mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'
import { bisection, main } from '../../support/metrics-text.ts'
import { entry, queue } from '../../support/queue-watch.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', NO_COLOR: '1' }
const hour = 3_600_000
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
    entry(6, 'PENDING_FAILURE', {
      stateChangedAt: ago(60_000),
      priorityName: 'medium',
      prTitle: 'Speed up the order export',
    }),
    entry(1_207, 'PENDING', {
      stateChangedAt: ago(200 * 60_000),
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

  test('says what is known of the queue, and of each pull request, as `queue watch --once` does', async () => {
    const { code, out, requests } = await show(running)
    expect(code).toBe(0)
    expect(
      out,
    ).toBe(`acme/web main  ● running   1 testing (up to 2 runs) · 1 pending failure · 1 waiting · merges in about 11m (95%: 15m)
   PR     STATE              FOR    PRIORITY  AUTHOR   TITLE
1  #5     ◐ testing          4m     urgent    barbara  Cache the suggestions of the search box
2  #6     ! pending failure  1m     medium    -        Speed up the order export
3  #1207  ● pending          3h20m  medium    -        Rename the settings of the importer and more and more and more a…
`)
    expect(paths(requests).sort()).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
      '/v1/getQueue',
    ])
    expect((await show(running, { line: 'queue watch --once' })).out).toBe(out)
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
    const resume = 'To resume the queue, run: mergeq queue resume --repo acme/web --target-branch main'
    expect(out).toContain(`\u001B[33m${message}${message.endsWith(' ') ? resume : ''}\u001B[39m\n`)
  })

  test.each([401, 503])('a %i for the metrics is not reported, and not retried', async status => {
    const { code, out, err, requests } = await show(running, { metrics: { status } })
    expect({ code, err, requests: requests.length }).toEqual({ code: 0, err: '', requests: 2 })
    expect(out).toMatch(
      /^acme\/web main {2}● running {3}1 testing \(up to 2 runs\) · 1 pending failure · 1 waiting\n/,
    )
  })

  test('does not wait for metrics that never come', async () => {
    const { code, out } = await show(running, { metrics: new Promise(() => undefined) })
    expect({ code, isSaid: out.includes('merges in') }).toEqual({ code: 0, isSaid: false })
  })

  test.each(['--json', '-o csv', '--fields state'])('asks for no metrics with %s', async flags => {
    const { code, requests } = await show(running, { line: `queue get ${flags}` })
    expect(code).toBe(0)
    expect(paths(requests).filter(path => path !== '/v1/getQueue')).toEqual([])
  })

  test('a pipe asks for no metrics; with -o table it gets the screen without them', async () => {
    const pipe = { terminal: false }
    const { out, requests } = await show(running, pipe)
    expect(out).toMatch(/^1\t5\tTESTING\turgent\t2026-01-05T11:56:00.000Z\tbarbara\tCache the/)
    const forced = await show(running, { ...pipe, line: 'queue get -o table' })
    expect(forced.out).toMatch(
      /^acme\/web main {2}● running {3}1 testing \(up to 2 runs\) · 1 pending failure · 1 waiting\n {3}PR/,
    )
    expect([requests.length, forced.requests.length]).toEqual([1, 1])
  })
})

describe('queue get on a pipe', () => {
  const err = async (flags: string, record = queue('PAUSED')) =>
    (await mergeq(`queue get ${flags}`, { env, answer: () => ({ body: JSON.stringify(record) }) })).err

  test('says on standard error that no pull requests are queued, and the state of the queue', async () => {
    const note = 'No pull requests are queued for main of acme/web. The queue is PAUSED.\n'
    for (const flags of ['', '-o csv']) expect(await err(flags)).toBe(note)
    for (const flags of ['--json', '-o ndjson', '--fields state', '-q']) expect(await err(flags)).toBe('')
    expect(await err('', queue('PAUSED', entry(5, 'PENDING')))).toBe('')
  })
})

describe('queue list', () => {
  const branch = 'release/2026-01-long-lived-branch-of-the-platform-team'
  const text = `mq_depth_current{${main}} 23
mq_depth_current{${bisection}} 2
mq_depth_current{repo="acme/api",branch="${branch}",queue_type="main"} NaN
mq_testing_slots_active{${main}} 4
mq_pr_conclusions_1h_total{${main},conclusion="merged"} 60
mq_pr_conclusions_1h_total{${main},conclusion="failed"} 0
`
  const web = { repo: 'acme/web', branch: 'main', depth: 25, testing: 4, merged: 60, failed: 0 }
  const api = { repo: 'acme/api', branch, depth: null, testing: null, merged: null, failed: null }
  const list = (flags = '', setting: Setting = {}) =>
    mergeq(`queue list --color never ${flags}`, { answer: () => ({ body: text }), ...setting })

  test('one request without a repository, and a row for each queue', async () => {
    const { code, out, err, requests } = await list('', { terminal: true, columns: 120 })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(paths(requests)).toEqual(['/v1/getMergeQueueMetrics'])
    expect(
      out,
    ).toBe(`REPOSITORY  BRANCH                                                  DEPTH  TESTING  MERGED 1H  FAILED 1H
acme/web    main                                                       25        4         60          0
acme/api    ${branch}      -        -          -          -
`)
  })

  test('a pipe gets tab-separated values, and JSON and CSV have names', async () => {
    const print = async (flags: string) => (await list(flags)).out
    expect(await print('')).toBe(`acme/web\tmain\t25\t4\t60\t0\nacme/api\t${branch}\t\t\t\t\n`)
    expect(JSON.parse(await print('--json'))).toEqual([web, api])
    expect(await print('-o csv')).toBe(
      `repository,branch,depth,testing,merged_1h,failed_1h\r\nacme/web,main,25,4,60,0\r\nacme/api,${branch},,,,\r\n`,
    )
  })

  test('-R asks for one repository, -b keeps the queues of one branch', async () => {
    expect(paths((await list('-R acme/web')).requests)).toEqual([
      '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=github.com',
    ])
    expect(JSON.parse((await list('-b main --json')).out)).toEqual([web])
    expect((await list('--all-repos -R acme/web')).code).toBe(2)
  })

  test('no queue is a sentence on a terminal, and an empty list elsewhere', async () => {
    const none = { answer: () => ({ body: 'up 1\n' }) }
    expect(await list('', { ...none, terminal: true })).toMatchObject({
      code: 0,
      out: 'No queue has metrics. To look up a queue, run:\nmergeq queue get --repo owner/name --target-branch main\n',
      err: '',
    })
    expect((await list('', none)).out).toBe('')
    expect((await list('--json', none)).out).toBe('[]\n')
  })

  test('a rejected token ends with 4, and a text other than metrics with 15', async () => {
    expect((await list('', { answer: () => ({ status: 401 }) })).code).toBe(4)
    expect((await list('', { answer: () => ({ body: 'oops!\n' }) })).code).toBe(15)
  })
})

describe('queue check', () => {
  const changed = (prNumber: number, state: string, milliseconds: number) =>
    entry(prNumber, state, { stateChangedAt: ago(milliseconds) })
  const check = (flags: string, setting: Setting = {}) => mergeq(`queue check ${flags}`, { env, ...setting })

  test.each<readonly [document: JsonObject, most: number, ok: boolean, reason: string]>([
    [queue('running', entry(1, 'pending')), 1, true, '1 pull request queued, within the limit of 1'],
    [queue('running', entry(1, 'pending')), 0, false, '1 pull request queued, over the limit of 0'],
    [{}, 0, true, '0 pull requests queued, within the limit of 0'],
  ])('the depth of %j with the limit %i passes: %s', (document, most, ok, reason) => {
    expect(checkDepth(document, most)).toEqual({ check: 'max-depth', ok, reason })
  })

  test.each([
    ['paused', false, 'the queue is PAUSED'],
    ['draining', true, 'the queue is DRAINING'],
    ['someday', true, 'the queue is someday'],
    ['', false, 'the queue reports no state'],
  ])('the state %j passes --not-paused: %s', (state, ok, reason) => {
    expect(checkPaused(queue(state))).toEqual({ check: 'not-paused', ok, reason })
  })

  test.each([
    ['nothing waits', [], true, 'no pull requests are queued'],
    [
      'the newest change counts, wherever it stands',
      [changed(7, 'testing', 5 * hour), changed(8, 'PENDING', hour - 1_000)],
      true,
      'last state change 59m ago: #8 PENDING since 2026-01-05T11:00:01.000Z',
    ],
    [
      'exactly as long is too long',
      [changed(7, 'testing', hour)],
      false,
      'no state change for 1h with 1 pull request queued; last change: #7 TESTING since 2026-01-05T11:00:00.000Z',
    ],
    [
      'a change in the future is one of just now',
      [changed(7, 'testing', -hour)],
      true,
      'last state change 0s ago: #7 TESTING since 2026-01-05T13:00:00.000Z',
    ],
    [
      'one that does not say when is passed over',
      [entry(7, 'testing'), changed(8, 'pending', 2 * hour)],
      false,
      'no state change for 2h with 2 pull requests queued; last change: #8 PENDING since 2026-01-05T10:00:00.000Z',
    ],
    [
      'where none says when, it fails',
      [entry(7, 'testing', { stateChangedAt: 'yesterday' })],
      false,
      'no queued pull request reports when its state changed',
    ],
  ])('--stalled: %s', (_, entries, ok, reason) => {
    const summary = reason.replace(/#(\d+) (\w+) since .*/, (_, pr, state) => `#${pr} ${state.toLowerCase()}`)
    expect(checkStalled(queue('RUNNING', ...entries), hour, noon)).toEqual({
      check: 'stalled',
      ok,
      reason,
      ...(summary === reason ? {} : { summary }),
    })
  })

  const waiting = {
    answer: (): Answer => ({
      body: JSON.stringify(queue('PAUSED', changed(7, 'PENDING_FAILURE', 2 * hour))),
      headers: { date: new Date(noon).toUTCString() },
    }),
  }
  const day = 24 * hour

  test('--stalled is measured with the clock of the service, not ours', async () => {
    expect((await check('--stalled 121m', { ...waiting, now: noon + day })).code).toBe(0)
    expect((await check('--stalled 2h', { ...waiting, now: noon - day })).code).toBe(21)
  })

  test('--stalled must be more than 0', async () => {
    const { code, err } = await check('--stalled 0', waiting)
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--stalled must be more than 0.') })
  })

  test('--json has a verdict and each result; a pipe has a row for each', async () => {
    const flags = '--max-depth 0 --stalled 3h --not-paused'
    const stalled = 'last state change 2h ago: #7 PENDING_FAILURE since 2026-01-05T10:00:00.000Z'
    const checks = [
      { check: 'max-depth', ok: false, reason: '1 pull request queued, over the limit of 0' },
      { check: 'stalled', ok: true, reason: stalled },
      { check: 'not-paused', ok: false, reason: 'the queue is PAUSED' },
    ]
    const { code, out, err } = await check(flags, waiting)
    expect({ code, out }).toEqual({
      code: 21,
      out: checks.map(({ check, ok, reason }) => `${check}\t${ok}\t${reason}\n`).join(''),
    })
    expect(err).toContain(
      'Queue check failed for main of acme/web: 1 pull request queued, over the limit of 0; the queue is PAUSED.\n',
    )
    const json = await check(`${flags} --json`, waiting)
    expect(json.code).toBe(21)
    expect(JSON.parse(json.out)).toEqual({
      ok: false,
      repo: 'github.com/acme/web',
      targetBranch: 'main',
      checks,
    })
  })
})
