import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../../src/base/errors.ts'
import { expectUsageError } from '../../support/command-checks.ts'
import { mergeq, noon, openStory, type Setting } from '../../support/harness.ts'
import { type Course, documentsIn, env, runWithHistory, walk } from '../../support/pr-wait.ts'

const person: Setting = { terminal: true, env: { NO_COLOR: '1' } }
const secondsOf = (asked: readonly { readonly second: number }[]) => asked.map(({ second }) => second)

describe('`pr wait` of one pull request', () => {
  test.each([
    ['TESTING, 20 MERGED', '', true, 1],
    ['TESTING, 20 MERGED', '--no-bell', true, 0],
    ['TESTING, 20 MERGED', '', false, 0],
    ['TESTING, 4 MERGED', '', true, 0],
  ])('%s %s, terminal: %s, rings the bell %i times', async (course, flags, terminal, count) => {
    const line = `pr wait 7 --interval 2s ${flags}`
    const { err } = await runWithHistory(line, { pulls: { 7: course }, setting: { terminal } })
    expect(err.split('\u0007')).toHaveLength(count + 1)
  })

  test.each([
    ['', 'NOT_READY', 124, 'timed-out\tNOT_READY\t3600'],
    ['--timeout 0', 'MERGED', 0, 'merged\tMERGED\t0'],
    ['--interval 1m --timeout 2h', 'TESTING, 60 PENDING_FAILURE, 3660 MERGED', 0, 'merged\tMERGED\t3660'],
    ['--interval 10s', '30 TESTING, 50 MERGED', 0, 'merged\tMERGED\t50'],
    ['--interval 10s', '3600 TESTING', 5, 'error\t\t90'],
    ['--interval 1m', '3600 TESTING', 5, 'error\t\t90'],
    ['--grace 12s', '3600 TESTING', 5, 'error\t\t12'],
  ])('with "%s" and %s ends with %i', async (flags, course, exit, row) => {
    const { code, out } = await runWithHistory(`pr wait 7 ${flags}`, { pulls: { 7: course } })
    expect({ code, out }).toEqual({ code: exit, out: `7\t${row}\n` })
  })

  test('with --timeout 0 retries as usual, and says nothing of a pull request that is not there', async () => {
    const { code, asked } = await runWithHistory('pr wait 7 --timeout 0 --retries 1', {
      pulls: {},
      fault: () => ({ status: 503 }),
    })
    expect({ code, asked: asked.length }).toEqual({ code: 7, asked: 2 })
    const missing = await runWithHistory('pr wait 7 --timeout 0', { pulls: {} })
    expect({ code: missing.code, err: missing.err }).toEqual({ code: 8, err: '' })
    const short = await runWithHistory('pr wait 7 --timeout 5s', { pulls: {} })
    expect(short.err).toBe('#7 is not in the queue yet; waiting up to 5s (--timeout).\n')
  })

  const stopped = '^(?!.*SIG).*\nStopped waiting\\.'
  const goOn = (numbers: string) =>
    `\n  To continue waiting, run:\n  mergeq pr wait ${numbers}\n  To cancel, run:\n  mergeq pr cancel ${numbers}`
  const told =
    'stopped by SIGINT.*The pull request stays in the queue.*mergeq pr wait 7.*mergeq pr cancel 7(?! )'
  test.each<[string, Setting, string, readonly number[]]>([
    ['pr wait 7', person, `${stopped} #7 stays in the queue\\.${goOn('7')}\n$`, []],
    ['pr wait 7 10', person, `${stopped} #7 and #10 stay in the queue\\.${goOn('7 10')}\n$`, []],
    ['pr wait 9', person, `${stopped}${goOn('9')}\n$`, []],
    ['queue wait', person, `${stopped}\n$`, []],
    ['pr wait 7', {}, told, []],
    // What had ended is reported.
    ['pr wait 7 8 --json', {}, told, [8]],
    ['queue wait --json', {}, 'stopped by SIGINT', []],
  ])(
    'that a signal stops cancels nothing, and says how to cancel: %s (%j)',
    async (line, setting, said, ended) => {
      const stop = new AbortController()
      const { code, out, err, operations } = await runWithHistory(`${line} --interval 2s`, {
        pulls: { 7: 'TESTING', 8: 'TESTING, 2 MERGED', 10: 'TESTING' },
        fault(second) {
          if (second === 4) stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
          return undefined
        },
        setting: { ...setting, signal: stop.signal },
      })
      expect({ code, ended: documentsIn(out).map(({ pr }) => pr) }).toEqual({ code: 130, ended })
      expect(err).toMatch(new RegExp(said, 's'))
      expect(operations.filter(operation => !operation.startsWith('get'))).toEqual([])
    },
  )

  test('prints the error of a pull request that is not found, and a result with --json', async () => {
    const { out, err } = await runWithHistory('pr wait 7 --grace 0 --json', { pulls: {} })
    const reason = '#7 is not in the queue for main of acme/web.'
    expect(documentsIn(out)).toMatchObject([{ outcome: 'error', state: null, reason, exit: 5 }])
    expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      exit: 5,
      message: reason,
      hint: 'If it was not submitted: mergeq pr submit 7\nCheck the number, --repo and --target-branch.\nTo wait longer for a submission to appear, increase --grace.',
    })
  })

  test('shows an unknown state unchanged, with one warning, and continues', async () => {
    const { code, err } = await runWithHistory('pr wait 7 --interval 2s', {
      pulls: { 7: 'TESTING, 2 puzzled, 4 TESTING, 6 puzzled, 8 MERGED' },
    })
    expect(code).toBe(0)
    expect(err.match(/Unknown state puzzled; still waiting\./g)).toHaveLength(1)
    expect(err.match(/-> puzzled/g)).toHaveLength(2)
  })

  test('polls for a missing pull request when the grace period ends, and after a failure not at once', async () => {
    const { code, asked } = await runWithHistory('pr wait 7 --interval 10s --grace 12s', {
      pulls: {},
      fault: second => (second === 12 ? { status: 503 } : undefined),
    })
    // Afterwards it looks whether the queue exists.
    expect({ code, seconds: secondsOf(asked) }).toEqual({ code: 5, seconds: [0, 10, 12, 22, 22] })
  })

  test('says once that --match-head is not checked, only where the service reports no head', async () => {
    const head = '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9'
    const line = `pr wait 7 --interval 2s --match-head ${head}`
    const { code, err } = await runWithHistory(line, { pulls: { 7: walk } })
    expect(code).toBe(0)
    expect(err.match(/--match-head is not checked/g)).toHaveLength(1)
    const checked = await runWithHistory(line, { pulls: { 7: [[0, 'MERGED', { prSha: head }]] } })
    expect({ code: checked.code, err: checked.err }).toEqual({ code: 0, err: '#7 MERGED\n' })
  })

  test('waits out an outage, and adds three lines to its log', async () => {
    const { code, err } = await runWithHistory('pr wait 7', {
      pulls: { 7: 'TESTING, 1600 MERGED' },
      fault: second => (second > 2 && second < 1500 ? { status: 503 } : undefined),
    })
    expect(code).toBe(0)
    expect(err.replace(/^.*could not process/m, '_')).toBe(
      [
        '#7 TESTING',
        '_ the request for #7 in the queue for main of acme/web (503). Still waiting.',
        'Still waiting after 5 minutes for #7: TESTING',
        'The service responds again after 25m.',
        '#7 TESTING -> MERGED\n',
      ].join('\n'),
    )
  })

  test.each([
    ['', 503, 7, 1800],
    // What it answers is a web page.
    ['--give-up-after 1m', 200, 7, 60],
    ['--give-up-after 1m --timeout 50s', 503, 124, 50],
    ['--retries 0', 503, 7, 0],
    ['', 400, 6, 0],
  ])(
    'with "%s" and a service that answers %i ends with %i after %i s',
    async (flags, status, exit, elapsed) => {
      const { code, out } = await runWithHistory(`pr wait 7 --interval 10s --json ${flags}`, {
        pulls: {},
        fault: () => ({ status, body: '<html>' }),
      })
      const outcome = exit === 124 ? 'timed-out' : 'error'
      expect({ code, results: documentsIn(out) }).toMatchObject({
        code: exit,
        results: [{ outcome, exit, elapsedSeconds: elapsed }],
      })
    },
  )

  const queue = [
    [0, 'running'],
    [20, 'paused'],
    [100, 'running'],
  ] as const
  test.each([
    [{ status: 'WAITING' }, true, true],
    [{ status: 'COMPLETED', conclusion: 'SUCCESS' }, true, false],
    [{ status: 'WAITING' }, false, false],
  ])(
    'tells a person whose wait gives up what waits for an approval: %j, %s',
    async (check, terminal, isTold) => {
      const checkSuites = [{ checkRuns: [{ name: 'deploy', ...check }] }]
      const { code, out, err, operations } = await runWithHistory('pr wait 7 --timeout 0', {
        pulls: { 7: [[0, 'TESTING', { timeline: [{ state: 'testing', testRunId: '6e1d9f0a' }] }]] },
        fault: (_, operation) =>
          operation === 'getMergeQueueTestingDetails'
            ? { body: JSON.stringify({ status: 'in_progress', checkSuites }) }
            : undefined,
        setting: { terminal },
      })
      const text = `${out}${err}`.replaceAll(/\u001b\[[\d;]*m/g, '')
      const sentence = 'is still testing. Its check deploy waits for a manual approval'
      expect({ code, isTold: text.includes(sentence) }).toEqual({ code: 8, isTold })
      expect(operations.includes('getMergeQueueTestingDetails')).toBe(terminal)
    },
  )

  test('tells a person that the queue is paused where the wait gives up before it has read the queue', async () => {
    const paused = { pulls: { 7: 'PENDING' }, queue: [[0, 'paused']] as const, setting: { terminal: true } }
    const { out } = await runWithHistory('pr wait 7 --timeout 1s --color never', paused)
    expect(out).toContain('still pending: the queue is paused')
    const { out: unread } = await runWithHistory('pr wait 7 --timeout 1s --color never --retries 0', paused)
    expect(unread).toMatch(/still pending$/m)
  })

  test('reports once that the queue was paused, and with --fail-on-paused ends with 8', async () => {
    const pulls = { 7: 'PENDING, 120 MERGED', 8: 'MERGED' }
    const { code, err } = await runWithHistory('pr wait 7 --interval 5s', { pulls, queue })
    expect(code).toBe(0)
    expect(err.match(/The queue for main of acme\/web is paused: no tests/g)).toHaveLength(1)
    for (const line of ['pr wait 7', 'pr wait 7 8']) {
      const failed = await runWithHistory(`${line} --interval 5s --fail-on-paused`, { pulls, queue })
      expect({ code: failed.code, seconds: failed.seconds }).toEqual({ code: 8, seconds: 20 })
      expect(failed.out).toMatch(/^7\tpending\tPENDING\t20\n/)
      for (const format of ['table', 'json', 'ndjson', 'csv']) {
        const paused = { pulls, queue: [[0, 'paused']] as const }
        const { err } = await runWithHistory(`${line} --fail-on-paused -q -o ${format}`, paused)
        // With -q and JSON, standard error has error objects only.
        expect(err).toBe(
          format.endsWith('json')
            ? ''
            : 'mergeq: The queue for main of acme/web is paused (--fail-on-paused).\n',
        )
      }
    }
  })

  test.each([
    [404, /^mergeq: .*a paused queue cannot be detected\.\n$/],
    [500, /^mergeq: .*Until the queue can be read, a pause cannot be detected\.\n$/],
  ])(
    'warns once, also with -q, if --fail-on-paused meets a queue that answers %i',
    async (status, warning) => {
      const { code, err } = await runWithHistory('pr wait 7 --interval 2s --fail-on-paused -q', {
        pulls: { 7: walk },
        fault: (_, operation) => (operation === 'getQueue' ? { status } : undefined),
      })
      expect(code).toBe(0)
      expect(err).toMatch(warning)
    },
  )

  test('gives a sign of life every five minutes elsewhere than on a terminal, unless -q', async () => {
    const signs = async (line: string, setting: Setting = {}) => {
      const { err } = await runWithHistory(line, { pulls: { 7: 'TESTING, 900 MERGED' }, setting })
      return err.match(/\d+ minutes .*/g)
    }
    expect(await signs('pr wait 7 --interval 7m')).toEqual(
      [5, 10, 15, 20].map(minutes => `${minutes} minutes for #7: TESTING`),
    )
    expect(await signs('pr wait 7 --interval 7m -q')).toBe(null)
    expect(await signs('pr wait 7 --interval 7m', { terminal: true })).toBe(null)
  })

  test.each([
    ['pr wait 7 --match-head main', /--match-head/],
    ['pr submit 7 8 --wait --match-head 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9', /--match-head/],
    ['pr submit 7 --until testing', /--until.*\n.*--wait/],
    ['pr submit 7 --fail-on-paused', /--fail-on-paused.*\n.*--wait/],
  ])('is refused before anything is sent: %s', async (line, why) => {
    expectUsageError(await runWithHistory(line, { pulls: { 7: walk } }), why)
  })
})

