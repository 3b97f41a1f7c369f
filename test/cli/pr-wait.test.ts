import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pullRequestStates } from '../../src/domain/states.ts'
import { mergeq, noon, openStory } from '../support/harness.ts'
import { type Course, documentsIn, env, runWithHistory, walk } from '../support/pr-wait.ts'

const dialects = ['document', 'hosted'] as const

describe('any history', () => {
  test('ends within the limit, with one result that the records bear out', async () => {
    const stands = fc.tuple(
      fc.option(fc.constantFrom(...pullRequestStates, 'PUZZLED'), { nil: undefined }),
      fc.record({ isCurrentlySubmittedToQueue: fc.boolean() }),
      fc.constantFrom(200, 200, 200, 500, 404, 429),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(stands, { minLength: 1, maxLength: 10 }),
        fc.boolean(),
        async (history, two) => {
          const course: Course = history.map(([state, more], index) => [index * 10, state, more])
          const { code, out, seconds } = await runWithHistory(
            `pr wait 7${two ? ' 8' : ''} --interval 10s --timeout 90s --json`,
            {
              pulls: { 7: course, 8: [[0, 'MERGED']] },
              fault: second => {
                const status = history[second / 10]?.[2] ?? 200
                return status === 200 ? undefined : { status, body: 'no' }
              },
            },
          )
          const results = documentsIn(out)
          expect(results.map(({ pr }) => pr)).toEqual(two ? [7, 8] : [7])
          expect(seconds).toBeLessThanOrEqual(90)
          const { outcome, state } = results[0] ?? {}
          if (outcome === 'merged') expect(history.map(([each]) => each)).toContain('MERGED')
          if (outcome === 'failed' || outcome === 'cancelled')
            expect(history).toContainEqual([
              outcome.toUpperCase(),
              { isCurrentlySubmittedToQueue: false },
              expect.anything(),
            ])
          if (outcome === 'timed-out') expect({ code, seconds }).toEqual({ code: 124, seconds: 90 })
          else if (outcome !== 'error') expect(state).toBe(String(outcome).toUpperCase())
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('several pull requests', () => {
  test('they end differently: results in the order given, the worst code wins', async () => {
    const pulls = {
      7: [
        [0, 'TESTING'],
        [6, 'MERGED'],
      ] as const,
      8: [
        [0, 'TESTING'],
        [2, 'FAILED'],
      ] as const,
      9: [
        [0, 'NOT_READY'],
        [4, 'CANCELLED'],
      ] as const,
      10: [[0, 'TESTING']] as const,
    }
    const { code, out, err } = await runWithHistory('pr wait 7 8 9 10 --interval 2s --timeout 10s', { pulls })
    expect({ code, out }).toEqual({
      code: 3,
      out: '7\tmerged\tMERGED\t6\n8\tfailed\tFAILED\t2\n9\tcancelled\tCANCELLED\t4\n10\ttimed-out\tTESTING\t10\n',
    })
    expect(err).toMatch(/^#7 TESTING, position 1$/m)
    const { out: lines } = await runWithHistory('pr wait 7 8 9 10 --interval 2s --timeout 10s -o ndjson', {
      pulls,
    })
    const results = documentsIn(lines).filter(({ type }) => type === 'result')
    expect(results.map(({ pr, exit }) => [pr, exit])).toEqual([
      [8, 3],
      [9, 10],
      [7, 0],
      [10, 124],
    ])
  })

  test('50 pull requests cost one getQueue a round and one read for each that is not in it', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => index + 1)
    // The first five are not ready for the first two rounds.
    const pulls = Object.fromEntries(
      numbers.map(number => [
        number,
        [
          [0, number <= 5 ? 'NOT_READY' : 'PENDING'],
          [20, 'TESTING'],
          [40, 'MERGED'],
        ] as const,
      ]),
    )
    const { code, asked } = await runWithHistory(`pr wait ${numbers.join(' ')} --interval 10s`, { pulls })
    expect(code).toBe(0)
    const rounds = [0, 10, 20, 30, 40].map(second => {
      const those = asked.filter(one => one.second === second)
      return [
        those.filter(({ operation }) => operation === 'getQueue').length,
        those.filter(({ operation }) => operation === 'getSubmittedPullRequest').length,
      ]
    })
    expect(rounds).toEqual([
      [1, 5],
      [1, 5],
      [1, 0],
      [1, 0],
      [1, 50],
    ])
    expect(asked).toHaveLength(65)
  })

  test.each([404, 400])('a queue that answers %i is done without', async status => {
    const pulls = { 7: walk, 8: walk }
    const { code, err, operations } = await runWithHistory('pr wait 7 8 --interval 2s', {
      pulls,
      fault: (_, operation) => (operation === 'getQueue' ? { status, body: 'no' } : undefined),
    })
    expect({ code, queues: operations.filter(one => one === 'getQueue').length }).toEqual({
      code: 0,
      queues: 1,
    })
    expect(err).toMatch(/Checking each pull request separately/)
  })

  test('a token that may not read the queue ends the wait', async () => {
    const { code, asked } = await runWithHistory('pr wait 7 8 --interval 2s', {
      pulls: { 7: walk, 8: walk },
      fault: (_, operation) => (operation === 'getQueue' ? { status: 403, body: 'no' } : undefined),
    })
    expect({ code, asked: asked.length }).toEqual({ code: 4, asked: 1 })
  })

  test.each([
    [404, /^mergeq: .*a paused queue cannot be detected\.\n$/],
    [500, /^mergeq: .*Until the queue can be read, a pause cannot be detected\.\n$/],
  ])('--fail-on-paused with a queue that answers %i: one warning, also with -q', async (status, warning) => {
    const { code, err } = await runWithHistory('pr wait 7 --interval 2s --fail-on-paused -q', {
      pulls: { 7: walk },
      fault: (_, operation) => (operation === 'getQueue' ? { status } : undefined),
    })
    expect(code).toBe(0)
    expect(err).toMatch(warning)
  })

  test('no reading is begun once the time is over, however many there are', async () => {
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

  test('a wait without progress reports the state of the queue, and continues if that cannot be read', async () => {
    const { code } = await runWithHistory('pr wait 7 --interval 10s', {
      pulls: {
        7: [
          [0, 'PENDING'],
          [300, 'MERGED'],
        ],
      },
      fault: (_, operation) => (operation === 'getQueue' ? { status: 500 } : undefined),
    })
    expect(code).toBe(0)
  })

  test('a token that is revoked ends all of them, and is reported once', async () => {
    const { code, out, err, seconds } = await runWithHistory('pr wait 7 8 9 --interval 2s --json', {
      pulls: { 7: walk, 8: [[0, 'MERGED']], 9: walk },
      fault: second => (second === 4 ? { status: 401 } : undefined),
    })
    expect({ code, seconds }).toEqual({ code: 4, seconds: 4 })
    expect(documentsIn(out).map(({ pr, outcome, exit }) => [pr, outcome, exit])).toEqual([
      [7, 'error', 4],
      [8, 'merged', 0],
      [9, 'error', 4],
    ])
    expect(err.match(/"kind":"auth"/g)).toHaveLength(1)
  })

  test('--stop-on-error: the first that fails ends the waiting for the rest', async () => {
    const { code, out } = await runWithHistory('pr wait 7 8 --interval 2s --stop-on-error', {
      pulls: {
        7: walk,
        8: [
          [0, 'TESTING'],
          [4, 'FAILED'],
        ],
      },
    })
    expect({ code, out }).toEqual({ code: 3, out: '7\tpending\tTESTING\t4\n8\tfailed\tFAILED\t4\n' })
  })
})

describe.each(dialects)('stories in the %s dialect', dialect => {
  const endings: readonly (readonly [string, string, number, string])[] = [
    ['happy', '--interval 1s', 0, 'merged\tMERGED'],
    ['flaky', '--interval 1s', 0, 'merged\tMERGED'],
    ['failure', '--interval 1s', 3, 'failed\tFAILED'],
    ['cancelled', '--interval 1s', 10, 'cancelled\tCANCELLED'],
    ['slow', '', 0, 'merged\tMERGED'],
    ['failure', '--interval 1s --until left', 0, 'left\tFAILED'],
    ['happy', '--interval 1s --until testing', 0, 'reached\tTESTING'],
    ['paused', '--interval 1s --timeout 5s', 124, 'timed-out\tPENDING'],
    ['paused', '--interval 1s --fail-on-paused', 8, 'pending\t'],
    ['happy', '--timeout 0', 8, 'pending\t'],
  ]
  test.each(endings)('%s: pr submit 9 --wait %s ends with %i', async (scenario, flags, exit, row) => {
    const story = await openStory({ dialect, scenario })
    try {
      const { code, out } = await story.mergeq(`pr submit 9 --wait ${flags}`)
      expect({ code, out }).toEqual({ code: exit, out: expect.stringContaining(`9\t${row}`) })
    } finally {
      await story.close()
    }
  })

  test('a resubmission whose last attempt was cancelled', async () => {
    const story = await openStory({ dialect })
    try {
      await story.mergeq('pr submit 9')
      story.clock.now += 500
      await story.mergeq('pr cancel 9')
      story.clock.now += 5_000
      expect((await story.mergeq('pr wait 9')).code).toBe(10)
      const { code, out } = await story.mergeq('pr submit 9 --wait --interval 1s')
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^9\tmerged\tMERGED\t\d+\n$/) })
    } finally {
      await story.close()
    }
  })

  test('an outage in the middle', async () => {
    const story = await openStory({ dialect, scenario: 'outage' })
    try {
      expect((await story.mergeq('pr submit 9')).code).toBe(0)
      const { code, err } = await story.mergeq('pr wait 9 --interval 1s')
      expect(code).toBe(0)
      expect(err).toMatch(/\(503\).*Still waiting\./)
    } finally {
      await story.close()
    }
  })

  test('several that end differently', async () => {
    const story = await openStory({ dialect, scenario: 'failure' })
    try {
      const { code, out } = await story.mergeq('pr submit 7 9 11 --wait --interval 1s')
      expect(code).toBe(3)
      expect(out).toMatch(/^7\tmerged\tMERGED\t\d+\n9\tfailed\tFAILED\t\d+\n11\tmerged\tMERGED\t\d+\n$/)
    } finally {
      await story.close()
    }
  })
})
