import { afterEach, describe, expect, test, vi } from 'vitest'
import { createHostClient } from '../../src/library/client.ts'
import type { ClientOptions } from '../../src/library/types.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { nodeHost, token } from '../support/library-client.ts'
import { testWith } from '../support/programs.ts'
import { closedPort, startTestServer, stubHostNames } from '../support/service.ts'
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

  /** A service behind TLS, a proxy that leads to it, and a client with the environment of a company. */
  async function proxied(options: ClientOptions, login?: string) {
    const folder = kept(openTestFolder())
    const authority = createCertificateAuthority(folder, 'ca')
    const service = kept(await startTestServer({ tls: authority.issue(`DNS:${name}`), answer: () => queue }))
    const routes = new Map([[`${name}:${service.port}`, service.port]])
    const proxy = kept(await startTestProxy({ routes, ...(login === undefined ? {} : { login }) }))
    stubHostNames({ [name]: ['127.0.0.1'] })
    const baseUrl = service.baseUrl(name)
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
    const create = (more: ClientOptions, variables: Readonly<Record<string, string>> = env) =>
      createHostClient(
        { ...settings, baseUrl, caFile: authority.file, ...options, ...more },
        { ...nodeHost, env: { ...nodeHost.env, ...variables } },
      )
    return { proxy, create, address: env.HTTPS_PROXY }
  }

  testWith('openssl')('is that of the environment, none, or the one that is given', async () => {
    const { proxy, create, address } = await proxied({})
    const asks = async (options: ClientOptions, variables?: Readonly<Record<string, string>>) => {
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
