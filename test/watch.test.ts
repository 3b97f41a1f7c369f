import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import width from 'string-width'
import { describe, expect, test } from 'vitest'
import {
  departedEntries,
  departureChange,
  describeChange,
  type QueueChange,
  queueChanges,
  snapshotOf,
} from '../src/domain/queue-changes.ts'
import { MergeqError } from '../src/errors.ts'
import type { JsonObject } from '../src/json.ts'
import { createLiveBlock } from '../src/output/live-block.ts'
import { drawFrame, truncateLine } from '../src/output/table.ts'
import { table, type View } from '../src/output/view.ts'
import { type Answer, mergeq, noon, openStory, type Seen, type Setting } from './harness.ts'
import { keeper, openHome, openPeer, openScreen } from './peers.ts'
import { testWith } from './programs.ts'

const entry = (prNumber: number, state: string, more: JsonObject = {}): JsonObject => ({
  prNumber,
  state,
  ...more,
})
const queue = (state: string, ...entries: readonly JsonObject[]): JsonObject => ({
  state,
  concurrency: 2,
  enqueuedPullRequests: entries,
})
const now = '2026-01-05T12:00:00.000Z'

describe('what changed between two looks', () => {
  const rows: readonly (readonly [
    string,
    JsonObject,
    JsonObject,
    readonly QueueChange[],
    readonly number[],
  ])[] = [
    ['nothing', queue('RUNNING', entry(7, 'TESTING')), queue('running', entry(7, 'testing')), [], []],
    [
      'a place alone is no change',
      queue('RUNNING', entry(7, 'TESTING'), entry(8, 'PENDING')),
      queue('RUNNING', entry(8, 'PENDING'), entry(7, 'TESTING')),
      [],
      [],
    ],
    [
      'a state, at the moment that the service tells',
      queue('RUNNING', entry(7, 'PENDING')),
      queue('RUNNING', entry(7, 'TESTING', { stateChangedAt: '2026-01-05T11:59:58Z' })),
      [{ pr: 7, from: 'PENDING', to: 'TESTING', at: '2026-01-05T11:59:58Z', position: 1 }],
      [],
    ],
    [
      'one more, its moment unreadable',
      queue('RUNNING'),
      queue('RUNNING', entry(7, 'PENDING', { stateChangedAt: 'yesterday' })),
      [{ pr: 7, from: null, to: 'PENDING', at: now, position: 1 }],
      [],
    ],
    [
      'one that comes back from NOT_READY',
      queue('RUNNING'),
      queue('RUNNING', entry(5, 'PENDING')),
      [{ pr: 5, from: 'NOT_READY', to: 'PENDING', at: now, position: 1 }],
      [],
    ],
    ['one less', queue('RUNNING', entry(7, 'TESTING')), queue('RUNNING'), [], [7]],
    [
      'the queue itself',
      queue('RUNNING'),
      queue('PAUSED'),
      [{ pr: null, from: 'RUNNING', to: 'PAUSED', at: now, position: null }],
      [],
    ],
    [
      'G5: nothing that can be read',
      { enqueuedPullRequests: [null, { prNumber: null }, { prNumber: '7' }] },
      { state: null, enqueuedPullRequests: null },
      [],
      [],
    ],
  ]
  test.each(rows)('%s', (_, one, two, changes, gone) => {
    const [before, after] = [snapshotOf(one), snapshotOf(two)]
    expect(queueChanges(before, after, new Map([[5, 'NOT_READY']]), noon)).toEqual(changes)
    expect(departedEntries(before, after).map(({ pr }) => pr)).toEqual(gone)
  })

  test.each([
    ['merged', { state: 'merged', stateChangedAt: now }, 'MERGED'],
    ['not ready any more', { state: 'NOT_READY' }, 'NOT_READY'],
    ['not shown yet', { state: 'TESTING' }, null],
    ['not to be read', undefined, null],
    ['in a state that nobody knows', { state: 'Hovering' }, 'Hovering'],
  ] as const)('how one left: %s', (_, record, to) => {
    const [left] = snapshotOf(queue('RUNNING', entry(7, 'TESTING'))).entries.values()
    if (left === undefined) throw new Error('it is not there')
    expect(departureChange(left, record, noon)).toEqual({
      pr: 7,
      from: 'TESTING',
      to,
      at: now,
      position: null,
    })
  })

  test('in words', () => {
    const change = { pr: 7, from: 'TESTING', to: null, at: now, position: null }
    expect(describeChange(change)).toBe('#7 TESTING -> no longer in the queue')
    expect(describeChange({ ...change, from: null, to: 'PENDING', position: 2 })).toBe(
      '#7 PENDING (number 2)',
    )
    expect(describeChange({ ...change, pr: null, from: 'RUNNING', to: 'PAUSED' })).toBe(
      'The queue: RUNNING -> PAUSED',
    )
  })
})

