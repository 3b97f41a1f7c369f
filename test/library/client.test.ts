import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { submissionParams } from '../../src/api/operations/pull-requests.ts'
import type { Params } from '../../src/api/params.ts'
import { getString } from '../../src/base/json.ts'
import { type Client, iteratorName, parsePullRequest } from '../../src/library/client.ts'
import type { settingParams } from '../../src/library/options.ts'
import { landParams, waitParams, watchParams } from '../../src/library/wait-options.ts'
import { type Answer, mergeq, noon, queueEnv, type Seen } from '../support/harness.ts'
import { clientOf, createHostClient, nodeHost, token } from '../support/library-client.ts'
import { methodName, operationExamples, responseText, testId } from '../support/operations.ts'

/** Calls a method by its name, as a program without types can; of an iterator it takes the first value. */
async function call(client: Client, name: string, options?: unknown): Promise<unknown> {
  const called = Reflect.apply(Reflect.get(client, name), client, [options])
  return name === 'watchQueue' ? Object(called).next() : called
}

const ok = () => ({ body: 'OK' })

/** What only somebody at a command line can do. */
const ofCommandLine = /--[a-z]|\bmergeq [a-z]|run the command/
const operations: readonly Operation[] = serviceOperations

/** The params of each method, and whether it takes additional fields of a body. */
const methods: Readonly<Record<string, { readonly params: Params; readonly hasBody: boolean }>> = {
  ...Object.fromEntries(
    operations.map(operation => [
      methodName(operation),
      { params: operation.params, hasBody: operation.route.startsWith('POST') },
    ]),
  ),
  waitForPullRequests: { params: waitParams, hasBody: false },
  landPullRequests: { params: { ...waitParams, ...submissionParams, ...landParams }, hasBody: true },
  watchQueue: { params: watchParams, hasBody: false },
}

test('with MERGEQ_READ_ONLY in the environment a change is refused, and a read is sent', async () => {
  const host = { ...nodeHost, env: { ...nodeHost.env, MERGEQ_READ_ONLY: '1' } }
  const { client, requests } = await clientOf(() => ({ body: '{"enqueuedPullRequests":[]}' }), {}, host)
  await expect(client.updateQueue({ state: 'PAUSED' })).rejects.toMatchObject({
    exit: 2,
    message: expect.stringContaining('MERGEQ_READ_ONLY'),
  })
  await client.getQueue()
  expect(requests.map(({ path }) => path)).toEqual(['/v1/getQueue'])
})

test('a malformed proxy is a usage error that names its variable, unless the environment is left out', async () => {
  const env = { ...nodeHost.env, HTTPS_PROXY: 'http://someone:s3#cret@proxy.acme.test:3128' }
  const options = { baseUrl: 'https://queue.acme.test:1/v1', retries: 0 }
  const { client } = await clientOf(ok, options, { ...nodeHost, env })
  const error: unknown = await client.getQueue().catch(failure => failure)
  expect(error).toMatchObject({ exit: 2, message: 'The value of HTTPS_PROXY is not an http or https URL.' })
  expect(JSON.stringify(error)).not.toMatch(/s3|cret|someone/)
  const bare = await clientOf(ok, { ...options, baseUrl: 'https://127.0.0.1:1/v1' }, { ...nodeHost, env })
  await expect(bare.client.getQueue()).rejects.toMatchObject({ exit: 7 })
})

test('a byte order mark before a token is removed, and a token that is too long is not shown', async () => {
  const answer = ({ headers }: Seen) => ({ status: 400, body: `not ${headers['x-api-token']}` })
  const { client, requests } = await clientOf(answer, { token: `\uFEFF${token}\n` })
  await expect(client.getQueue()).rejects.toMatchObject({ message: expect.stringContaining('[REDACTED]') })
  expect(requests.map(({ headers }) => headers['x-api-token'])).toEqual([token])
  expect(() => createHostClient({ token: 'x'.repeat(20_000) }, nodeHost)).toThrow(
    /^createClient: token: Invalid token \(option\): it is longer than 4096 characters\.$/,
  )
})

