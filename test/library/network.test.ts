import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoize } from '../../src/base/scheduling.ts'
import type { Host } from '../../src/host/host.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { clientOf, createHostClient, fastHost, nodeHost, token } from '../support/library-client.ts'
import { testWith } from '../support/programs.ts'
import { closedPort, type Script, startTestServer, stubHostNames } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestProxy } from '../support/test-proxy.ts'

const kept = closeAfterTests()
afterEach(() => {
  vi.restoreAllMocks()
})

const name = 'queue.acme.test'
const settings = { token, repo: 'acme/web', targetBranch: 'main', retries: 0 }

describe('proxy', () => {
  const queue = { body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }

  /** The file of an authority, and the certificate of the service. */
  const certificate = memoize(() => {
    const authority = createCertificateAuthority(kept(openTestFolder()), 'ca')
    return { file: authority.file, tls: authority.issue(`DNS:${name}`) }
  })

  /** A service behind TLS, a proxy that leads to it, and a client with the environment of a company. */
  async function proxied(options: object, login?: string) {
    const { file, tls } = certificate()
    const service = kept(await startTestServer({ tls, answer: () => queue }))
    const routes = new Map([[`${name}:${service.port}`, service.port]])
    const proxy = kept(await startTestProxy({ routes, ...(login === undefined ? {} : { login }) }))
    stubHostNames({ [name]: ['127.0.0.1'] })
    const baseUrl = service.baseUrl(name)
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const create = (more: object, variables: Readonly<Record<string, string>> = env) =>
      createHostClient(
        { ...settings, baseUrl, caFile: file, ...options, ...more },
        { ...nodeHost, env: { ...nodeHost.env, ...variables } },
      )
    return { proxy, create, address: env.HTTPS_PROXY }
  }

  testWith('openssl')('is that of the environment, none, or the one that is given', async () => {
    const { proxy, create, address } = await proxied({})
    const asks = async (options: object, variables?: Readonly<Record<string, string>>) => {
      const before = proxy.connectRequests.length
      await create(options, variables).getQueue()
      return proxy.connectRequests.length - before
    }
    expect(await asks({})).toBe(1)
    expect(await asks({ proxy: 'environment' })).toBe(1)
    expect(await asks({}, {})).toBe(0)
    expect(await asks({ discover: false })).toBe(0)
    expect(await asks({ discover: false, proxy: 'environment' })).toBe(1)
    expect(await asks({ discover: false, proxy: 'environment' }, { https_proxy: address })).toBe(1)
    const bypassed = { HTTPS_PROXY: address, NO_PROXY: name }
    expect(await asks({ discover: false, proxy: 'environment' }, bypassed)).toBe(0)
    expect(await asks({ discover: false, proxy: address }, {})).toBe(1)
    // The one that is given comes before all that the environment says.
    expect(await asks({ proxy: new URL(address) }, { HTTPS_PROXY: 'http://127.0.0.1:1' })).toBe(1)
    expect(await asks({ proxy: address }, bypassed)).toBe(1)
  })

  testWith('openssl')('may have a login, and its errors name the option', async () => {
    const { create, proxy } = await proxied({ discover: false }, 'someone:s3cret')
    await create({ proxy: `http://someone:s3cret@${proxy.host}` }).getQueue()
    const refused: unknown = await create({ proxy: `http://someone:wr0ng@${proxy.host}` })
      .getQueue()
      .catch(failure => failure)
    expect(refused).toMatchObject({
      kind: 'unavailable',
      message: `The proxy ${proxy.host} (the option proxy) requires a login (407); the service was not reached.`,
      hint: expect.stringMatching(/^Set the option proxy to a URL with the user name and password/),
    })
    expect(JSON.stringify(refused)).not.toMatch(/someone|wr0ng/)
    const closed = create({ proxy: `http://127.0.0.1:${closedPort}` })
    await expect(closed.getQueue()).rejects.toMatchObject({
      message: `The proxy 127.0.0.1:${closedPort} (the option proxy) refused the connection.`,
      hint: expect.stringMatching(/^Check the option proxy\. Nothing was sent/),
    })
  })

  test.each([
    '',
    'socks5://someone:s3cret@127.0.0.1:1080',
    'http://someone:s3#cret@proxy.acme.test:3128',
    'Environment',
    7,
    null,
    true,
    {},
  ])('%j is a usage error that never shows the value', proxy => {
    expect(() => Reflect.apply(createHostClient, undefined, [{ proxy }, nodeHost])).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message: expect.stringMatching(/^(?!.*(?:s3|cret|someone))createClient: proxy: /),
      }),
    )
  })

  test('is no option of a call', async () => {
    const client = createHostClient(settings, nodeHost)
    const call = Reflect.apply(client.getQueue, client, [{ proxy: 'environment' }])
    await expect(call).rejects.toMatchObject({ message: 'getQueue: unknown option proxy.' })
  })
})

