import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Setting } from '../support/harness.ts'

const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

const queueOf = (...entries: readonly Readonly<Record<string, unknown>>[]): Answer => ({
  body: JSON.stringify({ state: 'running', enqueuedPullRequests: entries }),
})
const queue = queueOf(
  { prNumber: 7, state: 'testing', prTitle: 'Cache the suggestions of the search box' },
  { prNumber: 12, state: 'pending_failure', prTitle: 'Speed up the order export' },
  { prNumber: 71, state: 'pending' },
)

/** Completes a line at its end and returns what the shell reads; nothing else may happen. */
async function complete(line: string, setting: Setting = {}) {
  const words = line.split(' ')
  const env = { ...where, HOME: '/home/ann', ...setting.env }
  const { code, out, err, requests } = await mergeq(['__complete', '--', ...words], { ...setting, env })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return { out, requests }
}

/** What is completed when the service responds with its queue. */
const completeQueue = async (line: string, setting: Setting = {}) =>
  (await complete(line, { answer: () => queue, ...setting })).out

describe('pull requests of the queue', () => {
  test('with their states and titles, by one request', async () => {
    const { out, requests } = await complete('pr get ', { answer: () => queue })
    expect(out).toBe(
      [
        '7\ttesting: Cache the suggestions of the search box',
        '12\tpending failure: Speed up the order export',
        '71\tpending',
        ':nofiles\n',
      ].join('\n'),
    )
    expect(requests.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
      {
        method: 'POST',
        path: '/v1/getQueue',
        body: '{"repo":{"host":"github.com","owner":"acme","name":"web"},"targetBranch":"main"}',
      },
    ])
    expect(requests[0]?.headers['x-api-token']).toBe('test-token')
  })

  test.each([
    ['pr submit 7', '7\ttesting: Cache the suggestions of the search box\n71\tpending\n:nofiles\n'],
    ['pr get 7 #12 7', '71\tpending\n:nofiles\n'],
    ['pr get https://github.com/acme/web/pull/7 12 7', '71\tpending\n:nofiles\n'],
    ['pr testing --pr=71', '--pr=71\tpending\n:nofiles\n'],
    ['pr targets 2', ':nofiles\n'],
  ])('%s: those that begin with the word and were not typed yet', async (line, out) => {
    expect(await completeQueue(line)).toBe(out)
  })

  test('of the repository, branch and service that were typed', async () => {
    const service = { answer: () => queue }
    const typed = await complete('pr get -R acme/api --target-branch=release ', service)
    expect(typed.requests.map(({ body }) => JSON.parse(body))).toEqual([
      { repo: { host: 'github.com', owner: 'acme', name: 'api' }, targetBranch: 'release' },
    ])
    const elsewhere = await complete('--base-url http://127.0.0.1:9/v1 pr get ', service)
    expect(elsewhere).toEqual({ out: ':nofiles\n', requests: [] })
  })

  test('of the settings of the profile that was typed', async () => {
    const profiles = { work: { repo: 'acme/api', 'target-branch': 'release' } }
    const files = { '/home/ann/.config/mergeq/config.json': JSON.stringify({ profiles }) }
    const env = { MERGEQ_REPO: '', MERGEQ_TARGET_BRANCH: '' }
    const { requests } = await complete('--profile work pr get ', { answer: () => queue, files, env })
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      repo: { host: 'github.com', owner: 'acme', name: 'api' },
      targetBranch: 'release',
    })
  })

  test('with texts on one line, sanitized, redacted before they are cut, at most 60 columns wide', async () => {
    const secret = 'secret-token-0123456789'
    const titles = [
      'Line one\r\nline\ttwo \u001b[31mred\u202e',
      `${'x'.repeat(40)} ${secret}`,
      '漢'.repeat(60),
      `secret-token-\u200b0123456789`,
    ]
    const entries = titles.map((prTitle, index) => ({ prNumber: index + 1, state: 'pending', prTitle }))
    const out = await completeQueue('pr get ', {
      answer: () => queueOf(...entries),
      env: { MERGEQ_TOKEN: secret },
    })
    expect(out.split('\n')).toEqual([
      '1\tpending: Line one line two red',
      `2\tpending: ${'x'.repeat(40)} [REDACTED]`,
      `3\tpending: ${'漢'.repeat(25)}…`,
      '4\tpending: [REDACTED]',
      ':nofiles',
      '',
    ])
  })

  test.each<readonly [what: string, setting: Setting]>([
    ['no token', { env: { MERGEQ_TOKEN: '' } }],
    ['a token that cannot be sent', { env: { MERGEQ_TOKEN: 'a b' } }],
    ['no repository', { env: { MERGEQ_REPO: '' } }],
    ['no target branch', { env: { MERGEQ_TARGET_BRANCH: '' } }],
    ['an invalid base URL', { env: { MERGEQ_BASE_URL: 'http://example.com' } }],
  ])('nothing is sent with %s', async (_, setting) => {
    const answered = await complete('pr get ', { answer: () => queue, ...setting })
    expect(answered).toEqual({ out: ':nofiles\n', requests: [] })
  })

  test('the stored token is sent to its own origin only', async () => {
    const stored = { tokens: { 'https://api.trunk.io': 'stored-token' } }
    const files = { '/home/ann/.config/mergeq/config.json': JSON.stringify(stored) }
    const { out, requests } = await complete('pr get ', {
      answer: () => queue,
      files,
      env: { MERGEQ_TOKEN: '' },
    })
    expect({ out, requests }).toEqual({ out: ':nofiles\n', requests: [] })
  })

  test.each<readonly [what: string, answer: Answer]>([
    ['a rejected token', { status: 401, body: '{}' }],
    ['a server error', { status: 503, body: 'no' }],
    ['a rate limit', { status: 429, headers: { 'retry-after': '0' } }],
    ['a web page', { body: '<!doctype html><p>Sign in</p>' }],
    ['a queue without pull requests', { body: '{"enqueuedPullRequests":[{}, 7, null]}' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ])('%s gives nothing, after one request', async (_, answer) => {
    const { out, requests } = await complete('pr get ', { answer: () => answer })
    expect({ out, sent: requests.length }).toEqual({ out: ':nofiles\n', sent: 1 })
  })

  test('settings that cannot be read: static words as always, and no values', async () => {
    const files = { '/home/ann/.config/mergeq/config.json': '{' }
    const env = { MERGEQ_TOKEN: '', MERGEQ_REPO: '' }
    const setting = { answer: () => queue, files, env }
    expect(await complete('pr get ', setting)).toEqual({ out: ':nofiles\n', requests: [] })
    expect((await complete('pr wait 7 --until te', setting)).out).toBe('tests-passed\ntesting\n:nofiles\n')
    expect((await complete('--profile ', setting)).out).toBe(':nofiles\n')
  })
})

