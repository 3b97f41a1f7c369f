import dns from 'node:dns'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoize } from '../../src/base/scheduling.ts'
import { createConnectionPools, sendOnce } from '../../src/http/undici.ts'
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

const queueDocument =
  '{"state":"RUNNING","concurrency":2,"enqueuedPullRequests":[{"prNumber":5,"state":"TESTING"}]}'

/** A service that knows a queue and takes every change. */
const good = ({ path }: ReceivedRequest): ServerReply => ({
  body: path.endsWith('/getQueue') ? queueDocument : 'OK',
})

const noRetries = '--retries 0'
const name = 'queue.acme.test'

test.each([
  ['to another service', 'http://127.0.0.1:<other>/v1/elsewhere?key=value'],
  ['to the same place', '/v1/getQueue'],
  ['that is no address', 'http://[:::'],
  ['without a target', undefined],
  ['with a login', 'https://user:hidden@127.0.0.1:1/'],
])('a redirect %s is not followed, and names the base URL', async (_, location) => {
  const other = kept(await startTestServer({ answer: good }))
  const headers = location === undefined ? {} : { location: location.replace('<other>', `${other.port}`) }
  for (const line of lines) {
    const target = location?.includes('<other>') ? [`http://${other.host}`] : []
    const names = [operations[line], '(302)', ...target]
    const answer = () => ({ status: 302, headers })
    const { err, requests } = await run(line, { code: 15, names }, { answer })
    expect(err).toMatch(/base URL/)
    expect(err).not.toMatch(/hidden/)
    expect([requests.length, other.connectionCount()]).toEqual([1, 0])
  }
})

/** A service behind TLS that bears these names, and its authority. */
const names = { [name]: ['127.0.0.1'], localhost: ['127.0.0.1'] }
const folder = kept(openTestFolder())
const secured = memoize(async () => {
  const authority = createCertificateAuthority(folder, 'ca')
  const tls = authority.issue('IP:127.0.0.1', ...Object.keys(names).map(one => `DNS:${one}`))
  return { authority, service: kept(await startTestServer({ tls, answer: good })) }
})

/** Whether this machine has a loopback address of IPv6. */
const hasIPv6 = Object.values(networkInterfaces()).some(list =>
  list?.some(({ address }) => address === '::1'),
)

