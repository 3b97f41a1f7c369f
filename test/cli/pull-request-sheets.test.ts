import { describe, expect, test } from 'vitest'
import { describeStateChange, describeUpdate } from '../../src/commands/queue/update.ts'
import { type Answer, mergeq, openStory, type Seen } from '../support/harness.ts'

const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', NO_COLOR: '1' }
const record = {
  prNumber: 7,
  state: 'TESTING',
  prTitle: 'Fix the cart',
  stateChangedAt: '2026-01-05T11:56:00Z',
  priorityName: 'medium',
  priorityValue: 100,
  prAuthor: 'barbara',
  prSha: '4f2a9c1',
  isCurrentlySubmittedToQueue: true,
}
const answering =
  (body: unknown): (() => Answer) =>
  () => ({ body: JSON.stringify(body) })

describe('pr get on a terminal', () => {
  test('prints one pull request as a sheet', async () => {
    const { out } = await mergeq('pr get 7', { env, terminal: true, answer: answering(record) })
    expect(out.split('\n')).toEqual([
      '#7  ◐ testing for 4m',
      '  Fix the cart',
      '  priority     medium (100)',
      '  author       barbara',
      '  head commit  4f2a9c1',
      '  page         https://github.com/acme/web/pull/7',
      '',
    ])
  })

  test.each([60, 120])('prints several as a table of %i columns that cuts only titles', async columns => {
    const { out } = await mergeq('pr get 7 8', {
      env,
      terminal: true,
      columns,
      answer: answering({
        ...record,
        prTitle: 'A title that is longer than the terminal is wide '.repeat(3),
      }),
    })
    const [heading = '', ...rows] = out.trimEnd().split('\n')
    expect(heading).toMatch(columns === 60 ? /^PR +STATE +FOR +PRIORITY +TITLE$/ : /AUTHOR +TITLE$/)
    for (const row of rows) expect(row).toMatch(/^#\d {2}◐ testing +4m .*…$/)
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns)
  })

  test.each([
    [
      'not ready says why',
      { state: 'NOT_READY', readiness: { doesBaseBranchMatch: false } },
      /not ready {2,}\S/,
    ],
    ['no longer submitted says so', { isCurrentlySubmittedToQueue: false }, /submitted {2,}no\n/],
    ['failed and still submitted says so', { state: 'FAILED' }, /submitted {2,}yes\n/],
    ['finished says when', { state: 'MERGED', isCurrentlySubmittedToQueue: false }, /✓ merged 4m ago\n/],
    ['tested alone says so', { noBatch: true }, /batching {2,}no: it is tested alone\n/],
  ])('one that is %s', async (_, fields, expected) => {
    const { out } = await mergeq('pr get 7', {
      env,
      terminal: true,
      answer: answering({ ...record, ...fields }),
    })
    expect(out).toMatch(expected)
  })

  test('has links if the terminal supports them', async () => {
    const { out } = await mergeq('pr get 7 8', {
      env,
      terminal: true,
      hasLinks: true,
      answer: answering(record),
    })
    expect(out).toContain('\u001B]8;;https://github.com/acme/web/pull/7\u0007#7\u001B]8;;\u0007')
  })
})

describe('--web', () => {
  const opened = async (line: string, answer: () => Answer, fails = false) => {
    const urls: string[] = []
    const outcome = await mergeq(line, {
      env,
      answer,
      openUrl(url) {
        urls.push(url)
        if (fails) throw new Error('spawn xdg-open ENOENT')
      },
    })
    return { ...outcome, urls }
  }

  test.each([
    ['pr get 7 --web', record, 'https://github.com/acme/web/pull/7'],
    ['pr explain 7 --web', record, 'https://github.com/acme/web/pull/7'],
    [
      'pr testing 6e1d9f0a --web',
      {
        checkSuites: [
          {
            checkRuns: [
              { name: 'a', conclusion: 'SUCCESS', url: 'https://ci.example/a' },
              { name: 'b', conclusion: 'FAILURE', url: 'https://ci.example/b' },
            ],
          },
        ],
      },
      'https://ci.example/b',
    ],
  ])('%s opens the page and prints nothing', async (line, body, url) => {
    const { code, out, err, urls } = await opened(line, answering(body))
    expect({ code, out, urls }).toEqual({ code: 0, out: '', urls: [url] })
    expect(err).toBe(`Opened ${url} in your browser.\n`)
  })

  test('shows the URL when no browser can be started', async () => {
    const { code, err } = await opened('pr get 7 --web', answering(record), true)
    expect({ code, err }).toEqual({
      code: 16,
      err: 'mergeq: The browser could not be started: spawn xdg-open ENOENT.\n  Open this page in a browser: https://github.com/acme/web/pull/7\n',
    })
  })

  test('of pr explain reads only the record of the pull request', async () => {
    const { urls, requests } = await opened('pr explain 7 --web', answering({ ...record, state: 'FAILED' }))
    expect(urls).toEqual(['https://github.com/acme/web/pull/7'])
    expect(requests.map(({ path }) => path)).toEqual(['/v1/getSubmittedPullRequest'])
  })

  test('opens nothing if the service rejects the request, and nothing that is not a web page', async () => {
    expect((await opened('pr get 7 --web', () => ({ status: 404 }))).urls).toEqual([])
    const run = { checkSuites: [{ checkRuns: [{ name: 'a', url: 'file:///etc/passwd' }] }] }
    const { code, urls } = await opened('pr testing 6e1d9f0a --web', answering(run))
    expect({ code, urls }).toEqual({ code: 16, urls: [] })
  })

  test('an empty URL is no page', async () => {
    const runOf = (...urls: readonly string[]) => ({
      checkSuites: [{ checkRuns: urls.map((url, index) => ({ name: `check-${index}`, url })) }],
    })
    const page = 'https://ci.example/a'
    expect((await opened('pr testing 6e1d9f0a --web', answering(runOf('', page)))).urls).toEqual([page])
    const { code, err, urls } = await opened('pr testing 6e1d9f0a --web', answering(runOf('')))
    expect({ code, err, urls }).toEqual({
      code: 0,
      err: 'mergeq: The response contains no page URL.\n',
      urls: [],
    })
  })
})