test('there is a method for each operation and an iterator for each list, and docs/library.md names the others', () => {
  const names = operations.map(methodName)
  const paged = operations
    .filter(({ pages }) => pages !== undefined)
    .map(operation => iteratorName(methodName(operation)))
  const others = [
    ...paged,
    'waitForPullRequests',
    'landPullRequests',
    'watchQueue',
    'explainPullRequest',
    'explainQueue',
    'listQueues',
  ]
  expect(Object.keys(createHostClient({}, nodeHost)).sort()).toEqual([...names, ...others].sort())
  const guide = readFileSync('docs/library.md', 'utf8')
  for (const name of others) expect(guide).toContain(`\`${name}\``)
})

describe('a call sends what the command line sends, and returns what --json prints', () => {
  const number = '123456789012345678901234567890'
  const tests =
    '{"tests":[{"id":"2","name":"cb"},{"id":"1","name":"ca"},{"id":"3","name":"x"}],"page":{"total_rows":3},"more":1}'
  const range = { since: new Date('2026-01-01'), until: new Date('2026-01-02T00:00:00Z') }
  type Case = readonly [method: string, options: object, line: string, body: string]
  const ofOperations = operationExamples
    // `api` has no options of its own, and prints what comes.
    .filter(({ line }) => !line.startsWith('api '))
    .map((example): Case => {
      const { operation, options, line } = example
      return [methodName(operation), options, line, responseText(example)]
    })
  const cases: readonly Case[] = [
    ...ofOperations,
    ['getSubmittedPullRequest', { pr: 7 }, 'pr get 7', '{"state":"not_ready","__proto__":{"a":[1,null]}}'],
    ['getSubmittedPullRequest', { head: 'fix-cart' }, 'pr get --head fix-cart', '{"state":"merged"}'],
    ['setImpactedTargets', { pr: 7, sha: false, targets: 'ALL' }, 'pr targets 7 --all --no-sha', 'OK'],
    [
      'getMergeQueueTestingDetails',
      { run: 'trunk-merge/pr-7/4f2a' },
      'pr testing 4f2a',
      '{"checkSuites":[]}',
    ],
    ['getQueue', {}, 'queue get', `{"state":"running","new":${number},"enqueuedPullRequests":[]}`],
    [
      'updateQueue',
      { state: 'paused', batch: false, requiredStatuses: ['ci', 'lint'] },
      'queue update --state paused --no-batch --required-status ci --required-status lint',
      '{"state":"paused","batch":false}',
    ],
    [
      'updateQueue',
      { set: { 'new.field': [1, { deep: null }] } },
      `queue update --set 'new.field=[1,{"deep":null}]'`,
      '',
    ],
    ['getMergeQueueMetrics', {}, 'metrics -b main', 'b{branch="main"} NaN\n'],
    [
      'listFailingTests',
      { ...range, sort: 'name', name: 'c*' },
      'flaky list --since 2026-01-01 --until 2026-01-02 --sort name --name c*',
      tests,
    ],
    ['explainPullRequest', { pr: 7 }, 'pr explain 7', '{"state":"merged","enqueuedPullRequests":[]}'],
    ['listQueues', {}, 'queue list', 'mq_depth_current{repo="acme/web",branch="main"} 3\n'],
  ]
  const env = { ...queueEnv, MERGEQ_TOKEN: token }
  const wire = (requests: readonly Seen[]) =>
    requests.map(({ path, body, headers }) => ({ path, body, token: headers['x-api-token'] }))

  test.each(cases)('%s %j: %s', async (method, options, line, body) => {
    const answer = () => ({ headers: { date: new Date(noon).toUTCString() }, body })
    const printed = await mergeq(`${line} --json`, { env, answer })
    expect(printed.code, printed.err).toBe(0)
    const { client, requests } = await clientOf(answer)
    expect(await call(client, method, options)).toEqual(JSON.parse(printed.out))
    expect(wire(requests)).toEqual(wire(printed.requests))
  })

  test('explainQueue says what queue explain says', async () => {
    const answer = ({ path }: Seen) =>
      path.includes('Metrics')
        ? { body: '' }
        : { body: '{"state":"running","enqueuedPullRequests":[],"pullRequests":[{"prNumber":7}]}' }
    const printed = await mergeq('queue explain --json', { env, answer })
    const { client, requests } = await clientOf(answer)
    const explanation = await client.explainQueue()
    expect(explanation).toEqual(JSON.parse(printed.out))
    expect(explanation).toMatchObject({ verdict: 'waiting', notReadyPullRequests: [{ pr: 7 }] })
    expect(wire(requests)).toEqual(wire(printed.requests))
  })

  /** The message of a receipt names the address of the service, which differs. */
  const withoutAddress = (document: unknown): unknown =>
    JSON.parse(JSON.stringify(document), (key, value: unknown) =>
      key === 'message' ? expect.any(String) : value,
    )

  test.each(cases)('%s %j fails as %s does', async (method, options, line) => {
    const answer = () => ({ status: 422, body: 'no' })
    const printed = await mergeq(`${line} --json`, { env, answer })
    const { client } = await clientOf(answer)
    const error = await call(client, method, options).catch((error: unknown) => error)
    const document: unknown = printed.out === '' ? null : JSON.parse(printed.out)
    expect(error).toMatchObject({ exit: printed.code, document: withoutAddress(document) })
  })
})

