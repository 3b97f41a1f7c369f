import { afterEach, describe, expect, test } from 'vitest'
import { exitCodeList } from '../../src/errors.ts'
import { createNodeHost } from '../../src/host/node-host.ts'
import { createHostClient } from '../../src/library/client.ts'
import type { Client, ClientOptions, CommonOptions, ErrorKind } from '../../src/library/types.ts'
import { type Answer, mergeq, type Seen, type Service, serveScript } from '../support/harness.ts'

const bare = Object.create(process, { env: { value: { HOME: '/nonexistent' } } })
const host = createNodeHost(bare, '0.0.0-test', new AbortController().signal)

const open: Service[] = []
afterEach(() => Promise.all(open.splice(0).map(service => service.close())))

async function clientOf(answer: (seen: Seen) => Answer, options: ClientOptions = {}) {
  const service = await serveScript(answer)
  open.push(service)
  const { baseUrl, requests } = service
  const settings = { baseUrl, token: 'test-token', repo: 'acme/web', targetBranch: 'main', org: 'acme' }
  return { client: createHostClient({ ...settings, ...options }, host), requests }
}

/** Calls a method with options that its types would refuse. */
const call = (client: Client, name: string, options: unknown): Promise<unknown> =>
  Reflect.apply(Reflect.get(client, name), client, [options])

type OptionsOf<M extends keyof Client> = NonNullable<Parameters<Client[M]>[0]>

const uuid = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const set = [{ 'a..b': 1 }, { a: () => 1 }, { a: new Date() }, { a: Number.NaN }, ['a=1'], 'a=1', null]
const pr = ['seven', '', -1, 1.5, Number.NaN, true, [7], { number: 7 }, null]
const integer = ['5', '', 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, true, [5], null]
const boolean = ['true', 'yes', 1, 0, null, []]
const text = ['', 7, true, ['x'], null, {}]
const choice = [...text, 'other']
const texts = ['ci', 7, [7], [null], { 0: 'ci' }, null]
const moment = ['', 'yesterday', 7, new Date(Number.NaN), true, null, {}]

const testList = {
  limit: [...integer, 0],
  pageSize: [...integer, 0, 101],
  pageToken: text,
  maxPages: [...integer, 0],
  owner: text,
  name: text,
  path: text,
  set,
}

/** Values that each option refuses; the compiler checks that every option is listed. */
const refused: {
  readonly [M in keyof Client]: {
    readonly [K in keyof Required<Omit<OptionsOf<M>, keyof CommonOptions>>]: readonly unknown[]
  }
} = {
  submitPullRequest: { pr, priority: ['first', 256, -1, 1.5, true, null, ['high']], noBatch: boolean, set },
  cancelPullRequest: { pr, set },
  restartTestsOnPullRequest: { pr, set },
  getSubmittedPullRequest: { pr, head: text, set },
  setImpactedTargets: {
    pr,
    targets: ['all', '//a', 7, [7], [''], null],
    sha: ['', 'HEAD', true, 7, null],
    tooLarge: choice,
    forkedRun: text,
    set,
  },
  getMergeQueueTestingDetails: { pr, run: [...text, '7', '#7'], set },
  createQueue: { mode: choice, concurrency: [...integer, 0], set },
  getQueue: { set },
  updateQueue: {
    state: [...choice, 'switching_modes'],
    mode: choice,
    concurrency: [...integer, 0],
    bisectionConcurrency: [...integer, 0],
    testingTimeoutMinutes: integer,
    pendingFailureDepth: integer,
    canOptimisticallyMerge: boolean,
    batch: boolean,
    batchingMinSize: [...integer, 0],
    batchingMaxWaitTimeMinutes: [...integer, 0],
    createPrsForTestingBranches: boolean,
    commentsEnabled: boolean,
    commandsEnabled: boolean,
    statusCheckEnabled: boolean,
    directMergeMode: choice,
    optimizationMode: choice,
    mergeMethod: choice,
    requiredStatuses: texts,
    deleteRequiredStatuses: boolean,
    extensionEnabled: boolean,
    labelCommandsEnabled: boolean,
    stateLabelsEnabled: boolean,
    enqueueingLabel: text,
    notReadyTimeoutHours: integer,
    testBranchConstructionMode: choice,
    set,
  },
  deleteQueue: { set },
  getMergeQueueMetrics: {},
  listFailingTests: {
    since: moment,
    until: moment,
    limit: [...integer, 0],
    pageSize: [...integer, 0, 101],
    pageToken: text,
    maxPages: [...integer, 0],
    owner: text,
    quarantined: boolean,
    minFailureRate: ['0.5', Number.NaN, true, null],
    name: text,
    path: text,
    sort: choice,
    set,
  },
  getTestDetails: { testId: [...text, 'x'], set },
  listPullRequests: {
    states: ['MERGED', 7, [7], ['done'], [null], null],
    since: moment,
    author: text,
    limit: [...integer, 0],
    pageSize: [...integer, 0, 101],
    maxPages: [...integer, 0],
    set,
  },
  listQuarantinedTests: testList,
  listUnhealthyTests: { ...testList, status: [...text, 'healthy'], quarantined: boolean },
  status: {},
  linkTicketToTestCase: { testId: [...text, 'x'], ticket: text, set },
}

