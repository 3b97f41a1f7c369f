import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, queueEnv, type Setting } from '../support/harness.ts'

const queueOf = (...entries: readonly Readonly<Record<string, unknown>>[]): Answer => ({
  body: JSON.stringify({ state: 'running', enqueuedPullRequests: entries }),
})
const queue = queueOf(
  { prNumber: 7, state: 'testing', prTitle: 'Cache the suggestions of the search box' },
  { prNumber: 12, state: 'pending_failure', prTitle: 'Speed up the order export' },
  { prNumber: 71, state: 'pending' },
)

const settingsFile = '/home/ann/.config/mergeq/config.json'

/** Completes a line at its end and returns what the shell reads; nothing else may happen. */
async function complete(line: string, setting: Setting = {}) {
  const words = line.split(' ')
  const env = { ...queueEnv, HOME: '/home/ann', ...setting.env }
  const { code, out, err, requests } = await mergeq(['__complete', '--', ...words], { ...setting, env })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return { out, requests }
}

/** What is completed when the service responds with its queue. */
const completeQueue = async (line: string, setting: Setting = {}) =>
  (await complete(line, { answer: () => queue, ...setting })).out

const unreadable = { MERGEQ_TOKEN: '', MERGEQ_OUTPUT: 'xml', MERGEQ_CONFIG_DIR: '/dev/null', CI: 'true' }

test.each([
  ['bash', 'mergeq.bash'],
  ['zsh', '_mergeq'],
  ['fish', 'mergeq.fish'],
  ['PowerShell', 'mergeq.ps1'],
])('`completion %s` prints its script, and needs no settings', async (shell, file) => {
  const { code, out, err, requests } = await mergeq(`completion ${shell}`, { env: unreadable })
  expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
  expect(out).toBe(readFileSync(`completions/${file}`, 'utf8'))
})

test.each([
  ['__complete -- pr sub', 'submit\tSubmit pull requests to the queue for testing and merging\n:nofiles\n'],
  ['__complete -- pr targets 7 --from ""', ':files\n'],
  ['__complete -- pr submit --output xml --retries many --wai', '--wait\t'],
  ['__complete', 'pr\t'],
])('`%s` needs no settings, sends nothing and ends with 0', async (line, says) => {
  const { code, out, err, requests } = await mergeq(line, { env: unreadable })
  expect({ code, err, requests }).toEqual({ code: 0, err: '', requests: [] })
  expect(out.startsWith(says)).toBe(true)
})