describe('maxConcurrent', () => {
  /**
   * A service that answers once as many requests are there as may be, or all that are left, and a moment later. It counts
   * how many are there at a time.
   */
  const counting = (atOnce: number, all: number, status = 200) => {
    const seen = { now: 0, most: 0, ended: 0 }
    const answer: Script = async () => {
      seen.now++
      seen.most = Math.max(seen.most, seen.now)
      while (seen.now < atOnce && seen.ended + seen.now < all) await pause(5)
      await pause(20)
      seen.now--
      seen.ended++
      return { status, body: '{"enqueuedPullRequests":[]}' }
    }
    return { seen, answer }
  }

  test.each([
    [undefined, 8],
    [1, 1],
    [3, 3],
  ])('%s: at most %i requests of all calls at once', async (maxConcurrent, most) => {
    const { seen, answer } = counting(most, 20)
    const { client, requests } = await clientOf(answer, { maxConcurrent })
    await Promise.all(Array.from({ length: 20 }, () => client.getQueue()))
    expect([requests.length, seen.most]).toEqual([20, most])
  })

  test('a request that failed, and one that is aborted before its turn, give their place to others', async () => {
    const { seen, answer } = counting(1, 2, 500)
    const { client, requests } = await clientOf(answer, { maxConcurrent: 1, retries: 0 })
    const stop = new AbortController()
    const calls = [{}, { signal: stop.signal }, {}].map(options => client.getQueue(options))
    stop.abort('enough')
    const ends = await Promise.allSettled(calls)
    expect(ends.map(end => end.status === 'rejected' && end.reason.kind)).toEqual([
      'unavailable',
      'interrupted',
      'unavailable',
    ])
    expect([requests.length, seen.most]).toEqual([2, 1])
  })

  test.each([0, 101, 1.5, '8', null])('%j is a usage error', maxConcurrent => {
    expect(() => Reflect.apply(createHostClient, undefined, [{ maxConcurrent }, nodeHost])).toThrow(
      /^createClient: maxConcurrent: /,
    )
  })
})

describe('after 429', () => {
  const limited =
    (header: string): Script =>
    (_, index) =>
      index === 0
        ? { status: 429, headers: { 'retry-after': header } }
        : { body: '{"enqueuedPullRequests":[]}' }

  /** Returns after how many seconds a second call was answered, and how the first one ended. */
  async function pauseAfter(header: string, speed: number) {
    const host = fastHost(speed)
    const { client, requests } = await clientOf(limited(header), { retries: 0 }, host)
    const first: unknown = await client.getQueue().catch(failure => failure)
    const startedAt = host.clock.monotonic()
    await client.listQueues().catch(() => undefined)
    const seconds = (host.clock.monotonic() - startedAt) / 1_000
    return { first, seconds, sent: requests.length }
  }

  test('no request of the client is sent for its Retry-After', async () => {
    const { first, seconds, sent } = await pauseAfter('20', 100)
    expect([first, sent]).toMatchObject([{ status: 429, retryAfter: 20 }, 2])
    expect(seconds).toBeGreaterThan(15)
    expect(seconds).toBeLessThan(59)
  })

  test('but for a minute at most, and not at all without the header', async () => {
    const { seconds } = await pauseAfter('3600', 400)
    expect(seconds).toBeGreaterThan(30)
    expect(seconds).toBeLessThan(600)
    expect((await pauseAfter('soon', 1)).seconds).toBeLessThan(5)
  })

  test('a request whose time is over before says so, and an abort ends the pause', async () => {
    const { client } = await clientOf(limited('30'), { retries: 0 })
    await client.getQueue().catch(() => undefined)
    const [{ outcome, elapsedSeconds } = {}] = await client.waitForPullRequests({
      prs: [7],
      timeout: '1s',
      retries: 3,
    })
    expect([outcome, elapsedSeconds]).toEqual(['timed-out', 1])
    const stop = new AbortController()
    const call = client.getQueue({ signal: stop.signal })
    stop.abort('enough')
    await expect(call).rejects.toMatchObject({ kind: 'interrupted', cause: 'enough' })
  })

  const home = temporaryFolder('mergeq-services-')
  const otherToken = 'tok_of_the_other_one'

  /** How a call of the client reaches the other service: by its address, or with the token of another source. */
  const others: Readonly<Record<string, (baseUrl: string) => object>> = {
    'another base address': baseUrl => ({ baseUrl: baseUrl.replace('/v1', '/other/v1') }),
    'a token of another source': () => ({ profile: 'other' }),
  }

  // That it shares no readings and no submissions: test/every-command/random-writes.test.ts.
  test.each(Object.entries(others))('a call with %s shares no pause after a 429', async (_, optionsAt) => {
    const host = fastHost(20)
    const { client, baseUrl } = await clientOf(
      ({ path, headers }) =>
        path.startsWith('/other') || headers['x-api-token'] === otherToken
          ? { body: '{"enqueuedPullRequests":[]}' }
          : { status: 429, headers: { 'retry-after': '30' } },
      { token: undefined },
      { ...host, env: { HOME: home } },
    )
    const folder = join(home, '.config/mergeq')
    mkdirSync(folder, { recursive: true })
    const { origin } = new URL(baseUrl)
    const profiles = { other: { tokens: { [origin]: otherToken } } }
    const settings = JSON.stringify({ tokens: { [origin]: token }, profiles })
    writeFileSync(join(folder, 'config.json'), settings, { mode: 0o600 })
    await client.getQueue({ retries: 0 }).catch(() => undefined)
    const pausedAt = host.clock.now()
    await client.getQueue({ retries: 0, ...optionsAt(baseUrl) })
    expect(host.clock.now() - pausedAt).toBeLessThan(5_000)
    await client.getQueue({ retries: 0 }).catch(() => undefined)
    expect(host.clock.now() - pausedAt).toBeGreaterThan(25_000)
  })
})