const refusedSettings: { readonly [K in keyof Required<CommonOptions>]: readonly unknown[] } = {
  repo: [
    'web',
    7,
    true,
    null,
    ['acme/web'],
    { owner: 'acme', name: 'web' },
    { host: 'x', owner: 'a', name: 'b' },
  ],
  targetBranch: text,
  org: text,
  baseUrl: [...text, 'http://example.com', 'https://user:secret@example.com'],
  profile: text,
  timeout: ['', 'soon', -1, 1.5, true, null, Number.NaN],
  retries: ['3', -1, 101, 1.5, true, null],
  caFile: text,
}

/** Options that are complete, so that only the refused value is wrong. */
const complete: Readonly<Record<string, object>> = {
  submitPullRequest: { pr: 7 },
  cancelPullRequest: { pr: 7 },
  restartTestsOnPullRequest: { pr: 7 },
  getSubmittedPullRequest: { pr: 7 },
  setImpactedTargets: { pr: 7, sha: '4f2a', targets: ['//a'] },
  getMergeQueueTestingDetails: { run: '4f2a' },
  updateQueue: { concurrency: 5 },
  getTestDetails: { testId: uuid },
}

describe('a value of the wrong type is a usage error, and nothing is sent', () => {
  const methods = Object.entries(refused)
  test.each(methods)('%s', async (method, options: Readonly<Record<string, readonly unknown[]>>) => {
    const { client, requests } = await clientOf(() => ({ body: 'OK' }))
    for (const [option, values] of Object.entries({ ...options, ...refusedSettings, nonsense: [1] }))
      for (const value of values) {
        const error = await call(client, method, { ...complete[method], [option]: value }).catch(
          (error: unknown) => error,
        )
        expect({ option, value, error }).toMatchObject({
          error: {
            name: 'MergeqError',
            kind: 'usage',
            exit: 2,
            document: null,
            hint: expect.any(String),
            message: expect.stringContaining(option),
          },
        })
      }
    for (const other of ['x', 7, ['x'], null === undefined])
      await expect(call(client, method, other)).rejects.toMatchObject({ kind: 'usage' })
    expect(requests).toEqual([])
  })

  test('createClient', () => {
    const clientOnly = { token: [7, true, null], signal: [{}, 'x', null], onNotice: ['x', {}, null] }
    for (const [option, values] of Object.entries({ ...refusedSettings, ...clientOnly, nonsense: [1] }))
      for (const value of values)
        expect(() => Reflect.apply(createHostClient, undefined, [{ [option]: value }, host])).toThrow(
          expect.objectContaining({
            name: 'MergeqError',
            kind: 'usage',
            exit: 2,
            message: expect.stringContaining(option),
          }),
        )
  })

  test('a token with a wrong character is refused and not repeated, and an empty one counts as left out', () => {
    expect(() => createHostClient({ token: 'tok_4f2a9c1e77\nx' }, host)).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message:
          'createClient: token: Invalid token (option): it contains the character U+000A at position 15.',
      }),
    )
    expect(createHostClient({ token: ' ' }, host)).toBeDefined()
  })

  test('an address with a password is not repeated', () => {
    const baseUrl = 'https://user:secret@example.com'
    expect(() => createHostClient({ baseUrl }, host)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  })
})

test.each([
  ['getSubmittedPullRequest', { pr: 7, head: 'x' }, 'head and pr cannot be used together'],
  ['getMergeQueueTestingDetails', { pr: 7, run: 'x' }, 'run and pr cannot be used together'],
  ['setImpactedTargets', { pr: 7, sha: false }, 'targets is required'],
  ['updateQueue', { deleteRequiredStatuses: false }, 'No setting was given'],
  ['updateQueue', { requiredStatuses: [], deleteRequiredStatuses: true }, 'cannot be used together'],
  ['updateQueue', { batch: true, set: { batch: false } }, 'set batch conflicts with batch'],
  ['getQueue', { set: { 'repo.name': 'x' } }, 'set repo.name conflicts with repo'],
  ['getQueue', { set: { a: 1, 'a.b': 2 } }, 'set was given twice for a.b'],
  ['listFailingTests', { since: '8d', pageToken: 'x' }, 'at most 7 days'],
  ['cancelPullRequest', { pr: 'https://github.com/acme/api/pull/7' }, 'name different repositories'],
  ['getTestDetails', {}, 'testId is required'],
])('%s refuses %j', async (method, options, says) => {
  const { client, requests } = await clientOf(() => ({ body: 'OK' }))
  await expect(call(client, method, options)).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringContaining(says),
  })
  expect(requests).toEqual([])
})

test('values are real values: a repository, milliseconds, numbers, moments', async () => {
  const { client, requests } = await clientOf(() => ({ body: '{"tests":[],"page":{}}' }), {
    repo: { host: 'git.example.com', owner: 'acme/platform', name: 'web' },
    timeout: 5_000,
    retries: 0,
  })
  const { window } = await client.listFailingTests({ since: '2h', until: new Date(), minFailureRate: 1e-7 })
  expect(Date.parse(window.end) - Date.parse(window.start)).toBeGreaterThan(7_000_000)
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
    repo: { host: 'git.example.com', owner: 'acme/platform', name: 'web' },
    org_url_slug: 'acme',
  })
})