describe('a wait says what the service says', () => {
  const event = (state: string, reason: string) => ({
    timeline: [{ timestamp: '2026-01-05T12:00:02.000Z', [state]: { reason, actor: { gitHubLogin: 'ada' } } }],
  })
  const again: Course = [
    [0, 'TESTING'],
    [2, 'PENDING', event('pending', 'tests_restarted_by_user')],
    [4, 'MERGED'],
  ]

  test.each(['7', '7 8'])('of a pull request that waits again: %s', async numbers => {
    const { code, err, asked } = await runWithHistory(`pr wait ${numbers} --interval 2s`, {
      pulls: { 7: again, 8: 'TESTING, 4 MERGED' },
    })
    expect(code).toBe(0)
    expect(err).toMatch(
      /^#7 TESTING -> PENDING(, position 1)?\. It waits again because its tests were restarted by ada\.$/m,
    )
    const alone = asked.filter(
      ({ operation, second }) => operation === 'getSubmittedPullRequest' && second === 2,
    )
    expect(alone).toHaveLength(numbers === '7' ? 2 : 1)
  })

  test('but not of one that waits for the first time', async () => {
    const first: Course = [
      [0, 'NOT_READY'],
      [2, 'PENDING', event('pending', 'merge_item_now_ready')],
      [4, 'MERGED'],
    ]
    const { err } = await runWithHistory('pr wait 7 --interval 2s', { pulls: { 7: first } })
    expect(err).toMatch(/^#7 NOT_READY -> PENDING(, position 1)?$/m)
  })

  test.each([
    ['cancelled', 'cancellation', 'pr_closed', '#7 was cancelled after 2s. It was closed by ada'],
    ['failed', 'failure', 'github_api_rate_limit_exceeded', '#7 failed after 2s. The rate limit of GitHub '],
  ])('of one that is %s: %s %s', async (state, key, word, reason) => {
    const course: Course = [
      [0, 'TESTING'],
      [2, state, event(key, word)],
    ]
    const { out } = await runWithHistory('pr wait 7 --interval 2s --json', { pulls: { 7: course } })
    expect(JSON.parse(out).reason).toContain(reason)
  })

  test('of a stack, once', async () => {
    const stacked = { prBaseBranch: 'fix-cart', readiness: { doesBaseBranchMatch: true } }
    const course: Course = [
      [0, 'NOT_READY', stacked],
      [2, 'MERGED', stacked],
    ]
    const { out, err } = await runWithHistory('pr wait 7 --interval 2s --json', { pulls: { 7: course } })
    expect(err.match(/#7 is stacked on fix-cart: the pull requests below it are tested/g)).toHaveLength(1)
    expect(JSON.parse(out).stacked).toBe(true)
  })
})

describe('`pr wait` of several pull requests', () => {
  test('prints results in the order given, and the worst code wins', async () => {
    const line = 'pr wait 7 8 9 10 --interval 2s --timeout 10s'
    const pulls = {
      7: 'TESTING, 6 MERGED',
      8: 'TESTING, 2 FAILED',
      9: 'NOT_READY, 4 CANCELLED',
      10: 'TESTING',
    }
    const { code, out, err } = await runWithHistory(line, { pulls })
    expect({ code, out }).toEqual({
      code: 3,
      out: '7\tmerged\tMERGED\t6\n8\tfailed\tFAILED\t2\n9\tcancelled\tCANCELLED\t4\n10\ttimed-out\tTESTING\t10\n',
    })
    expect(err).toMatch(/^#7 TESTING, position 1$/m)
    const { out: lines } = await runWithHistory(`${line} -o ndjson`, { pulls })
    const results = documentsIn(lines).filter(({ type }) => type === 'result')
    const at = '2026-01-05T12:00:00.000Z'
    const first = { type: 'change', pr: 7, from: null, to: 'TESTING', at, position: 1 }
    expect(documentsIn(lines)[0]).toEqual(first)
    expect(results).toMatchObject([
      { pr: 8, exit: 3 },
      { pr: 9, exit: 10 },
      { pr: 7, exit: 0 },
      { pr: 10, exit: 124 },
    ])
  })

  const numbers = Array.from({ length: 60 }, (_, index) => index + 1)
  const waitForAll = `pr wait ${numbers.join(' ')} --interval 10s`
  /** Ten pull requests are in the queue, and fifty are not ready until the second 20. */
  const pulls = Object.fromEntries(
    numbers.map(pr => [pr, `${pr <= 10 ? 'PENDING' : 'NOT_READY'}, 20 TESTING, 40 MERGED`]),
  )
  const countRounds = (asked: Awaited<ReturnType<typeof runWithHistory>>['asked']) =>
    [0, 10, 20, 30, 40].map(second =>
      ['getQueue', 'getSubmittedPullRequests', 'getSubmittedPullRequest']
        .map(name => asked.filter(one => one.operation === name && one.second === second).length)
        .join(),
    )

  const alone = '1,1,50 1,0,50 1,0,0 1,0,0 1,0,60'
  test.each<[string, number | undefined, string, number]>([
    // At the end 60 are not in it.
    ['one queue a round, and others 50 at a time', undefined, '1,1,0 1,1,0 1,0,0 1,0,0 1,2,0', 9],
    ['each alone once a service answered 404 for several', 404, alone, 166],
    ['each alone once a service answered 400 for several', 400, alone, 166],
  ])('reads %s', async (_, status, rounds, count) => {
    const { code, asked } = await runWithHistory(waitForAll, {
      pulls,
      fault: (_, operation) => (status && operation === 'getSubmittedPullRequests' ? { status } : undefined),
    })
    expect({ code, rounds: countRounds(asked).join(' '), count: asked.length }).toEqual({
      code: 0,
      rounds,
      count,
    })
  })

  test('reads alone of whom the answer for several does not tell all', async () => {
    const ready = { requiresImpactedTargets: true, hasImpactedTargets: true }
    const records = [
      { prNumber: 7, state: 'merged', readiness: { requiresImpactedTargets: true } },
      { prNumber: 8, state: 'merged', readiness: ready },
      { prNumber: 9, state: '' },
      { prNumber: 99, state: 'merged' },
    ]
    const { code, asked, out } = await runWithHistory('pr wait 7 8 9 10 11 --grace 0', {
      pulls: { 7: 'MERGED', 8: 'FAILED', 9: 'MERGED', 10: 'MERGED', 11: 'MERGED' },
      fault: (_, operation) =>
        operation === 'getSubmittedPullRequests'
          ? { body: JSON.stringify({ requests: [], data: records, notFound: [{ number: 11 }] }) }
          : undefined,
    })
    expect(asked.filter(({ operation }) => operation === 'getSubmittedPullRequest')).toEqual(
      [7, 9, 10].map(pr => ({ second: 0, operation: 'getSubmittedPullRequest', pr })),
    )
    expect({ code, out: out.split('\n').map(line => line.split('\t').slice(0, 2).join()) }).toEqual({
      code: 5,
      out: ['7,merged', '8,merged', '9,merged', '10,merged', '11,error', ''],
    })
  })

  test('reads on after an outage of the request for several', async () => {
    const { code, asked } = await runWithHistory('pr wait 7 8 --interval 10s', {
      pulls: { 7: 'NOT_READY, 20 MERGED', 8: 'NOT_READY, 20 MERGED' },
      fault: (second, operation) =>
        second < 10 && operation === 'getSubmittedPullRequests' ? { status: 503 } : undefined,
    })
    expect(code).toBe(0)
    expect(asked.filter(({ operation }) => operation === 'getSubmittedPullRequest')).toEqual([])
  })

  test.each([
    [404, 0],
    [400, 0],
    [403, 4],
  ])('with a queue that answers %i, which is read once, ends with %i', async (status, exit) => {
    const { code, err, operations } = await runWithHistory('pr wait 7 8 --interval 2s', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) => (operation === 'getQueue' ? { status, body: 'no' } : undefined),
    })
    expect(code).toBe(exit)
    expect(operations.filter(one => one === 'getQueue')).toHaveLength(1)
    if (exit === 0) expect(err).toMatch(/Checking each pull request separately/)
    else expect(operations).toEqual(['getQueue'])
  })

  test('begins no reading once the time is over', async () => {
    const clock = { now: noon }
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
    const { code, out, requests } = await mergeq(`pr wait ${numbers.join(' ')} --timeout 5s`, {
      env,
      clock,
      answer: ({ path }) => {
        clock.now += 1_000
        return { body: path.endsWith('/getQueue') ? '{}' : '{"state":"TESTING"}' }
      },
    })
    expect({ code, lines: out.match(/timed-out/g)?.length }).toEqual({ code: 124, lines: 20 })
    // Four are under way when it ends.
    expect(requests.length).toBeLessThanOrEqual(5 + 4)
  })

  test('ends for all of them when the token is rejected, which is reported once', async () => {
    const { code, out, err, operations } = await runWithHistory('pr wait 1 2 3 4 5 6 7 8 --json', {
      pulls: {},
      fault: (_, operation) => ({ status: operation === 'getQueue' ? 404 : 401 }),
    })
    expect({ code, results: out.match(/"outcome":"error"/g)?.length }).toEqual({ code: 4, results: 8 })
    expect(operations.length).toBeLessThanOrEqual(5)
    expect(err.match(/"kind":"auth"/g)).toHaveLength(1)
  })

  test('with --stop-on-error ends for the rest with the first that fails', async () => {
    const { code, out } = await runWithHistory('pr wait 7 8 --interval 2s --stop-on-error', {
      pulls: { 7: walk, 8: 'TESTING, 4 FAILED' },
    })
    expect({ code, out }).toEqual({ code: 3, out: '7\tpending\tTESTING\t4\n8\tfailed\tFAILED\t4\n' })
  })
})

describe('`pr submit --wait`', () => {
  const submit = (flags: string, course: Course | string) =>
    runWithHistory(`pr submit 7 --wait ${flags}`, { pulls: { 7: course } })

  test('ends with 5 if only the previous submission becomes visible', async () => {
    const { code, err, seconds } = await submit('--interval 10s', '-3600 FAILED')
    expect({ code, seconds }).toEqual({ code: 5, seconds: 90 })
    expect(err).toMatch(
      /#7 was submitted, but .* only the previous attempt \(FAILED since 2026-01-05T11:00:00/,
    )
  })

  test.each([
    ['shows it in the queue', undefined],
    ['fails', { body: '{}' }],
  ])('reports a refused submission if the next reading %s, and waits for the others', async (_, reading) => {
    const faults = [{ status: 422, body: 'no' }, reading]
    const { code, out, err, operations } = await runWithHistory('pr submit 7 8 --wait --interval 2s --json', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) =>
        operation === 'submitPullRequest' || faults.length === 1 ? faults.shift() : undefined,
    })
    expect(code).toBe(6)
    expect(operations.filter(name => name === 'submitPullRequest')).toHaveLength(2)
    expect(documentsIn(out)).toMatchObject([
      { pr: 7, outcome: 'error', exit: 6 },
      { pr: 8, outcome: 'merged', exit: 0 },
    ])
    expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({ exit: 6 })
  })

  test('one that the service could not process has failed when the error of another one stops the rest', async () => {
    const { code, err } = await runWithHistory('pr submit 7 8 9 --wait', {
      pulls: {},
      fault: (_, operation, body) =>
        operation === 'submitPullRequest' ? { status: body.includes('"number":7') ? 503 : 401 } : undefined,
    })
    expect({ code, err }).toEqual({ code: 4, err: expect.stringContaining('Failed: #7, #8. Not sent: #9.') })
  })

  test('asks for one pull request in an outage: its error counts for the others, too', async () => {
    const { code, asked } = await runWithHistory('pr submit 7 8 --wait --retries 0', {
      pulls: {},
      fault: () => ({ status: 503 }),
    })
    expect({ code, asked: asked.map(({ pr }) => pr) }).toEqual({ code: 7, asked: [7] })
  })

  test('begins no submission once --timeout is over', async () => {
    const clock = { now: noon }
    const { code, out, err, requests } = await mergeq('pr submit 7 8 9 --wait --timeout 5s --json', {
      env,
      clock,
      answer: ({ path }) => {
        const isSubmission = path === '/v1/submitPullRequest'
        clock.now += isSubmission ? 3_000 : 1_500
        return isSubmission ? { body: 'OK' } : { status: 404 }
      },
    })
    expect(code).toBe(124)
    expect(documentsIn(out)).toMatchObject([
      { pr: 7, outcome: 'timed-out' },
      { pr: 8, outcome: 'error' },
      { pr: 9, outcome: 'error' },
    ])
    expect(err).toMatch(/Timed out before #8 was submitted/)
    expect(requests.filter(({ path }) => path === '/v1/submitPullRequest')).toHaveLength(1)
  })

  test('takes --timeout as the limit of the wait, not of the submission', async () => {
    const { code, operations } = await submit('--timeout 0', walk)
    expect({ code, operations }).toEqual({
      code: 8,
      operations: ['getSubmittedPullRequest', 'submitPullRequest', 'getSubmittedPullRequest'],
    })
  })
})

describe('the failing checks of a wait', () => {
  const line = 'pr wait 7 --interval 1s'
  const failing: Course = [
    [0, 'TESTING'],
    [2, 'FAILED', { testRunId: 'run-1' }],
  ]
  const url = `https://ci.example/runs/${'1234567890'.repeat(6)}/job/1`
  const runOf = (...names: readonly string[]) => {
    const checkRuns = names.map(name => ({ name, conclusion: 'FAILURE', url: `${url}#${name}` }))
    const body = JSON.stringify({ testedPullRequests: [{ prNumber: 7 }], checkSuites: [{ checkRuns }] })
    return {
      pulls: { 7: failing, 8: failing },
      fault: (_: number, operation: string) =>
        operation === 'getMergeQueueTestingDetails' ? { body } : undefined,
    }
  }
  const reads = (operations: readonly string[]) =>
    operations.filter(operation => operation === 'getMergeQueueTestingDetails').length

  test('keep their addresses whole; of seven, five are listed', async () => {
    const failing = runOf('a', 'b', 'c', 'd', 'e', 'f', 'g')
    const { out } = await runWithHistory(line, { ...failing, setting: { ...person, columns: 120 } })
    expect(out.split('\n').slice(0, 7)).toEqual([
      '✗ #7 failed after 2s. Failing checks:',
      ...['a', 'b', 'c', 'd', 'e'].map(name => `    ${name}  ${url}#${name}`),
      '    and 2 more',
    ])
  })

  test('are in the log of a pipe, whose standard output stays unchanged; not with -q', async () => {
    const { out, err, operations } = await runWithHistory(line, runOf('test'))
    expect({ out, reads: reads(operations) }).toEqual({ out: '7\tfailed\tFAILED\t2\n', reads: 1 })
    expect(err).toBe(`#7 TESTING\n#7 TESTING -> FAILED\n#7: test failed: ${url}#test\n`)
    const quiet = await runWithHistory(`${line} -q`, runOf('test'))
    expect({ out: quiet.out, reads: reads(quiet.operations) }).toEqual({ out, reads: 0 })
    expect(quiet.err).not.toContain('check')
  })

  test('are in the Markdown table, with the reason and the URL', async () => {
    const { code, out } = await runWithHistory(`${line} -o markdown`, runOf('test', 'lint'))
    expect(code).toBe(3)
    expect(out).toBe(
      [
        '| pr | outcome | reason | url | failing checks |',
        '| --- | --- | --- | --- | --- |',
        `| 7 | failed | \\#7 failed after 2s | https://github.com/acme/web/pull/7 | test ${url}\\#test, lint ${url}\\#lint |\n`,
      ].join('\n'),
    )
  })

  test.each(['-o ndjson', '--json -q'])('are in the result with %s', async flags => {
    const names = ['test', 'x'.repeat(100)]
    const { code, out, err, operations } = await runWithHistory(`${line} ${flags}`, {
      ...runOf(...names),
      pulls: { 7: [[0, 'FAILED', { testRunId: 'run-1', prTitle: 'Add search' }]] },
    })
    expect({ code, reads: reads(operations) }).toEqual({ code: 3, reads: 1 })
    expect(err).not.toContain('check')
    expect(documentsIn(out).at(-1)).toEqual({
      type: 'result',
      pr: 7,
      title: 'Add search',
      url: 'https://github.com/acme/web/pull/7',
      outcome: 'failed',
      state: 'FAILED',
      reason: '#7 has already failed',
      failingChecks: names.map(name => ({ name, url: `${url}#${name}`, conclusion: 'FAILURE' })),
      serviceReason: null,
      by: 'author',
      actor: null,
      again: 'after-change',
      mayBeMerged: false,
      elapsedSeconds: 0,
      exit: 3,
    })
  })

  test('are read for ten pull requests at most', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
    const { operations } = await runWithHistory(`pr wait ${numbers.join(' ')} --interval 1s`, {
      ...runOf('test'),
      pulls: Object.fromEntries(numbers.map(number => [number, failing])),
    })
    expect(reads(operations)).toBe(10)
  })

  test.each([401, 500])('change nothing where the read ends with %i', async status => {
    const { code, out, err, operations } = await runWithHistory(`${line} --json --until left`, {
      pulls: { 7: failing },
      fault: (_, operation) => (operation === 'getMergeQueueTestingDetails' ? { status } : undefined),
    })
    const changes = '#7 TESTING\n#7 TESTING -> FAILED\n'
    expect({ code, err, reads: reads(operations) }).toEqual({ code: 0, err: changes, reads: 1 })
    expect(documentsIn(out)).toEqual([expect.objectContaining({ outcome: 'left', failingChecks: [] })])
  })
})