describe('the time limit', () => {
  /** A checkout in which each git command takes so many milliseconds. */
  const slowGit = (milliseconds: number, clock: { now: number }): Setting => ({
    answer: () => queue,
    clock,
    env: { MERGEQ_TARGET_BRANCH: '', MERGEQ_REPO: '' },
    spawn(_, args) {
      clock.now += milliseconds
      const out = args.includes('remote')
        ? 'origin\thttps://github.com/acme/web.git (fetch)\n'
        : 'refs/remotes/origin/main\n'
      return { code: 0, out }
    },
  })

  test('a second for all lookups together: a request that could not end in time is not sent', async () => {
    const inTime = await complete('pr get 12', slowGit(300, { now: noon }))
    expect(inTime.out).toBe('12\tpending failure: Speed up the order export\n:nofiles\n')
    const late = await complete('pr get 12', slowGit(600, { now: noon }))
    expect(late).toEqual({ out: ':nofiles\n', requests: [] })
  })

  test('what is left of the second for the request', async () => {
    const clock = { now: noon }
    const started = performance.now()
    const { out, requests } = await complete('pr get ', {
      ...slowGit(300, clock),
      answer: () => new Promise<Answer>(resolve => setTimeout(resolve, 1_500, queue)),
    })
    expect({ out, sent: requests.length }).toEqual({ out: ':nofiles\n', sent: 1 })
    const elapsed = performance.now() - started
    expect(elapsed).toBeGreaterThan(390)
    expect(elapsed).toBeLessThan(1_400)
  })

  test('git commands end with the second', async () => {
    const clock = { now: noon }
    const limits: (number | undefined)[] = []
    const setting = slowGit(700, clock)
    await complete('pr get ', {
      ...setting,
      spawn(command, args, options) {
        limits.push(options.timeout)
        return setting.spawn?.(command, args, options) ?? { code: 1, out: '' }
      },
    })
    expect(limits).toEqual([1_000, 300])
  })
})

describe('what the checkout and the settings know', () => {
  const checkout = (command: string, args: readonly string[]) => {
    const line = `${command} ${args.slice(args.indexOf('core.hooksPath=/dev/null') + 1).join(' ')}`
    const out = new Map([
      [
        'git for-each-ref --format=%(refname:lstrip=3) refs/remotes',
        'HEAD\nmain\nfix/cart\nmain\nrelease-1\n',
      ],
    ]).get(line)
    return out === undefined ? { code: 1, out: '' } : { code: 0, out }
  }
  const profiles = {
    default: { repo: 'acme/web' },
    work: { repo: 'acme/api', 'base-url': 'https://example.com/v1' },
    broken: { repo: 'no repository' },
    empty: {},
  }
  const files = {
    '/home/ann/.config/mergeq/config.json': JSON.stringify({ profiles }),
  }
  const offered = async (line: string, setting: Setting = {}) => {
    const { out, requests } = await complete(line, { spawn: checkout, files, ...setting })
    expect(requests).toEqual([])
    return out.split('\n').slice(0, -1)
  }

  test('branches of every remote, each once', async () => {
    expect(await offered('pr get --head ')).toEqual(['main', 'fix/cart', 'release-1', ':nofiles'])
    expect(await offered('pr get --head=f')).toEqual(['--head=fix/cart', ':nofiles'])
    expect(await offered('queue get -b f')).toEqual(['fix/cart', ':nofiles'])
    expect(await offered('pr get --head ', { spawn: () => ({ code: 127, out: '' }) })).toEqual([':nofiles'])
  })

  test('stored profiles', async () => {
    expect(await offered('pr get --profile ')).toEqual([
      'default\tacme/web',
      'work\tacme/api',
      'broken\tno repository',
      'empty',
      ':nofiles',
    ])
  })

  test('no value with a token in it', async () => {
    const secret = 'secret-token-0123456789'
    const leaking = { profiles: { [secret]: { repo: 'acme/web' }, work: { repo: `${secret}/web` } } }
    const setting = {
      env: { MERGEQ_TOKEN: secret },
      files: { '/home/ann/.config/mergeq/config.json': JSON.stringify(leaking) },
    }
    expect(await offered('--profile ', setting)).toEqual(['work\t[REDACTED]/web', ':nofiles'])
  })
})
