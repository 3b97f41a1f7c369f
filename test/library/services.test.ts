import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientOf, fastHost } from '../support/library-client.ts'
import type { Script } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { token } from '../support/tokens.ts'

const home = temporaryFolder('mergeq-services-')
const otherToken = 'tok_of_the_other_one'

/** How a call of the client reaches the other service: by its address, or with the token of another source. */
const others = {
  'another base address': (baseUrl: string) => ({ baseUrl: baseUrl.replace('/v1', '/other/v1') }),
  'a token of another source': () => ({ profile: 'other' }),
}
type Name = keyof typeof others
const names = Object.keys(others) as Name[]

/** A client of two services in one: `answer` is told which of them is asked. */
async function clientOfTwo(name: Name, answer: (isOther: boolean, ...seen: Parameters<Script>) => object) {
  const host = fastHost(20)
  const sent = { first: 0, other: 0 }
  const { client, baseUrl } = await clientOf(
    (seen, index) => {
      const isOther = seen.path.startsWith('/other') || seen.headers['x-api-token'] === otherToken
      sent[isOther ? 'other' : 'first']++
      const headers = { date: new Date(host.clock.now()).toUTCString() }
      return { headers, ...answer(isOther, seen, index) }
    },
    { token: undefined },
    { ...host, env: { HOME: home } },
  )
  const folder = join(home, '.config/mergeq')
  mkdirSync(folder, { recursive: true })
  const { origin } = new URL(baseUrl)
  const profiles = { other: { tokens: { [origin]: otherToken } } }
  const settings = JSON.stringify({ tokens: { [origin]: token }, profiles })
  writeFileSync(join(folder, 'config.json'), settings, { mode: 0o600 })
  return { client, sent, host, other: others[name](baseUrl) }
}

describe.each(names)('a call with %s shares with the others', name => {
  const record = (pr: number, state: string, at: number) => ({
    id: `id-${pr}`,
    prNumber: pr,
    state,
    stateChangedAt: new Date(at).toISOString(),
    isCurrentlySubmittedToQueue: !['MERGED', 'FAILED'].includes(state),
  })

  test('no reading of a queue', async () => {
    const { client, sent, other, host } = await clientOfTwo(name, (isOther, { path, body }) => {
      const state = isOther ? 'PENDING' : 'TESTS_PASSED'
      const at = host.clock.now() - 60_000
      const enqueuedPullRequests = [7, 8].map(pr => record(pr, state, at))
      return path.endsWith('/getQueue')
        ? { body: JSON.stringify({ state: 'RUNNING', enqueuedPullRequests }) }
        : { body: JSON.stringify(record(JSON.parse(body).pr.number, state, at)) }
    })
    const options = { prs: [7, 8], until: 'tests-passed', interval: '2s', timeout: '40s' } as const
    // The first request takes longer.
    await client.getQueue()
    const first = client.waitForPullRequests({ ...options, until: 'merged' })
    const results = await client.waitForPullRequests({ ...options, ...other })
    expect(results.map(({ outcome }) => outcome)).toEqual(['timed-out', 'timed-out'])
    expect(sent.other).toBeGreaterThan(1)
    expect((await first).map(({ outcome }) => outcome)).toEqual(['timed-out', 'timed-out'])
  })

  test('no submission', async () => {
    const { client, other, host } = await clientOfTwo(name, (_, { path }) =>
      path.includes('submit') ? {} : { body: JSON.stringify(record(7, 'FAILED', host.clock.now() - 60_000)) },
    )
    await client.submitPullRequest({ pr: 7 })
    const options = { prs: [7], timeout: '5s', interval: '1s' } as const
    expect(await client.waitForPullRequests({ ...options, ...other })).toMatchObject([{ outcome: 'failed' }])
    expect(await client.waitForPullRequests(options)).toMatchObject([{ outcome: 'timed-out' }])
  })

  test('no pause after a 429', async () => {
    const { client, other, host } = await clientOfTwo(name, isOther =>
      isOther ? { body: '{"enqueuedPullRequests":[]}' } : { status: 429, headers: { 'retry-after': '30' } },
    )
    await client.getQueue({ retries: 0 }).catch(() => undefined)
    const pausedAt = host.clock.now()
    await client.getQueue({ retries: 0, ...other })
    expect(host.clock.now() - pausedAt).toBeLessThan(5_000)
    await client.getQueue({ retries: 0 }).catch(() => undefined)
    expect(host.clock.now() - pausedAt).toBeGreaterThan(25_000)
  })
})