describe('results', () => {
  test('an incomplete list rejects with the part that was read', async () => {
    const { client } = await clientOf(
      (_, index) =>
        index === 0 ? { body: '{"tests":[{"id":"a"}],"page":{"next_page_token":"x"}}' } : { status: 500 },
      { retries: 0 },
    )
    await expect(client.listFailingTests()).rejects.toMatchObject({
      name: 'MergeqError',
      kind: 'incomplete',
      exit: 17,
      document: { tests: [{ id: 'a' }], window: { complete: false } },
    })
  })

  test('an error has its details, without the token', async () => {
    const { client } = await clientOf(() => ({ status: 404, body: `no: ${token}` }))
    const error = await client.getSubmittedPullRequest({ pr: 7 }).catch(error => error)
    expect(error).toMatchObject({
      name: 'MergeqError',
      kind: 'not-found',
      exit: 5,
      status: 404,
      operation: 'getSubmittedPullRequest',
      hint: expect.any(String),
    })
    expect(error.message).not.toContain(token)
  })

  test('repeats are reported, and a change that was refused has its receipt', async () => {
    const notices: string[] = []
    const { client } = await clientOf(
      (_, index) => (index === 0 ? { status: 429, headers: { 'retry-after': '0' } } : { status: 422 }),
      { onNotice: text => notices.push(text) },
    )
    await expect(client.submitPullRequest({ pr: 7 })).rejects.toMatchObject({
      kind: 'refused',
      delivery: 'not-applied',
      document: { pr: 7, ok: false, delivery: 'not-applied', exit: 6 },
    })
    expect(notices).toEqual([expect.stringMatching(/429.*retrying in/)])
  })
})