describe.each(['document', 'hosted'] as const)('the story of a queue, %s', dialect => {
  const story = async (line: string, setting: Setting = {}) => {
    const told = await openStory({ dialect, scenario: 'failure' })
    await told.mergeq('pr submit 8 9')
    told.clock.now += 1_000
    const outcome = await told.mergeq(line, setting)
    await told.close()
    return outcome
  }

  test('L7: on a pipe, one line for each change, and nothing drawn', async () => {
    const { code, out, err, sleeps } = await story('queue watch --interval 1s --for 6s')
    expect(code).toBe(0)
    expect(out.replace(/^\S+\t/gm, '')).toBe(
      '8\tTESTING\tMERGED\t\n9\tPENDING\tTESTING\t1\n9\tTESTING\tFAILED\t\n',
    )
    expect(err).toContain('Queue of main in github.com/acme/web: RUNNING, testing 1 of 1, 2 in the queue.\n')
    expect(sleeps).toEqual(Array(6).fill(1_000))
  })

  test('L9: -o ndjson is one queue, then changes', async () => {
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
    expect(changes.map(({ at: _, ...change }) => change)).toEqual([
      { type: 'change', pr: 8, from: 'TESTING', to: 'MERGED', position: null },
      { type: 'change', pr: 9, from: 'PENDING', to: 'TESTING', position: 1 },
      { type: 'change', pr: 9, from: 'TESTING', to: 'FAILED', position: null },
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

  test('on a terminal it draws until q is pressed', async () => {
    const keys = ['x', 'x', 'x', 'q']
    const { code, out, sleeps } = await story('queue watch --interval 2s --color never', {
      ...terminal,
      keys,
    })
    expect(code).toBe(0)
    expect(sleeps).toEqual(Array(3).fill(1_000))
    const last = out.split('\u001B[?7l').at(-1) ?? ''
    expect(last.replaceAll(/\u001B\[[\d?]*[A-Za-z]/g, '').split('\r\n')).toEqual([
      'Queue of main in github.com/acme/web: RUNNING',
      expect.stringMatching(/^testing 1 of 1, 1 in the queue$/),
      expect.stringMatching(/^last merge #8, \ds ago$/),
      expect.stringMatching(/^POSITION {2}PR {2}STATE/),
      expect.stringMatching(/^ {7}1 {2}#9 {2}TESTING {2}medium/),
      '',
      expect.stringMatching(/^#8 TESTING -> MERGED, \ds ago$/),
      expect.stringMatching(/^#9 PENDING -> TESTING \(number 1\), \ds ago$/),
      'Read 1s ago, every 2s. q leaves.',
      '',
    ])
    expect(out).toMatch(/^\u001B\[\?25l/)
    expect(out).toMatch(/\u001B\[\?25h$/)
    expect(out).not.toMatch(/\u001B\[[\d;]*[HJ](?<!\u001B\[J)/)
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
    if (flags !== '--fields pr,to') expect(out).toMatch(/^#8 TESTING -> MERGED$/m)
  })
})

describe('how a watch ends', () => {
  const at = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main' }
  const good = { body: JSON.stringify(queue('RUNNING', entry(7, 'TESTING'))) }
  const watch = (line: string, answers: readonly Answer[], setting: Setting = {}) =>
    mergeq(`queue watch --interval 1s ${line}`, {
      env: at,
      answer: (_, index) => answers[Math.min(index, answers.length - 1)] ?? {},
      ...setting,
    })
  const broken = { status: 503 }

  test.each(['', '-o ndjson', 'terminal'])('a queue that is gone ends it with 5: %s', async how => {
    const terminal = how === 'terminal'
    const { code, out, err } = await watch(terminal ? '' : how, [good, { status: 404 }], { terminal })
    expect(code).toBe(5)
    expect(err).toContain('knows no queue of main')
    if (terminal) expect(out).toMatch(/\u001B\[\?25h$/)
  })

  test.each([401, 403])('L6: %i ends it at once with 4', async status => {
    const { code, requests } = await watch('', [good, { status }])
    expect({ code, requests: requests.length }).toEqual({ code: 4, requests: 2 })
  })

  test('L5: failed readings are told and do not end it; a good one forgives them', async () => {
    const { code, err, requests } = await watch('--max-errors 3 --for 1m', [
      broken,
      broken,
      good,
      broken,
      broken,
      good,
    ])
    expect(code).toBe(0)
    expect(requests.length).toBeGreaterThan(6)
    expect(err.match(/\((\d) in a row\)/g)).toEqual([
      '(1 in a row)',
      '(2 in a row)',
      '(1 in a row)',
      '(2 in a row)',
    ])
  })

  test('--once -o ndjson is repeated as any reading is, and fails as one does', async () => {
    const { code, out, requests } = await watch('--once -o ndjson', [broken])
    expect({ code, out, requests: requests.length }).toEqual({ code: 7, out: '', requests: 4 })
    expect((await watch('--once -o ndjson', [broken, good])).code).toBe(0)
  })

  test.each(['queue', 'metrics'])(
    '%s watch: no reading before the time that Retry-After asks for',
    async group => {
      const { code, sleeps } = await mergeq(`${group} watch --interval 1s --for 1m`, {
        env: at,
        answer: (_, index) =>
          index === 1
            ? { status: 429, headers: { 'retry-after': '20' } }
            : { body: group === 'queue' ? good.body : 'depth 1\n' },
      })
      expect({ code, sleeps: sleeps.slice(0, 3) }).toEqual({ code: 0, sleeps: [1_000, 20_000, 1_000] })
    },
  )

  test.each(['', 'terminal'])(
    '--max-errors in a row end it with the last one’s code, ever slower: %s',
    async how => {
      const { code, requests, sleeps } = await watch('--max-errors 4', [good, broken], {
        terminal: how !== '',
      })
      expect({ code, requests: requests.length }).toEqual({ code: 7, requests: 5 })
      expect(sleeps.reduce((sum, one) => sum + one, 0)).toBe(1_000 + 2_000 + 4_000 + 8_000)
    },
  )

  test('on a terminal a failed reading is told in the block', async () => {
    const { out } = await watch('--for 3s --color never', [good, broken], { terminal: true, columns: 120 })
    expect(out).toMatch(/\r\ngetQueue: \S+ could not answer \(503\).* \(1 in a row\)\u001B\[K/)
  })

  test('a record that cannot be read tells nothing of how it left; a refused token does', async () => {
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
    [1, /^\S+\t7\tTESTING\tMERGED\t\n$/, 2],
    [2, /^\S+\t7\tTESTING\tMERGED\t\n$/, 3],
    [9, /^\S+\t7\tTESTING\t\t\n$/, 3],
  ])('a record that cannot be read %i times is asked for again', async (failures, told, asked) => {
    let [looks, records] = [0, 0]
    const { code, out } = await mergeq('queue watch --interval 1s --for 8s', {
      env: at,
      answer: ({ path }) => {
        if (path === '/v1/getQueue') return looks++ === 0 ? good : { body: JSON.stringify(queue('RUNNING')) }
        return records++ < failures ? { status: 503 } : { body: '{"state":"MERGED"}' }
      },
    })
    expect({ code, records }).toEqual({ code: 0, records: asked })
    expect(out).toMatch(told)
  })

  test('one whose record could not be read, and that comes back, has not come from nowhere', async () => {
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
    expect(out).toMatch(/^\S+\t7\tTESTING\tPENDING\t1\n$/)
  })

  test('a record is read once for each that leaves', async () => {
    const { requests } = await mergeq('queue watch --interval 1s --for 3s', {
      env: at,
      answer: ({ path }, index) =>
        path === '/v1/getQueue' && index === 0
          ? { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(pr => entry(pr, 'TESTING')))) }
          : { body: JSON.stringify({ ...queue('RUNNING'), state: 'MERGED' }) },
    })
    const records = requests.filter(({ path }) => path === '/v1/getSubmittedPullRequest')
    expect(records.map(({ body }) => JSON.parse(body).pr.number).sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test.each([
    ['--interval 500ms', /second/],
    ['--interval 5', /duration/],
    ['--interval 30d', /day/],
    ['--max-errors 0', /whole number/],
    ['--once --for 1m', /contradict/],
    ['--json', /--once/],
  ])('%s is refused before anything is sent', async (line, says) => {
    const { code, err, requests } = await mergeq(`queue watch ${line}`, { env: at, answer: () => good })
    expect({ code, requests }).toEqual({ code: 2, requests: [] })
    expect(err).toMatch(says)
  })

  test('an interruption leaves the cursor to be seen', async () => {
    const stop = new AbortController()
    const { code, out } = await watch('', [good], {
      terminal: true,
      signal: stop.signal,
      answer: (_, index) => {
        if (index === 2) stop.abort(new MergeqError('interrupted', 'stopped by SIGTERM.', { exit: 143 }))
        return good
      },
    })
    expect(code).toBe(143)
    expect(out).toMatch(/^\u001B\[\?25l.*\u001B\[\?25h$/s)
  })
})

describe('the block', () => {
  const page = (columns: number, rows: number) => ({ columns, rows, color: true, now: noon })
  const columns = [
    ['POSITION', 'position', 'number'],
    ['PR', 'prNumber', 'pr'],
    ['STATE', 'state', 'state'],
    ['TITLE', 'title'],
  ] as const
  const shapeOf = (records: readonly JsonObject[], heading: readonly string[]): View => ({
    ...table(records, columns),
    heading,
  })

  test('property: no line is wider than the terminal, and there are never more than it has rows', () => {
    const part = fc.constantFrom(
      '漢字',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      'e\u0301',
      '\u001B[31m',
      '\u001B]0;x\u0007',
      '\u202e',
      '\t',
      '\n',
      '１',
      '🧑🏽‍💻',
      'ﷺ',
      'a\u200d',
    )
    const title = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.oneof(part, fc.string()), { maxLength: 20 }).map(parts => parts.join('')),
      fc.integer({ min: 0, max: 100_000 }).map(length => 'x'.repeat(length)),
    )
    const record = fc.record({
      prNumber: fc.integer(),
      state: fc.constantFrom('TESTING', 'odd'),
      title,
      position: fc.nat(),
    })
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 30 }),
        fc.array(title, { maxLength: 3 }),
        fc.array(title, { maxLength: 4 }),
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 1, max: 40 }),
        (records, heading, foot, most, rows) => {
          const lines = drawFrame(shapeOf(records, heading), foot, page(most, rows))
          expect(lines.length).toBeLessThanOrEqual(Math.max(0, rows - 1))
          for (const line of lines) {
            expect(width(line)).toBeLessThan(Math.max(1, most))
            expect(line.replaceAll(/\u001B\[\d+m/g, '')).not.toMatch(/\p{Cc}/u)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('rows that do not fit are counted', () => {
    const records = Array.from({ length: 30 }, (_, index) => ({ prNumber: index, position: index + 1 }))
    const lines = drawFrame(shapeOf(records, ['head']), ['', 'foot'], { ...page(60, 12), color: false })
    expect(lines).toHaveLength(11)
    expect(lines.slice(-3)).toEqual(['… and 24 more', '', 'foot'])
  })

  test('a cut keeps the colours whole', () => {
    expect(truncateLine('\u001B[32m漢字漢字\u001B[39m end', 5)).toBe('\u001B[32m漢字…\u001B[39m')
    expect(truncateLine('\u001B[32mok\u001B[39m end', 20)).toBe('\u001B[32mok\u001B[39m end')
  })

  test('each drawing is one write, over the lines that are there: those that a narrower one broke, and a lower one scrolled away', async () => {
    const writes: string[] = []
    const block = await createLiveBlock({ write: async text => void writes.push(String(text)) })
    await block.draw(['a'.repeat(70), 'b'], { columns: 80, rows: 24 })
    await block.draw(['c', 'd', 'e'], { columns: 40, rows: 24 })
    await block.draw(['f'], { columns: 40, rows: 3 })
    await block.draw(['g'], { columns: 40, rows: 20 })
    await block.close()
    await block.close()
    expect(writes).toEqual([
      `\u001B[?25l\r\u001B[?7l${'a'.repeat(70)}\u001B[K\r\nb\u001B[K\r\n\u001B[J\u001B[?7h`,
      '\u001B[3A\r\u001B[?7lc\u001B[K\r\nd\u001B[K\r\ne\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[2A\r\u001B[?7lf\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[2A\r\u001B[?7lg\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[?25h',
    ])
  })
})

describe('in a real terminal', () => {
  const kept = keeper()
  const home = kept(openHome())
  const titled = (pr: number) =>
    entry(pr, pr === 1 ? 'TESTING' : 'PENDING', { prTitle: `漢字 ${'title '.repeat(30)}` })
  const busy = { body: JSON.stringify(queue('RUNNING', ...[1, 2, 3, 4, 5, 6].map(titled))) }
  const calm = { body: JSON.stringify(queue('RUNNING', entry(2, 'TESTING'))) }
  const merged = { body: JSON.stringify({ state: 'MERGED' }) }
  const start = async (answer: (index: number) => Answer, shell?: string) => {
    const service = kept(
      await openPeer({
        answer: ({ path }, index) => (path.endsWith('/getQueue') ? answer(index) : merged),
      }),
    )
    const words = ['queue', 'watch', '--interval', '1s', '--base-url', service.base()]
    const options = { terminal: 90, ...(shell === undefined ? {} : { shell }) }
    return { screen: kept(openScreen(home, words, options)), service }
  }
  const blocks = (lines: readonly string[]) => lines.filter(line => line.startsWith('Queue of')).length

  testWith('tmux')('it is redrawn in place, and q leaves it there with the cursor below', async () => {
    const { screen, service } = await start(index => (index === 0 ? busy : calm), 'echo before; "$@"')
    await screen.awaits(/#6 +PENDING/)
    expect(screen.about('cursor_flag')).toBe('0')
    await screen.awaits(/^last merge #6, \d+s ago/)
    await service.awaits(service.asked.length + 2)
    const lines = screen.lines()
    expect(lines[0]).toBe('before')
    expect(blocks(lines)).toBe(1)
    expect(lines.filter(line => /^ +\d {2}#/.test(line))).toHaveLength(1)
    screen.press('q')
    await screen.awaits(/^code 0$/)
    expect(screen.lines().at(-1)).toBe('code 0')
    expect(blocks(screen.lines())).toBe(1)
    expect({ cursor: screen.about('cursor_flag'), wrap: screen.about('wrap_flag') }).toEqual({
      cursor: '1',
      wrap: '1',
    })
    screen.close()
  })

  testWith('tmux')('it survives resizing: smaller, and larger again', async () => {
    const { screen, service } = await start(() => busy)
    await screen.awaits(/q leaves/)
    for (const [columns, rows] of [
      [45, 24],
      [45, 9],
      [100, 30],
    ] as const) {
      screen.resize(columns, rows)
      // Drawn at least once since then.
      await service.awaits(service.asked.length + 2)
      const seen = () => ({ blocks: blocks(screen.lines()), foot: screen.lines().at(-1) })
      await expect
        .poll(seen, { timeout: 3_000 })
        .toEqual({ blocks: 1, foot: expect.stringMatching(/^Read \ds ago, every 1s\. q leaves\.$/) })
    }
    screen.press('q')
    await screen.awaits(/^code 0$/)
    screen.close()
  })

  testWith('tmux')(
    'J6: Ctrl-C leaves it with 130 within 1 s, the cursor to be seen and what is typed, too',
    async () => {
      const { screen } = await start(() => busy, '"$@"; echo "code $?"; stty -a | grep -ow -e "-\\?echo"')
      await screen.awaits(/q leaves/)
      const began = Date.now()
      screen.press('C-c')
      await screen.awaits(/^code 130$/)
      expect(Date.now() - began).toBeLessThan(1_000)
      await screen.awaits(/^echo$/)
      expect(screen.about('cursor_flag')).toBe('1')
      expect(screen.lines()).toContain('mergeq: stopped by SIGINT.')
      screen.close()
    },
  )

  testWith('tmux')('J7: SIGTERM leaves the cursor to be seen', async () => {
    const file = home.path('pid')
    const { screen } = await start(() => busy, `"$@" & echo $! > ${file}; wait $!`)
    await screen.awaits(/Ctrl-C leaves/)
    expect(screen.about('cursor_flag')).toBe('0')
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM')
    await screen.awaits(/^code 143$/)
    expect(screen.about('cursor_flag')).toBe('1')
    screen.close()
  })

  testWith('tmux')('q leaves at once while an answer is waited for', async () => {
    const service = kept(await openPeer({ answer: (_, index) => (index === 0 ? busy : 'silence') }))
    const screen = kept(
      openScreen(home, ['queue', 'watch', '--interval', '1s', '--base-url', service.base()]),
    )
    await screen.awaits(/q leaves/)
    await service.awaits(2)
    const began = Date.now()
    screen.press('q')
    await screen.awaits(/^code 0$/)
    expect(Date.now() - began).toBeLessThan(1_000)
    screen.close()
  })
})