describe('waits of one client', () => {
  const record = (pr: number, state: string) => ({
    id: `id-${pr}`,
    prNumber: pr,
    state,
    stateChangedAt: '2026-01-05T12:00:00.000Z',
    isCurrentlySubmittedToQueue: state !== 'MERGED',
  })

  test('share these readings with a watch of the queue', async () => {
    const [speed, mergedAfter] = [60, 120_000]
    const startedAt = performance.now()
    let reads = 0
    const answer: Script = ({ path, body }) => {
      const isMerged = (performance.now() - startedAt) * speed > mergedAfter
      if (!path.endsWith('/getQueue')) {
        const state = isMerged ? 'MERGED' : 'TESTING'
        return { body: JSON.stringify(record(JSON.parse(body).pr.number, state)) }
      }
      reads++
      const entries = isMerged ? [] : [1, 2, 3].map(pr => record(pr, 'TESTING'))
      return { body: JSON.stringify({ state: 'RUNNING', enqueuedPullRequests: entries }) }
    }
    const { client } = await clientOf(answer, {}, fastHost(speed))
    const states: unknown[] = []
    const watch = async () => {
      for await (const { to } of client.watchQueue({ interval: '10s' })) if (states.push(to) === 3) break
    }
    const wait = async (pr: number) => {
      const [result] = await client.waitForPullRequests({ prs: [pr], timeout: '20m', interval: '10s' })
      return result?.outcome
    }
    const [outcomes] = await Promise.all([Promise.all([1, 2, 3].map(wait)), watch()])
    // In two minutes, one reading every 10 seconds, or sooner than that where it is older than half of them: 13 or 14.
    // Without sharing, the watch reads as often as the waits do: 24.
    expect(reads).toBeLessThan(19)
    expect(outcomes).toEqual(['merged', 'merged', 'merged'])
    expect(states).toEqual(['MERGED', 'MERGED', 'MERGED'])
  })

  test('that take the reading of another one read next when that one does', async () => {
    const clock = { now: 0 }
    const delays: number[] = []
    const host: Host = {
      ...nodeHost,
      clock: {
        now: () => clock.now,
        monotonic: () => clock.now,
        sleep: (ms, signal) => {
          delays.push(ms)
          return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        },
      },
    }
    const entries = [1, 2, 3].map(pr => record(pr, 'TESTING'))
    const answer = () => ({ body: JSON.stringify({ state: 'RUNNING', enqueuedPullRequests: entries }) })
    const { client, requests } = await clientOf(answer, {}, host)
    const stop = new AbortController()
    const wait = (...prs: readonly number[]) =>
      client.waitForPullRequests({ prs, interval: '10s', signal: stop.signal })
    const waits = [wait(1, 2)]
    await expect.poll(() => delays, { timeout: 10_000 }).toContain(10_000)
    clock.now += 4_000
    waits.push(wait(3))
    await expect.poll(() => delays, { timeout: 10_000 }).toContain(6_000)
    expect(requests).toHaveLength(1)
    stop.abort()
    await Promise.allSettled(waits)
  })

  test('do not end with the one that asked', async () => {
    const stop = new AbortController()
    let asked = 0
    const answer: Script = async ({ path }) => {
      if (!path.endsWith('/getQueue')) return { body: JSON.stringify(record(7, 'TESTING')) }
      asked++
      // The wait that asked first ends before its response.
      if (asked === 1) stop.abort('enough')
      await new Promise(resolve => setTimeout(resolve, 30))
      return { body: JSON.stringify({ enqueuedPullRequests: [1, 2, 3].map(pr => record(pr, 'MERGED')) }) }
    }
    const { client } = await clientOf(answer, {}, fastHost(20))
    const waits = [1, 2, 3].map(pr =>
      client.waitForPullRequests({ prs: [pr], ...(pr === 1 && { signal: stop.signal }) }),
    )
    const ends = await Promise.allSettled(waits)
    expect(ends).toMatchObject([
      { status: 'rejected', reason: { kind: 'interrupted', cause: 'enough' } },
      { status: 'fulfilled', value: [{ outcome: 'merged' }] },
      { status: 'fulfilled', value: [{ outcome: 'merged' }] },
    ])
    expect(asked).toBeLessThan(4)
  })
})