describe('a wrong option is a usage error in its name, and nothing is sent', () => {
  const text = ['', 7, true, ['x'], null, {}]
  const settings: { readonly [Name in keyof typeof settingParams | 'signal']: readonly unknown[] } = {
    repo: ['web', 7, true, null, ['acme/web'], { owner: 'acme', name: 'web' }],
    targetBranch: text,
    org: text,
    baseUrl: [...text, 'http://example.com', 'https://user:secret@example.com'],
    profile: text,
    timeout: ['', 'soon', -1, 1.5, true, null, Number.NaN],
    retries: ['3', -1, 101, 1.5, true, null],
    caFile: text,
    signal: ['', 7, true, null, {}],
  }
  const set = [{ 'a..b': 1 }, { a: () => 1 }, { a: new Date() }, { a: Number.NaN }, ['a=1'], 'a=1', null]

  /** Options with which each method could send a request. */
  const complete = {
    pr: 7,
    prs: [7],
    sha: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9',
    targets: ['//a'],
    run: '4f2a',
    concurrency: 5,
    testId,
    ticket: 'KAN-1',
  }

  async function isRefused(client: Client, method: string, option: string, value: unknown) {
    const valid = Object.entries(complete).filter(([name]) =>
      Object.hasOwn(methods[method]?.params ?? {}, name),
    )
    const options = { ...Object.fromEntries(valid), [option]: value }
    const error = await call(client, method, options).catch((error: unknown) => error)
    expect({ method, option, value, error }).toMatchObject({
      error: {
        name: 'MergeqError',
        kind: 'usage',
        exit: 2,
        document: null,
        hint: expect.any(String),
        message: expect.stringMatching(new RegExp(`^${method}: (unknown option )?${option}\\b`)),
      },
    })
    expect(String(error) + getString(Object(error), 'hint')).not.toMatch(ofCommandLine)
  }

  /** Values of all kinds, each a mistake for most types. */
  const odd = ['', 'other', 7, -1, 1.5, Number.NaN, true, null, [], [7], {}, new Date(Number.NaN), () => 1]

  const refuses = (check: (value: unknown) => unknown, value: unknown): boolean => {
    try {
      check(value)
      return false
    } catch {
      return true
    }
  }

  // What each type refuses is in test/values/values.test.ts. A method takes the reference of a pull request, see below.
  test.each(Object.entries(methods))(
    '%s refuses what the types of its params refuse',
    async (method, { hasBody, params }) => {
      const { client, requests } = await clientOf(ok)
      for (const [option, { type }] of Object.entries(params).filter(([name]) => name !== 'pr')) {
        const wrong = odd.filter(value => refuses(type.check, value))
        expect({ option, wrong }).not.toEqual({ option, wrong: [] })
        for (const value of wrong) await isRefused(client, method, option, value)
      }
      if (hasBody) for (const value of set) await isRefused(client, method, 'set', value)
      await isRefused(client, method, 'nonsense', 1)
      expect(requests).toEqual([])
    },
  )

  test.each(Object.entries(methods))('%s names the option that is missing', async (method, { params }) => {
    const given = { repo: 'acme/web', targetBranch: 'main', org: 'acme', ...complete }
    const client = createHostClient(
      { baseUrl: 'http://127.0.0.1:1', retries: 0, token, discover: false },
      nodeHost,
    )
    const own = Object.entries(given).filter(([name]) => Object.hasOwn(params, name))
    for (const [missing] of own.filter(([name]) => params[name]?.required === true)) {
      const others = Object.fromEntries(own.filter(([name]) => name !== missing))
      const error: unknown = await call(client, method, others).catch(failure => failure)
      expect(error).toMatchObject({ kind: 'usage', message: expect.stringContaining(`${missing} is req`) })
      expect(String(error) + getString(Object(error), 'hint')).not.toMatch(ofCommandLine)
    }
  })

  test('in the options of any call', async () => {
    const { client, requests } = await clientOf(ok)
    for (const [option, values] of Object.entries(settings))
      for (const value of values) await isRefused(client, 'getQueue', option, value)
    for (const other of ['x', 7, ['x'], null])
      await expect(call(client, 'getQueue', other)).rejects.toMatchObject({ kind: 'usage' })
    expect(requests).toEqual([])
  })

  test('in the options of createClient', () => {
    const own = { token: [7, true, null], discover: ['', 0, null], onNotice: ['x', {}, null], nonsense: [1] }
    for (const [option, values] of Object.entries({ ...settings, ...own }))
      for (const value of values)
        expect(() => Reflect.apply(createHostClient, undefined, [{ [option]: value }, nodeHost])).toThrow(
          expect.objectContaining({
            name: 'MergeqError',
            kind: 'usage',
            exit: 2,
            message: expect.stringMatching(new RegExp(`^(?!.*secret).*${option}`)),
          }),
        )
  })

  test('an empty token counts as left out', () => {
    expect(createHostClient({ token: ' ' }, nodeHost)).toBeDefined()
  })

  test.each([
    ['getSubmittedPullRequest', { pr: 7, head: 'x' }, 'head and pr cannot be used together'],
    ['getMergeQueueTestingDetails', { pr: 7, run: 'x' }, 'run and pr cannot be used together'],
    ['setImpactedTargets', { pr: 7, sha: false }, 'targets is required'],
    ['updateQueue', {}, 'No setting was given'],
    ['updateQueue', { requiredStatuses: [], deleteRequiredStatuses: true }, 'cannot be used together'],
    ['updateQueue', { batch: true, set: { batch: false } }, 'set batch conflicts with batch'],
    ['getQueue', { set: { 'repo.name': 'x' } }, 'set repo.name conflicts with repo'],
    ['submitPullRequest', { set: { pr: { number: 8 } } }, 'set pr conflicts with pr'],
    ['landPullRequests', { prs: [7], set: { 'pr.number': 8 } }, 'set pr.number conflicts with pr'],
    ['listFailingTests', { since: '8d', pageToken: 'x' }, 'at most 7 days'],
    ['listUnhealthyTests', { pageToken: 'x' }, 'pageToken requires status'],
    ['cancelPullRequest', { pr: 'https://github.com/acme/api/pull/7' }, 'name different repositories'],
    ['getTestDetails', {}, 'testId is required'],
  ])('%s refuses %j', async (method, options, says) => {
    const { client, requests } = await clientOf(ok)
    await expect(call(client, method, options)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(says),
    })
    expect(requests).toEqual([])
  })
})

