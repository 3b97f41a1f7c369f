import { describe, expect, test, vi } from 'vitest'
import { type Answer, mergeq, noon, type Seen, type Setting, serveScript } from '../support/harness.ts'
import { closedPort, stubHostNames } from '../support/service.ts'

const date = (offset: number) => ({ date: new Date(noon + offset).toUTCString() })
const working: Answer = { body: '', headers: date(0) }
const metrics = ['web', 'api'].map(name => `mq_depth_current{repo="acme/${name}",branch="main"} 1\n`).join('')
const queue = { state: 'RUNNING', concurrency: 2, enqueuedPullRequests: [] }

/** Answers each operation of a healthy service, but `instead` those that it has. */
const healthyBut =
  (instead: Readonly<Record<string, Answer>> = {}) =>
  ({ path }: Seen): Answer => {
    const operation = path.replace(/^.*\/([^/?]+)(\?.*)?$/, '$1')
    const bodies = new Map([
      ['getMergeQueueMetrics', metrics],
      ['getQueue', JSON.stringify(queue)],
      ['status', '{"overallStatus":{"type":"up"}}'],
      ['list-failing-tests', '{"tests":[],"page":{"next_page_token":""}}'],
    ])
    return instead[operation] ?? { ...working, body: bodies.get(operation) ?? '' }
  }

/** git outside a checkout, or with what it says of a checkout. */
const git = (args: readonly string[], err = 'fatal: not a git repository\n') =>
  args[0] === '--version' ? { code: 0, out: 'git version 2.39.5\n' } : { code: 128, out: '', err }

