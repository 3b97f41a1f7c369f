import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createConnectionPools, sendOnce, trackSockets } from '../../src/http/undici.ts'
import { isLoopback } from '../../src/url.ts'
import { type CertificateAuthority, createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { type ExpectedResult, runAndCheck, token } from '../support/command-checks.ts'
import type { Setting } from '../support/harness.ts'
import { testWith } from '../support/programs.ts'
import {
  closedPort,
  listening,
  type ReceivedRequest,
  type ServerReply,
  startRawServer,
  startTestServer,
  stubHostNames,
  type TestServer,
} from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestProxy, type TestProxyOptions } from '../support/test-proxy.ts'

const kept = closeAfterTests()
afterEach(() => {
  vi.restoreAllMocks()
})

/** A read and a change, and what their errors name. */
const lines = ['queue get', 'pr submit 7'] as const
type Line = (typeof lines)[number]
const operations: Readonly<Record<Line, string>> = {
  'queue get': 'getQueue',
  'pr submit 7': 'submitPullRequest',
}

const queueDocument = '{"state":"RUNNING","concurrency":2,"enqueuedPullRequests":[]}'

/** A service that knows a queue and takes every change. */
const good = ({ path }: ReceivedRequest): ServerReply => ({
  body: path.endsWith('/getQueue') ? queueDocument : 'OK',
})

const noRetries = '--retries 0'
const name = 'queue.acme.test'

describe('redirects', () => {
  let other: TestServer
  beforeAll(async () => {
    other = kept(await startTestServer({ answer: good }))
  })

  test.each([300, 302, 308])('a change with status %i is not followed, and never a success', async status => {
    const names = ['submitPullRequest', `(${status})`, `http://127.0.0.1:${other.port}`]
    const answer = () => ({ status, headers: { location: `${other.baseUrl()}/elsewhere?key=value` } })
    const { out, requests } = await run('pr submit 7 --json', { code: 15, format: 'json', names }, { answer })
    expect(JSON.parse(out)).toMatchObject({ ok: false, delivery: 'unknown', exit: 15 })
    expect([requests.length, other.connectionCount()]).toEqual([1, 0])
  })

  test.each([
    ['to another service', 'http://127.0.0.1:<other>/v1/elsewhere'],
    ['to the same place', '/v1/getQueue'],
    ['that is no address', 'http://[:::'],
    ['without a target', undefined],
    ['with a login', 'https://user:hidden@127.0.0.1:1/'],
  ])('a read with a redirect %s names the base URL', async (_, location) => {
    const { err, out, requests } = await run(
      'queue get',
      { code: 15, names: ['getQueue', '(302)'] },
      {
        answer: () => ({
          status: 302,
          headers: location === undefined ? {} : { location: location.replace('<other>', `${other.port}`) },
        }),
      },
    )
    expect(err).toMatch(/base URL/)
    expect(err).not.toMatch(/hidden/)
    expect([out, requests.length, other.connectionCount()]).toEqual(['', 1, 0])
  })
})

/** A service behind TLS that bears these names, and its authority. */
const names = { [name]: ['127.0.0.1'], localhost: ['127.0.0.1'] }
const folder = kept(openTestFolder())
let making: Promise<{ readonly authority: CertificateAuthority; readonly service: TestServer }> | undefined
const secured = () => {
  making ??= (async () => {
    const authority = createCertificateAuthority(folder, 'ca')
    const all = ['IP:127.0.0.1', 'IP:::1', ...Object.keys(names).map(one => `DNS:${one}`)]
    return {
      authority,
      service: kept(await startTestServer({ tls: authority.issue(...all), answer: good })),
    }
  })()
  return making
}

/** Whether this machine has a loopback address of IPv6. */
const hasIPv6 = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)

/** What a command line needs to trust an authority. */
const trusting = ({ pem }: CertificateAuthority) => ({ files: { 'ca.pem': pem } })

/** Runs and checks a command line, which trusts the authority of its files. */
const run = (line: string, expected: ExpectedResult, setting: Setting) =>
  runAndCheck(setting.files?.['ca.pem'] === undefined ? line : `${line} --ca-file ca.pem`, expected, setting)