describe('messages name the options of the library', () => {
  test.each([
    ['a token that is refused', {}, 'rejected the option token (401)'],
    ['a token that is missing', { token: '' }, 'Set the option token to'],
    [
      'a damaged file of authorities',
      { caFile: '/ca.pem', baseUrl: 'https://127.0.0.1:9/v1' },
      'caFile: /ca.pem contains a damaged certificate.',
    ],
  ])('%s', async (_, options, says) => {
    const files = {
      ...nodeHost.files,
      read: async () => '-----BEGIN CERTIFICATE-----x-----END CERTIFICATE-----',
    }
    const host = 'caFile' in options ? { ...nodeHost, files } : nodeHost
    const { client } = await clientOf(() => ({ status: 401 }), options, host)
    const { message, hint } = await client.getQueue().catch(error => error)
    expect(`${message} ${hint}`).toContain(says)
    expect(`${message} ${hint}`).not.toMatch(/--[a-z]|MERGEQ_TOKEN|mergeq auth/)
  })

  test('a missing setting', async () => {
    const host = { ...nodeHost, git: async () => ({ code: 127, out: '' }) }
    const client = createHostClient({ token, targetBranch: 'main' }, host)
    await expect(client.getQueue()).rejects.toMatchObject({
      message: 'No repository was given. git failed: git was not found.',
      hint: expect.stringMatching(/^Use repo owner\/name or set MERGEQ_REPO\./),
    })
  })

  test('a filter that hides records, and a pull request in the place of a test run', async () => {
    const notices: string[] = []
    const { client } = await clientOf(() => ({ body: '{"quarantined_tests":[{"name":"a"}],"page":{}}' }), {
      onNotice: text => notices.push(text),
    })
    await client.listQuarantinedTests({ owner: 'web' })
    expect(notices.join()).toContain('1 test hidden by owner.')
    const refused = client.getMergeQueueTestingDetails({ run: '#12' })
    await expect(refused).rejects.toMatchObject({ hint: 'Give it as pr: 12.' })
  })
})

describe('parsePullRequest', () => {
  const repo = 'github.com/acme/web'
  test.each([
    [7, { number: 7 }],
    ['#7', { number: 7 }],
    ['acme/web#7', { number: 7, repo }],
    ['https://git.acme.test/a/b/web/-/merge_requests/7', { number: 7, repo: 'git.acme.test/a/b/web' }],
  ])('%j', (reference, parsed) => {
    expect(parsePullRequest(reference)).toEqual(parsed)
  })

  test.each([
    '',
    'main',
    '7 8',
    '#4294967296',
    'https://github.com/acme/web/issues/7',
    -7,
    1.5,
    null,
    undefined,
    {},
    ['acme/web#7'],
    true,
  ])('%j is a usage error', reference => {
    let error: unknown
    try {
      Reflect.apply(parsePullRequest, undefined, [reference])
    } catch (failure) {
      error = failure
    }
    expect(error).toMatchObject({
      name: 'MergeqError',
      kind: 'usage',
      document: null,
      hint: expect.any(String),
    })
    expect(`${error} ${Reflect.get(Object(error), 'hint')}`).not.toMatch(ofCommandLine)
  })
})

test('values are real values, and an option of a call comes before that of the client', async () => {
  const { client, requests } = await clientOf(() => ({ body: '{"tests":[],"page":{}}' }), {
    repo: 'acme/api',
    timeout: 5_000,
    retries: 0,
  })
  const list = await client.listFailingTests({
    since: '2h',
    until: new Date(),
    minFailureRate: 1e-7,
    repo: { host: 'git.example.com', owner: 'acme/platform', name: 'web' },
  })
  const timeOf = (name: string) => Date.parse(getString(list, `window.${name}`) ?? '')
  expect(timeOf('end') - timeOf('start')).toBeGreaterThan(7_000_000)
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
    repo: { host: 'git.example.com', owner: 'acme/platform', name: 'web' },
    org_url_slug: 'acme',
  })
})

