import { describe, expect, test } from 'vitest'
import { describeUpdate } from '../../../src/commands/queue/shared/setting-changes.ts'
import { describeStateChange } from '../../../src/commands/queue/shared/states/change-one.ts'
import { type Answer, mergeq, type Seen, type Setting } from '../../support/harness.ts'
import { namesOf } from '../../support/named-answers.ts'

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
const answering = (body: unknown) => (): Answer => ({ body: JSON.stringify(body) })
/** Runs a command line on a terminal. */
const show = (line: string, answer: NonNullable<Setting['answer']>, more: Setting = {}) =>
  mergeq(line, { env, terminal: true, answer, ...more })

describe('`pr get` on a terminal', () => {
  test.each([
    [
      'why it is not ready',
      { state: 'NOT_READY', readiness: { doesBaseBranchMatch: false } },
      /not ready {2,}\S/,
    ],
    ['that it is no longer submitted', { isCurrentlySubmittedToQueue: false }, /submitted {2,}no\n/],
    ['that it failed and is still submitted', { state: 'FAILED' }, /submitted {2,}yes\n/],
  ])('says %s', async (_, fields, expected) => {
    expect((await show('pr get 7', answering({ ...record, ...fields }))).out).toMatch(expected)
  })

  test('has links if the terminal supports them', async () => {
    const { out } = await show('pr get 7 8', answering(record), { hasLinks: true })
    const link = '\u001B]8;;https://github.com/acme/web/pull/7\u0007'
    expect(out).toContain(`${link}#7\u001B]8;;\u0007`)
    const sheet = await show('pr get 7', answering(record), { hasLinks: true })
    expect(sheet.out).toContain(`${link}https://github.com/acme/web/pull/7\u001B]8;;\u0007`)
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
  const runOf = (...checks: readonly (readonly [conclusion: string, url: string])[]) =>
    answering({
      checkSuites: [{ checkRuns: checks.map(([conclusion, url]) => ({ name: url, conclusion, url })) }],
    })
  const [page, failed] = ['https://ci.example/a', 'https://ci.example/b'] as const

  test.each([
    ['pr get 7', answering(record), 'https://github.com/acme/web/pull/7'],
    ['pr explain 7', answering({ ...record, state: 'FAILED' }), 'https://github.com/acme/web/pull/7'],
    ['pr testing 6e1d9f0a', runOf(['SUCCESS', page], ['FAILURE', failed]), failed],
    ['pr testing 6e1d9f0a', runOf(['SUCCESS', ''], ['SUCCESS', page]), page],
  ])('opens the page of %s after one read, and prints nothing', async (line, answer, url) => {
    const { code, out, err, urls, requests } = await opened(`${line} --web`, answer)
    expect({ code, out, urls, asked: requests.length }).toEqual({ code: 0, out: '', urls: [url], asked: 1 })
    expect(err).toBe(`Opened ${url} in your browser.\n`)
  })

  test('shows the URL when no browser can be started', async () => {
    const { code, err } = await opened('pr get 7 --web', answering(record), true)
    expect({ code, err }).toEqual({
      code: 16,
      err: 'mergeq: The browser could not be started: spawn xdg-open ENOENT.\n  Open this page in a browser: https://github.com/acme/web/pull/7\n',
    })
  })

  test.each([
    ['pr get 7', () => ({ status: 404 }), 5, /is not in the queue/],
    ['pr testing 6e1d9f0a', runOf(['SUCCESS', 'file:///etc/passwd']), 16, /mergeq: /],
    ['pr testing 6e1d9f0a', runOf(['SUCCESS', '']), 0, /^mergeq: The response contains no page URL\.\n$/],
  ])('opens nothing where there is no web page: %s, %#', async (line, answer, exit, message) => {
    const { code, err, urls } = await opened(`${line} --web`, answer)
    expect({ code, urls }).toEqual({ code: exit, urls: [] })
    expect(err).toMatch(message)
  })
})

describe('a change on a terminal', () => {
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
  const service = ({ path }: Seen): Answer => {
    if (path.endsWith('/getQueue')) return { body: JSON.stringify(queue) }
    return { body: path.endsWith('/getSubmittedPullRequest') ? JSON.stringify(record) : '{}' }
  }

  test.each([
    ['queue update --not-ready-timeout-hours 2', 'main of acme/web: not-ready-timeout-hours 2\n'],
    ['queue update --set foo=bar', 'main of acme/web: foo bar\n'],
    ['queue update --set concurrency=4', 'main of acme/web: concurrency 5 -> 4\n'],
  ])('says what changed: %s', async (line, expected) => {
    expect(await show(line, service)).toMatchObject({ code: 0, out: expected })
  })

  test('compares the name of the priority in any case', async () => {
    const answer = answering({ ...record, priorityName: 'MEDIUM', priorityValue: undefined })
    const { out } = await show('pr submit 7 --priority medium', answer)
    expect(out).toBe('#7 was already queued for main of acme/web; priority MEDIUM (unchanged).\n')
  })

  test.each<[string, Setting, string]>([
    ['queue pause', { terminal: false }, 'updateQueue'],
    ['queue pause --json', {}, 'updateQueue'],
    ['queue pause --fields ok', {}, 'updateQueue'],
    ['pr submit 7 --retries 0', {}, 'submitPullRequest'],
  ])('sends one request where nothing shows more: %s (%j)', async (line, more, operation) => {
    expect(namesOf(await show(line, service, more))).toEqual([operation])
  })

  test.each<[string, Setting]>([
    ['pr submit 7 --json', {}],
    ['pr submit 7', { env: { ...env, CI: '1' } }],
  ])('names no next command where only a script reads: %s (%j)', async (line, more) => {
    expect((await show(line, service, more)).err).not.toContain('For the result')
  })

  test.each([401, 404, 500])('works as well after a read that ends with %i', async status => {
    const { code, out, requests } = await show('queue pause', seen =>
      seen.path.endsWith('/getQueue') ? { status } : { body: '{}' },
    )
    expect({ code, out, asked: requests.length }).toEqual({
      code: 0,
      out: 'The queue for main of acme/web is now paused.\n',
      asked: 2,
    })
  })

  test('says what a setting was, if that is known', () => {
    const [before, after] = [
      { concurrency: 5, mode: 'single' },
      { concurrency: 4, mode: 'parallel' },
    ]
    expect(describeUpdate({ concurrency: 4 }, before, after)).toEqual([
      'concurrency 5 -> 4',
      'mode single -> parallel (changed by the service)',
    ])
    expect(describeUpdate({ state: 'PAUSED' }, { state: 'paused' }, {})).toEqual(['state PAUSED (unchanged)'])
    expect(describeUpdate({ requiredStatuses: [] }, { requiredStatuses: ['build'] }, {})).toEqual([
      'required-statuses build -> none',
    ])
    expect(describeUpdate({ batch: true }, {}, {})).toEqual(['batch yes'])
  })

  test.each([
    ['PAUSED', [], 'Paused main of acme/web: no pull requests are queued.'],
    ['PAUSED', [{ prNumber: 1, state: 'PENDING' }], 'Paused main of acme/web: 1 pull request waits.'],
    ['RUNNING', [{ prNumber: 1, state: 'TESTING' }], 'Resumed main of acme/web: 1 pull request testing.'],
  ] as const)('says what %s means for %j', (state, enqueuedPullRequests, expected) => {
    const queue = { repo: { host: 'github.com', owner: 'acme', name: 'web' }, targetBranch: 'main' }
    expect(describeStateChange(state, queue, { state: 'DRAINING', enqueuedPullRequests })).toBe(expected)
  })
})

describe('a rejected change of a finished pull request on a terminal', () => {
  const rejecting =
    (state: string, status = 404, isCurrentlySubmittedToQueue = false) =>
    ({ path }: Seen): Answer =>
      path.endsWith('/getSubmittedPullRequest')
        ? { body: JSON.stringify({ ...record, state, isCurrentlySubmittedToQueue }) }
        : { status, body: path.includes('Metrics') ? 'no metrics' : 'no' }

  const again = '  To test it again, submit it: mergeq pr submit 7\n'
  test.each<[string, string, number, number, string, string?]>([
    ['pr cancel 7', 'MERGED', 404, 5, '#7 is already merged.'],
    ['pr cancel 7', 'failed', 404, 5, '#7 has already failed.'],
    ['pr submit 7', 'MERGED', 400, 6, '#7 is already merged.'],
    ['pr restart 7', 'MERGED', 400, 6, '#7 is already merged.'],
    ['pr restart 7', 'failed', 400, 6, '#7 has already failed.', again],
    ['pr restart 7', 'CANCELLED', 400, 6, '#7 is already cancelled.', again],
  ])('says so: %s, %s', async (line, state, status, exit, expected, more = '') => {
    const { code, out, err } = await show(line, rejecting(state, status), { columns: 200 })
    expect({ code, out, err }).toEqual({
      code: exit,
      out: '',
      err: `mergeq: ${expected}\n  Nothing was changed. For details, run: mergeq pr get 7\n${more}`,
    })
  })

  test.each([
    ['pr cancel 7', rejecting('PENDING', 404, true)],
    [
      'pr cancel 7',
      ({ path }: Seen): Answer => ({ status: 404, body: path.includes('Metrics') ? 'no metrics' : 'no' }),
    ],
    ['pr submit 7', rejecting('FAILED', 400)],
  ])('keeps another reason: %s, %#', async (line, answer) => {
    const { err } = await show(line, answer, { columns: 200 })
    expect(err).toContain(': no.\n')
    expect(err).not.toContain('already')
  })

  test.each<[string, Setting]>([
    ['pr cancel 7', { terminal: false }],
    ['pr cancel 7 --json', {}],
    ['pr cancel 7 --retries 0', {}],
    ['pr cancel 7 --set note=x', {}],
  ])('asks nothing more: %s (%j)', async (line, more) => {
    const asked = namesOf(await show(line, rejecting('MERGED'), more))
    expect(asked.filter(path => /PullRequest$/.test(path))).toEqual(['cancelPullRequest'])
  })
})

test.each(['constructor', '__proto__', 'new status'])('a test run may have the status %s', async status => {
  const answer = answering({ status, testBranch: 'x' })
  expect(await show('pr testing 6e1d9f0a', answer, { columns: 200 })).toMatchObject({
    code: 0,
    out: `Test run of unknown pull requests ${status}\n  on x\n`,
  })
})
