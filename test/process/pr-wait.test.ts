import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/errors.ts'
import { pullRequest } from '../support/fake-queue.ts'
import { withFaultServer } from '../support/fault-server.ts'
import { runBuiltProgram } from '../support/fault-server-runs.ts'
import { mergeq, noon, type Setting } from '../support/harness.ts'
import { type Course, documentsIn, env, runWithHistory, walk } from '../support/pr-wait.ts'
import {
  neverRespond,
  normalBehavior,
  resetConnection,
  respondWith,
  withoutEffect,
} from '../support/responders.ts'

describe('one pull request', () => {
  test('from NOT_READY to MERGED, polled no faster than the interval', async () => {
    const { code, out, err, asked } = await runWithHistory('pr wait 7 --interval 2s', { pulls: { 7: walk } })
    expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t8\n' })
    expect(err.split('\n').slice(0, -1)).toEqual([
      '#7 NOT_READY',
      '#7 NOT_READY -> PENDING',
      '#7 PENDING -> TESTING',
      '#7 TESTING -> TESTS_PASSED',
      '#7 TESTS_PASSED -> MERGED',
    ])
    expect(asked.map(({ second }) => second)).toEqual([0, 2, 4, 6, 8])
  })

  test.each([
    ['FAILED', 3],
    ['CANCELLED', 10],
  ] as const)('%s counts once the pull request is no longer submitted', async (state, exit) => {
    const course: Course = [
      [0, 'TESTING'],
      [2, state, { isCurrentlySubmittedToQueue: true }],
      [6, state],
    ]
    const { code, out } = await runWithHistory('pr wait 7 --interval 2s', { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: exit, out: `7\t${state.toLowerCase()}\t${state}\t6\n` })
  })

  test('TESTING forever ends at the timeout with the last state', async () => {
    const { code, out, seconds } = await runWithHistory('pr wait 7 --interval 2s --timeout 5s', {
      pulls: { 7: [[0, 'TESTING']] },
    })
    expect({ code, out, seconds }).toEqual({ code: 124, out: '7\ttimed-out\tTESTING\t5\n', seconds: 5 })
  })

  test('503 and resets between good answers', async () => {
    const states = ['testing', 'testing', 'testing', 'testing', 'merged']
    await withFaultServer(
      {
        pulls: { 7: pullRequest(7) },
        script: ({ nth }, server) => {
          const state = states[nth] ?? 'merged'
          server.data.pulls.set(7, pullRequest(7, { state, isCurrentlySubmittedToQueue: state !== 'merged' }))
          return nth === 1
            ? withoutEffect(respondWith(503))
            : nth === 3
              ? withoutEffect(resetConnection)
              : normalBehavior
        },
      },
      async server => {
        const { code, out } = await mergeq('pr wait 7 --interval 1s', {
          clock: server.clock,
          env: { ...env, MERGEQ_BASE_URL: server.baseUrl },
        })
        expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t4\n' })
      },
    )
  })

  test.each([401, 403])('a %i in the middle ends it at once', async status => {
    const { code, out, err, seconds } = await runWithHistory('pr wait 7 --interval 2s', {
      pulls: { 7: walk },
      fault: second => (second < 4 ? undefined : { status, body: 'no' }),
    })
    expect({ code, out, seconds }).toEqual({ code: 4, out: '7\terror\tPENDING\t4\n', seconds: 4 })
    expect(err).toMatch(new RegExp(`^mergeq: .*${status}`, 'm'))
  })

  test('one line for each change, not for each poll', async () => {
    const course: Course = [0, 1, 2, 3, 4].map(second => [second, second % 2 === 0 ? 'TESTING' : 'PENDING'])
    const { code, err } = await runWithHistory('pr wait 7 --interval 1s --timeout 5s', {
      pulls: { 7: course },
    })
    expect(code).toBe(124)
    expect(err).toBe(
      '#7 TESTING\n#7 TESTING -> PENDING\n#7 PENDING -> TESTING\n#7 TESTING -> PENDING\n#7 PENDING -> TESTING\n',
    )
  })

  test.each([['pr wait 7'], ['pr wait 7 8 --json']])(
    '%s: Ctrl-C ends the waiting, not the pull request, and says how to cancel',
    async line => {
      const stop = new AbortController()
      const { code, out, err, operations } = await runWithHistory(`${line} --interval 2s`, {
        pulls: {
          7: [[0, 'TESTING']],
          8: [
            [0, 'TESTING'],
            [2, 'MERGED'],
          ],
        },
        fault: second => {
          if (second === 4) stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
          return undefined
        },
        setting: { signal: stop.signal },
      })
      expect(code).toBe(130)
      expect(err).toMatch(/stopped by SIGINT.*mergeq pr cancel 7(?! )/s)
      expect(operations.filter(operation => !operation.startsWith('get'))).toEqual([])
      // What had ended is reported.
      expect(documentsIn(out).map(({ pr }) => pr)).toEqual(line.includes('8') ? [8] : [])
    },
  )

  test('the built program, stopped by a real SIGINT', async () => {
    await withFaultServer({ pulls: { 7: pullRequest(7, { state: 'testing' }) } }, async server => {
      const { code, out, err } = await runBuiltProgram(server, 'pr wait 7 --interval 30s', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length === 0) return
            clearInterval(timer)
            setTimeout(() => kill('SIGINT'), 150)
          }, 10)
        },
      })
      expect({ code, out, asked: server.log.map(({ operation }) => operation) }).toEqual({
        code: 130,
        out: '',
        asked: ['getSubmittedPullRequest'],
      })
      expect(err).toMatch(/stopped by SIGINT.*\n.*stays in the queue.*\n.*mergeq pr cancel 7\n/)
    })
  })

  test('--json prints one document, the result', async () => {
    const { code, out } = await runWithHistory('pr wait 7 --interval 2s --json', { pulls: { 7: walk } })
    expect(code).toBe(0)
    expect(documentsIn(out)).toEqual([
      {
        type: 'result',
        pr: 7,
        title: null,
        url: 'https://github.com/acme/web/pull/7',
        outcome: 'merged',
        state: 'MERGED',
        reason: '#7 merged after 8s',
        elapsedSeconds: 8,
        exit: 0,
      },
    ])
  })

  test('-o ndjson prints changes as they come and one result', async () => {
    const { out } = await runWithHistory('pr wait 7 --interval 2s -o ndjson', { pulls: { 7: walk } })
    const documents = documentsIn(out)
    expect(documents.map(({ type, from, to, outcome }) => [type, from ?? outcome, to])).toEqual([
      ['change', undefined, 'NOT_READY'],
      ['change', 'NOT_READY', 'PENDING'],
      ['change', 'PENDING', 'TESTING'],
      ['change', 'TESTING', 'TESTS_PASSED'],
      ['change', 'TESTS_PASSED', 'MERGED'],
      ['result', 'merged', undefined],
    ])
    expect(documents[0]).toEqual({
      type: 'change',
      pr: 7,
      from: null,
      to: 'NOT_READY',
      at: '2026-01-05T12:00:00.000Z',
      position: null,
    })
  })

  test('an unknown state is shown unchanged, with one warning, and the wait continues', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [2, 'puzzled'],
      [4, 'TESTING'],
      [6, 'puzzled'],
      [8, 'MERGED'],
    ]
    const { code, err } = await runWithHistory('pr wait 7 --interval 2s', { pulls: { 7: course } })
    expect(code).toBe(0)
    expect(err.match(/Unknown state puzzled; still waiting\./g)).toHaveLength(1)
    expect(err.match(/-> puzzled/g)).toHaveLength(2)
  })

  const ends = (last: string): Course => [
    [0, 'TESTING'],
    [2, last],
  ]
  const passes: Course = [
    [0, 'PENDING'],
    [3, 'TESTING'],
    [3.5, 'MERGED'],
  ]
  const until: readonly (readonly [state: string, Course, exit: number, row: string])[] = [
    ['testing', walk, 0, 'reached\tTESTING\t4'],
    ['testing', passes, 0, 'reached\tMERGED\t4'],
    ['tests-passed', walk, 0, 'reached\tTESTS_PASSED\t6'],
    ['tests-passed', ends('FAILED'), 3, 'failed\tFAILED\t2'],
    ['left', walk, 0, 'left\tMERGED\t8'],
    ['left', ends('FAILED'), 0, 'left\tFAILED\t2'],
    ['left', ends('CANCELLED'), 0, 'left\tCANCELLED\t2'],
  ]
  test.each(until)('--until %s of %j: %i', async (state, course, exit, row) => {
    const { code, out } = await runWithHistory(`pr wait 7 --interval 2s --until ${state}`, {
      pulls: { 7: course },
    })
    expect({ code, out }).toEqual({ code: exit, out: `7\t${row}\n` })
  })

  test('PENDING_FAILURE for an hour is not a failure', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [60, 'PENDING_FAILURE'],
      [3_660, 'MERGED'],
    ]
    const { code, out } = await runWithHistory('pr wait 7 --timeout 2h', { pulls: { 7: course } })
    expect({ code, row: out.split('\t').slice(0, 3) }).toEqual({ code: 0, row: ['7', 'merged', 'MERGED'] })
  })

  test('--timeout 0 asks once', async () => {
    const { code, out, operations } = await runWithHistory('pr wait 7 --timeout 0', {
      pulls: { 7: [[0, 'TESTING']] },
    })
    expect({ code, out, operations }).toEqual({
      code: 8,
      out: '7\tpending\tTESTING\t0\n',
      operations: ['getSubmittedPullRequest'],
    })
    expect((await runWithHistory('pr wait 7 --timeout 0', { pulls: { 7: [[0, 'MERGED']] } })).code).toBe(0)
    const broken = await runWithHistory('pr wait 7 --timeout 0 --retries 1', {
      pulls: {},
      fault: () => ({ status: 503 }),
    })
    expect({ code: broken.code, asked: broken.asked.length }).toEqual({ code: 7, asked: 2 })
  })

  test('a service that never responds does not delay it', async () => {
    await withFaultServer(
      { script: { getSubmittedPullRequest: withoutEffect(neverRespond) } },
      async server => {
        const { code, out, took } = await runBuiltProgram(server, 'pr wait 7 --timeout 1s')
        expect({ code, out }).toEqual({ code: 124, out: '7\ttimed-out\t\t1\n' })
        expect(took).toBeLessThan(4_000)
      },
    )
  })

  test('the wait ends after an hour if nothing changes', async () => {
    const { code, seconds } = await runWithHistory('pr wait 7', { pulls: { 7: [[0, 'TESTING']] } })
    expect({ code, seconds }).toEqual({ code: 124, seconds: 3_600 })
  })

  test('--interval auto: 60 s not ready, 30 s pending, 10 s testing, doubled after errors', async () => {
    const course: Course = [
      [0, 'NOT_READY'],
      [60, 'PENDING'],
      [90, 'TESTING'],
      [130, 'MERGED'],
    ]
    const { code, asked } = await runWithHistory('pr wait 7', {
      pulls: { 7: course },
      fault: second => (second === 100 ? { status: 503 } : undefined),
    })
    expect({ code, seconds: asked.map(({ second }) => second) }).toEqual({
      code: 0,
      seconds: [0, 60, 90, 100, 120, 130],
    })
  })

  test('--grace: not found means not there yet, and after it that it is not there', async () => {
    const late = await runWithHistory('pr wait 7 --interval 10s', {
      pulls: {
        7: [
          [30, 'TESTING'],
          [50, 'MERGED'],
        ],
      },
    })
    expect({ code: late.code, seconds: late.seconds }).toEqual({ code: 0, seconds: 50 })
    const never = await runWithHistory('pr wait 7 --interval 10s --json', { pulls: {} })
    expect({ code: never.code, seconds: never.seconds }).toEqual({ code: 5, seconds: 90 })
    expect(documentsIn(never.out)).toEqual([
      {
        type: 'result',
        pr: 7,
        title: null,
        url: 'https://github.com/acme/web/pull/7',
        outcome: 'error',
        state: null,
        reason: '#7 could not be checked (not found in the queue)',
        elapsedSeconds: 90,
        exit: 5,
      },
    ])
    expect(JSON.parse(never.err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({ exit: 5 })
    const short = await runWithHistory('pr wait 7 --interval 10s --grace 0', { pulls: {} })
    expect({ code: short.code, seconds: short.seconds }).toEqual({ code: 5, seconds: 0 })
  })

  test('--match-head: a head that moves', async () => {
    const course: Course = [
      [0, 'TESTING', { prSha: '4f2a9c1d00' }],
      [4, 'TESTING', { prSha: 'aaaa9c1d00' }],
    ]
    const { code, out } = await runWithHistory('pr wait 7 --interval 2s --match-head 4f2a9c1', {
      pulls: { 7: course },
    })
    expect({ code, out }).toEqual({ code: 14, out: '7\tstale\tTESTING\t4\n' })
  })

  test('--match-head HEAD is the commit of the checkout', async () => {
    const head = '4f2a9c1d00112233445566778899aabbccddeeff'
    const spawn = (_: string, args: readonly string[]) =>
      args.includes('rev-parse') && args.includes('HEAD')
        ? { code: 0, out: `${head}\n` }
        : { code: 1, out: '' }
    const line = 'pr wait 7 --interval 2s --match-head HEAD'
    const ways = [
      [head, 0],
      ['bbbb', 14],
    ] as const
    for (const [prSha, exit] of ways) {
      const pulls = {
        7: [
          [0, 'TESTING', { prSha }],
          [2, 'MERGED', { prSha }],
        ] as const,
      }
      expect((await runWithHistory(line, { pulls, setting: { spawn } })).code).toBe(exit)
    }
    const nowhere = await runWithHistory(line, { pulls: { 7: walk } })
    expect({ code: nowhere.code, asked: nowhere.asked }).toEqual({ code: 2, asked: [] })
  })

  test('--match-head is reported once if the service does not return the head commit', async () => {
    const { code, err } = await runWithHistory('pr wait 7 --interval 2s --match-head 4f2a', {
      pulls: { 7: walk },
    })
    expect({ code, said: err.match(/--match-head is not checked/g)?.length }).toEqual({ code: 0, said: 1 })
  })

  test('--max-errors in a row end the wait with the code of the last error; a success resets the count', async () => {
    const on = (second: number) =>
      second >= 10 ? { status: second === 16 ? 400 : 503, body: 'no' } : undefined
    const { code, out, err } = await runWithHistory('pr wait 7 --interval 2s --max-errors 4', {
      pulls: { 7: [[0, 'TESTING']] },
      fault: second => (second === 2 || second === 4 || second === 6 ? { status: 500 } : on(second)),
    })
    expect({ code, out }).toEqual({ code: 6, out: '7\terror\tTESTING\t16\n' })
    expect(err).toMatch(/\(3 failed polls in a row; the wait ends after 4\)/)
  })

  test('502 for three minutes in the middle', async () => {
    const { code, out } = await runWithHistory('pr wait 7', {
      pulls: {
        7: [
          [0, 'TESTING'],
          [300, 'MERGED'],
        ],
      },
      fault: second =>
        second >= 30 && second < 210 ? { status: 502, body: '<html>Bad Gateway</html>' } : undefined,
    })
    expect({ code, row: out.split('\t').slice(0, 3) }).toEqual({ code: 0, row: ['7', 'merged', 'MERGED'] })
  })

  test('no poll before the time that Retry-After asks for', async () => {
    const { code, asked } = await runWithHistory('pr wait 7 --interval 1s', {
      pulls: { 7: [[0, 'MERGED']] },
      fault: second => (second === 0 ? { status: 429, headers: { 'retry-after': '30' } } : undefined),
    })
    expect({ code, seconds: asked.map(({ second }) => second) }).toEqual({ code: 0, seconds: [0, 30] })
  })

  const queue = [
    [0, 'running'],
    [20, 'paused'],
    [100, 'running'],
  ] as const
  const held: Course = [
    [0, 'PENDING'],
    [120, 'MERGED'],
  ]
  test('a queue that is paused during the wait is reported once, with the meaning of its state', async () => {
    const { code, err } = await runWithHistory('pr wait 7 --interval 5s', { pulls: { 7: held }, queue })
    expect(code).toBe(0)
    expect(err.match(/The queue for main in github.com\/acme\/web is PAUSED/g)).toHaveLength(1)
  })

  test.each(['pr wait 7', 'pr wait 7 8'])('%s --fail-on-paused ends with 8', async line => {
    const pulls = { 7: held, 8: [[0, 'MERGED']] as const }
    const { code, out, seconds } = await runWithHistory(`${line} --interval 5s --fail-on-paused`, {
      pulls,
      queue,
    })
    expect({ code, seconds }).toEqual({ code: 8, seconds: 20 })
    expect(out).toMatch(/^7\tpending\tPENDING\t20\n/)
  })

  test('a sign of life every five minutes, elsewhere than on a terminal, unless -q', async () => {
    const course: Course = [
      [0, 'TESTING'],
      [900, 'MERGED'],
    ]
    const pulls = { 7: course }
    const signs = async (line: string, setting: Setting = {}) =>
      (await runWithHistory(line, { pulls, setting })).err.match(/^Still waiting.*$/gm)
    expect(await signs('pr wait 7 --interval 7m')).toEqual([
      'Still waiting after 5 minutes for #7: TESTING',
      'Still waiting after 10 minutes for #7: TESTING',
      'Still waiting after 15 minutes for #7: TESTING',
      'Still waiting after 20 minutes for #7: TESTING',
    ])
    expect(await signs('pr wait 7 -q')).toBe(null)
    expect(await signs('pr wait 7', { terminal: true })).toBe(null)
  })

  test('on a terminal the result is a sentence', async () => {
    const { out } = await runWithHistory('pr wait 7 --interval 2s --color never', {
      pulls: { 7: walk },
      setting: { terminal: true },
    })
    expect(out).toBe('✓ #7 merged after 8s\n')
  })

  test('the built program, stopped during several reads', async () => {
    const script = ({ operation }: { readonly operation: string }) =>
      operation === 'getQueue' ? normalBehavior : withoutEffect(neverRespond)
    await withFaultServer({ script }, async server => {
      const { code, out, err } = await runBuiltProgram(server, 'pr wait 7 8 9', {
        started: kill => {
          const timer = setInterval(() => {
            if (server.log.length < 4) return
            clearInterval(timer)
            setTimeout(() => kill('SIGINT'), 100)
          }, 10)
        },
      })
      expect({ code, out }).toEqual({ code: 130, out: '' })
      expect(err).toMatch(/^mergeq: stopped by SIGINT.*\n/)
      expect(err).toMatch(
        /Queued pull requests stay in the queue\. To cancel, run:\n *mergeq pr cancel 7 8 9\n/,
      )
    })
  })

  test('--dry-run prints the first request', async () => {
    for (const [line, operation] of [
      ['pr wait 7', 'getSubmittedPullRequest'],
      ['pr wait 7 8', 'getQueue'],
    ]) {
      const { code, out, asked } = await runWithHistory(`${line} --dry-run`, { pulls: {} })
      expect({ code, operation: JSON.parse(out).operation, asked }).toEqual({ code: 0, operation, asked: [] })
    }
  })

  test.each([
    ['pr wait 7 --until somewhere', /--until/],
    ['pr wait 7 --max-errors 0', /--max-errors/],
    ['pr wait 7 --interval 25d', /--interval.*longer than 1d/],
    ['pr wait 7 8 --match-head 4f2a --dry-run', /--match-head/],
    ['pr submit 7 8 --wait --match-head 4f2a --dry-run', /--match-head/],
    ['pr wait 7 --grace 5', /--grace/],
    ['pr wait 7 --match-head main', /--match-head/],
    ['pr wait 7 8 --match-head 4f2a', /--match-head/],
    ['pr submit 7 8 --wait --match-head 4f2a', /--match-head/],
    ['pr submit 7 --until testing', /--until.*\n.*--wait/],
    ['pr submit 7 --fail-on-paused', /--fail-on-paused.*\n.*--wait/],
  ])('%s is refused before anything is sent', async (line, why) => {
    const { code, err, asked } = await runWithHistory(line, { pulls: { 7: walk } })
    expect({ code, asked }).toEqual({ code: 2, asked: [] })
    expect(err).toMatch(why)
  })
})

