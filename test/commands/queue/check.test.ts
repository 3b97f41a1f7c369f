import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { checkDepth, checkNotReady, checkPaused, checkStalled } from '../../../src/commands/queue/check.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { type Answer, mergeq, noon, type Seen, type Setting } from '../../support/harness.ts'
import { entry, queue } from '../../support/queue-watch.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', NO_COLOR: '1' }
const hour = 3_600_000
/** A moment so many milliseconds ago. */
const ago = (milliseconds: number) => new Date(noon - milliseconds).toISOString()

describe('queue check', () => {
  const changed = (prNumber: number, state: string, milliseconds: number) =>
    entry(prNumber, state, { stateChangedAt: ago(milliseconds) })
  const check = (flags: string, setting: Setting = {}) => mergeq(`queue check ${flags}`, { env, ...setting })

  const one = queue('running', entry(1, 'pending'))
  test.each([
    [checkDepth(one, 1), 'max-depth', true, '1 pull request queued, within the limit of 1'],
    [checkDepth(one, 0), 'max-depth', false, '1 pull request queued, over the limit of 0'],
    [checkDepth({}, 0), 'max-depth', true, '0 pull requests queued, within the limit of 0'],
    [checkNotReady(3, 3), 'max-not-ready', true, '3 pull requests not ready, within the limit of 3'],
    [checkNotReady(1, 0), 'max-not-ready', false, '1 pull request not ready, over the limit of 0'],
    [
      checkNotReady(undefined, 9),
      'max-not-ready',
      false,
      'the metrics do not say how many pull requests are not ready',
    ],
  ])('a limit: %j', (found, check, ok, reason) => {
    expect(found).toEqual({ check, ok, reason })
  })

  test.each([
    ['paused', false, 'the queue is PAUSED', 'the queue is paused'],
    ['draining', true, 'the queue is DRAINING', 'the queue is draining'],
    ['someday', true, 'the queue is someday', 'the queue is someday'],
    ['', false, 'the queue reports no state', 'the queue reports no state'],
  ])('the state %j passes --not-paused: %s', (state, ok, reason, summary) => {
    expect(checkPaused(queue(state))).toEqual({ check: 'not-paused', ok, reason, summary })
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
    expect((await check('--only --stalled 121m', { ...waiting, now: noon + day })).code).toBe(0)
    const { code, err } = await check('--only --stalled 2h', { ...waiting, now: noon - day })
    expect(code).toBe(21)
    expect(err).toContain('To see why, run: mergeq queue explain')
  })

  test.each([
    ['--stalled 0', '--stalled must be more than 0.'],
    ['--only', '--only needs a condition.'],
  ])('%s is a usage error', async (flags, message) => {
    expectUsageError(await check(flags, waiting), message)
  })

  test('--json has a verdict and each result; a pipe has a row for each', async () => {
    const flags = '--only --max-depth 0 --stalled 3h --not-paused'
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
      result: 'fail',
      checks,
      notReady: null,
      exit: 21,
      message: '1 pull request queued, over the limit of 0; the queue is PAUSED.',
    })
  })

  /** Metrics of queues of acme, with what failed and merged in the last hour. */
  const metricsOf = (...queues: readonly (readonly [name: string, failed: number, merged: number])[]) =>
    queues
      .map(([name, failed, merged]) => {
        const labels = `repo="acme/${name}",branch="main"`
        const count = (conclusion: string, value: number) =>
          `mq_pr_conclusions_1h_total{${labels},conclusion="${conclusion}"} ${value}\n`
        return `mq_depth_current{${labels}} 1\n${count('failed', failed)}${count('merged', merged)}`
      })
      .join('')
  const serve = (state: string, metrics: Answer, age = 0) => ({
    answer: ({ path, body }: Seen): Answer => {
      if (path.includes('Metrics')) return metrics
      if (body.includes('"denied"')) return { status: 403 }
      const isPaused = state === 'PAUSED' || body.includes('"paused"')
      const headers = { date: new Date(noon).toUTCString() }
      return { headers, body: JSON.stringify(queue(isPaused ? 'PAUSED' : state, changed(7, 'PENDING', age))) }
    },
  })

  test.each<readonly [why: string, setting: Setting, code: number, message: string]>([
    ['half of them failed', serve('RUNNING', { body: metricsOf(['web', 2, 2]) }), 0, ''],
    [
      'more failed',
      serve('RUNNING', { body: metricsOf(['web', 3, 2]) }),
      21,
      '3 of the 5 pull requests that left in the last hour failed',
    ],
    ['no data', serve('RUNNING', { body: metricsOf(['web', 0, 0]) }), 0, ''],
    ['no metrics', serve('RUNNING', { status: 400 }), 0, 'Failures were not checked: '],
    ['paused', serve('PAUSED', { body: '' }), 21, 'the queue is PAUSED'],
    ['stalled', serve('RUNNING', { body: '' }, hour), 21, 'no state change for 1h'],
  ])('without conditions it checks what makes sense: %s', async (_, setting, exit, message) => {
    const { code, err } = await check('', setting)
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(message) })
  })

  test('--all has a row for each queue, and ends with the worst code', async () => {
    const names = [
      ['web', 0, 9],
      ['paused', 9, 0],
      ['denied', 0, 9],
    ] as const
    const setting = { ...serve('RUNNING', { body: metricsOf(...names) }), env: {} }
    const { code, out, err, requests } = await check('--all', setting)
    expect({ code, requests: requests.length }).toEqual({ code: 4, requests: 4 })
    const failed = 'the queue is PAUSED; 9 of the 9 pull requests that left in the last hour failed'
    expect(out).toMatch(/^github.com\/acme\/web\tmain\ttrue\tpass\tAll checks passed\.\t\n/)
    expect(out).toContain(`github.com/acme/paused\tmain\tfalse\tfail\t${failed}.\t\n`)
    expect(out).toMatch(/\ngithub.com\/acme\/denied\tmain\tfalse\terror\t.*denied access/)
    expect(err).toContain(`Queue check failed for main of acme/paused: ${failed}.\n`)
    const screen = await check('--all --only --not-paused', {
      ...setting,
      terminal: true,
      env: { NO_COLOR: '1' },
    })
    expect(screen.out).toMatch(/^acme\/paused +main +✗ fail +the queue is paused *$/m)
    const json = JSON.parse((await check('--all --only --max-depth 0 --json', setting)).out)
    expect(json).toMatchObject([
      { ok: false, result: 'fail', checks: [{ check: 'max-depth' }], exit: 21 },
      { ok: false, result: 'fail', checks: [{ check: 'max-depth' }], exit: 21 },
      { ok: false, result: 'error', checks: [], exit: 4, message: expect.stringContaining('denied access') },
    ])
  })

  test.each([
    ['', 0, ['stalled', 'not-paused', 'failures']],
    ['--max-depth 0', 21, ['max-depth', 'stalled', 'not-paused', 'failures']],
    ['--stalled 30m', 21, ['stalled', 'not-paused', 'failures']],
    ['--not-paused', 0, ['stalled', 'not-paused', 'failures']],
    ['--only --not-paused', 0, ['not-paused']],
    ['--only --stalled 30m', 21, ['stalled']],
    ['--only --max-not-ready 0 --not-paused', 21, ['max-not-ready', 'not-paused']],
  ])('%j makes these checks, with exit code %i: %j', async (flags, exit, names) => {
    const setting = serve('RUNNING', { body: metricsOf(['web', 0, 9]) }, hour / 2)
    const { code, out } = await check(`${flags} --json`, setting)
    const checks: readonly { readonly check: string }[] = JSON.parse(out).checks
    expect({ code, names: checks.map(({ check }) => check) }).toEqual({ code: exit, names })
  })

  test('how many are not ready is the sum over the kinds of queues, for one queue and for several', async () => {
    const labels = 'repo="acme/web",branch="main"'
    const count = (kind: string, value: number) =>
      `mq_awaiting_mergeability{${labels},queue_type="${kind}"} ${value}\n`
    const body = `mq_depth_current{${labels}} 1\n${count('main', 2)}${count('bisection', 1)}`
    const setting = serve('RUNNING', { body })
    const one = await check('--max-not-ready 2 --json', setting)
    expect({ code: one.code, document: JSON.parse(one.out) }).toMatchObject({
      code: 21,
      document: { notReady: 3, message: '3 pull requests not ready, over the limit of 2.' },
    })
    const all = await check('--all --max-not-ready 3 --json', { ...setting, env: {} })
    expect({ code: all.code, document: JSON.parse(all.out) }).toMatchObject({
      code: 0,
      document: [{ ok: true, notReady: 3 }],
    })
  })

  describe('--statuses', () => {
    const result = (id: string, outcome = 'passed') => ({
      prNumber: 7,
      testRunId: id,
      outcome,
      endedAt: ago(hour),
    })
    const status = (context: string, state: string) => ({ context, state })
    const details = (...statusChecks: readonly JsonObject[]) => ({
      requiredStatuses: ['unit', 'lint'],
      statusChecks,
    })
    const passed = [status('unit', 'SUCCESS'), status('lint', 'SUCCESS')]
    /** The service with test runs, and their details by ID. */
    const runs = (results: readonly JsonObject[], byId: (id: string) => JsonObject | undefined): Setting => ({
      answer({ path, body }: Seen): Answer {
        if (path.includes('listMergeQueueTestingResults')) {
          const { offset = 0, take } = JSON.parse(body)
          const rows = results.slice(offset, offset + take)
          return { body: JSON.stringify({ testingResults: rows, totalItems: results.length }) }
        }
        if (path.includes('getMergeQueueTestingDetails')) {
          const found = byId(JSON.parse(body).testRunId)
          return found === undefined ? { status: 404 } : { body: JSON.stringify(found) }
        }
        return path.includes('getQueue') ? { body: JSON.stringify(queue('RUNNING')) } : { status: 404 }
      },
    })
    const statuses = async (setting: Setting, count = 5) => {
      const outcome = await check(`--only --statuses ${count} --json`, setting)
      return { ...outcome, checks: JSON.parse(outcome.out).checks }
    }

    test('each that never reported or never passed fails', async () => {
      const results = ['a', 'b', 'c'].map(id => result(id))
      const { code, checks } = await statuses(runs(results, () => details(status('unit', 'FAILURE'))))
      const reason = 'required statuses in 3 finished test runs: never reported: lint; never passed: unit'
      expect({ code, checks }).toEqual({ code: 21, checks: [{ check: 'statuses', ok: false, reason }] })
    })

    test('the last test runs count, each once; cancelled ones and those without details do not', async () => {
      const results = [
        result('gone'),
        result('x', 'cancelled'),
        result('a'),
        result('a'),
        result('b'),
        result('c', 'failed'),
        result('d', 'interrupted'),
        result('old'),
      ]
      const read: string[] = []
      const { code, checks } = await statuses(
        runs(results, id => {
          read.push(id)
          if (id === 'gone') return undefined
          return id === 'd' ? details(...passed) : details(status('unit', 'PENDING'))
        }),
      )
      expect(read.toSorted()).toEqual(['a', 'b', 'c', 'd', 'gone'])
      const reason = '2 of 2 required statuses passed in 4 finished test runs'
      expect({ code, checks }).toEqual({ code: 0, checks: [{ check: 'statuses', ok: true, reason }] })
    })

    test('fewer than 3 test runs pass with a remark', async () => {
      const { code, checks } = await statuses(runs([result('a'), result('b')], () => details()))
      const reason = 'only 2 finished test runs with details; 3 are needed to check statuses'
      expect({ code, checks }).toEqual({ code: 0, checks: [{ check: 'statuses', ok: true, reason }] })
    })

    test('a status that is new does not fail, and one that is required no longer is left out', async () => {
      const results = ['a', 'b', 'c'].map(id => result(id))
      const byId = (id: string) =>
        id === 'a'
          ? { ...details(...passed), requiredStatuses: ['unit', 'new'] }
          : { ...details(...passed), requiredStatuses: ['unit', 'old'] }
      const { code, checks } = await statuses(runs(results, byId))
      expect({ code, checks }).toMatchObject({
        code: 0,
        checks: [{ reason: expect.stringMatching(/^1 of 2 .*; required by fewer than 3 .*: new$/) }],
      })
    })

    test('more than a page is read for them', async () => {
      const cancelled = Array.from({ length: 150 }, (_, index) => result(`x${index}`, 'cancelled'))
      const results = [...cancelled, ...['a', 'b', 'c'].map(id => result(id))]
      const { code, requests } = await statuses(runs(results, () => details(...passed)))
      expect(code).toBe(0)
      expect(requests.filter(({ path }) => path.includes('TestingResults'))).toHaveLength(2)
    })

    test.each([
      [404, 5],
      [403, 4],
    ])('a list that answers %i is an error, not a pass', async (status, exit) => {
      const setting: Setting = {
        answer: ({ path }: Seen): Answer =>
          path.includes('getQueue') ? { body: JSON.stringify(queue('RUNNING')) } : { status },
      }
      const { code, out } = await check('--only --statuses 5', setting)
      expect({ code, out }).toEqual({ code: exit, out: '' })
    })
  })
})
