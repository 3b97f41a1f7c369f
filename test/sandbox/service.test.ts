import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { getArray, getString, isObject, type Json, type JsonObject } from '../../src/base/json.ts'
import { sandboxOperations } from '../../src/sandbox/handlers.ts'
import { parseSamples } from '../support/prometheus-text.ts'
import {
  createTestService,
  dialects,
  noon,
  onPr,
  onQueue,
  repo,
  type TestServiceOptions,
} from '../support/sandbox-service.ts'

const day = 86_400_000
const iso = (time: number): string => new Date(time).toISOString()

const failing = (start: number, end: number, page: JsonObject = { page_size: 100 }) => ({
  repo,
  org_url_slug: 'acme',
  start_time: iso(start),
  end_time: iso(end),
  page_query: page,
})

/** What is not taken, and how each dialect answers. */
type Refused = [operation: string, body: JsonObject, ofBoth: number, ofHosted?: number]
const elsewhere = { repo, targetBranch: 'nowhere', impactedTargets: [] }
const unknownId = '00000000-0000-4000-8000-000000000000'

/** Returns the message of an error response of either dialect. */
const errorMessage = ({ body }: { readonly body: string }): string => {
  try {
    const document: Json = JSON.parse(body)
    return getString(document, 'error.message') ?? ''
  } catch {
    return body
  }
}