describe('pr submit --wait', () => {
  test('the record of the previous attempt does not count', async () => {
    const old = { stateChangedAt: '2026-01-05T11:00:00.000Z', isCurrentlySubmittedToQueue: false }
    const course: Course = [
      [0, 'FAILED', old],
      [4, 'PENDING'],
      [6, 'MERGED'],
    ]
    const { code, out, operations } = await runWithHistory('pr submit 7 --wait --interval 2s', {
      pulls: { 7: course },
    })
    expect({ code, out }).toEqual({ code: 0, out: '7\tmerged\tMERGED\t6\n' })
    expect(operations.slice(0, 3)).toEqual([
      'getSubmittedPullRequest',
      'submitPullRequest',
      'getSubmittedPullRequest',
    ])
  })

  test('reports that only the previous submission is visible', async () => {
    const course: Course = [[-3_600, 'FAILED']]
    const { code, err, seconds } = await runWithHistory('pr submit 7 --wait --interval 10s', {
      pulls: { 7: course },
    })
    expect({ code, seconds }).toEqual({ code: 5, seconds: 90 })
    expect(err).toMatch(
      /#7 was submitted, but .* only the previous attempt \(FAILED since 2026-01-05T11:00:00/,
    )
  })

  test('a new failure of the new submission is a result, even after a moment', async () => {
    const course: Course = [
      [-3_600, 'FAILED'],
      [2, 'FAILED'],
    ]
    const { code } = await runWithHistory('pr submit 7 --wait --interval 2s', { pulls: { 7: course } })
    expect(code).toBe(3)
  })

  test.each(['FAILED', 'CANCELLED', 'MERGED'])(
    'a record that was %s before the submission does not count, even if the reading before it did not show it',
    async ending => {
      for (const skew of [0, 3_600_000, -3_600_000]) {
        const clock = { now: noon + 3_700_000 }
        const old = { state: ending, stateChangedAt: new Date(noon + skew).toISOString(), prNumber: 7 }
        const [submitted, merged] = [clock.now, clock.now + 40_000]
        let reads = 0
        const { code, out } = await mergeq('pr submit 7 --wait --interval 5s --json', {
          clock,
          env,
          answer(seen) {
            const headers = { date: new Date(clock.now + skew).toUTCString() }
            if (seen.path.endsWith('/submitPullRequest')) return { headers, body: 'OK' }
            if (reads++ === 0) return { headers, status: 404, body: 'Not Found' }
            const isOld = clock.now < submitted + 12_000
            const state = clock.now < merged ? 'TESTING' : 'MERGED'
            const at = clock.now < merged ? submitted + 1_000 : merged
            const record = { state, stateChangedAt: new Date(at + skew).toISOString(), prNumber: 7 }
            return { headers, body: JSON.stringify(isOld ? old : record) }
          },
        })
        expect({ code, ...documentsIn(out).at(-1) }).toMatchObject({
          code: 0,
          outcome: 'merged',
          elapsedSeconds: 40,
        })
      }
    },
  )

  test('--until testing: what was under test before the submission may be an earlier attempt', async () => {
    const { code, out } = await runWithHistory('pr submit 7 --wait --interval 2s --until testing', {
      pulls: {
        7: [
          [-60, 'TESTING'],
          [4, 'PENDING'],
          [8, 'TESTING'],
        ],
      },
    })
    expect({ code, out }).toEqual({ code: 0, out: '7\treached\tTESTING\t8\n' })
    const queued = await runWithHistory('pr submit 7 --wait --interval 2s --until testing', {
      pulls: { 7: [[-60, 'TESTING']] },
    })
    expect({ code: queued.code, out: queued.out }).toEqual({ code: 0, out: '7\treached\tTESTING\t10\n' })
  })

  test('a final state with an ambiguous date counts once reads must be up to date', async () => {
    const clock = { now: noon }
    const { code, out } = await mergeq('pr submit 7 --wait --interval 2s --json', {
      clock,
      env,
      answer({ path }, index) {
        const headers = { date: new Date(clock.now).toUTCString() }
        if (path.endsWith('/submitPullRequest')) return { headers, body: 'OK' }
        if (index === 0) return { headers, status: 404, body: 'Not Found' }
        const stateChangedAt = new Date(noon).toISOString()
        return { headers, body: JSON.stringify({ state: 'MERGED', stateChangedAt }) }
      },
    })
    const result = { code, ...documentsIn(out).at(-1) }
    expect(result).toMatchObject({ code: 0, outcome: 'merged', elapsedSeconds: 10 })
  })

  test('one that is refused has its result, and the others are waited for', async () => {
    let submits = 0
    const { code, out, err } = await runWithHistory('pr submit 7 8 --wait --interval 2s --json', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) =>
        operation === 'submitPullRequest' && submits++ === 0 ? { status: 422, body: 'no' } : undefined,
    })
    expect(code).toBe(6)
    expect(documentsIn(out).map(({ pr, outcome, exit }) => [pr, outcome, exit])).toEqual([
      [7, 'error', 6],
      [8, 'merged', 0],
    ])
    expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({ exit: 6 })
  })

  test('--timeout also limits the read before the submission if the service is silent', async () => {
    await withFaultServer(
      { script: { getSubmittedPullRequest: withoutEffect(neverRespond) } },
      async server => {
        const { code, out, took } = await runBuiltProgram(server, 'pr submit 7 --wait --timeout 1s')
        expect({ code, out }).toEqual({ code: 7, out: '7\terror\t\t1\n' })
        expect(took).toBeLessThan(4_000)
        expect(server.log).toHaveLength(1)
      },
    )
  })

  test('--timeout bounds the submissions: none is begun once it is over', async () => {
    const clock = { now: noon }
    const { code, out, err, requests } = await mergeq('pr submit 7 8 9 --wait --timeout 5s --json', {
      env,
      clock,
      answer: ({ path }) => {
        if (path !== '/v1/submitPullRequest') return { status: 404 }
        clock.now += 3_000
        return { body: 'OK' }
      },
    })
    expect(code).toBe(124)
    expect(documentsIn(out).map(({ pr, outcome }) => [pr, outcome])).toEqual([
      [7, 'timed-out'],
      [8, 'timed-out'],
      [9, 'error'],
    ])
    expect(err).toMatch(/Timed out before #9 was submitted/)
    expect(requests.filter(({ path }) => path === '/v1/submitPullRequest')).toHaveLength(2)
  })

  test('--timeout is the whole wait, not the limit of the submission', async () => {
    const { code, operations } = await runWithHistory('pr submit 7 --wait --timeout 0', {
      pulls: { 7: walk },
    })
    expect({ code, operations }).toEqual({
      code: 8,
      operations: ['getSubmittedPullRequest', 'submitPullRequest', 'getSubmittedPullRequest'],
    })
  })
})