/** A machine where every check passes. */
const healthy: Setting = {
  env: { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme', HOME: '/home/ada' },
  answer: healthyBut(),
  spawn: (_, args) => git(args),
}

interface Row {
  readonly check: string
  readonly result: string
  readonly found: string
  readonly fix?: string
}

/** Runs `doctor --json`; `row` returns the row of a check. */
async function doctor({ env, ...setting }: Setting = {}, line = 'doctor --json') {
  const outcome = await mergeq(line, { ...healthy, ...setting, env: { ...healthy.env, ...env } })
  const rows: readonly Row[] = JSON.parse(outcome.out)
  return { ...outcome, rows, row: (name: string) => rows.find(({ check }) => check === name) }
}

test('on a healthy machine every check passes', async () => {
  const { code, err, rows, row } = await doctor()
  expect({ code, err, notPassed: rows.filter(({ result }) => result !== 'pass') }).toEqual({
    code: 0,
    err: '',
    notPassed: [],
  })
  expect(row('queue')?.found).toBe('acme/web main: running, nothing queued (up to 2 runs)')
  expect(row('TLS')?.found).toBe('not used: the base URL is http')
  expect(row('git')?.found).toBe('git version 2.39.5')
})

describe('git that fails', () => {
  const dubious = "fatal: detected dubious ownership in repository at '/repo'\nTo add an exception...\n"
  const problem = "detected dubious ownership in repository at '/repo'"
  test.each<readonly [string, NonNullable<Setting['spawn']>, string]>([
    ['the checkout of another owner', (_, args) => git(args, dubious), problem],
    ['not installed', () => ({ code: 127, out: '' }), 'git cannot be run'],
  ])('is a warning, and a failure where a setting is missing because of it: %s', async (_, spawn, found) => {
    const given = await doctor({ spawn })
    expect({ code: given.code, ...given.row('git') }).toMatchObject({ code: 0, result: 'warn', found })
    const missing = await doctor({ spawn, env: { MERGEQ_TARGET_BRANCH: '' } })
    expect({ code: missing.code, ...missing.row('git') }).toMatchObject({ code: 21, result: 'fail', found })
  })

  test('says it where a value is missing', async () => {
    const setting = { spawn: (_: string, args: readonly string[]) => git(args, dubious) }
    for (const [line, noun] of [
      ['pr submit 7', 'repository'],
      ['queue check -R acme/web', 'target branch'],
    ] as const) {
      const { code, err } = await mergeq(line, setting)
      const first = `mergeq: No ${noun} was given. git failed: ${problem}.`
      expect({ code, first: err.split('\n')[0] }).toEqual({ code: 2, first })
    }
    const outside = await mergeq('pr submit 7', { spawn: (_, args) => git(args) })
    expect(outside.err).toMatch(/^mergeq: No repository was given\.\n/)
  })
})

describe('a check that cannot run because another failed is skipped, and says why', () => {
  const skipped = (rows: readonly Row[]) =>
    rows.flatMap(({ check, result, found }) =>
      found.startsWith('skipped') ? [`${check} (${result}) ${found}`] : [],
    )

  test('without a token', async () => {
    const { code, row, requests } = await doctor({ env: { MERGEQ_TOKEN: '' } })
    const sent = requests.map(({ path, headers }) => [path, headers['x-api-token']])
    expect({ code, sent }).toEqual({ code: 21, sent: [['/v1/status', undefined]] })
    expect(row('token')?.result).toBe('fail')
    expect(row('token')?.fix).toContain('run: mergeq auth login')
  })

  test.each([401, 403])('with a token that the service answers with %i, said once', async status => {
    const refused = ({ headers }: Seen): Answer =>
      headers['x-api-token'] === undefined ? working : { status }
    const { code, rows } = await doctor({ answer: refused })
    const failed = rows.filter(({ result, found }) => result === 'fail' || found.includes(`(${status})`))
    expect({ code, failed: failed.map(({ check }) => check) }).toEqual({ code: 21, failed: ['token'] })
    expect(skipped(rows).slice(0, 2)).toEqual([
      'service (warn) skipped: the token check failed',
      'clock (warn) skipped: the token check failed',
    ])
  })

  test('with an invalid base URL', async () => {
    const { code, rows, row } = await doctor({ env: { MERGEQ_BASE_URL: 'ftp://example.com' } })
    expect({ code, result: row('base URL')?.result }).toEqual({ code: 21, result: 'fail' })
    expect(skipped(rows)[0]).toBe('token (warn) skipped: the base URL check failed')
    expect(skipped(rows)).toHaveLength(7)
  })

  test('with a host name that does not exist', async () => {
    stubHostNames({})
    const env = { HTTPS_PROXY: 'proxy.example:3128', NO_PROXY: '.invalid' }
    const { code, rows, row } = await doctor({ env: { ...env, MERGEQ_BASE_URL: 'https://mergeq.invalid' } })
    vi.restoreAllMocks()
    expect(row('proxy')?.found).toBe('proxy.example:3128 (HTTPS_PROXY), not used for mergeq.invalid')
    expect({ code, dns: row('DNS')?.result }).toEqual({ code: 21, dns: 'fail' })
    expect(row('DNS')?.found).toMatch(/^The host name mergeq\.invalid could not be resolved/)
    const reason = 'skipped: the DNS check failed'
    const names = ['TLS', 'service', 'clock', 'service status', 'queue']
    expect(skipped(rows)).toEqual(names.map(name => `${name} (warn) ${reason}`))
  })

  test('without a connection', async () => {
    const env = { MERGEQ_BASE_URL: `https://127.0.0.1:${closedPort}/v1` }
    const { code, rows, row } = await doctor({ env })
    expect([code, row('DNS')?.result, row('service')?.result]).toEqual([21, 'pass', 'fail'])
    expect(row('service')?.found).toMatch(/refused the connection/)
    expect(skipped(rows)).toEqual([
      'TLS (warn) skipped: no connection to 127.0.0.1',
      'clock (warn) skipped: the service check failed',
      `service status (warn) skipped: 127.0.0.1:${closedPort} refused the connection.`,
      'queue (warn) skipped: the service check failed',
    ])
  })

  test('without a certificate', async () => {
    const plain = await serveScript(() => working)
    const baseUrl = plain.baseUrl.replace('http:', 'https:')
    const { code, rows, row } = await doctor({ env: { MERGEQ_BASE_URL: baseUrl } })
    await plain.close()
    expect({ code, tls: row('TLS')?.result }).toEqual({ code: 21, tls: 'fail' })
    expect(row('TLS')?.fix).toContain('plain http')
    const names = ['service', 'clock', 'service status', 'queue']
    expect(skipped(rows)).toEqual(names.map(name => `${name} (warn) skipped: the TLS check failed`))
  })
})

describe('what the checks find', () => {
  test('a settings file that other users can read', async () => {
    const file = '/home/ada/.config/mergeq/config.json'
    const { code, err, row } = await doctor({
      env: { MERGEQ_TOKEN: '', MERGEQ_BASE_URL: 'http://127.0.0.1:9' },
      files: { [file]: '{"tokens":{"http://127.0.0.1:9":"tok_4f2a9c1e"}}' },
      modes: { [file]: 0o640 },
    })
    expect({ code, err, ...row('settings') }).toMatchObject({
      code: 21,
      err: '',
      result: 'warn',
      found: `${file} is readable by other users (mode 640)`,
      fix: `chmod 600 ${file}`,
    })
  })

  test('the pull request, the head commit and the CI system, each with its origin', async () => {
    const pullRequest = { CIRCLE_PULL_REQUESTS: 'https://github.com/acme/web/pull/7', CIRCLE_SHA1: '4f2a9c1' }
    const { row } = await doctor({ env: { CIRCLECI: 'true', ...pullRequest } })
    expect(['pull request', 'head commit', 'CI'].map(name => row(name)?.found)).toEqual([
      '7 (CIRCLE_PULL_REQUESTS)',
      '4f2a9c1 (CIRCLE_SHA1)',
      'CircleCI (CIRCLECI): no prompts',
    ])
  })

  test.each([
    [-90_000, 'warn', '2m ahead of the service'],
    [90_000, 'warn', '2m behind the service'],
    [-50_000, 'pass', '50s ahead of the service'],
  ])('a clock that is off by %d ms', async (offset, result, found) => {
    const { code, row } = await doctor({ answer: seen => ({ ...healthyBut()(seen), headers: date(offset) }) })
    expect(code).toBe(0)
    expect(row('clock')).toMatchObject({ result, found })
    expect(row('clock')?.fix).toBe(
      result === 'pass' ? undefined : 'Set the clock of this machine: time ranges depend on it.',
    )
  })

  test('the proxy that requests use, without its password', async () => {
    const { row } = await doctor({ env: { HTTPS_PROXY: 'http://me:secret@proxy.example:3128' } })
    expect(row('proxy')?.found).toBe('proxy.example:3128 (HTTPS_PROXY), not used for 127.0.0.1')
  })

  test('a malformed proxy is a failure, and the service is checked if it is reached without it', async () => {
    const { code, row } = await doctor({ env: { HTTPS_PROXY: 'http://me:se#cret@proxy.example:3128' } })
    expect(code).toBe(21)
    expect(row('proxy')?.fix).toMatch(/^Set HTTPS_PROXY to a URL .*, write %25 for %/)
    expect(row('service')?.result).toBe('pass')
    const env = { HTTPS_PROXY: 'proxy.example:', MERGEQ_BASE_URL: 'https://mergeq.invalid/v1' }
    expect((await doctor({ env })).row('DNS')?.found).toBe('skipped: the proxy check failed')
  })

  const overall = (type: string, text: string) =>
    JSON.stringify({ overallStatus: { type, overallStatusDescription: text } })
  test.each([
    ['{}', 200, 'pass', 'operational'],
    [overall('up', 'All systems operational'), 200, 'pass', 'operational'],
    [overall('impacted', 'Merges are delayed'), 200, 'warn', 'Merges are delayed'],
    ['{"message":"no such operation"}', 404, 'pass', 'the service publishes no status'],
    ['no', 500, 'warn', /^skipped: /],
  ])('the status of the service: %s', async (body, status, result, found) => {
    const { code, row } = await doctor({ answer: healthyBut({ status: { status, body } }) })
    expect({ code, result: row('service status')?.result }).toEqual({ code: 0, result })
    expect(row('service status')?.found).toMatch(found)
  })
})

describe('the queue and the organization that the settings name', () => {
  const where = { MERGEQ_REPO: 'acme/nope', MERGEQ_TARGET_BRANCH: 'develop', MERGEQ_ORG: 'acme' }

  test('a queue that cannot be read is a failure', async () => {
    const { code, row } = await doctor({ env: where, answer: healthyBut({ getQueue: { status: 503 } }) })
    expect({ code, queue: row('queue') }).toMatchObject({ code: 21, queue: { result: 'fail' } })
  })

  test.each([
    [404, 21, 'fail', /^acme has no tests of acme\/nope\.$/],
    [401, 0, 'warn', /401/],
    [403, 0, 'warn', /403/],
  ])('an organization that is answered with %i: exit %i, %s', async (status, exit, result, found) => {
    const answer = healthyBut({ 'list-failing-tests': { status } })
    const { code, row } = await doctor({ env: where, answer })
    expect({ code, result: row('organization')?.result }).toEqual({ code: exit, result })
    expect(row('organization')?.found).toMatch(found)
  })

  test('nothing is requested that the settings do not name', async () => {
    const env = { MERGEQ_REPO: '', MERGEQ_TARGET_BRANCH: '', MERGEQ_ORG: '' }
    const { code, requests, row } = await doctor({ env })
    expect({ code, paths: requests.map(({ path }) => path) }).toEqual({
      code: 0,
      paths: ['/v1/getMergeQueueMetrics', '/v1/status'],
    })
    expect(row('queue')?.found).toBe('skipped: the settings name no queue')
    expect(row('organization')?.found).toBe('skipped: needed only for flaky commands')
  })
})

test('on a pipe there is one row per check', async () => {
  const { out } = await mergeq('doctor', healthy)
  expect(out.split('\n')).toHaveLength(19)
  expect(out).toContain('\ngit\tpass\tgit version 2.39.5\t\n')
})

test('with -v on a terminal each check that passed says what it found', async () => {
  const { out } = await mergeq('doctor -v --color never', { ...healthy, terminal: true, columns: 300 })
  expect(out).toContain('✓ token: MERGEQ_TOKEN\n✓ DNS: 127.0.0.1 is an IP address\n')
})