describe('a change on a terminal says what changed', () => {
  const queue = {
    state: 'RUNNING',
    concurrency: 5,
    batch: false,
    enqueuedPullRequests: [
      { prNumber: 1, state: 'TESTING' },
      { prNumber: 2, state: 'PENDING' },
      { prNumber: 3, state: 'PENDING' },
    ],
  }
  const service = ({ path }: Seen): Answer =>
    path.endsWith('/getQueue')
      ? { body: JSON.stringify(queue) }
      : path.endsWith('/getSubmittedPullRequest')
        ? { body: JSON.stringify(record) }
        : { body: '{}' }
  const run = (line: string, more = {}) => mergeq(line, { env, terminal: true, answer: service, ...more })

  test.each([
    ['queue update --concurrency 4 --batch', 'main: concurrency 5 -> 4, batch no -> yes\n'],
    ['queue update --concurrency 5', 'main: concurrency 5 (unchanged)\n'],
    ['queue update --not-ready-timeout-hours 2', 'main: not-ready-timeout-hours 2\n'],
    ['queue update --set foo=bar', 'main: foo bar\n'],
    ['queue update --set a.b=1.50', 'main: a.b 1.5\n'],
    ['queue update --set concurrency=5', 'main: concurrency 5 (unchanged)\n'],
    ['queue update --set concurrency=4', 'main: concurrency 5 -> 4\n'],
    ['queue update --set state=RUNNING', 'main: state RUNNING (unchanged)\n'],
    ['queue update --set repo.name=web', 'main: no setting changed\n'],
    ['queue pause', 'Paused main: 1 pull request finishes testing, 2 wait.\n'],
    ['queue drain', 'Draining main: 1 pull request finishes testing, 2 wait.\n'],
    ['queue resume', 'The queue for main was already RUNNING.\n'],
    ['pr submit 7 --priority high', '#7 was already queued; priority medium -> high.\n'],
    ['pr submit 7 --priority medium', '#7 was already queued; priority medium (unchanged).\n'],
    ['pr submit 7', '#7 was already queued.\n'],
  ])('%s', async (line, expected) => {
    expect(await run(line)).toMatchObject({ code: 0, out: expected })
  })

  test('pr submit compares the name of the priority in any case', async () => {
    const answer = () => ({
      body: JSON.stringify({ ...record, priorityName: 'MEDIUM', priorityValue: undefined }),
    })
    const { out } = await run('pr submit 7 --priority medium', { answer })
    expect(out).toBe('#7 was already queued; priority MEDIUM (unchanged).\n')
  })

  test('but sends no extra request for a pipe, JSON or fields', async () => {
    for (const [line, more] of [
      ['queue pause', { terminal: false }],
      ['queue pause --json', {}],
      ['queue pause --fields ok', {}],
    ] as const)
      expect((await run(line, more)).requests.map(({ path }) => path)).toEqual(['/v1/updateQueue'])
  })

  test.each([401, 404, 500])('a read before it that ends with %i changes nothing', async status => {
    const { code, out, requests } = await run('queue pause', {
      answer: (seen: Seen) => (seen.path.endsWith('/getQueue') ? { status } : { body: '{}' }),
    })
    expect({ code, out }).toEqual({
      code: 0,
      out: 'The queue for main in github.com/acme/web is now PAUSED.\n',
    })
    expect(requests).toHaveLength(2)
  })

  test.each([
    [
      { concurrency: 4 },
      { concurrency: 5, mode: 'single' },
      { concurrency: 4, mode: 'parallel' },
      'concurrency 5 -> 4, mode single -> parallel',
    ],
    [{ state: 'PAUSED' }, { state: 'paused' }, {}, 'state PAUSED (unchanged)'],
    [{ requiredStatuses: [] }, { requiredStatuses: ['build'] }, {}, 'required-statuses build -> none'],
    [{ batch: true }, {}, {}, 'batch yes'],
  ])('%j after %j', (sent, before, after, expected) => {
    expect(describeUpdate(sent, before, after)).toBe(expected)
  })

  test.each([
    ['PAUSED', [], 'Paused main: no pull requests are queued.'],
    ['PAUSED', [{ prNumber: 1, state: 'PENDING' }], 'Paused main: 1 pull request waits.'],
    ['RUNNING', [{ prNumber: 1, state: 'TESTING' }], 'Resumed main: 1 pull request testing.'],
  ] as const)('%s with %j', (state, enqueuedPullRequests, expected) => {
    expect(describeStateChange(state, 'main', { state: 'DRAINING', enqueuedPullRequests })).toBe(expected)
  })
})

