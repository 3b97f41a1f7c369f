import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/errors.ts'
import { type Answer, mergeq, noon, openStory, type Seen, type Setting } from '../support/harness.ts'
import { entry, queue } from '../support/queue-watch.ts'

describe.each(['document', 'hosted'] as const)('the story of a queue, %s', dialect => {
  const story = async (line: string, setting: Setting = {}) => {
    const story = await openStory({ dialect, scenario: 'failure' })
    await story.mergeq('pr submit 8 9')
    story.clock.now += 1_000
    const outcome = await story.mergeq(line, setting)
    await story.close()
    return outcome
  }

  test('on a pipe, one line for each change, and nothing drawn', async () => {
    const { code, out, err, sleeps } = await story('queue watch --interval 1s --for 6s')
    expect(code).toBe(0)
    expect(out.replace(/^\S+\t/gm, '')).toBe(
      '8\tTESTING\tMERGED\t\n9\tPENDING\tTESTING\t1\n9\tTESTING\tFAILED\t\n',
    )
    expect(err).toContain('Queue for main in github.com/acme/web: RUNNING, testing 1 of 1, 2 queued.\n')
    expect(sleeps).toEqual(Array(6).fill(1_000))
  })

  test('-o ndjson is one queue, then changes', async () => {
    const { out } = await story('queue watch --interval 1s --for 6s -o ndjson')
    const [first, ...changes] = out
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(first).toMatchObject({
      type: 'queue',
      repo: 'github.com/acme/web',
      targetBranch: 'main',
      state: 'RUNNING',
    })
    expect(first.enqueuedPullRequests).toHaveLength(2)
    for (const { at } of changes) expect(Date.parse(at)).toBeGreaterThan(noon)
    // The records of the document dialect have no author.
    const by = (name: string) =>
      dialect === 'hosted' ? { author: name, submittedBy: name } : { submittedBy: name }
    expect(changes.map(({ at: _, ...change }) => change)).toEqual([
      { type: 'change', pr: 8, from: 'TESTING', to: 'MERGED', position: null, ...by('barbara') },
      { type: 'change', pr: 9, from: 'PENDING', to: 'TESTING', position: 1 },
      {
        ...{ type: 'change', pr: 9, from: 'TESTING', to: 'FAILED', position: null },
        ...{ ...by('edsger'), reason: 'its_tests_failed' },
      },
    ])
  })

  test('-o csv and -o markdown have their head, and a row for each change', async () => {
    const { out } = await story('queue watch --interval 1s --for 6s -o csv')
    expect(out).toMatch(/^at,pr,from,to,position\r\n\S+,8,TESTING,MERGED,\r\n/)
    expect((await story('queue watch --interval 1s --for 6s -o markdown')).out.split('\n')).toHaveLength(6)
  })

  test.each(['', '--json', '-o csv', '-o markdown', '--fields state -o json'])(
    '--once %s is the queue as `queue get` prints it',
    async flags => {
      const [once, got] = [await story(`queue watch --once ${flags}`), await story(`queue get ${flags}`)]
      expect({ code: once.code, out: once.out }).toEqual({ code: 0, out: got.out })
      expect(got.out).not.toBe('')
    },
  )

  test('--once -o ndjson is the first line of the stream', async () => {
    const { code, out, sleeps } = await story('queue watch --once -o ndjson')
    expect({ code, sleeps, lines: out.split('\n').length }).toEqual({ code: 0, sleeps: [], lines: 2 })
    expect(JSON.parse(out).type).toBe('queue')
  })

  const terminal = { terminal: true, inputTerminal: true, rows: 14, columns: 70 }

  test('on a terminal it draws on the alternate screen until q is pressed, and prints the last frame', async () => {
    const keys = ['x', 'x', 'x', 'q']
    const { code, out, sleeps, requests } = await story('queue watch --interval 2s --color never', {
      ...terminal,
      keys,
    })
    expect(code).toBe(0)
    expect(requests).toEqual([])
    expect(sleeps).toEqual(Array(3).fill(1_000))
    const [, last = ''] = out.split('\u001B[?1049l')
    const frames = out.split('\u001B[?7l')
    const table = [
      expect.stringMatching(/^acme\/web main {2}● RUNNING {3}testing 1\/1 {3}waiting 0$/),
      expect.stringMatching(/^ {3}PR {2}STATE {14}FOR {2}PRIORITY {2}.*TITLE$/),
      expect.stringMatching(/^1 {2}#9 {2}◐ testing {10}\ds {3}medium {4}/),
      expect.stringMatching(/^LEFT {2}✓ #8 merged \ds ago$/),
    ]
    expect(last.split('\n')).toEqual([...table, ''])
    expect(
      (frames.at(-1) ?? '')
        .split('\u001B[?7h')[0]
        ?.replaceAll(/\u001B\[[\d?]*[A-Za-z]/g, '')
        .split('\r\n'),
    ).toEqual([...table, '', 'Updated 1s ago, every 2s. Press q to quit.'])
    expect(out).toMatch(/^\u001B\[\?1049h\u001B\[\?25l/)
    expect(out.split('\u001B[?1049l')[0]).toMatch(/\u001B\[\?7h\u001B\[\?25h$/)
  })

  test.each([
    ['in a CI job', { ...terminal, env: { CI: 'true' } }, ''],
    ['on a terminal that cannot be moved about in', { ...terminal, env: { TERM: 'dumb' } }, ''],
    ['where fields are picked', terminal, '--fields pr,to'],
    ['with -v', terminal, '-v'],
    ['where `-o table` was said aloud on a pipe', {}, '-o table'],
  ])('it does not draw %s', async (_, setting, flags) => {
    const { code, out } = await story(`queue watch --interval 1s --for 6s --color never ${flags}`, setting)
    expect(code).toBe(0)
    expect(out).not.toContain('\u001B')
    if (flags === '--fields pr,to') return
    expect(out).toMatch(/^#8 TESTING -> MERGED: submitted by barbara$/m)
    expect(out).toMatch(/^#9 TESTING -> FAILED: its_tests_failed, submitted by edsger$/m)
  })
})

describe('how a watch ends', () => {
  const at = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
  const good = { body: JSON.stringify(queue('RUNNING', entry(7, 'TESTING'))) }
  const broken = { status: 503 }
  /** Answers in order; the metrics, which only a screen reads, cannot be read. */
  const createAnswer = (answers: readonly Answer[]) => {
    let index = 0
    return ({ path }: Seen): Answer =>
      isMetrics(path) ? broken : (answers[Math.min(index++, answers.length - 1)] ?? {})
  }
  const isMetrics = (path: string) => path.startsWith('/v1/getMergeQueueMetrics')
  const watch = (line: string, answers: readonly Answer[], setting: Setting = {}) =>
    mergeq(`queue watch --interval 1s ${line}`, {
      env: at,
      answer: createAnswer(answers),
      ...setting,
    })
  test.each(['', '-o ndjson', 'terminal'])('a queue that is gone ends it with 5: %s', async how => {
    const terminal = how === 'terminal'
    const { code, out, err } = await watch(terminal ? '' : how, [good, { status: 404 }], {
      terminal,
      columns: 120,
    })
    expect(code).toBe(5)
    expect(err).toContain('404 (not found) for the queue for main')
    if (terminal) expect(out).toMatch(/\u001B\[\?25h\u001B\[\?1049l\S*acme\/web main.*\n$/s)
  })

  test.each([401, 403])('%i ends it at once with 4', async status => {
    const { code, requests } = await watch('', [good, { status }])
    expect({ code, requests: requests.length }).toEqual({ code: 4, requests: 2 })
  })

  test('failed readings are reported and do not end it; a good one forgives them', async () => {
    const { code, err, requests } = await watch('--max-errors 3 --for 1m', [
      good,
      broken,
      broken,
      good,
      broken,
      broken,
      good,
    ])
    expect(code).toBe(0)
    expect(requests.length).toBeGreaterThan(6)
    expect(err.match(/\(failed polls in a row: .*\)/g)).toEqual([
      '(failed polls in a row: 1; next attempt in 2s)',
      '(failed polls in a row: 2; next attempt in 4s)',
      '(failed polls in a row: 1; next attempt in 2s)',
      '(failed polls in a row: 2; next attempt in 4s)',
    ])
  })

  test.each([false, true])(
    'a first reading that fails ends it as `queue get` ends (terminal %s)',
    async terminal => {
      const { code, out, err, requests } = await watch('', [broken], { terminal })
      const reads = requests.filter(({ path }) => !isMetrics(path))
      expect({ code, out, reads: reads.length }).toEqual({ code: 7, out: '', reads: 4 })
      expect(err).not.toContain('failed polls in a row')
    },
  )

  test('--once -o ndjson is repeated as any reading is, and fails as one does', async () => {
    const { code, out, requests } = await watch('--once -o ndjson', [broken])
    expect({ code, out, requests: requests.length }).toEqual({ code: 7, out: '', requests: 4 })
    expect((await watch('--once -o ndjson', [broken, good])).code).toBe(0)
  })

  test('no reading before the time that Retry-After asks for', async () => {
    const { code, sleeps } = await mergeq('queue watch --interval 1s --for 1m', {
      env: at,
      answer: (_, index) => (index === 1 ? { status: 429, headers: { 'retry-after': '20' } } : good),
    })
    expect({ code, sleeps: sleeps.slice(0, 3) }).toEqual({ code: 0, sleeps: [1_000, 20_000, 1_000] })
  })

  test.each(['', 'terminal'])(
    '--max-errors in a row end it with the last one’s code, ever slower: %s',
    async how => {
      const { code, requests, sleeps } = await watch('--max-errors 4', [good, broken], {
        terminal: how !== '',
      })
      const reads = requests.filter(({ path }) => !isMetrics(path))
      expect({ code, reads: reads.length }).toEqual({ code: 7, reads: 5 })
      expect(sleeps.reduce((sum, one) => sum + one, 0)).toBe(1_000 + 2_000 + 4_000 + 8_000)
    },
  )

  test('on a terminal a failed reading is reported on the screen', async () => {
    const { out } = await watch('--for 3s --color never', [good, broken], { terminal: true, columns: 120 })
    expect(out).toMatch(/\r\n\S+ could not process the request for \S.* \(503\).*.*\u001B\[K/)
  })

  test('a record that cannot be read does not show how it ended; a refused token ends the watch', async () => {
    const answer =
      (status: number) =>
      ({ path }: Seen, index: number): Answer =>
        path === '/v1/getQueue'
          ? index === 0
            ? good
            : { body: JSON.stringify(queue('RUNNING')) }
          : { status }
    for (const [status, code, out] of [
      [500, 0, /^\S+\t7\tTESTING\t\t\n$/],
      [404, 0, /^\S+\t7\tTESTING\t\t\n$/],
      [401, 4, /^$/],
    ] as const) {
      const outcome = await mergeq('queue watch --interval 1s --for 1s', { env: at, answer: answer(status) })
      expect({ status, code: outcome.code }).toEqual({ status, code })
      expect(outcome.out).toMatch(out)
    }
  })

  test.each([
    // The last request asks for the timeline.
    [1, /^\S+\t7\tTESTING\tMERGED\t\n$/, 3],
    [2, /^\S+\t7\tTESTING\tMERGED\t\n$/, 4],
    [9, /^\S+\t7\tTESTING\t\t\n$/, 4],
  ])('a record that cannot be read %i times is requested again', async (failures, expected, asked) => {
    let [looks, records] = [0, 0]
    const { code, out } = await mergeq('queue watch --interval 1s --for 8s', {
      env: at,
      answer: ({ path }) => {
        if (path === '/v1/getQueue') return looks++ === 0 ? good : { body: JSON.stringify(queue('RUNNING')) }
        return records++ < failures ? { status: 503 } : { body: '{"state":"MERGED"}' }
      },
    })
    expect({ code, records }).toEqual({ code: 0, records: asked })
    expect(out).toMatch(expected)
  })

  test('a pull request that returns after its record could not be read has its earlier state', async () => {
    let looks = 0
    const { out } = await mergeq('queue watch --interval 1s --for 4s', {
      env: at,
      answer: ({ path }) =>
        path !== '/v1/getQueue'
          ? { status: 503 }
          : looks++ === 1
            ? { body: JSON.stringify(queue('RUNNING')) }
            : { body: JSON.stringify(queue('RUNNING', entry(7, looks === 1 ? 'TESTING' : 'PENDING'))) },
    })
    expect(out).toMatch(/^\S+\t7\tTESTING\t\t\n\S+\t7\tTESTING\tPENDING\t1\n$/)
  })

  test('a record is read once for each that leaves; a timeline that is not given, once', async () => {
    const { requests } = await mergeq('queue watch --interval 1s --for 3s', {
      env: at,
      answer: ({ path }, index) =>
        path === '/v1/getQueue' && index === 0
          ? { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(pr => entry(pr, 'TESTING')))) }
          : { body: JSON.stringify({ ...queue('RUNNING'), state: 'MERGED' }) },
    })
    const records = requests.filter(({ path }) => path === '/v1/getSubmittedPullRequest')
    const bodies = records.map(({ body }) => JSON.parse(body))
    expect(
      bodies
        .filter(body => !('includeTimeline' in body))
        .map(({ pr }) => pr.number)
        .sort(),
    ).toEqual([...[1, 2, 3, 4, 5, 6]])
    expect(bodies).toHaveLength(7)
  })

  test.each([
    ['--interval 500ms', /is shorter than 1s/],
    ['--interval 5', /duration/],
    ['--interval 30d', /is longer than 1d/],
    ['--max-errors 0', /whole number/],
    ['--once --for 1m', /cannot be used together/],
    ['--json', /--once/],
  ])('%s is refused before anything is sent', async (line, says) => {
    const { code, err, requests } = await mergeq(`queue watch ${line}`, { env: at, answer: () => good })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toMatch(says)
  })

  test.each([
    [404, 1],
    [503, 4],
  ])('metrics that answer %i are requested %i times in 100 s', async (status, times) => {
    const { code, requests } = await watch('--for 100s', [good], {
      terminal: true,
      answer: ({ path }) => (isMetrics(path) ? { status } : good),
    })
    expect({ code, times: requests.filter(({ path }) => isMetrics(path)).length }).toEqual({ code: 0, times })
  })

  test('a signal restores the terminal at once, before a second signal can end the process', async () => {
    const stop = new AbortController()
    const screen: string[] = []
    let restored: boolean | undefined
    const { code } = await watch('', [good], {
      terminal: true,
      signal: stop.signal,
      screen,
      answer: (_, index) => {
        if (index === 3) {
          stop.abort(new MergeqError('interrupted', 'stopped by SIGINT.'))
          restored = screen.join('').endsWith('\u001B[?7h\u001B[?25h\u001B[?1049l')
        }
        return good
      },
    })
    expect({ code, restored }).toEqual({ code: 130, restored: true })
  })

  test('an interruption leaves the cursor to be seen', async () => {
    const stop = new AbortController()
    const { code, out } = await watch('', [good], {
      terminal: true,
      signal: stop.signal,
      answer: (_, index) => {
        if (index === 3) stop.abort(new MergeqError('interrupted', 'stopped by SIGTERM.', { exit: 143 }))
        return good
      },
    })
    expect(code).toBe(143)
    expect(out).toMatch(/^\u001B\[\?1049h\u001B\[\?25l.*\u001B\[\?25h\u001B\[\?1049l\S*acme\/web main.*\n$/s)
  })
})