test('an option of a call comes before the same option of the client', async () => {
  const { client, requests } = await clientOf(() => ({ body: 'OK' }))
  await client.cancelPullRequest({ pr: 7, repo: 'acme/api', targetBranch: 'release' })
  expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
    repo: { owner: 'acme', name: 'api' },
    targetBranch: 'release',
  })
})

test('the kinds of errors are those of the exit codes', () => {
  const kinds: Readonly<Record<ErrorKind, true>> = {
    internal: true,
    usage: true,
    failed: true,
    auth: true,
    'not-found': true,
    refused: true,
    unavailable: true,
    pending: true,
    cancelled: true,
    'unknown-outcome': true,
    stale: true,
    'bad-answer': true,
    output: true,
    incomplete: true,
    differs: true,
    'check-failed': true,
    'timed-out': true,
    interrupted: true,
  }
  expect(new Set(['ok', ...Object.keys(kinds)])).toEqual(new Set(exitCodeList.map(({ kind }) => kind)))
})

describe('the result is what --json prints', () => {
  const range = '--since 2026-01-01 --until 2026-01-02'
  const since = '2026-01-01'
  const until = new Date('2026-01-02T00:00:00Z')
  const number = '123456789012345678901234567890'
  const queue = `{"state":"running","new":${number},"enqueuedPullRequests":[{"state":"testing","prNumber":7}]}`
  const cases: readonly (readonly [keyof Client, object, line: string, body: string])[] = [
    ['submitPullRequest', { pr: 7, priority: 'high' }, 'pr submit 7 --priority high', 'OK'],
    ['cancelPullRequest', { pr: 7 }, 'pr cancel 7 --yes', 'OK'],
    ['restartTestsOnPullRequest', { pr: 7 }, 'pr restart 7', ''],
    ['getSubmittedPullRequest', { pr: 7 }, 'pr get 7', '{"state":"not_ready","__proto__":{"a":[1,null]}}'],
    [
      'setImpactedTargets',
      { pr: 7, sha: '4f2a', targets: ['a', 'b', 'a'] },
      'pr targets 7 a b a --sha 4f2a',
      'OK',
    ],
    ['setImpactedTargets', { pr: 7, sha: false, targets: 'ALL' }, 'pr targets 7 --all --no-sha', 'OK'],
    [
      'getMergeQueueTestingDetails',
      { run: '4f2a' },
      'pr testing 4f2a',
      '{"testBranch":"x","checkSuites":[]}',
    ],
    ['createQueue', { mode: 'parallel' }, 'queue create --mode parallel', ''],
    ['getQueue', {}, 'queue get', queue],
    ['updateQueue', { batch: false }, 'queue update --no-batch', '{"state":"paused","batch":false}'],
    ['updateQueue', { batch: true }, 'queue update --batch', 'OK'],
    ['deleteQueue', {}, 'queue delete --yes', 'OK'],
    [
      'getMergeQueueMetrics',
      {},
      'metrics -b main',
      'a{branch="main"} 1\na{branch="x"} 2\nb{branch="main",le="+Inf"} NaN\n',
    ],
    [
      'listFailingTests',
      { since, until, sort: 'name', name: 'c*' },
      `flaky list ${range} --sort name --name c*`,
      '{"tests":[{"id":"2","name":"cb"},{"id":"1","name":"ca"},{"id":"3","name":"x"}],"page":{"total_rows":3},"more":1}',
    ],
    ['getTestDetails', { testId: uuid }, `flaky get ${uuid}`, '{"test":{"id":"x"},"more":1}'],
  ]
  const env = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_ORG: 'acme' }

  test.each(cases)('%s %j: %s', async (method, options, line, body) => {
    const answer = () => ({ body })
    const printed = await mergeq(`${line} --json`, { env, answer })
    expect(printed).toMatchObject({ code: 0 })
    const { client, requests } = await clientOf(answer)
    expect(await call(client, method, options)).toEqual(JSON.parse(printed.out))
    expect(requests.map(({ path, body }) => [path, body])).toEqual(
      printed.requests.map(({ path, body }) => [path, body]),
    )
  })

  test.each(cases)('%s %j fails as %s does', async (method, options, line) => {
    const answer = () => ({ status: 422, body: 'no' })
    const printed = await mergeq(`${line} --json`, { env, answer })
    const { client } = await clientOf(answer)
    const error = await call(client, method, options).catch((error: unknown) => error)
    const document: unknown = printed.out === '' ? null : JSON.parse(printed.out)
    expect(error).toMatchObject({ exit: printed.code, document: normalized(document) })
  })

  /** The message of a receipt names the address of the service, which differs. */
  const normalized = (document: unknown): unknown =>
    JSON.parse(JSON.stringify(document), (key, value: unknown) =>
      key === 'message' ? expect.any(String) : value,
    )
})
