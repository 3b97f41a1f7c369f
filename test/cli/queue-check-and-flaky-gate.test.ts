import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readBaseline } from '../../src/commands/flaky/gate.ts'
import { checkDepth, checkPaused, checkStalled } from '../../src/commands/queue/check.ts'
import type { JsonObject } from '../../src/json.ts'
import {
  type Answer,
  mergeq,
  noon,
  openStory,
  type Seen,
  type Setting,
  type Story,
} from '../support/harness.ts'

const dialects = ['document', 'hosted'] as const

async function tell(
  dialect: (typeof dialects)[number],
  story: (story: Story) => Promise<void>,
  scenario = 'happy',
) {
  const opened = await openStory({ dialect, scenario })
  try {
    await story(opened)
  } finally {
    await opened.close()
  }
}

const at = (ago: number): string => new Date(noon - ago).toISOString()
const entry = (prNumber: number, state: string, stateChangedAt?: string): JsonObject => ({
  prNumber,
  state,
  ...(stateChangedAt === undefined ? {} : { stateChangedAt }),
})
const queue = (state: string, ...enqueuedPullRequests: readonly JsonObject[]): JsonObject => ({
  state,
  enqueuedPullRequests,
})

describe.each(dialects)('gates in the %s dialect', dialect => {
  test('a queue that makes progress passes every check; a stalled or paused queue fails', () =>
    tell(dialect, async story => {
      const line = 'queue check --max-depth 2 --stalled 1m --not-paused'
      const empty = await story.mergeq(line)
      expect({ code: empty.code, out: empty.out }).toEqual({
        code: 0,
        out: 'max-depth\ttrue\t0 pull requests queued, within the limit of 2\nstalled\ttrue\tno pull requests are queued\nnot-paused\ttrue\tthe queue is RUNNING\n',
      })
      expect((await story.mergeq('queue pause')).code).toBe(0)
      await story.mergeq('pr submit 7 8 9')
      story.clock.now += 30_000
      const paused = await story.mergeq(line)
      expect(paused.code).toBe(21)
      expect(paused.err).toMatch(
        /Queue check failed for main in github\.com\/acme\/web: 3 pull requests queued, over the limit of 2; the queue is PAUSED\.\n/,
      )
      story.clock.now += 60_000
      const still = await story.mergeq(`${line} --json`)
      expect(still.code).toBe(21)
      const { ok, checks } = JSON.parse(still.out)
      expect(ok).toBe(false)
      expect(checks.map(({ check, ok }: JsonObject) => [check, ok])).toEqual([
        ['max-depth', false],
        ['stalled', false],
        ['not-paused', false],
      ])
      expect(checks[1].reason).toMatch(
        /^no state change for 1m with 3 pull requests queued; last change: #\d PENDING since /,
      )
    }))

  test('the failing tests of the sandbox, counted against a maximum and a baseline', () =>
    tell(dialect, async story => {
      const tests = (await story.mergeq('flaky list --since 7d --no-quarantined -o ndjson')).out
      const number = tests.trim().split('\n').length
      expect(number).toBeGreaterThan(2)
      const gate = (flags: string, setting: Setting = {}) =>
        story.mergeq(`flaky gate --since 7d --no-quarantined ${flags}`, setting)
      const exact = await gate(`--max ${number}`)
      expect({ code: exact.code, out: exact.out }).toEqual({
        code: 0,
        out: `true\t${number}\t${number}\t${number} tests failed, within the limit of ${number}\n`,
      })
      const over = await gate(`--max ${number - 1} --json`)
      expect(over.code).toBe(21)
      const verdict = JSON.parse(over.out)
      expect(verdict).toMatchObject({
        ok: false,
        failing: number,
        max: number - 1,
        baseline: 0,
        complete: true,
      })
      expect(verdict.tests).toHaveLength(number)
      const files = {
        'known.ndjson': tests,
        'known.json': over.out,
        'one.txt': `# known\n\n${verdict.tests[0].id.toUpperCase()}\n`,
      }
      for (const file of ['known.ndjson', 'known.json'])
        expect((await gate(`--max 0 --baseline ${file}`, { files })).out).toBe(
          `true\t0\t0\t0 tests failed, within the limit of 0; ${number} ignored by the baseline\n`,
        )
      const one = await gate('--max 0 --baseline one.txt', { files })
      expect({ code: one.code, out: one.out }).toEqual({
        code: 21,
        out: `false\t${number - 1}\t0\t${number - 1} tests failed, over the limit of 0; 1 ignored by the baseline\n`,
      })
      expect((await gate('--max 0 --baseline -', { input: tests })).code).toBe(0)
      expect((await gate('--max 0 --name none*')).code).toBe(0)
    }))
})

