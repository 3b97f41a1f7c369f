import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, openStory, type Seen } from '../support/harness.ts'
import { clientAt as clientOf, clientOfStory } from '../support/library-client.ts'
import { documentsIn } from '../support/pr-wait.ts'

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
