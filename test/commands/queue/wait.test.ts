import { describe, expect, test } from 'vitest'
import { queueOutcome } from '../../../src/commands/queue/wait.ts'
import { pollSeconds, runWithHistory } from '../../support/pr-wait.ts'
import { entry, queue } from '../../support/queue-watch.ts'

const draining = {
  queue: [[0, 'draining']] as const,
  pulls: { 7: 'TESTING, 4 TESTS_PASSED, 7 MERGED', 8: 'PENDING' },
}
const result = {
  type: 'result',
  repo: 'github.com/acme/web',
  targetBranch: 'main',
  until: 'idle',
  outcome: 'reached',
  depth: 1,
  testing: 0,
  elapsedSeconds: 8,
  exit: 0,
}

describe('`queue wait`', () => {
  test('waits until nothing is tested or about to merge, and logs each change once', async () => {
    const { code, out, err, asked } = await runWithHistory('queue wait --interval 2s', draining)
    expect({ code, out }).toEqual({ code: 0, out: 'github.com/acme/web\tmain\treached\t1\t0\t8\n' })
    const queue = 'main of acme/web: draining, testing'
    expect(err).toBe(`${queue} 1, 2 queued.\n${queue} 0, 2 queued.\n${queue} 0, 1 queued.\n`)
    expect(asked).toMatchObject([0, 2, 4, 6, 8].map(second => ({ second, operation: 'getQueue' })))
  })

  test.each(['--json', '-o ndjson'])('prints its result with %s', async format => {
    const { out } = await runWithHistory(`queue wait --interval 2s ${format}`, draining)
    expect(JSON.parse(out)).toEqual(result)
  })

  test.each([
    ['idle', 'TESTING', 'running', '--timeout 0', 8, 'pending', 0],
    ['idle', 'TESTING', 'running', '--timeout 90s', 124, 'timed-out', 90],
    ['empty', 'MERGED', 'running', '', 0, 'reached', 0],
    ['empty', 'TESTING, 9 MERGED', 'draining', '--interval 3s', 0, 'reached', 9],
    ['empty', 'PENDING', 'draining', '', 8, 'pending', 0],
    ['empty', 'TESTING, 2 TESTS_PASSED', 'paused', '--interval 2s', 8, 'pending', 2],
  ])(
    'until %s: #7 %s in a queue that is %s, with %j, is exit %i',
    async (until, course, state, flags, exit, outcome, elapsed) => {
      const { code, out, seconds } = await runWithHistory(`queue wait --until ${until} ${flags} --json`, {
        pulls: { 7: course },
        queue: [[0, state]],
      })
      expect({ code, seconds }).toEqual({ code: exit, seconds: elapsed })
      expect(JSON.parse(out)).toMatchObject({ until, outcome, elapsedSeconds: elapsed, exit })
    },
  )

  // With -q and --json, standard error has error objects only.
  test.each(['csv', 'table', 'markdown'])('says why it ends with 8, also with -q: %s', async format => {
    const story = { pulls: { 7: 'PENDING' }, queue: [[0, 'paused']] as const }
    const { code, err } = await runWithHistory(`queue wait --until empty -q -o ${format}`, story)
    expect({ code, err }).toEqual({
      code: 8,
      err: 'mergeq: The queue for main of acme/web is not empty: paused, testing 0, 1 queued.\n',
    })
  })

  test.each([
    [401, 4, 1],
    // The second names the queues that exist.
    [404, 5, 2],
    [503, 7, 7],
  ])(
    'a queue that is always answered with %i is exit %i after %i requests',
    async (status, exit, requests) => {
      const { code, out, err, asked } = await runWithHistory(
        'queue wait --interval 5m --timeout 1d -o ndjson',
        {
          pulls: {},
          fault: () => ({ status }),
        },
      )
      expect({ code, requests: asked.length }).toEqual({ code: exit, requests })
      expect(JSON.parse(out)).toMatchObject({ outcome: 'error', depth: null, testing: null, exit })
      expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ error: { exit, status } })
    },
  )

  test('one failed reading is reported and waited out', async () => {
    const { code, err } = await runWithHistory('queue wait --interval 5s', {
      pulls: { 7: 'TESTING, 9 MERGED' },
      fault: second => (second === 5 ? { status: 503 } : undefined),
    })
    expect(code).toBe(0)
    expect(err).toMatch(/ \(503\)\./)
  })

  test('an entry of unknown state is waited out, with one warning', async () => {
    const { code, err, seconds } = await runWithHistory('queue wait --interval 2s -q', {
      pulls: { 7: 'PUZZLED, 4 PENDING' },
    })
    expect({ code, err, seconds }).toEqual({
      code: 0,
      err: 'mergeq: Unknown state puzzled; a queue with it does not count as idle.\n',
      seconds: 4,
    })
  })

  test('reads soon after a change, and ever less often while nothing changes', async () => {
    const seconds = pollSeconds(['TESTING', 5])
    const pulls = { 7: `TESTING, ${seconds[5]} MERGED` }
    const { asked } = await runWithHistory('queue wait', { pulls })
    expect(asked.map(({ second }) => second)).toEqual(seconds)
  })

  test('says every five minutes in a job that it still waits', async () => {
    const { err } = await runWithHistory('queue wait --timeout 12m', { pulls: { 7: 'TESTING' } })
    expect(err.match(/ \d+ minutes for main .* 1 queued\.$/gm)).toHaveLength(2)
  })
})

test.each([
  ['RUNNING', [], 'reached', 'reached'],
  ['RUNNING', ['TESTING', 'PENDING'], undefined, undefined],
  ['RUNNING', ['TESTS_PASSED'], undefined, undefined],
  ['RUNNING', ['PENDING'], 'reached', undefined],
  ['RUNNING', ['PENDING_FAILURE'], 'reached', undefined],
  ['RUNNING', ['PUZZLED'], undefined, undefined],
  ['PAUSED', ['TESTING'], undefined, undefined],
  ['PAUSED', ['TESTS_PASSED'], 'reached', 'pending'],
  ['PAUSED', ['TESTING', 'PENDING'], undefined, 'pending'],
  ['DRAINING', ['TESTS_PASSED'], undefined, undefined],
  ['draining', ['tests_passed', 'pending'], undefined, 'pending'],
  ['SWITCHING_MODES', ['PENDING'], 'reached', undefined],
])('a queue that is %s with %j: idle %s, empty %s', (state, states, idle, empty) => {
  const document = queue(state, ...states.map((each, index) => entry(index + 1, each)))
  expect([queueOutcome(document, 'idle'), queueOutcome(document, 'empty')]).toEqual([idle, empty])
})