const unrelated = memoize(() => createCertificateAuthority(folder, 'unrelated'))
/** What a command line needs to trust an authority: a file of several, with text between them. */
const trusting = ({ pem }: CertificateAuthority) => ({
  files: { 'ca.pem': `# first\n${unrelated().pem}\n# second\n${pem}` },
})

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
    expect(vi.mocked(dns.lookup).mock.calls.map(([host]) => host)).not.toContain(name)
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

  testWith('openssl')(
    'a proxy that is an IP address, with and without TLS, gives no warning of Node',
    async () => {
      const { authority } = await secured()
      const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
      for (const [tls, code] of [
        [undefined, 7],
        [authority.issue('IP:127.0.0.1'), 0],
      ] as const) {
        const { proxy, setting } = await proxied(tls === undefined ? {} : { tls })
        const HTTPS_PROXY = `https://127.0.0.1:${proxy.port}`
        await run('queue get', { code }, setting({ HTTPS_PROXY }))
        expect(proxy.connectRequests).toHaveLength(code === 0 ? 1 : 0)
      }
      expect(warnings.mock.calls).toEqual([])
      warnings.mockRestore()
    },
  )

  testWith('openssl')('a host of NO_PROXY goes direct, for changes too', async () => {
    const { proxy, came, setting } = await proxied()
    stubHostNames(names)
    const env = { HTTPS_PROXY: `http://${proxy.host}`, no_proxy: name }
    for (const line of lines) await run(line, { code: 0 }, setting(env))
    expect([came().length, proxy.connectRequests]).toEqual([2, []])
  })

  test('a host of NO_PROXY that closes the connection is named without the proxy', async () => {
    const silent = kept(await startRawServer('reset'))
    stubHostNames({ 'direct.test': ['127.0.0.1'] })
    const env = {
      MERGEQ_BASE_URL: `https://direct.test:${silent.port}/v1`,
      HTTPS_PROXY: `http://127.0.0.1:${closedPort}`,
      NO_PROXY: 'direct.test',
    }
    const { err } = await run(`queue get ${noRetries}`, { code: 7 }, { env })
    expect(err).toContain(
      `mergeq: The connection to direct.test:${silent.port} was closed before the response was complete.\n`,
    )
  })

  // Of two address families that localhost leads to, one refuses.
  test.each(['127.0.0.1', 'localhost', ...(hasIPv6 ? ['[::1]'] : [])])(
    '%s is never proxied, and named with its port',
    async hostname => {
      stubHostNames({ localhost: ['::1', '127.0.0.1'] })
      const proxy = kept(await startTestProxy({}))
      const service = await startTestServer({
        answer: good,
        hostname: hostname === '[::1]' ? '::1' : '127.0.0.1',
      })
      const address = `http://${proxy.host}`
      const proxies = { HTTPS_PROXY: address, HTTP_PROXY: address, ALL_PROXY: address }
      const env = { ...proxies, MERGEQ_BASE_URL: service.baseUrl(hostname) }
      for (const line of lines) await run(line, { code: 0 }, { env })
      const host = `${hostname}:${service.port}`
      expect(service.requests.map(({ headers }) => headers.host)).toEqual([host, host])
      await service.close()
      await run(`queue get ${noRetries}`, { code: 7, names: [host] }, { env })
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

  testWith('openssl').each([
    ['an @ in the password', 'us:p@ss', 'us:p@ss'],
    ['a user name without a password', 'apikey:', 'http://apikey'],
  ])('%s of the proxy is sent to it', async (_, login, typed) => {
    const { proxy, setting } = await proxied({ login })
    await run('queue get', { code: 0 }, setting({ HTTPS_PROXY: `${typed}@${proxy.host}` }))
    expect(proxy.connectRequests).toHaveLength(1)
  })

  const malformed = 'http://someone:s3#cret@proxy.acme.test:3128'
  test.each(['queue get', 'pr submit 7', 'metrics', 'flaky list --org acme', 'api status'])(
    'with a malformed address nothing is sent: %s',
    async line => {
      stubHostNames({})
      const env = { MERGEQ_BASE_URL: `https://${name}/v1`, https_proxy: malformed }
      const { out, err } = await run(line, { code: 2, names: ['https_proxy'] }, { env })
      expect(out).toBe('')
      expect(err).toMatch(
        /^mergeq: The value of https_proxy is not an http or https URL\.\n {2}Set https_proxy/,
      )
      expect(err).not.toMatch(/someone|s3|cret|proxy\.acme/)
      expect(vi.mocked(dns.lookup).mock.calls).toEqual([])
    },
  )

  test('a malformed address is no matter where no proxy is used', async () => {
    const service = kept(await startTestServer({ answer: good }))
    const env = { MERGEQ_BASE_URL: service.baseUrl(), HTTPS_PROXY: malformed }
    await run('queue get', { code: 0 }, { env })
    const direct = {
      MERGEQ_BASE_URL: `https://${name}:${closedPort}/v1`,
      HTTPS_PROXY: malformed,
      NO_PROXY: name,
    }
    stubHostNames(names)
    await run(`queue get ${noRetries}`, { code: 7, names: [name] }, { env: direct })
    await run('queue get --dry-run', { code: 0 }, { env: { ...direct, NO_PROXY: '' } })
  })

  testWith('openssl')(
    'a service that closes the connection behind the proxy is named, not the proxy',
    async () => {
      const { authority } = await secured()
      const tls = authority.issue(`DNS:${name}`)
      const service = kept(await startTestServer({ tls, answer: () => 'reset' }))
      const proxy = kept(await startTestProxy({ routes: new Map([[`${name}:443`, service.port]]) }))
      stubHostNames({})
      const env = { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://${proxy.host}` }
      for (const line of ['metrics', 'queue get']) {
        const { err } = await run(`${line} ${noRetries}`, { code: 7 }, { ...trusting(authority), env })
        expect(err).toContain(
          `mergeq: The connection to ${name} was closed before the response was complete.`,
        )
      }
    },
  )

  const refused = (status: string) =>
    `HTTP/1.1 ${status}\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n`
  const failures: readonly (readonly [what: string, connections: number, reply: string])[] = [
    ['answers 403', 2, refused('403 Forbidden')],
    ['answers 407', 1, refused('407 Proxy Authentication Required')],
    ['answers 502', 2, refused('502 Bad Gateway')],
    ['redirects', 2, refused('302 Found')],
    ['is an SSH server', 2, 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['resets the connection', 2, 'reset'],
    ['says nothing', 2, 'silence'],
    ['refuses the connection', 0, 'refused'],
    ['is not found', 0, 'not found'],
  ]
  test.each(failures)(
    'a change through a proxy that %s was not sent; with --retries 1 it is asked %i times',
    async (_, connections, reply) => {
      stubHostNames({})
      const proxy = kept(await startTestProxy({ reply }))
      const elsewhere = { refused: `127.0.0.1:${closedPort}`, 'not found': 'proxy.acme.test:3128' }
      const { [reply]: host = proxy.host } = elsewhere as Readonly<Record<string, string>>
      const said = await run(
        `pr submit 7 --retries 1 --timeout ${reply === 'silence' ? '500ms' : '30s'}`,
        { code: 7, names: ['submitPullRequest', host] },
        { env: { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://someone:s3cret@${host}` } },
      )
      // Raw or as the header has it.
      for (const form of ['s3cret', 'someone', Buffer.from('someone:s3cret').toString('base64')])
        expect(said.out + said.err).not.toContain(form)
      expect(said.err).toMatch(/proxy/)
      expect(said.err).toMatch(/nothing was sent/i)
      expect([said.out, proxy.connectRequests.length]).toEqual(['', connections])
    },
  )
})

test('localhost that leads to another machine gets no request', async () => {
  stubHostNames({ localhost: ['192.0.2.1'] })
  const env = { MERGEQ_BASE_URL: 'http://localhost:8080/v1' }
  const { err } = await run('queue get --timeout 1s', { code: 7 }, { env })
  expect(err).toContain('localhost:8080 leads to another machine, not to this one.\n  Check the hosts file')
})

describe('certificates', () => {
  testWith('openssl').each([
    ['whose authority is not known', ['DNS:queue.acme.test'], false, /certificate .*not trusted/],
    ['for another name', ['DNS:other.acme.test'], true, /a different host name/],
  ])('%s end a read and a change before the token is sent', async (_, issued, isTrusted, said) => {
    const { authority } = await secured()
    stubHostNames(names)
    const service = kept(await startTestServer({ tls: authority.issue(...issued), answer: good }))
    const proxy = kept(await startTestProxy({ routes: new Map([[`${name}:443`, service.port]]) }))
    for (const line of lines)
      for (const env of [
        { MERGEQ_BASE_URL: service.baseUrl(name) },
        { MERGEQ_BASE_URL: `https://${name}/v1`, HTTPS_PROXY: `http://${proxy.host}` },
      ]) {
        const expected = { code: 7, names: [operations[line], name] }
        const { err, out } = await run(line, expected, { ...(isTrusted ? trusting(authority) : {}), env })
        expect(err).toMatch(said)
        expect(out).toBe('')
      }
    expect([service.requests, service.connectionCount()]).toEqual([[], 4])
  })

  test('are not mentioned where the service does not use TLS', async () => {
    const { port, requests } = kept(await startTestServer({ answer: good }))
    const env = { MERGEQ_BASE_URL: `https://127.0.0.1:${port}/v1` }
    const { err } = await run(`queue get ${noRetries}`, { code: 7 }, { env })
    expect(requests).toEqual([])
    expect(err).toContain(`The server at 127.0.0.1:${port} does not speak TLS (https).\n  Check the base URL`)
    expect(err).not.toContain('certificate')
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

test('--timeout applies while a service does not complete the TLS handshake', async () => {
  const silent = kept(await startRawServer('silence'))
  await run(
    `queue get ${noRetries} --timeout 300ms`,
    { code: 7, names: ['getQueue', silent.host] },
    { env: { MERGEQ_BASE_URL: `https://${silent.host}/v1` } },
  )
  expect(silent.opened()).toBe(1)
})

test('what a connection received before does not count against the size limit of a response', async () => {
  const service = kept(await startTestServer({ answer: () => ({ body: 'OK', delay: 200 }) }))
  const url = `${service.baseUrl()}/getQueue`
  const pools = createConnectionPools({ proxyFor: () => undefined })
  const request = { operation: 'getQueue', method: 'GET', url, headers: {}, isChange: false } as const
  const { status } = await sendOnce(
    { ...pools.poolFor(new URL(url), false), received: () => 1e9 },
    {
      request: { ...request, credential: 'none', maxResponseSize: 1_000 },
      headers: {},
      limit: 10_000,
      wholeLimit: Number.POSITIVE_INFINITY,
      interrupted: new AbortController().signal,
      isObserved: false,
      hasBegun: true,
      hasHead: false,
    },
  )
  await pools.close()
  expect(status).toBe(200)
})