describe('a wait on a terminal', () => {
  const pulls = { 7: 'PENDING, 4 TESTING, 6 MERGED', 8: 'PENDING' }
  const line = 'pr wait 7 8 --interval 2s --timeout 8s'

  test('shows them in the colors of the states', async () => {
    const { err, out } = await runWithHistory(line, { pulls, setting: { terminal: true } })
    expect(err).toContain('#7 \u001B[36m● pending\u001B[39m -> \u001B[33m◐ testing\u001B[39m, 1st\n')
    expect(out).toContain('\u001B[32m✓\u001B[39m #7 \u001B[32mmerged\u001B[39m after 6s\n')
  })

  test('shows in CI what a pipe shows, and with --json the last change too', async () => {
    const { err } = await runWithHistory(line, { pulls, setting: { ...person, env: { CI: '1' } } })
    expect(err).toContain('#7 PENDING -> TESTING, position 1\n#7 TESTING -> MERGED\n')
    const { err: shown } = await runWithHistory(`${line} --json`, { pulls, setting: person })
    expect(shown).toContain('#7 ◐ testing -> ✓ merged\n')
  })

  test.each<[Setting, number]>([
    [{ ...person, redraws: true }, 1],
    [{ ...person, redraws: true, env: { CI: '1' } }, 0],
    [person, 0],
    [{}, 0],
  ])(
    'reads the usual time for a live line alone, and reports no error of it (%j: %i)',
    async (setting, times) => {
      const { err, operations } = await runWithHistory('pr wait 7 --interval 1s', {
        pulls,
        setting,
        fault: (_, operation) =>
          operation.startsWith('getMergeQueueMetrics') ? { status: 503, body: 'no' } : undefined,
      })
      expect(operations.filter(one => one.startsWith('getMergeQueueMetrics'))).toHaveLength(times)
      expect(err).not.toContain('503')
    },
  )

  test('is one line for a pull request that is already merged, but not after failed polls', async () => {
    const setting = { terminal: true, env: { NO_COLOR: '1', CI: '1' } }
    const pulls = { 7: '-3600 MERGED' }
    const { out, err } = await runWithHistory('pr wait 7', { pulls, setting })
    expect({ out, err }).toEqual({ out: '✓ #7 is already merged\n', err: '' })
    const fault = (second: number) => (second === 0 ? { status: 500 } : undefined)
    const late = await runWithHistory('pr wait 7 --interval 2s', { pulls, setting, fault })
    expect(late.out).toBe('✓ #7 merged after 2s\n')
  })
})

