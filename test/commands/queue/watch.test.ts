import { describe, expect, test, vi } from 'vitest'
import { MergeqError } from '../../../src/base/errors.ts'
import { addDepartures, departureLines, scrollWith } from '../../../src/commands/queue/watch/live.ts'
import { describeQueueChange } from '../../../src/commands/queue/watch/stream.ts'
import { plainText } from '../../../src/output/styled-text.ts'
import type { QueueChange } from '../../../src/wait/queue-changes.ts'
import {
  type Answer,
  queueEnv as env,
  mergeq,
  noon,
  openStory,
  type Seen,
  type Setting,
} from '../../support/harness.ts'
import { documentsIn } from '../../support/pr-wait.ts'
import { entry, queue } from '../../support/queue-watch.ts'

/** Runs a line in a sandbox where #8 merges and #9 then fails. */
async function story(line: string, setting: Setting = {}) {
  const opened = await openStory({ dialect: 'hosted', scenario: 'failure' })
  await opened.mergeq('pr submit 8 9')
  opened.clock.now += 1_000
  const outcome = await opened.mergeq(line, setting)
  return outcome
}

describe('what a watch prints', () => {
  const watch = 'queue watch --interval 1s --for 6s'

  test('on a pipe, one line for each change, and nothing drawn', async () => {
    const { code, out, err, sleeps } = await story(watch)
    expect(code).toBe(0)
    expect(out.replace(/^\S+\t/gm, '')).toBe(
      [
        ['8\tTESTING\tMERGED\t', 'The queue merged it.\t'],
        ['9\tPENDING\tTESTING\t1', '\t'],
        ['9\tTESTING\tFAILED\t', 'A required check failed.\t'],
      ]
        .map(([row, reason]) => `${row}\tgithub.com/acme/web\tmain\t${reason}\n`)
        .join(''),
    )
    expect(err).toContain('Queue for main of acme/web: running, testing 1 of 1, 2 queued. Under test: #8.\n')
    expect(sleeps).toEqual(Array(6).fill(1_000))
  })

  test('-o ndjson is one queue, then changes', async () => {
    const { out } = await story(`${watch} -o ndjson`)
    const [first, ...changes] = documentsIn(out)
    const place = { repo: 'github.com/acme/web', targetBranch: 'main' }
    expect(first).toMatchObject({ type: 'queue', ...place, state: 'RUNNING' })
    expect(first?.enqueuedPullRequests).toHaveLength(2)
    for (const { at } of changes) expect(Date.parse(String(at))).toBeGreaterThan(noon)
    const left = {
      type: 'change',
      ...place,
      from: 'TESTING',
      position: null,
      actor: null,
      mayBeMerged: false,
    }
    // A submission through the API names nobody.
    expect(changes).toMatchObject([
      { ...left, pr: 8, to: 'MERGED', author: 'barbara', serviceReason: 'merge_graph_merge', again: 'done' },
      { type: 'change', ...place, pr: 9, from: 'PENDING', to: 'TESTING', position: 1 },
      { ...left, pr: 9, to: 'FAILED', author: 'edsger', by: 'author', again: 'after-change' },
    ])
  })

  test.each(['', '--json'])('--once %s is the queue as `queue get` prints it', async flags => {
    const [once, got] = [await story(`queue watch --once ${flags}`), await story(`queue get ${flags}`)]
    expect({ code: once.code, out: once.out }).toEqual({ code: 0, out: got.out })
    expect(got.out).not.toBe('')
  })

  const terminal = { terminal: true, inputTerminal: true, rows: 14, columns: 70 }

  test('on a terminal it draws on the alternate screen until q is pressed, and prints the last frame', async () => {
    const { code, out, sleeps } = await story('queue watch --interval 2s --color never', {
      ...terminal,
      keys: ['x', 'q'],
    })
    expect({ code, sleeps }).toEqual({ code: 0, sleeps: [2_000] })
    const [drawn = '', last = ''] = out.split('\u001B[?1049l')
    expect(last).toMatch(
      /^acme\/web main .*\n.*\n1 {2}#9 {2}◐ testing .*\nLeft the queue {2}✓ #8 merged .*\n$/,
    )
    const lastFrame = drawn.split('\u001B[?7l').at(-1)?.split('\u001B[?7h')[0] ?? ''
    expect(lastFrame.replaceAll(/\u001B\[[\d?]*[A-Za-z]/g, '').split('\r\n')).toEqual([
      ...last.split('\n'),
      'Updated just now, every 2s. Press q to quit.',
    ])
    expect(drawn).toMatch(/^\u001B\[\?1049h\u001B\[\?25l/)
    expect(drawn).toMatch(/\u001B\[\?7h\u001B\[\?25h$/)
  })

  test('says in yellow how old its data is if the service does not answer, and that the last frame is stale', async () => {
    let reads = 0
    const answer = ({ path }: Seen): Answer =>
      path.endsWith('/getQueue') && reads++ === 0
        ? { body: JSON.stringify(queue('RUNNING', entry(1, 'TESTING'))) }
        : { status: 503 }
    const { code, out } = await mergeq('queue watch -R acme/web -b main --interval 1s --color always', {
      ...terminal,
      answer,
      keys: ['x', 'x', 'x', 'q'],
    })
    const [frames = '', last] = out.split('\u001B[?1049l')
    expect(code).toBe(0)
    expect(frames).toMatch(/\u001B\[33mUpdated \ds ago/)
    expect(last).toMatch(/\u001B\[33mNot up to date: read \ds ago\./)
  })

  test('counts the age of its data on during a request, and says how long there was no answer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const clock = { now: noon }
    let reads = 0
    const answer = ({ path }: Seen): Answer => {
      if (path.endsWith('/getQueue') && ++reads === 2) {
        clock.now += 12_000
        vi.advanceTimersByTime(1_000)
      }
      return good
    }
    const setting = { ...terminal, env, answer, clock, keys: ['x', 'q'] }
    const { out } = await mergeq('queue watch --interval 2s --color always', setting)
    vi.useRealTimers()
    expect(out).toContain('\u001B[33mUpdated 14s ago, every 2s; no answer for 12s. Press q to quit.')
  })

  test.each([
    ['in a CI job', { ...terminal, env: { CI: 'true' } }, ''],
    ['on a terminal that cannot be moved about in', { ...terminal, env: { TERM: 'dumb' } }, ''],
    ['where fields are picked', terminal, '--fields pr,to'],
    ['with -v', terminal, '-v'],
    ['where `-o table` was said aloud on a pipe', {}, '-o table'],
  ])('it does not draw %s', async (_, setting, flags) => {
    const { code, out } = await story(`${watch} --color never ${flags}`, setting)
    expect(code).toBe(0)
    expect(out).not.toContain('\u001B')
    if (flags === '--fields pr,to') return
    // A terminal wraps the lines.
    const lines = out.replaceAll(/\n(?!#|$)/g, ' ')
    expect(lines).toMatch(
      /^#8 TESTING -> MERGED: The queue merged it \(merge_graph_merge\)\. Author: barbara\.$/m,
    )
    expect(lines).toMatch(
      /^#9 TESTING -> FAILED: A required check failed \(test_run_required_status_failed\)\. Author: edsger\.$/m,
    )
  })
})

const good = { body: JSON.stringify(queue('RUNNING', entry(7, 'TESTING'))) }
const empty = { body: JSON.stringify(queue('RUNNING')) }
const broken = { status: 503 }
const isMetrics = ({ path }: Seen) => path.startsWith('/v1/getMergeQueueMetrics')

/** Answers the readings of the queue in order, the last one again and again, and those of records otherwise. */
function queueAnswers(looks: readonly Answer[], record: (index: number) => Answer = () => broken) {
  let [index, records] = [0, 0]
  return (seen: Seen): Answer =>
    seen.path === '/v1/getQueue'
      ? (looks[Math.min(index++, looks.length - 1)] ?? {})
      : isMetrics(seen)
        ? broken
        : record(records++)
}
const watch = (line: string, looks: readonly Answer[], setting: Setting = {}) =>
  mergeq(`queue watch --interval 1s ${line}`, { env, answer: queueAnswers(looks), ...setting })

describe('how a watch ends', () => {
  test.each([false, true])('a queue that is gone ends it with 5 (terminal %s)', async terminal => {
    const { code, out, err } = await watch('', [good, { status: 404 }], { terminal, columns: 120 })
    expect(code).toBe(5)
    expect(err).toContain('acme/web has no queue for main.')
    if (terminal) expect(out).toMatch(/\u001B\[\?25h\u001B\[\?1049l\S*acme\/web main.*\n$/s)
  })

  test('a rejected token ends it at once with 4', async () => {
    const { code, requests } = await watch('', [good, { status: 401 }])
    expect({ code, requests: requests.length }).toEqual({ code: 4, requests: 2 })
  })

  test('failed readings are reported and do not end it; a good one forgives them', async () => {
    const looks = [good, broken, broken, good, broken, broken, good]
    const { code, err, requests } = await watch('--give-up-after 5s --for 1m', looks)
    expect(code).toBe(0)
    expect(requests.length).toBeGreaterThan(6)
    expect(err.match(/\(503\)\.|after 5s\./g)).toEqual(['(503).', 'after 5s.', '(503).', 'after 5s.'])
  })

  test.each([false, true])(
    '--give-up-after of failures ends it with 7, after ever longer delays (terminal %s)',
    async terminal => {
      const { code, requests, sleeps } = await watch('--give-up-after 15s', [good, broken], { terminal })
      const reads = requests.filter(seen => !isMetrics(seen))
      expect({ code, reads: reads.length }).toEqual({ code: 7, reads: 6 })
      expect(sleeps.reduce((sum, one) => sum + one, 0)).toBe(1_000 + 15_000)
    },
  )

  test.each([false, true])('it begins in an outage, too (terminal %s)', async terminal => {
    const begun = await watch('--for 1m', [broken, broken, good], { terminal })
    expect({ code: begun.code, err: begun.err.match(/\(503\)\.| after \d+s\./g) }).toEqual({
      code: 0,
      err: ['(503).', expect.stringMatching('after')],
    })
    const { code, out, requests } = await watch('--give-up-after 15s', [broken], { terminal })
    const reads = requests.filter(seen => !isMetrics(seen))
    expect({ code, out, reads: reads.length }).toEqual({ code: 7, out: '', reads: 5 })
    expect((await watch('--retries 0', [broken], { terminal })).sleeps).toEqual([])
  })

  test('--once -o ndjson is the first line of the stream, and fails as any reading does', async () => {
    const { code, out } = await watch('--once -o ndjson', [broken, good])
    expect({ code, type: JSON.parse(out).type }).toEqual({ code: 0, type: 'queue' })
    expect(await watch('--once -o ndjson', [broken])).toMatchObject({ code: 7, out: '' })
  })

  test('on a terminal a failed reading is reported on the screen', async () => {
    const { out } = await watch('--for 3s --color never', [good, broken], { terminal: true, columns: 120 })
    expect(out).toMatch(/\r\n\S+ could not process the request for \S.* \(503\).*.*\u001B\[K/)
  })

  test.each([
    ['--interval 500ms', /is shorter than 1s/],
    ['--interval 30d', /is longer than 1d/],
    ['--once --for 1m', /cannot be used together/],
    ['--json', /--once/],
    ['--timeout 10m', /To stop after a time, use --for\./],
    ['--heartbeat 30s -o table', /--heartbeat requires -o ndjson\./],
    ['--heartbeat 10ms -o ndjson', /--heartbeat must be at least 1s\./],
    ['--once --heartbeat 30s', /--once and --heartbeat cannot be used together\./],
    ['--all --once -o json', /--once for several queues requires -o ndjson\./],
  ])('%s is refused before anything is sent', async (line, says) => {
    const { code, err, requests } = await mergeq(`queue watch ${line}`, { env, answer: () => good })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toMatch(says)
  })

  test('metrics that fail are requested once a minute', async () => {
    const { code, requests } = await mergeq('queue watch --interval 10s --for 100s', {
      env,
      terminal: true,
      answer: seen => (isMetrics(seen) ? { status: 503 } : good),
    })
    expect({ code, times: requests.filter(isMetrics).length }).toEqual({ code: 0, times: 2 })
  })

  test('a signal restores the terminal at once, and leaves the last frame', async () => {
    const stop = new AbortController()
    const screen: string[] = []
    let restored: boolean | undefined
    const { code, out } = await watch('', [], {
      terminal: true,
      signal: stop.signal,
      screen,
      answer: (_, index) => {
        if (index === 3) {
          stop.abort(new MergeqError('interrupted', 'stopped by SIGTERM.', { exit: 143 }))
          // Before a second signal can end the process.
          restored = screen.join('').endsWith('\u001B[?7h\u001B[?25h\u001B[?1049l')
        }
        return good
      },
    })
    expect({ code, restored }).toEqual({ code: 143, restored: true })
    expect(out).toMatch(/^\u001B\[\?1049h\u001B\[\?25l.*\u001B\[\?25h\u001B\[\?1049l\S*acme\/web main.*\n$/s)
  })
})

describe('the records of pull requests that leave', () => {
  test.each([
    [500, 0, /^\S+\t7\tTESTING\t\t\t\S+\tmain\t\t\n$/],
    [404, 0, /^\S+\t7\tTESTING\t\t\t\S+\tmain\t\t\n$/],
    [401, 4, /^$/],
  ])('one that is answered with %i does not show how it ended: exit %i', async (status, code, out) => {
    const answer = queueAnswers([good, empty], () => ({ status }))
    const outcome = await watch('--for 1s', [], { answer })
    expect(outcome.code).toBe(code)
    expect(outcome.out).toMatch(out)
  })

  test.each([
    // The last request asks for the timeline.
    [1, /^\S+\t7\tTESTING\tMERGED\t\t\S+\tmain\t\t\n$/, 3],
    [2, /^\S+\t7\tTESTING\tMERGED\t\t\S+\tmain\t\t\n$/, 4],
    [9, /^\S+\t7\tTESTING\t\t\t\S+\tmain\t\t\n$/, 4],
  ])('one that cannot be read %i times is requested again', async (failures, expected, asked) => {
    const answer = queueAnswers([good, empty], index =>
      index < failures ? broken : { body: '{"state":"MERGED"}' },
    )
    const { code, out, requests } = await watch('--for 8s', [], { answer })
    const records = requests.filter(({ path }) => path === '/v1/getSubmittedPullRequest')
    expect({ code, records: records.length }).toEqual({ code: 0, records: asked })
    expect(out).toMatch(expected)
  })

  test('a pull request that returns after its record could not be read has its earlier state', async () => {
    const back = { body: JSON.stringify(queue('RUNNING', entry(7, 'PENDING'))) }
    const { out } = await watch('--for 4s', [good, empty, back])
    expect(out).toMatch(/^\S+\t7\tTESTING\t\t\t\S+\tmain\t\t\n\S+\t7\tTESTING\tPENDING\t1\t\S+\tmain\t\t\n$/)
  })
})

test('a change in words', () => {
  const change = { pr: 7, from: 'TESTING', to: null, at: new Date(noon).toISOString(), position: null }
  expect(describeQueueChange(change)).toBe('#7 TESTING -> left the queue')
  expect(describeQueueChange({ ...change, position: 2 })).toBe('#7 TESTING -> unknown state, position 2')
  expect(describeQueueChange({ ...change, pr: null, from: 'RUNNING' })).toBe(
    'The queue: RUNNING -> unknown state',
  )
})

test.each([
  ['j', 6],
  ['\u001B[B', 6],
  ['k', 4],
  ['\u001BOA', 4],
  [' ', 15],
  ['\u001B[6~', 15],
  ['\u001B[5~', 0],
  ['x', 5],
])('the key %j scrolls from 5 to %s', (key, expected) => {
  expect(scrollWith(key, 5, 10)).toBe(expected)
})

describe('the screen of a queue', () => {
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  const left = (pr: number, to: string | null, minutes: number): QueueChange => ({
    pr,
    from: 'TESTING',
    to,
    at: new Date(noon - minutes * 60_000).toISOString(),
    position: null,
  })
  const screenOf = (...updates: readonly (readonly QueueChange[])[]) => {
    const departures = updates.reduce(
      (earlier, changes) => addDepartures(earlier, changes, noon),
      addDepartures([], [], noon),
    )
    return (columns: number, rows = 1) =>
      departureLines(departures, { repo, targetBranch: 'main' }, noon, { columns, rows })
        .map(plainText)
        .join('\n')
  }
  const testing = { ...left(5, 'TESTING', 0), from: 'PENDING', position: 1 }
  const paused = { ...left(1, 'PAUSED', 0), pr: null }

  test('names the pull requests that left, newest first, and counts the others', () => {
    const foot = screenOf(
      [left(2, 'MERGED', 5)],
      [left(3, 'MERGED', 3), testing, paused],
      [left(4, 'FAILED', 2)],
    )
    expect(foot(90)).toBe('Left the queue  ✗ #4 failed 2m ago   ✓ #3 merged 3m ago   ✓ #2 merged 5m ago')
    expect(foot(20)).toBe('Left the queue  ✗ #4 failed 2m ago   2 others are not shown')
    expect(foot(40, 3)).toBe('Left the queue  ✗ #4 failed 2m ago\n  ✓ #3 merged 3m ago\n  ✓ #2 merged 5m ago')
  })

  test('names those whose state is unknown, or that are not ready', () => {
    expect(screenOf([left(2, null, 1), left(3, 'NOT_READY', 2), left(6, 'Hovering', 3)])(90)).toBe(
      'Left the queue  #2 left 1m ago   ○ #3 not ready 2m ago   #6 Hovering 3m ago',
    )
  })

  test.each(['2026-01-05T11:00:00', '2026-01-05T13:00:00Z'])(
    'counts from the reading if it left at %s',
    at => {
      expect(screenOf([{ ...left(2, 'MERGED', 0), at }])(80)).toBe('Left the queue  ✓ #2 merged just now')
    },
  )
})