describe.each(dialects)('the service in the %s dialect', dialect => {
  const open = (options: TestServiceOptions = {}) => createTestService({ dialect, ...options })

  it('needs its own token', () => {
    const { raw } = open()
    const body = JSON.stringify(onQueue)
    // Only targets are taken from a fork: test/sandbox/server.test.ts.
    const fork = { 'x-forked-workflow-run-id': '7' }
    for (const headers of [{}, { 'x-api-token': '' }, { 'x-api-token': 'another' }, fork])
      expect(raw({ headers, body }).status).toBe(401)
    expect(raw({ method: 'GET', path: '/v1/getMergeQueueMetrics', headers: {} }).status).toBe(401)
    expect(raw({ body }).status).toBe(200)
  })

  it('knows its paths and their methods', () => {
    const { raw } = open()
    for (const path of ['/v1/nothing', '/v1', '/', '/getQueue', '/v1/getQueue/', '/v1/constructor'])
      expect(raw({ path, body: JSON.stringify(onQueue) }).status).toBe(404)
    expect(raw({ method: 'GET' }).status).toBe(dialect === 'both' ? 405 : 404)
    expect(raw({ path: '/v1/getMergeQueueMetrics' }).status).toBe(dialect === 'both' ? 405 : 404)
  })

  it('refuses a body that is not a JSON object', () => {
    for (const body of ['', '{', '[]', '"x"', 'null']) expect(open().raw({ body }).status).toBe(400)
  })

  it('names every field that is missing', () => {
    const { send } = open()
    const message = (operation: string, body: Json) => errorMessage(send(operation, body))
    for (const { route } of serviceOperations) {
      const [method, path = ''] = route.split(' /')
      if (method === 'POST')
        expect([path, message(path, {})]).toEqual([path, expect.stringContaining('repo')])
    }
    expect(message('submitPullRequest', { repo })).toContain('targetBranch, pr.number')
    expect(message('setImpactedTargets', onPr(1))).toContain('impactedTargets')
    expect(message('getSubmittedPullRequest', onQueue)).toMatch(/pr\.number.*pr\.branch/)
    expect(message('getMergeQueueTestingDetails', onQueue)).toMatch(
      dialect === 'both' ? /testRunId.*pr\.number/ : /^testRunId must be/,
    )
    expect(message('flaky-tests/get-test-details', { repo, org_url_slug: 'acme' })).toContain('test_id')
  })

  it.each<Refused>([
    ...[-1, 1.5, 4_294_967_296].map((number): Refused => ['submitPullRequest', onPr(number), 400]),
    ['submitPullRequest', { ...onQueue, pr: { number: '1' } }, 400],
    ['submitPullRequest', { ...onPr(1), repo: 'acme/web' }, 400],
    ['submitPullRequest', { ...onPr(1), repo: { ...repo, host: '' } }, 400],
    ['submitPullRequest', onPr(1, { priority: 'soon' }), 400],
    ['submitPullRequest', onPr(1, { noBatch: 'yes' }), 400],
    ['setImpactedTargets', onPr(1, { impactedTargets: 'all' }), 400],
    ['setImpactedTargets', onPr(1, { impactedTargets: [1] }), 400],
    ['setImpactedTargets', onPr(1, { impactedTargets: [] }), 200, 400],
    ['updateQueue', { ...onQueue, concurrency: 0 }, 400],
    ['updateQueue', { ...onQueue, mode: 'double' }, 400],
    ['updateQueue', { ...onQueue, state: 'SWITCHING_MODES' }, 400],
    ['createQueue', { repo, targetBranch: 'next', concurrency: 0 }, 400],
    ...['submitPullRequest', 'getQueue', 'updateQueue', 'deleteQueue', 'setImpactedTargets'].map(
      (operation): Refused => [operation, { ...elsewhere, pr: { number: 1, sha: '4f2a' } }, 404],
    ),
    ...['getSubmittedPullRequest', 'cancelPullRequest', 'restartTestsOnPullRequest'].map(
      (operation): Refused => [operation, onPr(1), 404],
    ),
    ['getMergeQueueTestingDetails', onPr(1), 404, 400],
    ['getMergeQueueTestingDetails', { ...onQueue, testRunId: 'none' }, 404],
    ['flaky-tests/get-test-details', { repo, org_url_slug: 'acme', test_id: unknownId }, 404],
    ['flaky-tests/list-failing-tests', { ...failing(noon - day, noon), repo: { ...repo, name: 'x' } }, 404],
  ])('answers to %s with what is not valid or does not exist: %j', (operation, body, ofBoth, ofHosted) => {
    expect(open().status(operation, body)).toBe(dialect === 'both' ? ofBoth : (ofHosted ?? ofBoth))
  })

  it('creates a queue once and deletes it only when it is empty', () => {
    const { status, later } = open()
    const release = { repo, targetBranch: 'release' }
    expect(status('createQueue', { ...release, concurrency: 2 })).toBe(200)
    expect(status('createQueue', release)).toBe(409)
    expect(status('submitPullRequest', { ...release, pr: { number: 1 } })).toBe(200)
    expect(status('deleteQueue', release)).toBe(dialect === 'both' ? 409 : 400)
    later(1)
    expect(status('deleteQueue', release)).toBe(dialect === 'both' ? 409 : 400)
    later(10)
    expect(status('deleteQueue', release)).toBe(200)
    expect(status('getQueue', release)).toBe(404)
  })

  it('accepts ranges of at most 7 days', () => {
    const { status } = open()
    const list = (start: number, end: number, more: JsonObject = {}) =>
      status('flaky-tests/list-failing-tests', { ...failing(start, end), ...more })
    expect(list(noon - 7 * day, noon)).toBe(200)
    expect(list(noon - 7 * day - 1, noon)).toBe(400)
    expect(list(noon, noon - day)).toBe(400)
    for (const more of [
      { start_time: '2026-01-05' },
      { start_time: '2026-01-05T00:00:00' },
      { page_query: { page_size: 0 } },
      { page_query: { page_size: 101 } },
      { page_query: {} },
      { page_query: { page_size: 9, page_token: 'invented' } },
    ])
      expect([more, list(noon - day, noon, more)]).toEqual([more, 400])
  })

  it('filters metrics by repository and host together', () => {
    const { metrics } = open({ queues: [{ repo: { ...repo, name: 'api' }, targetBranch: 'main' }] })
    const repos = (query: Readonly<Record<string, string>>) => [
      ...new Set(parseSamples(metrics(query).body).map(({ labels }) => labels.repo)),
    ]
    expect(metrics({ repo: 'acme/web' }).status).toBe(400)
    expect(metrics({ repoHost: 'github.com' }).status).toBe(400)
    expect(repos({})).toEqual(['acme/web', 'acme/api'])
    expect(repos({ repo: 'acme/api', repoHost: 'github.com' })).toEqual(['acme/api'])
    expect(repos({ repo: 'acme/api', repoHost: 'gitlab.com' })).toEqual([])
  })

  it('answers changes and errors in its own way', () => {
    const { send, raw } = open()
    const isDocument = dialect === 'both'
    expect(send('submitPullRequest', onPr(1))).toMatchObject({ status: 200, body: isDocument ? '{}' : 'OK' })
    const message = 'The token is missing: send x-api-token.'
    expect(raw({ headers: {} })).toMatchObject({
      headers: { 'content-type': isDocument ? 'application/json' : 'application/plain-text' },
      body: isDocument ? JSON.stringify({ error: { message } }) : message,
    })
  })

  it('fails every second request of an outage, but not the retry of a change that was lost', () => {
    const fail = (operations: readonly string[]) => {
      const { send } = open({ scenario: 'outage' })
      return operations.map(operation => send(operation, onPr(1)).status)
    }
    const statuses = fail(Array.from({ length: 24 }, () => 'getQueue'))
    expect(statuses.slice(0, 4)).toEqual([200, 503, 200, 503])
    expect(statuses.slice(20)).toEqual([200, 200, 200, 200])
    expect(fail(['getQueue', 'submitPullRequest', 'getQueue', 'submitPullRequest'])).toEqual([
      200, 503, 200, 200,
    ])
  })
})

