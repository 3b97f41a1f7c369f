import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientOf, fastHost } from '../support/library-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { token } from '../support/tokens.ts'

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