describe('a rejected change of a finished pull request on a terminal says so', () => {
  const hint = '  Nothing was changed. For details, run: mergeq pr get 7\n'
  const rejecting =
    (state: string, status = 404, more = {}) =>
    ({ path }: Seen): Answer =>
      path.endsWith('/getSubmittedPullRequest')
        ? { body: JSON.stringify({ ...record, state, isCurrentlySubmittedToQueue: false, ...more }) }
        : { status, body: 'no' }
  const run = (line: string, answer: (seen: Seen) => Answer, more = {}) =>
    mergeq(line, { env, terminal: true, columns: 200, answer, ...more })
  const paths = ({ requests }: { requests: readonly Seen[] }) => requests.map(({ path }) => path)

  test.each([
    ['pr cancel 7', 'MERGED', 404, 5, '#7 is already merged.'],
    ['pr cancel 7', 'failed', 404, 5, '#7 has already failed.'],
    ['pr cancel 7', 'CANCELLED', 404, 5, '#7 is already cancelled.'],
    ['pr restart 7', 'MERGED', 404, 5, '#7 is already merged.'],
    ['pr submit 7', 'MERGED', 400, 6, '#7 is already merged.'],
  ])('%s, %s', async (line, state, status, code, expected) => {
    const outcome = await run(line, rejecting(state, status))
    const place = 'for #7 in the queue for main in github.com/acme/web'
    const refusal =
      status === 404 ? `returned 404 (not found) ${place}` : `rejected the request ${place} (${status})`
    const err = outcome.err.replace(/127\.0\.0\.1:\d+/, 'HOST')
    expect({ ...outcome, err }).toMatchObject({
      code,
      out: '',
      err: `mergeq: ${expected} HOST ${refusal}: no.\n${hint}`,
    })
  })

  test.each([
    ['pr cancel 7', rejecting('PENDING', 404, { isCurrentlySubmittedToQueue: true })],
    ['pr cancel 7', (): Answer => ({ status: 404, body: 'no' })],
    ['pr submit 7', rejecting('FAILED', 400)],
  ])('%s: another reason stays', async (line, answer) => {
    expect((await run(line, answer)).err).toContain(': no.\n')
  })

  test.each([
    ['pr cancel 7', { terminal: false }],
    ['pr cancel 7 --json', {}],
    ['pr cancel 7 --retries 0', {}],
    ['pr cancel 7 --set targetBranch=prod', {}],
  ])('%s with %j asks nothing more', async (line, more) => {
    expect(paths(await run(line, rejecting('MERGED'), more))).toEqual(['/v1/cancelPullRequest'])
  })
})

test('--retries 0 sends one request for a submission on a terminal', async () => {
  const { requests, out } = await mergeq('pr submit 7 --retries 0', {
    env,
    terminal: true,
    answer: () => ({ body: 'OK' }),
  })
  expect(requests.map(({ path }) => path)).toEqual(['/v1/submitPullRequest'])
  expect(out).toBe('Submitted #7 to the queue for main.\n')
})

test.each(['constructor', '__proto__', 'new status'])(
  'a test run with the status %s is shown',
  async status => {
    const { code, out } = await mergeq('pr testing 6e1d9f0a', {
      env: { ...env, NO_COLOR: '1' },
      terminal: true,
      columns: 200,
      answer: answering({ status, testBranch: 'x' }),
    })
    expect({ code, out }).toEqual({
      code: 0,
      out: `Test run ${status} for unknown pull requests, on x\n`,
    })
  },
)

test.each(['document', 'hosted'] as const)(
  'a test run on a terminal, %s dialect: failures first',
  async dialect => {
    const story = await openStory({ dialect, scenario: 'failure' })
    await story.mergeq('pr submit 9')
    story.clock.now += 60_000
    const id = JSON.parse((await story.mergeq('pr explain 9 --json')).out).testRun.id
    const { out } = await story.mergeq(`pr testing ${id}`, {
      terminal: true,
      columns: 120,
      env: { NO_COLOR: '1' },
    })
    await story.close()
    expect(out.split('\n')[0]).toMatch(/^Test run ✗ failed for #9, on trunk-merge\/pr-9\//)
    expect(out.split('\n')[2]).toMatch(/^✗ failure {2,}test/)
  },
)