it('an update stores settings, including unknown settings', () => {
  const { read } = createTestService()
  const changed = read('updateQueue', {
    ...onQueue,
    concurrency: 5,
    newSetting: { a: 1 },
    requiredStatuses: ['ci'],
    state: 'DRAINING',
  })
  expect(changed).toMatchObject({
    concurrency: 5,
    bisectionConcurrency: 5,
    newSetting: { a: 1 },
    requiredStatuses: ['ci'],
    state: 'DRAINING',
  })
  expect(changed).not.toHaveProperty('enqueuedPullRequests')
  expect(read('updateQueue', { ...onQueue, requiredStatuses: [] })).toMatchObject({
    requiredStatuses: ['ci'],
  })
  expect(read('updateQueue', { ...onQueue, deleteRequiredStatuses: true })).toMatchObject({
    requiredStatuses: [],
    concurrency: 5,
  })
  expect(
    Object.keys(read('getQueue', onQueue)).filter(key => key in onQueue || key === 'deleteRequiredStatuses'),
  ).toEqual([])
})

it('shows only the documented fields of a pull request in the document dialect', () => {
  const { send, read, later } = createTestService({ dialect: 'document' })
  send('submitPullRequest', onPr(123, { priority: 'high' }))
  later(1)
  const entry = {
    state: 'TESTING',
    stateChangedAt: '2026-01-05T12:00:00.550Z',
    priorityValue: 10,
    priorityName: 'high',
    noBatch: false,
    prNumber: 123,
    prTitle: expect.any(String),
  }
  expect(read('getQueue', onQueue).enqueuedPullRequests).toEqual([entry])
  const record = { ...entry, isCurrentlySubmittedToQueue: true }
  expect(read('getSubmittedPullRequest', onPr(123))).toEqual(record)
})

describe('the document dialect', () => {
  const { raw } = createTestService({ dialect: 'document' })
  const hosted = createTestService({ dialect: 'both' })

  const [, hostedOnly = ''] = readFileSync('docs/reference/service.md', 'utf8').split(
    /^## Hosted service only$/m,
  )

  it.each(sandboxOperations.map(({ route }) => route))(
    'answers 404 to %s unless the document has it',
    route => {
      const [method = '', path = ''] = route.split(' ')
      const call = { method, path: `/v1${path}`, body: '{}' }
      const isDocumented = !hostedOnly.includes(`### ${path.replace(/^.*\//, '')}\n`)
      expect(raw(call).body.includes('"Not Found"')).toBe(!isDocumented)
      expect(hosted.raw(call).body.includes('"Not Found"')).toBe(false)
    },
  )
})

