import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, mergeq, noon, type Service, type Setting, serveScript } from '../support/harness.ts'

const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }
const privateDirectory = { '/home/ann/.cache/mergeq': { owner: 7, mode: 0o700 } }
/** A user with a cache directory. */
const withCache: Setting = { user: 7, access: privateDirectory, disk: new Map() }

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

describe('pull requests to explain', () => {
  const failed = (answer: Answer) => ({
    answer: ({ path }: { path: string }) => (path.endsWith('/getQueue') ? queue : answer),
  })
  const record = (prNumber: number) => ({ prNumber, state: 'failed', prTitle: 'Rename the settings' })

  test('those of the queue, then those that failed in the last 24 hours', async () => {
    const list = { pullRequests: [record(12), record(9)], nextCursor: 'next' }
    const { out, requests } = await complete('pr explain ', failed({ body: JSON.stringify(list) }))
    expect(out.split('\n').slice(2)).toEqual([
      '71\tpending',
      '9\tfailed: Rename the settings',
      ':nofiles',
      '',
    ])
    const [, body] = requests
      .map(({ body }) => JSON.parse(body))
      .sort((one, other) => (one.take ?? 0) - (other.take ?? 0))
    expect(body).toMatchObject({ state: 'FAILED', since: '2026-01-04T12:00:00.000Z', take: 30 })
  })

  test.each([404, 500])('those of the queue alone after %i', async status => {
    const { out } = await complete('pr explain 7', failed({ status }))
    expect(out).toBe('7\ttesting: Cache the suggestions of the search box\n71\tpending\n:nofiles\n')
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

describe('the cache', () => {
  const file = '/home/ann/.cache/mergeq/completion.json'
  let service: Service
  let answer: Answer
  beforeEach(async () => {
    answer = queue
    service = await serveScript(() => answer)
  })
  afterEach(() => service.close())

  /** Completes `pr get ` with the service of the test; returns what is completed and what was sent so far. */
  const press = async (setting: Setting, line = 'pr get 12') => {
    const env = { MERGEQ_BASE_URL: service.baseUrl, ...setting.env }
    const { out } = await complete(line, { ...withCache, ...setting, env })
    return { offers: out.split('\n').length - 2, sent: service.requests.length }
  }

  test('a key that is pressed again sends nothing for 5 seconds', async () => {
    const [clock, disk] = [{ now: noon }, new Map<string, string>()]
    expect(await press({ clock, disk })).toEqual({ offers: 1, sent: 1 })
    clock.now += 4_999
    expect(await press({ clock, disk })).toEqual({ offers: 1, sent: 1 })
    expect(await press({ clock, disk }, 'pr get ')).toEqual({ offers: 3, sent: 1 })
    clock.now += 1
    expect(await press({ clock, disk })).toEqual({ offers: 1, sent: 2 })
    clock.now -= 60_000
    expect(await press({ clock, disk })).toEqual({ offers: 1, sent: 3 })
  })

  test('another queue, repository, service or kind of value is another request', async () => {
    const disk = new Map<string, string>()
    expect(await press({ disk })).toEqual({ offers: 1, sent: 1 })
    expect(await press({ disk }, 'pr get -b release 12')).toEqual({ offers: 1, sent: 2 })
    expect(await press({ disk }, 'pr get -R acme/api 12')).toEqual({ offers: 1, sent: 3 })
    expect(await press({ disk }, 'flaky get ')).toEqual({ offers: 0, sent: 4 })
    expect(await press({ disk, env: { MERGEQ_BASE_URL: `${service.baseUrl}/2` } })).toEqual({
      offers: 1,
      sent: 5,
    })
  })

  test('a failure is not repeated either', async () => {
    const [clock, disk] = [{ now: noon }, new Map<string, string>()]
    answer = { status: 500 }
    expect(await press({ clock, disk })).toEqual({ offers: 0, sent: 1 })
    answer = queue
    expect(await press({ clock, disk })).toEqual({ offers: 0, sent: 1 })
    clock.now += 5_000
    expect(await press({ clock, disk })).toEqual({ offers: 1, sent: 2 })
  })

  test('nothing is offered from it without a token', async () => {
    const disk = new Map<string, string>()
    await press({ disk })
    expect(await press({ disk, env: { MERGEQ_TOKEN: '' } })).toEqual({ offers: 0, sent: 1 })
  })

  test('it never contains a token, and only its user can read it', async () => {
    const disk = new Map<string, string>()
    answer = queueOf({ prNumber: 12, state: 'pending', prTitle: 'Rotate test-token' })
    await press({ disk })
    expect([...disk.keys()]).toEqual([file])
    expect(disk.get(file)).toContain('pending: Rotate [REDACTED]')
    expect(disk.get(file)).not.toContain('test-token')
    for (const access of [
      { owner: 8, mode: 0o700 },
      { owner: 7, mode: 0o750 },
      { owner: 7, mode: 0o707 },
    ]) {
      const unsafe = { ...withCache, access: { '/home/ann/.cache/mergeq': { ...access } } }
      const others = new Map([[file, disk.get(file) ?? '']])
      const sent = service.requests.length
      expect(await press({ ...unsafe, disk: others })).toEqual({ offers: 1, sent: sent + 1 })
      expect(others.get(file)).toBe(disk.get(file))
    }
  })

  test.each(['', '{', '[]', '{"key":7}', `{"key":"","at":${noon},"candidates":[]}`])(
    'a damaged file, %j, is replaced',
    async text => {
      const disk = new Map([[file, text]])
      expect(await press({ disk })).toEqual({ offers: 1, sent: 1 })
      expect(await press({ disk })).toEqual({ offers: 1, sent: 1 })
    },
  )

  test('without a cache directory, and on a full disk, every key sends a request', async () => {
    const onChange = () => {
      throw new Error('no space left on device')
    }
    for (const setting of [{ access: {} }, { onChange }, { env: { HOME: '' } }]) {
      const sent = service.requests.length
      expect(await press(setting)).toEqual({ offers: 1, sent: sent + 1 })
      expect(await press(setting)).toEqual({ offers: 1, sent: sent + 2 })
    }
  })
})

describe('tests', () => {
  const body = JSON.stringify({
    tests: [
      { id: '50c3aedb-3ce0-49b1-a9f8-446414e49db5', name: 'Cart totals\nround tax' },
      { id: '7a3c87fe-de2b-4acc-a23a-015ff07ccf80' },
      { name: 'no id' },
    ],
    page: {
      total_rows: 3,
      total_pages: 2,
      next_page_token: 'next',
      prev_page_token: '',
      last_page_token: '',
    },
  })

  test('that failed in the last 24 hours, by the request of one page', async () => {
    const { out, requests } = await complete('flaky get ', { answer: () => ({ body }) })
    expect(out).toBe(
      '50c3aedb-3ce0-49b1-a9f8-446414e49db5\tCart totals round tax\n7a3c87fe-de2b-4acc-a23a-015ff07ccf80\n:nofiles\n',
    )
    expect(requests.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      [
        '/v1/flaky-tests/list-failing-tests',
        {
          repo: { host: 'github.com', owner: 'acme', name: 'web' },
          org_url_slug: 'acme',
          start_time: '2026-01-04T12:00:00.000Z',
          end_time: '2026-01-05T12:00:00.000Z',
          page_query: { page_size: 100, page_token: '' },
        },
      ],
    ])
  })

  test('none without an organization', async () => {
    const answered = await complete('flaky get ', { answer: () => ({ body }), env: { MERGEQ_ORG: '' } })
    expect(answered).toEqual({ out: ':nofiles\n', requests: [] })
  })
})

describe('what the checkout and the settings know', () => {
  const checkout = (command: string, args: readonly string[]) => {
    const line = `${command} ${args.slice(args.indexOf('core.hooksPath=/dev/null') + 1).join(' ')}`
    const out = new Map([
      ['git remote', 'origin\nteam\nteam/fork\n'],
      [
        'git remote -v',
        'origin\tgit@github.com:ann/web.git (fetch)\nteam\thttps://user:secret@github.com/acme/web (fetch)\nteam/fork\thttps://git.example.com/acme/web.git (fetch)\nlocal\t/srv/web.git (fetch)\n',
      ],
      [
        'git for-each-ref --format=%(refname) refs/remotes',
        'refs/remotes/origin/HEAD\nrefs/remotes/origin/main\nrefs/remotes/origin/fix/cart\nrefs/remotes/team/main\nrefs/remotes/team/fork/release-1\nrefs/remotes/gone/old\n',
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
    '/repo/.mergeq.json': '{"repo":"acme/shop","targetBranch":"main"}',
  }
  const offered = async (line: string, setting: Setting = {}) => {
    const { out, requests } = await complete(line, { spawn: checkout, files, ...setting })
    expect(requests).toEqual([])
    return out.split('\n').slice(0, -1)
  }

  test('branches of every remote, each once', async () => {
    expect(await offered('pr get --head ')).toEqual(['main', 'fix/cart', 'release-1', ':nofiles'])
    expect(await offered('pr get --head=f')).toEqual(['--head=fix/cart', ':nofiles'])
    expect(await offered('pr get --head ', { spawn: () => ({ code: 127, out: '' }) })).toEqual([':nofiles'])
  })

  test.each<readonly [what: string, setting: Setting, sent: number, offers: readonly string[]]>([
    ['their branches first', {}, 1, ['release-1\thas a queue', 'hotfix\thas a queue', 'main', 'fix/cart']],
    [
      'without a repository',
      { env: { MERGEQ_REPO: '' } },
      1,
      ['release-1\thas a queue', 'hotfix\thas a queue', 'main', 'fix/cart'],
    ],
    [
      'without git',
      { spawn: () => ({ code: 127, out: '' }) },
      1,
      ['release-1\thas a queue', 'hotfix\thas a queue'],
    ],
    ['without a response', { answer: () => ({ status: 500 }) }, 1, ['main', 'fix/cart', 'release-1']],
    ['without a token', { env: { MERGEQ_TOKEN: '' } }, 0, ['main', 'fix/cart', 'release-1']],
  ])('queues, %s', async (_, setting, sent, offers) => {
    const metrics = ['release-1', 'hotfix', 'release-1']
      .map((branch, index) => `mq_depth_${index}{repo="acme/web",branch="${branch}"} 1\n`)
      .join('')
    const answered = await complete('pr get -b ', {
      spawn: checkout,
      answer: () => ({ body: metrics }),
      ...setting,
    })
    expect(answered.out).toBe(`${[...offers, ':nofiles'].join('\n')}\n`)
    expect(answered.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual(
      Array.from({ length: sent }, () => '/v1/getMergeQueueMetrics'),
    )
  })

  test('branches for the value of the setting', async () => {
    const answer = () => ({ body: 'mq_depth_current{branch="merge-me"} 1\n' })
    const { out } = await complete('config set target-branch m', { spawn: checkout, answer })
    expect(out).toBe('merge-me\thas a queue\nmain\n:nofiles\n')
  })

  test('repositories of the project file, the remotes and the profiles, each once', async () => {
    expect(await offered('-R ')).toEqual([
      'acme/shop\t.mergeq.json',
      'ann/web\tgit remote origin',
      'acme/web\tgit remote team',
      'git.example.com/acme/web\tgit remote team/fork',
      'acme/api\tprofile work',
      ':nofiles',
    ])
    expect(await offered('--repo=acme/a')).toEqual(['--repo=acme/api\tprofile work', ':nofiles'])
    expect(await offered('-R github.com/acme/a')).toEqual(['github.com/acme/api\tprofile work', ':nofiles'])
  })

  test('repositories of the other sources where one cannot be read', async () => {
    const broken = { '/repo/.mergeq.json': '{', '/home/ann/.config/mergeq/config.json': '[' }
    expect(await offered('-R a', { files: broken })).toEqual([
      'ann/web\tgit remote origin',
      'acme/web\tgit remote team',
      ':nofiles',
    ])
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

  test.each([
    ['config set output m', ['markdown', ':nofiles']],
    ['config set color ', ['auto', 'always', 'never', ':nofiles']],
    ['config set repo acme/s', ['acme/shop\t.mergeq.json', ':nofiles']],
    ['config set timeout ', [':nofiles']],
    ['config set nothing ', [':nofiles']],
  ])('%s: values of the setting', async (line, offers) => {
    expect(await offered(line)).toEqual(offers)
  })

  test('no value with a token in it', async () => {
    const secret = 'secret-token-0123456789'
    const leaking = { profiles: { [secret]: { repo: 'acme/web' }, work: { repo: `${secret}/web` } } }
    const setting = {
      env: { MERGEQ_TOKEN: secret },
      files: { '/home/ann/.config/mergeq/config.json': JSON.stringify(leaking) },
    }
    expect(await offered('--profile ', setting)).toEqual(['work\t[REDACTED]/web', ':nofiles'])
    expect(await offered('-R ', { ...setting, spawn: () => ({ code: 1, out: '' }) })).toEqual([
      'acme/web\tprofile [REDACTED]',
      ':nofiles',
    ])
  })
})
