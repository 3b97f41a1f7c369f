import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, noon, openStory, type Seen } from '../support/harness.ts'
import { clientAt as clientOf, clientOfStory } from '../support/library-client.ts'
import { documentsIn } from '../support/pr-wait.ts'

const record = (state: string): Answer => ({ body: JSON.stringify({ state, prNumber: 7 }) })

describe('waitForPullRequests', () => {
  test('resolves to the results of `pr wait --json`, each once, in the order given', async () => {
    const printed = await openStory({ scenario: 'failure' })
    const called = await openStory({ scenario: 'failure' })
    const notices: string[] = []
    const client = clientOfStory(called, { onNotice: text => notices.push(text) })
    for (const pr of [9, 7]) {
      await printed.mergeq(`pr submit ${pr}`)
      await client.submitPullRequest({ pr })
    }
    const { out, err } = await printed.mergeq('pr wait 9 7 --json --interval 1s')
    const prs = ['#9', 7, 9, 'https://github.com/ACME/web/pull/7']
    const results = await client.waitForPullRequests({ prs, interval: 1_000 })
    expect(results).toEqual(documentsIn(out))
    expect(results).toMatchObject([
      { pr: 9, outcome: 'failed', exit: 3, failingChecks: [{ name: expect.any(String) }] },
      { pr: 7, outcome: 'merged', exit: 0 },
    ])
    const changes = err.split('\n').filter(line => line.includes(' -> '))
    expect(notices).toEqual(expect.arrayContaining(changes))
  })

  test.each([
    [{ timeout: 5_000 }, 'timed-out', 124, 5],
    [{ timeout: '5s', until: 'merged' }, 'timed-out', 124, 5],
    [{ timeout: 0 }, 'pending', 8, 0],
    [{ until: 'testing' }, 'reached', 0, 0],
  ] as const)('with %j it ends with %s', async (options, outcome, exit, elapsedSeconds) => {
    const { client } = await clientOf(() => record('TESTING'))
    expect(await client.waitForPullRequests({ prs: [7], interval: '1s', ...options })).toMatchObject([
      { pr: 7, outcome, exit, elapsedSeconds },
    ])
  })

  test('of no pull requests sends nothing, and one of another repository has its name in the result', async () => {
    const { client, requests } = await clientOf(() => record('MERGED'), { repo: undefined })
    expect(await client.waitForPullRequests({ prs: [] })).toEqual([])
    expect(requests).toEqual([])
    expect(await client.waitForPullRequests({ prs: ['https://github.com/acme/api/pull/7'] })).toMatchObject([
      { repo: 'github.com/acme/api', url: 'https://github.com/acme/api/pull/7' },
    ])
  })

  test('the end of an attempt before the submission by the same client is not a result', async () => {
    const clock = { now: noon }
    const at = (state: string, time: number) => ({
      headers: { date: new Date(clock.now).toUTCString() },
      body: JSON.stringify({ state, prNumber: 7, stateChangedAt: new Date(time).toISOString() }),
    })
    const { client } = await clientOf(
      ({ path }, index) =>
        path.includes('submit') ? {} : index < 3 ? at('FAILED', noon - 60_000) : at('MERGED', clock.now),
      {},
      clock,
    )
    await client.submitPullRequest({ pr: 7 })
    expect(await client.waitForPullRequests({ prs: [7] })).toMatchObject([{ outcome: 'merged' }])
  })

  test('a rejected token is a result that says why, and so does a notice; a wrong setting rejects', async () => {
    const notices: string[] = []
    const { client } = await clientOf(() => ({ status: 401 }), { onNotice: text => notices.push(text) })
    const [result] = await client.waitForPullRequests({ prs: [7] })
    expect(result).toMatchObject({ outcome: 'error', exit: 4, reason: expect.stringContaining('401') })
    expect(notices).toEqual([expect.stringContaining(String(result?.reason))])
    const wrong = { prs: [7], caFile: '/nonexistent.pem', baseUrl: 'https://127.0.0.1:9/v1' }
    await expect(client.waitForPullRequests(wrong)).rejects.toMatchObject({
      name: 'MergeqError',
      kind: 'usage',
      document: null,
    })
  })

  test('takes the other options of `pr wait`, and hands on each change', async () => {
    const changes: unknown[] = []
    const { client } = await clientOf((_, index) => ({
      body: JSON.stringify({
        state: index === 0 ? 'TESTING' : 'MERGED',
        prSha: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9',
      }),
    }))
    const onChange = (change: unknown) => {
      changes.push(change)
      throw new Error('a fault of the caller')
    }
    const wait = { prs: [7], interval: '1s', matchHead: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9', onChange }
    expect(await client.waitForPullRequests(wait)).toMatchObject([{ outcome: 'merged' }])
    const change = { type: 'change', pr: 7, position: null, at: expect.stringMatching(/^\d{4}-.*Z$/) }
    expect(changes).toEqual([
      { ...change, from: null, to: 'TESTING' },
      { ...change, from: 'TESTING', to: 'MERGED' },
    ])
    expect(await client.waitForPullRequests({ ...wait, matchHead: 'b'.repeat(40) })).toMatchObject([
      { outcome: 'stale', exit: 14 },
    ])
    const paused = await clientOf(({ path }) =>
      path.endsWith('/getQueue')
        ? { body: '{"state":"PAUSED","enqueuedPullRequests":[]}' }
        : record('PENDING'),
    )
    expect(await paused.client.waitForPullRequests({ prs: [7], failOnPaused: true })).toMatchObject([
      { outcome: 'pending', exit: 8 },
    ])
    const missing = await clientOf(() => ({ status: 404 }))
    expect(await missing.client.waitForPullRequests({ prs: [7], grace: 5_000 })).toMatchObject([
      { outcome: 'error', exit: 5, elapsedSeconds: 5 },
    ])
    await expect(
      missing.client.waitForPullRequests({
        prs: [7, 8],
        matchHead: '4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9',
      }),
    ).rejects.toMatchObject({
      message: 'matchHead works with only one pull request.',
    })
  })

  test('an abort rejects with the reason of the signal as its cause, and leaves no listener', async () => {
    const stop = new AbortController()
    const { client, requests } = await clientOf((_, index) => {
      if (index === 1) stop.abort('shift is over')
      return record('TESTING')
    })
    const error = await client.waitForPullRequests({ prs: [7], signal: stop.signal }).catch(error => error)
    expect(error).toMatchObject({ kind: 'interrupted', exit: 130, cause: 'shift is over' })
    expect(error.hint).toBe(
      'To continue waiting, run:\nwaitForPullRequests({ prs: [7] })\nTo cancel, run:\ncancelPullRequest({ pr: 7 })',
    )
    const sent = requests.length
    await expect(client.waitForPullRequests({ prs: [7], signal: stop.signal })).rejects.toMatchObject({
      kind: 'interrupted',
    })
    expect(requests.length).toBe(sent)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})

describe('iterators', () => {
  const page = (_: Seen, index: number): Answer => ({
    body: JSON.stringify({
      tests: [{ id: `${index}a` }, { id: `${index}b` }],
      page: { next_page_token: index < 2 ? String(index) : '' },
    }),
  })

  test('request a page when the records before it were taken, and nothing after an early return', async () => {
    const { client, requests } = await clientOf(page)
    const seen: string[] = []
    for await (const { id } of client.iterateFailingTests({ limit: 5 })) seen.push(`${id} ${requests.length}`)
    expect(seen).toEqual(['0a 1', '0b 1', '1a 2', '1b 2', '2a 3'])
    for await (const _ of client.iterateFailingTests()) break
    expect(requests.length).toBe(4)
  })

  test('throw what the caller throws into them', async () => {
    const { client } = await clientOf(page)
    const tests = client.iterateFailingTests()
    await tests.next()
    const mistake = new Error('not this one')
    await expect(tests.throw(mistake)).rejects.toBe(mistake)
    expect(await tests.next()).toEqual({ done: true, value: undefined })
  })

  test('read pull requests, and sorted lists at their end', async () => {
    const { client } = await clientOf(({ path }) => ({
      body: path.includes('list-failing')
        ? '{"tests":[{"id":"1","name":"b"},{"id":"2","name":"a"}],"page":{}}'
        : '{"pullRequests":[{"prNumber":7,"state":"merged"}]}',
    }))
    const states: unknown[] = []
    for await (const { state } of client.iteratePullRequests({ states: ['MERGED'] })) states.push(state)
    expect(states).toEqual(['MERGED'])
    const names: unknown[] = []
    for await (const { name } of client.iterateFailingTests({ sort: 'name' })) names.push(name)
    expect(names).toEqual(['a', 'b'])
  })

  test('throw where the list breaks off, and for a wrong option before anything is sent', async () => {
    const { client, requests } = await clientOf(
      (seen, index) => (index === 1 ? { status: 500 } : page(seen, index)),
      { retries: 0 },
    )
    const wrong = client.iterateFailingTests({ limit: 0 })
    await expect(wrong.next()).rejects.toMatchObject({
      name: 'MergeqError',
      kind: 'usage',
      message: expect.stringMatching(/^iterateFailingTests: limit/),
    })
    expect(requests).toEqual([])
    const tests = client.iterateFailingTests()
    expect([await tests.next(), await tests.next()]).toMatchObject([
      { value: { id: '0a' } },
      { value: { id: '0b' } },
    ])
    await expect(tests.next()).rejects.toMatchObject({ kind: 'incomplete', exit: 17 })
    expect(await tests.next()).toEqual({ done: true, value: undefined })
  })
})

const minute = 60_000
const place = { repo: 'github.com/acme/web', targetBranch: 'main' }

/** A queue with these pull requests, under test. */
const queueOf = (...prs: readonly number[]): Answer => ({
  body: JSON.stringify({
    state: 'RUNNING',
    enqueuedPullRequests: prs.map(prNumber => ({ prNumber, state: 'TESTING' })),
  }),
})

/** A service whose queue has one more pull request at each reading. */
const growing = (_: Seen, index: number): Answer =>
  queueOf(...Array.from({ length: index + 1 }, (_, position) => position + 1))

describe('watchQueue', () => {
  test('yields the changes that `queue watch -o ndjson` prints', async () => {
    const [printed, called] = [
      await openStory({ scenario: 'failure' }),
      await openStory({ scenario: 'failure' }),
    ]
    for (const story of [printed, called]) {
      for (const pr of [8, 9]) await story.mergeq(`pr submit ${pr}`)
    }
    const { out } = await printed.mergeq('queue watch -o ndjson --interval 1s --for 30s')
    const [, ...lines] = documentsIn(out)
    const changes: unknown[] = []
    for await (const change of clientOfStory(called).watchQueue({ interval: 1_000 })) {
      changes.push(change)
      if (changes.length === lines.length) break
    }
    const timeless = (records: readonly unknown[]) => records.map(record => ({ ...Object(record), at: null }))
    expect(timeless(changes)).toEqual(timeless(lines))
    expect(changes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...place, type: 'change', pr: 9, to: 'FAILED', by: 'author' }),
      ]),
    )
  })

  test('since: begins with what left before the first reading', async () => {
    const { client, requests } = await clientOf(({ path }) =>
      path.endsWith('/listPullRequests')
        ? {
            body: '{"pullRequests":[{"prNumber":7,"state":"MERGED","stateChangedAt":"2026-01-05T10:00:00Z"}]}',
          }
        : queueOf(8),
    )
    for await (const change of client.watchQueue({ since: new Date('2026-01-05') })) {
      expect(change).toMatchObject({ ...place, pr: 7, from: null, to: 'MERGED', at: '2026-01-05T10:00:00Z' })
      break
    }
    expect(requests.map(({ path }) => path.slice(4))).toEqual(['getQueue', 'listPullRequests'])
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({ since: '2026-01-05T00:00:00.000Z' })
  })

  test('survives an outage of 20 minutes, and gives up after one of 30', async () => {
    const notices: string[] = []
    const onNotice = (text: string) => notices.push(text)
    const clock = { now: 0 }
    let outage = 20 * minute
    const serve = (_: Seen, index: number): Answer | 'reset' => {
      if (index === 0) return queueOf()
      return clock.now < outage ? 'reset' : queueOf(7)
    }
    const { client } = await clientOf(serve, { onNotice }, clock)
    const changes = client.watchQueue()
    expect(await changes.next()).toMatchObject({ done: false, value: { pr: 7, from: null, to: 'TESTING' } })
    expect(notices).toEqual([
      expect.stringMatching(/ Still waiting\.$/),
      expect.stringMatching(/^The service responds again after 2\dm/),
    ])
    outage = Number.POSITIVE_INFINITY
    await expect(changes.next()).rejects.toMatchObject({
      name: 'MergeqError',
      kind: 'unavailable',
      document: null,
    })
    expect(await changes.next()).toEqual({ done: true, value: undefined })
  })

  test('a queue that is gone, and a rejected token, end it with their error', async () => {
    const answers: readonly (readonly [number, string])[] = [
      [404, 'not-found'],
      [401, 'auth'],
    ]
    for (const [status, kind] of answers) {
      const { client } = await clientOf((_, index) => (index === 0 ? queueOf(7) : { status }))
      await expect(client.watchQueue().next()).rejects.toMatchObject({ kind, status, ...place })
    }
  })

  test('sends nothing while no change is asked for, nor before the first one', async () => {
    const { client, requests } = await clientOf(growing)
    const changes = client.watchQueue({ interval: '1s' })
    const settle = () => new Promise(resolve => setTimeout(resolve, 20))
    await settle()
    expect(requests).toEqual([])
    expect(await changes.next()).toMatchObject({ value: { pr: 2 } })
    await settle()
    expect(requests).toHaveLength(2)
    expect(await changes.next()).toMatchObject({ value: { pr: 3 } })
    expect(await changes.return()).toEqual({ done: true, value: undefined })
    await settle()
    expect(requests).toHaveLength(3)
    expect(await changes.next()).toEqual({ done: true, value: undefined })
  })

  test('return ends it at once, also while a change is asked for', async () => {
    const arrived = new AbortController()
    const { client } = await clientOf(async (_, index) => {
      if (index === 0) return queueOf(7)
      arrived.abort()
      return 'silence'
    })
    const changes = client.watchQueue({ interval: '1s' })
    const next = changes.next()
    await new Promise(resolve => arrived.signal.addEventListener('abort', resolve))
    expect(await changes.return()).toEqual({ done: true, value: undefined })
    expect(await next).toEqual({ done: true, value: undefined })
    const mistake = new Error('not this one')
    const other = client.watchQueue()
    await expect(other.throw(mistake)).rejects.toBe(mistake)
    expect(await other.next()).toEqual({ done: true, value: undefined })
  })

  test('a signal ends it with its reason as the cause, and leaves no listener', async () => {
    const stop = new AbortController()
    const { client, requests } = await clientOf((seen, index) => {
      if (index === 2) stop.abort('shift is over')
      return index < 2 ? growing(seen, index) : queueOf(1, 2)
    })
    const changes = client.watchQueue({ interval: '1s', signal: stop.signal })
    expect(await changes.next()).toMatchObject({ value: { pr: 2 } })
    await expect(changes.next()).rejects.toMatchObject({
      kind: 'interrupted',
      exit: 130,
      cause: 'shift is over',
    })
    const sent = requests.length
    await expect(client.watchQueue({ signal: stop.signal }).next()).rejects.toMatchObject({
      kind: 'interrupted',
    })
    expect(requests).toHaveLength(sent)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  test('a signal that comes while nobody asks ends the next step, and rejects nowhere else', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const stop = new AbortController()
    const { client } = await clientOf(growing)
    const changes = client.watchQueue({ interval: '1s', signal: stop.signal })
    await changes.next()
    stop.abort()
    await new Promise(resolve => setTimeout(resolve, 20))
    await expect(changes.next()).rejects.toMatchObject({ kind: 'interrupted' })
    const abandoned = client.watchQueue({ interval: '1s' })
    await abandoned.next()
    await abandoned.return()
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(unhandled).toEqual([])
  })
})