describe('what on-call people rehearse', () => {
  it('rate-limit answers 20 requests in 10 s, and is wrong by up to a second', () => {
    const { raw, later } = createTestService({ scenario: 'rate-limit' })
    const waits: number[] = []
    const statuses = Array.from({ length: 24 }, () => {
      later(0.1)
      const { status, headers } = raw({ body: JSON.stringify(onQueue) })
      if (status === 429) waits.push(Number(headers['retry-after']))
      return status
    })
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(4).fill(429)])
    // 8.0, 7.9, 7.8 and 7.7 s are left: rounded down and up in turn.
    expect(waits).toEqual([8, 8, 7, 8])
    later(8)
    expect(raw({ body: JSON.stringify(onQueue) }).status).toBe(200)
  })

  it('not-ready: every third one is cancelled by the limit of the queue', () => {
    const { send, read, later } = createTestService({ scenario: 'not-ready', dialect: 'hosted' })
    send('submitPullRequest', onPr(3))
    later(59)
    expect(read('getSubmittedPullRequest', onPr(3))).toMatchObject({
      state: 'not_ready',
      readiness: { gitHubMergeability: 'not_mergeable' },
    })
    later(2)
    const record = read('getSubmittedPullRequest', onPr(3, { includeTimeline: true }))
    expect(record).toMatchObject({ state: 'cancelled', isCurrentlySubmittedToQueue: false })
    expect(JSON.stringify(record.timeline)).toContain('not_ready_timeout_expired')
  })

  it('silent-check: e2e is required and never reports, and the run ends by the time limit', () => {
    const { send, read, later } = createTestService({ scenario: 'silent-check' })
    send('submitPullRequest', onPr(7))
    later(29)
    const run = read('getMergeQueueTestingDetails', onPr(7))
    expect(run).toMatchObject({
      requiredStatuses: ['build', 'test', 'e2e'],
      status: 'in_progress',
      checkSuites: [{ checkRuns: [{ name: 'build' }, { name: 'test' }] }],
    })
    later(3)
    const record = read('getSubmittedPullRequest', onPr(7, { includeTimeline: true }))
    expect(record).toMatchObject({ state: 'FAILED' })
    expect(JSON.stringify(record.timeline)).toContain('test_run_timeout')
  })

  it('rotated-token: after 30 s another token takes the place of the first', () => {
    const { raw, later } = createTestService({ scenario: 'rotated-token', speed: 2 })
    const statusWith = (token: string) =>
      raw({ headers: { 'x-api-token': token }, body: JSON.stringify(onQueue) }).status
    expect([statusWith('sandbox'), statusWith('sandbox-rotated'), statusWith('other')]).toEqual([
      200, 200, 401,
    ])
    later(15)
    expect([statusWith('sandbox'), statusWith('sandbox-rotated')]).toEqual([401, 200])
    expect(createTestService().raw({ headers: { 'x-api-token': 'sandbox-rotated' } }).status).toBe(401)
  })

  it('an unknown number is 404 everywhere, and a closed one is cancelled', () => {
    const { status, send, read, later } = createTestService({ unknown: [8], closed: [9] })
    for (const operation of ['submitPullRequest', 'getSubmittedPullRequest', 'cancelPullRequest'])
      expect(status(operation, onPr(8))).toBe(404)
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(status('submitPullRequest', onPr(9))).toBe(200)
      later(1)
      const record = read('getSubmittedPullRequest', onPr(9, { includeTimeline: true }))
      expect(record).toMatchObject({ state: 'CANCELLED' })
      expect(JSON.stringify(record.timeline)).toContain('pr_closed')
    }
    send('submitPullRequest', onPr(10))
    later(10)
    expect(read('getSubmittedPullRequest', onPr(10))).toMatchObject({ state: 'MERGED' })
  })

  it('what is held at the start moves after the first submission, or while somebody waits', () => {
    const held = [4, 5, 6]
    const states = ({ read }: ReturnType<typeof createTestService>) =>
      getArray(read('getQueue', onQueue), 'enqueuedPullRequests').map(entry => getString(entry, 'state'))
    const submits = createTestService({ held })
    for (let time = 0; time < 3; time++) {
      submits.later(60)
      expect(states(submits)).toEqual(['TESTING', 'PENDING', 'PENDING'])
    }
    submits.send('submitPullRequest', onPr(7))
    expect(states(submits)).toEqual(['TESTING', 'PENDING', 'PENDING'])
    submits.later(60)
    expect(submits.read('getSubmittedPullRequest', onPr(7))).toMatchObject({ state: 'MERGED' })
    const waits = createTestService({ held })
    for (const pause of [60, 60, 2, 60]) {
      waits.later(pause)
      states(waits)
    }
    expect(states(waits)).toEqual([])
  })
})