/** A proxy that leads the service's names to it, and how a command line reaches the service through it. */
async function proxied(options: TestProxyOptions = {}) {
  const { authority, service } = await secured()
  stubHostNames({})
  const routes = new Map(Object.keys(names).map(one => [`${one}:${service.port}`, service.port]))
  const proxy = kept(await startTestProxy({ routes, ...options }))
  const before = service.requests.length
  const { files } = trusting(authority)
  return {
    authority,
    proxy,
    service,
    came: () => service.requests.slice(before),
    setting: (variables: Readonly<Record<string, string>> = { HTTPS_PROXY: `http://${proxy.host}` }) => ({
      files,
      env: { MERGEQ_BASE_URL: service.baseUrl(name), ...variables },
    }),
  }
}

describe('proxies', () => {
  testWith('openssl')('reads and changes go through it by CONNECT, and no name is looked up', async () => {
    const { proxy, came, setting, service } = await proxied()
    await run('queue get --json', { code: 0, format: 'json' }, setting())
    await run('pr submit 7 8 --json', { code: 0, format: 'json', documents: 2 }, setting())
    // Each change has a connection of its own.
    const target = `${name}:${service.port}`
    expect(proxy.connectRequests.map(one => one.target)).toEqual([target, target, target])
    expect(proxy.otherRequests).toEqual([])
    expect(came().map(({ headers }) => headers['x-api-token'])).toEqual([token, token, token])
    for (const { headers } of proxy.connectRequests) expect([...headers.values()].join()).not.toContain(token)
    for (const { headers } of came())
      expect(Object.keys(headers).filter(key => key.startsWith('proxy'))).toEqual([])
  })

  testWith('openssl')('a proxy that is spoken to by TLS itself', async () => {
    const { authority } = await secured()
    const { proxy, setting } = await proxied({ tls: authority.issue('DNS:localhost') })
    stubHostNames({ localhost: ['127.0.0.1'] })
    await run('queue get', { code: 0 }, setting({ HTTPS_PROXY: `https://localhost:${proxy.port}` }))
    expect(proxy.connectRequests).toHaveLength(1)
  })

  testWith('openssl').each([
    ['HTTP_PROXY', (host: string) => ({ HTTP_PROXY: `http://${host}` })],
    ['a host of NO_PROXY', (host: string) => ({ HTTPS_PROXY: `http://${host}`, no_proxy: name })],
  ])('%s goes direct, for changes too', async (_, variables) => {
    const { proxy, came, setting } = await proxied()
    stubHostNames(names)
    for (const line of lines) await run(line, { code: 0 }, setting(variables(proxy.host)))
    expect([came().length, proxy.connectRequests]).toEqual([2, []])
  })

  test('a host of NO_PROXY that closes the connection is named without the proxy', async () => {
    const silent = kept(await startRawServer('reset'))
    stubHostNames({ 'direct.test': ['127.0.0.1'] })
    const env = {
      MERGEQ_BASE_URL: `https://direct.test:${silent.port}/v1`,
      HTTPS_PROXY: `http://127.0.0.1:${await closedPort()}`,
      NO_PROXY: 'direct.test',
    }
    const { err } = await run(`queue get ${noRetries}`, { code: 7 }, { env })
    expect(err).toContain(
      `mergeq: The connection to direct.test:${silent.port} was closed before the response was complete.\n`,
    )
  })

  test.each(['127.0.0.1', 'localhost', ...(hasIPv6 ? ['[::1]'] : [])])(
    '%s is never proxied',
    async hostname => {
      const proxy = kept(await startTestProxy({}))
      const service = kept(
        await startTestServer({ answer: good, hostname: hostname === '[::1]' ? '::1' : '127.0.0.1' }),
      )
      const address = `http://${proxy.host}`
      const env = { HTTPS_PROXY: address, HTTP_PROXY: address, ALL_PROXY: address }
      await run('queue get', { code: 0 }, { env: { ...env, MERGEQ_BASE_URL: service.baseUrl(hostname) } })
      expect(service.requests).toHaveLength(1)
      expect([proxy.connectRequests, proxy.otherRequests]).toEqual([[], []])
    },
  )

  testWith('openssl')(
    'user and password of the proxy are sent to it, decoded, and nowhere else',
    async () => {
      const { proxy, setting, came } = await proxied({ login: 'us:er@home:p@ss/word%' })
      const HTTPS_PROXY = `http://us%3Aer%40home:p%40ss%2Fword%25@${proxy.host}`
      await run('queue get', { code: 0 }, setting({ HTTPS_PROXY }))
      expect(proxy.connectRequests).toHaveLength(1)
      expect(came().map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined])
    },
  )

  /** The password of the proxy is in no stream: raw or as the header has it. */
  const hidden = (said: { readonly out: string; readonly err: string }) => {
    const forms = ['s3cret', 'someone', Buffer.from('someone:s3cret').toString('base64')]
    for (const form of forms) expect(said.out + said.err).not.toContain(form)
  }

  testWith('openssl').each(lines)(
    '%s that the proxy answers with 407 is reported once, and nothing was sent',
    async line => {
      const { setting, proxy, came } = await proxied({ login: 'someone:else' })
      const said = await run(
        `${line} --json`,
        { code: 7, format: 'json', names: [operations[line], proxy.host] },
        setting({ HTTPS_PROXY: `http://someone:s3cret@${proxy.host}` }),
      )
      hidden(said)
      expect(said.err).toMatch(/nothing was sent/i)
      expect([said.out, proxy.connectRequests.length, came().length]).toEqual(['', 1, 0])
    },
  )

  const failures: readonly (readonly [what: string, reply: string])[] = [
    ['answers 403', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'],
    ['answers 502', 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'],
    ['redirects', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'],
    ['is an SSH server', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['resets the connection', 'reset'],
    ['says nothing', 'silence'],
    ['refuses the connection', ''],
  ]
  test.each(failures)('a change through a proxy that %s (%j) was not sent', async (_, reply) => {
    const proxy = kept(await startTestProxy({ reply }))
    const host = reply === '' ? `127.0.0.1:${await closedPort()}` : proxy.host
    const said = await run(
      `pr submit 7 ${noRetries} --timeout ${reply === 'silence' ? '500ms' : '30s'}`,
      { code: 7, names: ['submitPullRequest', host] },
      { env: { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://someone:s3cret@${host}` } },
    )
    hidden(said)
    expect(said.err).toMatch(/proxy/)
    expect(said.err).toMatch(/nothing was sent/i)
    expect([said.out, proxy.connectRequests.length]).toEqual(['', reply === '' ? 0 : 1])
  })

  test('a proxy whose name does not resolve is named, and no password', async () => {
    stubHostNames(names)
    const HTTPS_PROXY = 'http://someone:s3cret@proxy.acme.test:3128'
    const expected = { code: 7, names: ['getQueue', 'proxy.acme.test'] }
    const env = { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY }
    hidden(await run(`queue get ${noRetries}`, expected, { env }))
  })

  test('a proxy that could not connect is asked again, as often as --retries says', async () => {
    const proxy = kept(await startTestProxy({}))
    await run(
      'pr submit 7 --retries 1',
      { code: 7, names: ['submitPullRequest', proxy.host] },
      { env: { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://${proxy.host}` } },
    )
    expect(proxy.connectRequests).toHaveLength(2)
  })
})

test('localhost that leads to another machine gets no request', async () => {
  stubHostNames({ localhost: ['192.0.2.1'] })
  const env = { MERGEQ_BASE_URL: 'http://localhost:8080/v1' }
  const { err } = await run('queue get --timeout 1s', { code: 7 }, { env })
  expect(err).toContain('localhost:8080 leads to another machine, not to this one.\n  Check the hosts file')
})

describe('certificates', () => {
  const noSwitch = /REJECT_UNAUTHORIZED|insecure|--no-?check|disable|turn.*off|-k\b/i

  testWith('openssl').each(lines)(
    '%s to a service whose authority is not known sends nothing, and the hint adds the authority',
    async line => {
      const { service } = await secured()
      stubHostNames(names)
      const before = [service.requests.length, service.connectionCount()] as const
      const { out, err } = await run(
        `${line} --json`,
        { code: 7, format: 'json', names: [operations[line], `${name}:${service.port}`] },
        { env: { MERGEQ_BASE_URL: service.baseUrl(name) } },
      )
      const { message, hint } = JSON.parse(err).error
      expect(message).toMatch(/certificate .*not trusted/)
      expect(hint).toMatch(/--ca-file .*NODE_EXTRA_CA_CERTS/)
      expect(hint).not.toMatch(noSwitch)
      expect([out, service.requests.length, service.connectionCount()]).toEqual([
        '',
        before[0],
        before[1] + 1,
      ])
    },
  )

  test('are not mentioned where the service does not use TLS', async () => {
    const { port, requests } = kept(await startTestServer({ answer: good }))
    const env = { MERGEQ_BASE_URL: `https://127.0.0.1:${port}/v1` }
    const { err } = await run(`queue get ${noRetries}`, { code: 7 }, { env })
    expect(requests).toEqual([])
    expect(err).toContain(`The server at 127.0.0.1:${port} speaks no TLS (https).\n  Check the base URL`)
    expect(err).not.toContain('certificate')
  })

  testWith('openssl')('a file of several authorities, text between them, adds them all', async () => {
    const { authority, service } = await secured()
    stubHostNames(names)
    const unrelated = createCertificateAuthority(folder, 'unrelated')
    const files = { 'bundle.pem': `# first\n${unrelated.pem}\n# second\n${authority.pem}` }
    await run(
      'queue get --ca-file bundle.pem',
      { code: 0 },
      { files, env: { MERGEQ_BASE_URL: service.baseUrl(name) } },
    )
  })

  test.each([
    ['that is not there', undefined],
    ['that is no certificate', 'hello\n'],
    ['whose certificate is damaged', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('a --ca-file %s is refused here, and named', async (_, text) => {
    const { err, requests } = await run(
      'queue get --ca-file own.pem',
      { code: 2 },
      { answer: good, files: text === undefined ? {} : { 'own.pem': text } },
    )
    expect(err).toMatch(/--ca-file/)
    expect(requests).toEqual([])
  })

  testWith('openssl')('a certificate for another name ends before the token is sent', async () => {
    const { authority } = await secured()
    stubHostNames(names)
    const service = kept(await startTestServer({ tls: authority.issue('DNS:other.acme.test'), answer: good }))
    const proxy = kept(await startTestProxy({ routes: new Map([[`${name}:443`, service.port]]) }))
    for (const env of [
      { MERGEQ_BASE_URL: service.baseUrl(name) },
      { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://${proxy.host}` },
    ]) {
      const expected = { code: 7, names: ['submitPullRequest', name] }
      const { err, out } = await run('pr submit 7', expected, { ...trusting(authority), env })
      expect(err).toMatch(/a different host name/)
      expect(out).toBe('')
    }
    expect([service.requests, service.connectionCount()]).toEqual([[], 2])
  })
})

testWith('openssl')('a change is read back after a TLS record that cannot be decrypted', async () => {
  const { authority } = await secured()
  const broken = Buffer.from([0x17, 3, 3, 0, 64, ...Array.from({ length: 64 }, () => 1)])
  const fronts: Socket[] = []
  const service = kept(
    await startTestServer({
      tls: authority.issue('IP:127.0.0.1'),
      answer({ path }) {
        if (!path.endsWith('/submitPullRequest'))
          return { body: '{"state":"PENDING","isCurrentlySubmittedToQueue":true}' }
        fronts.at(-1)?.end(broken)
        return 'silence'
      },
    }),
  )
  // Passes the encrypted bytes on, so that others can come between.
  const front = createServer(socket => {
    const beyond = connect(service.port, '127.0.0.1')
    for (const one of [socket, beyond]) one.on('error', () => socket.destroy())
    socket.pipe(beyond).pipe(socket)
    fronts.push(socket)
  })
  const { port } = kept(await listening(front, '127.0.0.1'))
  const { out } = await run(
    'pr submit 7 --json --timeout 5s',
    { code: 0, format: 'json' },
    { ...trusting(authority), env: { MERGEQ_BASE_URL: `https://127.0.0.1:${port}/v1` } },
  )
  expect(JSON.parse(out)).toMatchObject({ ok: true, delivery: 'confirmed-by-read' })
  expect(service.requests.map(({ path }) => path).slice(0, 2)).toEqual([
    '/v1/submitPullRequest',
    '/v1/getSubmittedPullRequest',
  ])
})

describe('addresses', () => {
  test('--timeout applies while a service does not complete the TLS handshake', async () => {
    const silent = kept(await startRawServer('silence'))
    await run(
      `queue get ${noRetries} --timeout 300ms`,
      { code: 7, names: ['getQueue', silent.host] },
      { env: { MERGEQ_BASE_URL: `https://${silent.host}/v1` } },
    )
    expect(silent.opened()).toBe(1)
  })

  test('a change to a host that does not resolve names it, and nothing was sent', async () => {
    stubHostNames({})
    const { err, out } = await run(
      `pr submit 7 ${noRetries} --json`,
      { code: 7, format: 'json', names: ['submitPullRequest', 'mergeq.invalid'] },
      { env: { MERGEQ_BASE_URL: 'https://mergeq.invalid/v1' } },
    )
    expect(JSON.parse(err).error.hint).toMatch(/nothing was sent.*safe/i)
    expect(out).toBe('')
  })

  test('if one address family refuses, the other is used; if both do, localhost is named with its port', async () => {
    stubHostNames({ localhost: ['::1', '127.0.0.1'] })
    const service = kept(await startTestServer({ answer: good }))
    const env = { MERGEQ_BASE_URL: service.baseUrl('localhost') }
    await run('queue get', { code: 0 }, { env })
    await service.close()
    await run(`queue get ${noRetries}`, { code: 7, names: [`localhost:${service.port}`] }, { env })
  })

  test.skipIf(!hasIPv6)('[::1] works, and messages keep its brackets', async () => {
    const service = kept(await startTestServer({ hostname: '::1', answer: good }))
    const env = { MERGEQ_BASE_URL: service.baseUrl() }
    await run('queue get', { code: 0 }, { env })
    expect(service.requests[0]?.headers.host).toBe(`[::1]:${service.port}`)
    await service.close()
    await run(`queue get ${noRetries}`, { code: 7, names: [`[::1]:${service.port}`] }, { env })
  })

  testWith('openssl')('[::1] works behind TLS, by its address in the certificate', async context => {
    // In this version, tls.connect itself compares an IPv6 address with the names in the certificate only.
    if (process.version === 'v22.23.3' || !hasIPv6) context.skip()
    const { authority } = await secured()
    const service = kept(
      await startTestServer({ hostname: '::1', tls: authority.issue('IP:::1'), answer: good }),
    )
    const { files } = trusting(authority)
    await run('queue get', { code: 0 }, { files, env: { MERGEQ_BASE_URL: service.baseUrl() } })
  })
})

test('what a connection received before does not count against the size limit of a response', async () => {
  const service = kept(await startTestServer({ answer: () => ({ body: 'OK', delay: 200 }) }))
  const url = `${service.baseUrl()}/getQueue`
  const pools = createConnectionPools({}, { isLoopback })
  const request = { operation: 'getQueue', method: 'GET', url, headers: {}, isChange: false } as const
  const { status } = await sendOnce(
    { ...pools.poolFor(new URL(url), false), received: () => 1e9 },
    {
      request: { ...request, credential: 'none', maxResponseSize: 1_000 },
      headers: {},
      limit: 10_000,
      interrupted: new AbortController().signal,
      onBegin: undefined,
    },
  )
  await pools.close()
  expect(status).toBe(200)
})

test('a pool forgets a connection that is closed, so that a long watch does not collect them', async () => {
  const sockets = trackSockets()
  const socket = new Socket()
  const destroyed = vi.spyOn(socket, 'destroy')
  sockets.add(socket)
  sockets.destroy()
  expect(destroyed).toHaveBeenCalledTimes(1)
  await once(socket, 'close')
  sockets.destroy()
  expect(destroyed).toHaveBeenCalledTimes(1)
})

describe('what we rely on in undici', () => {
  /** One request as the transport sends it, with nothing of ours around it. */
  async function send(url: string, env: Readonly<Record<string, string>>): Promise<void> {
    const { default: requestBy } = await import('undici/lib/api/api-request.js')
    const pools = createConnectionPools(env, { isLoopback })
    try {
      const { origin, pathname } = new URL(url)
      const { dispatcher } = pools.poolFor(new URL(url), false)
      await requestBy.call(dispatcher, { origin, path: pathname, method: 'GET', body: null })
    } finally {
      await pools.close()
    }
  }

  test('the environment of the process is not read', async () => {
    const proxy = kept(await startTestProxy({}))
    stubHostNames({})
    try {
      vi.stubEnv('NO_PROXY', '*')
      await expect(send(`https://${name}/v1`, { HTTPS_PROXY: `http://${proxy.host}` })).rejects.toThrow()
      expect(proxy.connectRequests.map(({ target }) => target)).toEqual([`${name}:443`])
      vi.stubEnv('HTTPS_PROXY', `http://${proxy.host}`)
      vi.stubEnv('NO_PROXY', '')
      await expect(send('https://mergeq.invalid/v1', {})).rejects.toThrow()
      expect(proxy.connectRequests).toHaveLength(1)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  testWith('openssl')('HTTP/1.1 is used even if HTTP/2 is offered', async () => {
    const { authority, service } = await secured()
    stubHostNames(names)
    const { files } = trusting(authority)
    await run('queue get', { code: 0 }, { files, env: { MERGEQ_BASE_URL: service.baseUrl(name) } })
    expect(service.requests.at(-1)?.headers.connection).toBe('keep-alive')
  })
})