describe('owners of tests', () => {
  const tests = [['@acme/web'], ['@acme/api', '@acme/web'], [], ['@acme/web'], ['@acme/api', '@other']]
  const page: Answer = {
    body: JSON.stringify({
      tests: tests.map((codeowners, index) => ({ id: `t${index}`, name: `test ${index}`, codeowners })),
      page: { total_rows: 5, next_page_token: '' },
    }),
  }
  const setting: Setting = { answer: () => page, env: { MERGEQ_ORG: 'acme' } }

  test.each(['flaky list', 'flaky report', 'flaky quarantined', 'flaky unhealthy'])(
    '%s: of the tests that failed in the last day, by one request',
    async command => {
      const { out, requests } = await complete(`${command} --owner `, setting)
      expect(out).toBe('@acme/web\t3 tests\n@acme/api\t2 tests\n@other\t1 test\n:nofiles\n')
      expect(requests.map(({ path, body }) => ({ path, body: JSON.parse(body) }))).toEqual([
        {
          path: '/v1/flaky-tests/list-failing-tests',
          body: {
            repo: { host: 'github.com', owner: 'acme', name: 'web' },
            org_url_slug: 'acme',
            page_query: { page_size: 100, page_token: '' },
            start_time: new Date(noon - 86_400_000).toISOString(),
            end_time: new Date(noon).toISOString(),
          },
        },
      ])
    },
  )

  test('those that begin with the word', async () => {
    const { out } = await complete('flaky list --owner=@o', setting)
    expect(out).toBe('--owner=@other\t1 test\n:nofiles\n')
  })

  test('none without an organization, and none where the service refuses', async () => {
    const none = await complete('flaky list --owner ', { ...setting, env: { MERGEQ_ORG: '' } })
    expect(none).toEqual({ out: ':nofiles\n', requests: [] })
    const { out } = await complete('flaky list --owner ', { ...setting, answer: () => ({ status: 403 }) })
    expect(out).toBe(':nofiles\n')
  })
})

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
    expect(requests[0]?.headers['x-api-token']).toBe('qj7-token')
  })

  test.each([
    ['pr submit 7', '7\ttesting: Cache the suggestions of the search box\n71\tpending\n:nofiles\n'],
    ['pr get 7 #12 7', '71\tpending\n:nofiles\n'],
    ['pr get https://github.com/acme/web/pull/7 12 7', '71\tpending\n:nofiles\n'],
    ['pr testing --pr=71', '--pr=71\tpending\n:nofiles\n'],
  ])('%s: those that begin with the word and were not typed yet', async (line, out) => {
    expect(await completeQueue(line)).toBe(out)
  })

  test.each<readonly [line: string, setting: Setting]>([
    ['-R acme/api --target-branch=release', {}],
    [
      '--profile work',
      {
        files: {
          [settingsFile]: '{"profiles":{"work":{"repo":"acme/api","target-branch":"release"}}}',
        },
        env: { MERGEQ_REPO: '', MERGEQ_TARGET_BRANCH: '' },
      },
    ],
  ])('of the repository and the branch that %s gives', async (options, setting) => {
    const { requests } = await complete(`pr get ${options} `, { answer: () => queue, ...setting })
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual([
      { repo: { host: 'github.com', owner: 'acme', name: 'api' }, targetBranch: 'release' },
    ])
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
    // The stored token is of another origin.
    [
      'no token for this address',
      {
        env: { MERGEQ_TOKEN: '' },
        files: { [settingsFile]: '{"tokens":{"https://api.trunk.io":"stored-token"}}' },
      },
    ],
    ['a token that cannot be sent', { env: { MERGEQ_TOKEN: 'a b' } }],
    ['no repository', { env: { MERGEQ_REPO: '' } }],
    ['no target branch', { env: { MERGEQ_TARGET_BRANCH: '' } }],
    ['an invalid base URL', { env: { MERGEQ_BASE_URL: 'http://example.com' } }],
  ])('nothing is sent with %s', async (_, setting) => {
    const answered = await complete('pr get ', { answer: () => queue, ...setting })
    expect(answered).toEqual({ out: ':nofiles\n', requests: [] })
  })

  test.each<readonly [what: string, answer: Answer]>([
    ['a server error', { status: 503, body: 'no' }],
    ['a web page', { body: '<!doctype html><p>Sign in</p>' }],
    ['a queue without pull requests', { body: '{"enqueuedPullRequests":[{}, 7, null]}' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ])('%s gives nothing, after one request', async (_, answer) => {
    const { out, requests } = await complete('pr get ', { answer: () => answer })
    expect({ out, sent: requests.length }).toEqual({ out: ':nofiles\n', sent: 1 })
  })

  test('settings that cannot be read: static words as always, and no values', async () => {
    const files = { [settingsFile]: '{' }
    const env = { MERGEQ_TOKEN: '', MERGEQ_REPO: '' }
    const setting = { answer: () => queue, files, env }
    expect(await complete('pr get ', setting)).toEqual({ out: ':nofiles\n', requests: [] })
    expect((await complete('pr wait 7 --until te', setting)).out).toBe('tests-passed\ntesting\n:nofiles\n')
    expect((await complete('--profile ', setting)).out).toBe(':nofiles\n')
  })
})

describe('the time limit', () => {
  /** A checkout in which each git command takes so many milliseconds. */
  const slowGit = (milliseconds: number, clock: { now: number }, limits: unknown[] = []): Setting => ({
    answer: () => queue,
    clock,
    env: { MERGEQ_TARGET_BRANCH: '', MERGEQ_REPO: '' },
    spawn(_, args, { timeout }) {
      limits.push(timeout)
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
    const limits: unknown[] = []
    const late = await complete('pr get 12', slowGit(700, { now: noon }, limits))
    expect({ ...late, limits }).toEqual({ out: ':nofiles\n', requests: [], limits: [1_000, 300] })
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
})

describe('what the checkout and the settings know', () => {
  const checkout = (_: string, args: readonly string[]) =>
    args.slice(-3).join(' ') === 'for-each-ref --format=%(refname:lstrip=3) refs/remotes'
      ? { code: 0, out: 'HEAD\nmain\nfix/cart\nmain\nrelease-1\n' }
      : { code: 1, out: '' }
  const profiles = {
    default: { repo: 'acme/web' },
    work: { repo: 'acme/api', 'base-url': 'https://example.com/v1' },
    broken: { repo: 'no repository' },
    empty: {},
  }
  const files = { [settingsFile]: JSON.stringify({ profiles }) }
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
      files: { [settingsFile]: JSON.stringify(leaking) },
    }
    expect(await offered('--profile ', setting)).toEqual(['work\t[REDACTED]/web', ':nofiles'])
  })
})