describe('failing tests', () => {
  const fetchAllPages = (size: number, start: number, end: number) => {
    const { read } = createTestService()
    const ids: string[] = []
    const tokens: string[] = []
    const pages: JsonObject[] = []
    let token = ''
    do {
      const { tests = [], page } = read(
        'flaky-tests/list-failing-tests',
        failing(start, end, { page_size: size, page_token: token }),
      )
      if (!isObject(page)) throw new Error('no page')
      expect(page.page_index).toBe(pages.length)
      expect(page.prev_page_token === '').toBe(pages.length === 0)
      if (pages.length > 1) expect(page.prev_page_token).toBe(tokens.at(-2))
      pages.push(page)
      ids.push(...getArray({ tests }, 'tests').map(test => getString(test, 'id') ?? ''))
      token = getString(page, 'next_page_token') ?? ''
      tokens.push(token)
    } while (token !== '')
    return { ids, pages }
  }

  it.each([1, 7])('come in pages that cover %i days without a duplicate', days => {
    const { ids, pages } = fetchAllPages(10, noon - days * day, noon)
    const [first] = pages
    expect(pages.length).toBeGreaterThan(3)
    expect(new Set(ids).size).toBe(ids.length)
    expect(first).toMatchObject({
      total_rows: ids.length,
      total_pages: pages.length,
      page_index: 0,
      prev_page_token: '',
    })
    expect(pages.at(-2)?.next_page_token).toBe(first?.last_page_token)
    expect(fetchAllPages(100, noon - days * day, noon).ids).toEqual(ids)
  })

  it('end before the sandbox began and after 30 days', () => {
    const { ids, pages } = fetchAllPages(100, noon, noon + day)
    expect([ids, pages]).toEqual([
      [],
      [expect.objectContaining({ total_rows: 0, total_pages: 0, next_page_token: '', last_page_token: '' })],
    ])
    expect(fetchAllPages(100, noon - 40 * day, noon - 34 * day).ids).toEqual([])
    expect(fetchAllPages(100, noon - 30 * day, noon - 29 * day).ids.length).toBeGreaterThan(0)
  })

  it('are the same for the same seed', () => {
    const list = (seed: number) =>
      createTestService({ seed }).send('flaky-tests/list-failing-tests', failing(noon - day, noon)).body
    expect(list(1)).toBe(list(1))
    expect(list(1)).not.toBe(list(2))
  })
})

describe('metrics', () => {
  it('are of the text format and count what happened', () => {
    const { send, metrics, later } = createTestService({ scenario: 'failure' })
    for (const number of [1, 2, 3]) send('submitPullRequest', onPr(number))
    later(1)
    const reading = (name: string, more: Readonly<Record<string, string>> = {}) =>
      parseSamples(metrics().body).find(
        sample =>
          sample.name === name &&
          Object.entries({ queue_type: 'main', ...more }).every(
            ([key, value]) => sample.labels[key] === value,
          ),
      )?.value
    expect(metrics().headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(reading('mq_depth_current')).toBe(3)
    expect(reading('mq_testing_slots_active')).toBe(1)
    later(20)
    expect(reading('mq_depth_current')).toBe(0)
    expect(reading('mq_pr_conclusions_1h_total', { conclusion: 'merged' })).toBe(2)
    expect(reading('mq_pr_conclusions_1h_total', { conclusion: 'failed' })).toBe(1)
    expect(reading('mq_pr_test_duration_1h_seconds_count')).toBe(3)
    expect(reading('mq_pr_test_duration_1h_seconds_bucket', { le: '60' })).toBe(3)
    expect(reading('mq_pr_test_duration_1h_seconds_bucket', { le: '+Inf' })).toBe(3)
    expect(reading('mq_pr_test_duration_1h_seconds_sum')).toBeCloseTo(6, 0)
    expect(reading('mq_pr_time_in_queue_1h_seconds_count', { conclusion: 'merged' })).toBe(2)
    later(3_601)
    expect(reading('mq_pr_conclusions_1h_total', { conclusion: 'merged' })).toBe(0)
    expect(reading('mq_pr_test_duration_1h_seconds_sum')).toBe(0)
  })

  it('have a type and a help for every family, and labels that are escaped', () => {
    const { metrics } = createTestService({ queues: [{ repo, targetBranch: 'a"b\\c\nd' }] })
    const text = metrics().body
    const samples = parseSamples(text)
    expect(samples.every(({ type }) => type === 'gauge' || type === 'histogram')).toBe(true)
    expect(samples.some(({ labels }) => labels.branch === 'a"b\\c\nd')).toBe(true)
    expect(text.match(/^# HELP/gm)).toHaveLength(9)
    expect(text.match(/^# TYPE/gm)).toHaveLength(9)
    expect(text.endsWith('\n')).toBe(true)
  })
})