test.each(['client', 'call'])('a signal of the %s ends a call that is under way', async place => {
  const stop = new AbortController()
  const { signal } = stop
  const { client } = await clientOf(
    () => {
      stop.abort()
      return new Promise<Answer>(() => undefined)
    },
    place === 'client' ? { signal } : {},
  )
  const options = place === 'call' ? { signal } : {}
  await expect(client.getQueue(options)).rejects.toMatchObject({ kind: 'interrupted' })
  await expect(client.iterateFailingTests(options).next()).rejects.toMatchObject({ kind: 'interrupted' })
})

test('with discover: false nothing comes from the environment, the CI job, git or files', async () => {
  const refuse = () => Promise.reject(new Error('must not be asked'))
  const env = {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'acme/web',
    GITHUB_BASE_REF: 'main',
    GITHUB_REF: 'refs/pull/7/merge',
    MERGEQ_PR: '7',
    MERGEQ_SHA: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9',
    MERGEQ_REPO: 'acme/web',
    MERGEQ_TARGET_BRANCH: 'main',
    MERGEQ_ORG: 'acme',
    MERGEQ_TOKEN: token,
    MERGEQ_RETRIES: 'many',
    HOME: '/home/ada',
    HTTPS_PROXY: 'http://127.0.0.1:1',
    MERGEQ_READ_ONLY: '1',
    MERGEQ_CA_FILE: '/ca.pem',
  }
  const files = { ...nodeHost.files, read: refuse, exists: refuse, mode: refuse }
  const host = { ...nodeHost, env, cwd: '/repo', files, git: refuse }
  const { requests, client: complete } = await clientOf(ok, { discover: false }, host)
  const settings = { token, repo: 'acme/web', targetBranch: 'main', org: 'acme' }
  const rows: readonly (readonly [object, method: string, options: object, says: RegExp])[] = [
    [{ repo: undefined }, 'submitPullRequest', { pr: 7 }, /^repo is required/],
    [{ targetBranch: undefined }, 'getQueue', {}, /^targetBranch is required/],
    [{ org: undefined }, 'listFailingTests', {}, /^org is required/],
    [{}, 'submitPullRequest', {}, /^pr is required/],
    [{}, 'getMergeQueueTestingDetails', {}, /^run is required/],
    [{}, 'setImpactedTargets', { pr: 7, targets: 'ALL' }, /^sha is required/],
    [{ token: undefined }, 'getQueue', {}, /Set the option token/],
    [{ profile: 'b' }, 'getQueue', {}, /^profile cannot be used with discover: false/],
  ]
  for (const [options, method, given, says] of rows) {
    const baseUrl = 'http://127.0.0.1:1'
    const client = createHostClient({ baseUrl, ...settings, discover: false, ...options }, host)
    const { message, hint } = await call(client, method, given).then(
      () => ({ message: 'done', hint: '' }),
      error => error,
    )
    expect(`${message} ${hint}`).toMatch(says)
  }
  expect(requests).toEqual([])
  await complete.submitPullRequest({ pr: 8 })
  expect(requests).toHaveLength(1)
})

test('many calls at the same time print no warning', async () => {
  const warnings: string[] = []
  const note = ({ message }: Error) => warnings.push(message)
  process.on('warning', note)
  const { signal } = new AbortController()
  const { client } = await clientOf(() => ({ status: 404 }), { signal })
  await Promise.all(Array.from({ length: 12 }, () => client.getQueue().catch(() => undefined)))
  await Promise.all(Array.from({ length: 12 }, () => client.waitForPullRequests({ prs: [], signal })))
  await new Promise(setImmediate)
  process.off('warning', note)
  expect(warnings).toEqual([])
})

test('each call reads the checkout again', async () => {
  const heads = ['1'.repeat(40), '2'.repeat(40)]
  const left = [...heads]
  const { client, requests } = await clientOf(
    ok,
    {},
    {
      ...nodeHost,
      cwd: '/repo',
      async git(args) {
        if (args.includes('-v')) return { code: 0, out: 'origin\tgit@github.com:acme/web (fetch)\n' }
        if (args.includes('ls-remote')) return { code: 0, out: `${left.shift()}\trefs/pull/7/head\n` }
        return args.includes('rev-parse') ? { code: 0, out: `${left[0]}\n` } : { code: 1, out: '' }
      },
    },
  )
  for (const _ of heads) await client.setImpactedTargets({ pr: 7, targets: ['web'] })
  expect(requests.map(({ body }) => JSON.parse(body).pr)).toEqual(heads.map(sha => ({ number: 7, sha })))
})