describe('inputs of the checks', () => {
  test.each([
    [
      'fewer than the most',
      queue('running', entry(1, 'pending')),
      2,
      true,
      '1 pull request queued, within the limit of 2',
    ],
    [
      'as many',
      queue('running', entry(1, 'pending')),
      1,
      true,
      '1 pull request queued, within the limit of 1',
    ],
    ['more', queue('running', entry(1, 'pending')), 0, false, '1 pull request queued, over the limit of 0'],
    ['no list at all', {}, 0, true, '0 pull requests queued, within the limit of 0'],
  ])('depth: %s', (_, document, most, ok, reason) => {
    expect(checkDepth(document, most)).toEqual({ check: 'max-depth', ok, reason })
  })

  test.each([
    ['running', true, 'the queue is RUNNING'],
    ['PAUSED', false, 'the queue is PAUSED'],
    ['paused', false, 'the queue is PAUSED'],
    ['draining', true, 'the queue is DRAINING'],
    ['switching_modes', true, 'the queue is SWITCHING_MODES'],
    ['someday', true, 'the queue is someday'],
    ['', false, 'the queue reports no state'],
  ])('state: %s', (state, ok, reason) => {
    expect(checkPaused(queue(state))).toEqual({ check: 'not-paused', ok, reason })
  })

  const hour = 3_600_000
  test.each([
    ['nothing waits', queue('RUNNING'), true, 'no pull requests are queued'],
    [
      'the newest change counts, wherever it stands',
      queue('RUNNING', entry(7, 'testing', at(5 * hour)), entry(8, 'PENDING', at(hour - 1_000))),
      true,
      'last state change 59m ago: #8 PENDING since 2026-01-05T11:00:01.000Z',
    ],
    [
      'exactly as long is too long',
      queue('RUNNING', entry(7, 'testing', at(hour))),
      false,
      'no state change for 1h with 1 pull request queued; last change: #7 TESTING since 2026-01-05T11:00:00.000Z',
    ],
    [
      'a change in the future is one of just now',
      queue('RUNNING', entry(7, 'testing', at(-hour))),
      true,
      'last state change 0s ago: #7 TESTING since 2026-01-05T13:00:00.000Z',
    ],
    [
      'one that tells nothing is passed over',
      queue('RUNNING', entry(7, 'testing'), entry(8, 'pending', at(2 * hour))),
      false,
      'no state change for 2h with 2 pull requests queued; last change: #8 PENDING since 2026-01-05T10:00:00.000Z',
    ],
    [
      'where none tells, it does not hold',
      queue('RUNNING', entry(7, 'testing', 'yesterday')),
      false,
      'no queued pull request reports when its state changed',
    ],
  ])('stalled: %s', (_, document, ok, reason) => {
    const summary = reason.replace(/#(\d+) (\w+) since .*/, (_, pr, state) => `#${pr} ${state.toLowerCase()}`)
    expect(checkStalled(document, hour, noon)).toEqual({
      check: 'stalled',
      ok,
      reason,
      ...(summary === reason ? {} : { summary }),
    })
  })

  test('stalled is measured with the clock of the service, not ours', async () => {
    const answer = (): Answer => ({
      body: JSON.stringify(queue('RUNNING', entry(7, 'TESTING', at(1_800_000)))),
      headers: { date: new Date(noon).toUTCString() },
    })
    const line = 'queue check --stalled 1h -R acme/web -b main'
    expect((await mergeq(line, { answer, now: noon + 86_400_000 })).code).toBe(0)
    expect((await mergeq(line.replace('1h', '30m'), { answer, now: noon - 86_400_000 })).code).toBe(21)
  })
})

describe('queue check', () => {
  const where = '-R acme/web -b main'
  test('on a terminal each result has a sign, failures come last, and nothing is cut', async () => {
    const line = `queue check --max-depth 2 --stalled 1h --not-paused ${where}`
    const answer = () => ({
      body: JSON.stringify(queue('PAUSED', entry(7, 'PENDING_FAILURE', at(7_200_000)))),
      headers: { date: new Date(noon).toUTCString() },
    })
    const { code, out, err } = await mergeq(line, {
      answer,
      terminal: true,
      columns: 60,
      env: { NO_COLOR: '1' },
    })
    expect({ code, out }).toEqual({
      code: 21,
      out: `RESULT  CHECK       REASON
✓ pass  max-depth   1 pull request queued, within the limit
                    of 2
✗ fail  stalled     no state change for 2h with 1 pull
                    request queued; last change: #7 pending
                    failure
✗ fail  not-paused  the queue is PAUSED
`,
    })
    expect(err).toContain('  To resume a paused queue, run: mergeq queue resume\n')
  })

  test.each([
    ['nothing to check', '', 'No condition was given.'],
    ['a bare number', '--stalled 5', '--stalled'],
    ['no time at all', '--stalled 0', '--stalled must be more than 0.'],
    ['a depth that is none', '--max-depth -1', '--max-depth'],
  ])('%s is a usage error', async (_, flags, message) => {
    const { code, err, requests } = await mergeq(`queue check ${flags} ${where}`, { answer: () => ({}) })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(message)
  })

  test.each([
    [404, 5],
    [401, 4],
    [503, 7],
  ])('a service that answers %i ends it with %i, without a word about the queue', async (status, exit) => {
    const answer = () => ({ status, body: 'no' })
    const { code, out } = await mergeq(`queue check --not-paused --retries 0 ${where}`, { answer })
    expect({ code, out }).toEqual({ code: exit, out: '' })
  })

  test('--dry-run prints the reading', async () => {
    const { code, out } = await mergeq(`queue check --not-paused --dry-run ${where}`)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ operation: 'getQueue' })
  })
})

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const failing = (number: number): JsonObject => ({ id: idOf(number), name: `test ${number}` })