test('a result has the words of the service, and a test run is not blamed for what they say', async () => {
  const timeline = [
    { state: 'FAILED', failure: { reason: 'github_api_merge_already_in_progress' } },
    { state: 'not_ready', notReady: { reason: 'api_requested' } },
  ]
  const { out, operations } = await runWithHistory('pr wait 7 --interval 2s --json', {
    pulls: { 7: [[0, 'FAILED', { testRunId: 'run-1', timeline }]] },
  })
  expect(documentsIn(out).at(-1)).toMatchObject({
    outcome: 'failed',
    failingChecks: [],
    serviceReason: 'github_api_merge_already_in_progress',
    by: 'host',
    actor: null,
    again: 'look',
    mayBeMerged: true,
  })
  expect(operations).not.toContain('getMergeQueueTestingDetails')
})

describe('a pull request that failed and may have merged all the same', () => {
  const doubt = { reason: 'github_api_merge_already_in_progress' }

  const failedAt = (second: number): Course[number] => [second, 'FAILED', doubt]
  test.each<[string, string, Course, number, string, number]>([
    ['does not merge', '', [[0, 'TESTING'], failedAt(5)], 11, 'failed', 70],
    ['was cancelled', '', [[0, 'CANCELLED', { reason: 'stacked_pr_member_merged' }]], 11, 'cancelled', 61],
    ['is read once', '--timeout 0', [failedAt(0)], 11, 'failed', 1],
    ['is submitted again', '', [failedAt(0), [20, 'TESTING'], [50, 'MERGED']], 0, 'merged', 75],
  ])('is read for up to a minute: it %s', async (_, flags, course, exit, outcome, longest) => {
    const { code, out, err, seconds } = await runWithHistory(`pr wait 7 --json ${flags}`, {
      pulls: { 7: course },
    })
    expect({ code, result: JSON.parse(out) }).toMatchObject({
      code: exit,
      result: { outcome, state: outcome.toUpperCase(), exit, ...(exit === 11 && { mayBeMerged: true }) },
    })
    expect(seconds).toBeLessThanOrEqual(longest)
    if (exit === 11)
      expect(err).toContain('#7 may have merged all the same. Look at main before you submit it again.')
  })

  test('also where why it ended cannot be read', async () => {
    const { code, out } = await runWithHistory('pr wait 7 --timeout 5s --json', {
      pulls: { 7: 'FAILED' },
      fault: (_, _operation, body) => (body.includes('includeTimeline') ? { status: 503 } : undefined),
    })
    expect({ code, result: JSON.parse(out) }).toMatchObject({ code: 11, result: { mayBeMerged: null } })
  })

  test('says so in the sentence, and a terminal does not propose to submit it', async () => {
    const { out } = await runWithHistory('pr wait 7 --timeout 10s', {
      pulls: { 7: [[0, 'FAILED', doubt]] },
      setting: { terminal: true },
    })
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'It may have merged all the same. Look at main before you submit',
    )
    expect(out).not.toContain('pr submit')
  })
})

test('on a terminal a pull request that is tested again says which batch failed', async () => {
  const story = await openStory({ scenario: 'batch-failure' })
  await story.mergeq('pr submit 31 32 33 34')
  const { code, err } = await story.mergeq('pr wait 31 --interval 1s', person)
  expect(code).toBe(0)
  expect(err).toMatch(/\. It is tested again: its batch #31, #32\s+failed and is being split\./)
})
