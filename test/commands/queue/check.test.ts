import { describe, expect, test } from 'vitest'
import { checkDepth, checkPaused, checkStalled } from '../../../src/commands/queue/check.ts'
import type { JsonObject } from '../../../src/json.ts'
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

  test.each<readonly [document: JsonObject, most: number, ok: boolean, reason: string]>([
    [queue('running', entry(1, 'pending')), 1, true, '1 pull request queued, within the limit of 1'],
    [queue('running', entry(1, 'pending')), 0, false, '1 pull request queued, over the limit of 0'],
    [{}, 0, true, '0 pull requests queued, within the limit of 0'],
  ])('the depth of %j with the limit %i passes: %s', (document, most, ok, reason) => {
    expect(checkDepth(document, most)).toEqual({ check: 'max-depth', ok, reason })
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
      result: 'fail',
      checks,
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
    expect(out).toMatch(/^github.com\/acme\/web\tmain\ttrue\tpass\tAll checks passed\.\n/)
    expect(out).toContain(`github.com/acme/paused\tmain\tfalse\tfail\t${failed}.\n`)
    expect(out).toMatch(/\ngithub.com\/acme\/denied\tmain\tfalse\terror\t.*denied access/)
    expect(err).toContain(`Queue check failed for main of acme/paused: ${failed}.\n`)
    const screen = await check('--all --not-paused', { ...setting, terminal: true, env: { NO_COLOR: '1' } })
    expect(screen.out).toMatch(/^acme\/paused +main +✗ fail +the queue is paused$/m)
    expect(screen.err).toMatch(/^Default checks that were left out: stalled, failures\.$/m)
    const json = JSON.parse((await check('--all --max-depth 0 --json', setting)).out)
    expect(json).toMatchObject([
      { ok: false, result: 'fail', checks: [{ check: 'max-depth' }], exit: 21 },
      { ok: false, result: 'fail', checks: [{ check: 'max-depth' }], exit: 21 },
      { ok: false, result: 'error', checks: [], exit: 4, message: expect.stringContaining('denied access') },
    ])
  })
})