/** Pages of tests; a number in the place of a page is the status that it is refused with. */
const pages =
  (...all: readonly (readonly JsonObject[] | number)[]) =>
  ({ body }: Seen): Answer => {
    const index = Number(JSON.parse(body).page_query.page_token || 0)
    const page = all[index]
    if (typeof page === 'number') return { status: page, body: 'no' }
    const next_page_token = index + 1 < all.length ? String(index + 1) : ''
    return { body: JSON.stringify({ tests: page, page: { next_page_token } }) }
  }

describe('flaky gate', () => {
  const gate = (flags: string, setting: Setting) =>
    mergeq(`flaky gate --retries 0 -R acme/web --org acme ${flags}`, setting)
  const three = [failing(1), failing(2), failing(3)]

  test.each([
    ['few enough', pages(three), '--max 3', 0, 'true\t3\t3\t3 tests failed, within the limit of 3\n'],
    ['too many', pages(three), '--max 2', 21, 'false\t3\t2\t3 tests failed, over the limit of 2\n'],
    [
      'incomplete, and not over',
      pages(three, 500),
      '--max 3',
      17,
      'false\t3\t3\t3 tests failed, within the limit of 3; the list is incomplete\n',
    ],
    [
      'incomplete, and over already',
      pages(three, 500),
      '--max 2',
      21,
      'false\t3\t2\t3 tests failed, over the limit of 2\n',
    ],
    [
      'the token is the reason',
      pages(three, 401),
      '--max 3',
      4,
      'false\t3\t3\t3 tests failed, within the limit of 3; the list is incomplete\n',
    ],
    [
      'too many pages',
      pages(three, []),
      '--max 3 --max-pages 1',
      17,
      'false\t3\t3\t3 tests failed, within the limit of 3; the list is incomplete\n',
    ],
    ['unavailable', pages(503), '--max 3', 7, ''],
    ['unavailable, with --on-unavailable fail', pages(503), '--max 3 --on-unavailable fail', 7, ''],
    [
      'unavailable, with --on-unavailable pass',
      pages(503),
      '--max 3 --on-unavailable pass',
      0,
      'true\t0\t3\tnot checked; passed with an incomplete list because the service is unavailable\n',
    ],
    [
      'unavailable in the middle, with --on-unavailable pass',
      pages(three, 503),
      '--max 3 --on-unavailable pass',
      0,
      'true\t3\t3\t3 tests failed, within the limit of 3; passed with an incomplete list because the service is unavailable\n',
    ],
    [
      'unavailable in the middle, and over already',
      pages(three, 503),
      '--max 2 --on-unavailable pass',
      21,
      'false\t3\t2\t3 tests failed, over the limit of 2\n',
    ],
    ['a bad token is never a pass', pages(401), '--max 3 --on-unavailable pass', 4, ''],
    ['nor one that is not let through', pages(403), '--max 3 --on-unavailable pass', 4, ''],
    ['nor a refusal', pages(400), '--max 3 --on-unavailable pass', 6, ''],
    ['nor an invalid response', () => ({ body: '<html>' }), '--max 3 --on-unavailable pass', 15, ''],
    [
      'nor a list that never ends',
      pages(three, []),
      '--max 3 --max-pages 1 --on-unavailable pass',
      17,
      'false\t3\t3\t3 tests failed, within the limit of 3; the list is incomplete\n',
    ],
  ])('%s', async (_, answer, flags, exit, printed) => {
    const { code, out, err } = await gate(flags, { answer })
    expect({ code, out }).toEqual({ code: exit, out: printed })
    if (exit === 0 && printed.includes('unavailable'))
      expect(err).toMatch(/^mergeq: .*The gate passes because of --on-unavailable pass\.$/m)
    else if (exit !== 0)
      expect(err).toMatch(/^mergeq: .*\n {2}\S|^mergeq: flaky gate: the list is incomplete: .*--max-pages/m)
  })

  test('a service that cannot be reached is unavailable', async () => {
    const env = { MERGEQ_BASE_URL: 'http://127.0.0.1:1/v1' }
    expect((await gate('--max 0', { env })).code).toBe(7)
    expect((await gate('--max 0 --on-unavailable pass', { env })).code).toBe(0)
  })

  test('a missing token is reported as such, also with an option for an unavailable service', async () => {
    const { code } = await gate('--max 0 --on-unavailable pass', {
      answer: pages(three),
      env: { MERGEQ_TOKEN: '' },
    })
    expect(code).toBe(4)
  })

  test('on a terminal it is one line', async () => {
    const passed = await gate('--max 3', { answer: pages(three), terminal: true })
    expect(passed.out).toBe('\u001B[32m✓ pass\u001B[39m  3 tests failed, within the limit of 3\n')
    const failed = await gate('--max 2', {
      answer: pages(three),
      terminal: true,
      env: { NO_COLOR: '1' },
    })
    expect(failed.out).toBe('✗ fail  3 tests failed, over the limit of 2\n')
    expect(failed.err).toContain('mergeq: flaky gate: 3 tests failed, over the limit of 2.\n')
  })

  test.each([
    ['no maximum', '', {}, '--max is required.'],
    ['a limit, which would cut what is counted', '--max 1 --limit 1', {}, '--limit'],
    [
      'a word that is none',
      '--max 1 --on-unavailable maybe',
      {},
      "'maybe' is not valid; must be one of: pass, fail.",
    ],
    ['a baseline that is not there', '--max 1 --baseline no.txt', {}, 'no.txt cannot be read'],
    [
      'a baseline of something else',
      '--max 1 --baseline b',
      { b: `${idOf(1)}\n<html>\n` },
      "b:2: '<html>' is not a test ID.",
    ],
    ['a baseline cut short', '--max 1 --baseline b', { b: '{"tests":[{"id":' }, 'b:1: invalid JSON.'],
    [
      'a baseline without ids',
      '--max 1 --baseline b',
      { b: '{"id":"x"}\n{"name":"y"}\n' },
      'b:2: the test record has no ID.',
    ],
    ['a baseline of numbers', '--max 1 --baseline b', { b: '[1]' }, 'b:1: not a test ID or a test record.'],
  ])('%s is a usage error', async (_, flags, files, message) => {
    const { code, err, requests } = await gate(flags, { files, answer: pages(three) })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toContain(message)
  })

  test('property: a baseline reads the same as ids, as JSON and as NDJSON', () => {
    fc.assert(
      fc.property(fc.array(fc.uuid(), { maxLength: 20 }), fc.boolean(), (ids, isCrlf) => {
        const records = ids.map(id => ({ id, name: 'a\nb' }))
        const end = isCrlf ? '\r\n' : '\n'
        const forms = [
          ids.map(id => `${id.toUpperCase()}${end}`).join(''),
          JSON.stringify({ tests: records, window: {} }, null, 2),
          JSON.stringify(records),
          JSON.stringify(ids),
          records.map(record => `${JSON.stringify(record)}${end}`).join(''),
        ]
        for (const form of forms)
          expect([...readBaseline(form, 'b')].sort()).toEqual([...new Set(ids)].sort())
      }),
    )
  })
})
