import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { isLoopback } from '../../src/config/setting-definitions.ts'
import { createConnectionPools, trackSockets } from '../../src/http/undici.ts'
import { type CertificateAuthority, createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { checkGeneralRules, type ExpectedResult, runAndCheck, token } from '../support/command-checks.ts'
import { testWith } from '../support/programs.ts'
import { openTestFolder, type RunOptions } from '../support/test-folder.ts'
import { startTestProxy, type TestProxyOptions } from '../support/test-proxy.ts'
import {
  closedPort,
  type ReceivedRequest,
  type ServerReply,
  startRawServer,
  startTestServer,
  type TestServer,
  withHostNames,
} from '../support/test-servers.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

const reads: readonly (readonly [line: string, operation: string])[] = [
  ['pr get 7', 'getSubmittedPullRequest'],
  ['pr testing --pr 7', 'getMergeQueueTestingDetails'],
  ['queue get', 'getQueue'],
  ['metrics', 'getMergeQueueMetrics'],
  ['flaky list', 'flaky-tests/list-failing-tests'],
  ['flaky get 2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a', 'flaky-tests/get-test-details'],
]
const changes: readonly (readonly [line: string, operation: string])[] = [
  ['pr submit 7', 'submitPullRequest'],
  ['pr cancel 7', 'cancelPullRequest'],
  ['pr restart 7', 'restartTestsOnPullRequest'],
  ['pr targets 7 web --sha 4f2a', 'setImpactedTargets'],
  ['queue create', 'createQueue'],
  ['queue update --concurrency 2', 'updateQueue'],
  ['queue delete --yes', 'deleteQueue'],
]

const queueDocument = '{"state":"RUNNING","concurrency":2,"enqueuedPullRequests":[]}'

/** A service that knows a queue and takes every change. */
const good = ({ path }: ReceivedRequest): ServerReply => ({
  body: path.endsWith('/getQueue') ? queueDocument : 'OK',
})

const ask = (base: string, ...words: readonly string[]) => [...words, '--base-url', base]

/** Runs the binary and judges it; a failure names the operation and these. */
async function run(words: readonly string[], promised: ExpectedResult, options: RunOptions = {}) {
  const ran = await home.run(words, options)
  checkGeneralRules(ran, promised)
  return ran
}

const getQueue = (base: string) => ask(base, 'queue', 'get', '--json')
const queueRead: ExpectedResult = { code: 0, format: 'json' }

describe('redirects', () => {
  let other: TestServer
  beforeAll(async () => {
    other = kept(await startTestServer({ answer: good }))
  })

  const away = (status: number) => () => ({
    status,
    headers: { location: `${other.baseUrl('127.0.0.1')}/elsewhere?key=value` },
  })
  const changed = [
    ...changes.flatMap(([line, operation]) => [307, 308].map(status => [line, status, operation] as const)),
    ...[300, 301, 302, 303].map(status => ['pr submit 7', status, 'submitPullRequest'] as const),
  ]

  test.each(changed)(
    '%s with status %i is not followed, and never a success',
    async (line, status, operation) => {
      const names = [operation, `(${status})`, `http://127.0.0.1:${other.port}`]
      const { out, requests } = await runAndCheck(
        `${line} --json`,
        { code: 15, format: 'json', names },
        {
          answer: away(status),
        },
      )
      expect(JSON.parse(out)).toMatchObject({ ok: false, delivery: 'unknown', exit: 15 })
      expect(requests).toHaveLength(1)
      expect(other.connectionCount()).toBe(0)
    },
  )

  const asked = reads.flatMap(([line, operation]) =>
    [301, 302, 303, 307, 308].map(status => [line, status, operation] as const),
  )
  test.each(asked)(
    '%s answered %i is not followed, and says to change the base address',
    async (line, status, operation) => {
      const { err, out, requests } = await runAndCheck(
        line,
        { code: 15, names: [operation, `(${status})`] },
        {
          answer: away(status),
        },
      )
      expect(err).toMatch(/base URL/)
      expect(out).toBe('')
      expect(requests).toHaveLength(1)
      expect(other.connectionCount()).toBe(0)
    },
  )

  test.each([
    ['relative', '/v2/getQueue'],
    ['to the same place', undefined],
    ['that is no address', 'http://[:::'],
    ['empty', ''],
    ['to a file', 'file:///etc/passwd'],
    ['with a login', 'https://user:hidden@127.0.0.1:1/'],
  ])('a redirect %s is not followed either', async (_, location) => {
    const { err, requests } = await runAndCheck(
      'queue get',
      { code: 15, names: ['getQueue', '(302)'] },
      {
        answer: ({ headers, path }) => ({
          status: 302,
          headers: { location: location ?? `http://${headers.host}${path}` },
        }),
      },
    )
    expect(requests).toHaveLength(1)
    expect(err).not.toMatch(/hidden|passwd/)
  })

  test('a redirect without a target is not followed either', async () => {
    const { requests } = await runAndCheck(
      'queue get',
      { code: 15, names: ['getQueue', '(307)'] },
      {
        answer: () => ({ status: 307 }),
      },
    )
    expect(requests).toHaveLength(1)
  })

  test('the built program sends nothing to the target of a redirect', async () => {
    const elsewhere = kept(await startTestServer({ answer: good }))
    const service = kept(
      await startTestServer({ answer: () => ({ status: 308, headers: { location: elsewhere.baseUrl() } }) }),
    )
    const names = ['submitPullRequest', service.host, elsewhere.host]
    await run(ask(service.baseUrl(), 'pr', 'submit', '7'), { code: 15, names })
    expect(service.requests).toHaveLength(1)
    expect(elsewhere.connectionCount()).toBe(0)
  })
})

/** The names of these tests, and a service behind TLS that bears them. */
const name = 'queue.acme.test'
const names = { [name]: ['127.0.0.1'], '127.0.0.1.acme.test': ['127.0.0.1'], localhost: ['127.0.0.1'] }

interface Secured {
  readonly authority: CertificateAuthority
  readonly service: TestServer
  /** Finds the names, and trusts the authority. */
  readonly env: Readonly<Record<string, string>>
}
let making: Promise<Secured> | undefined
const secured = (): Promise<Secured> => {
  making ??= (async () => {
    const authority = createCertificateAuthority(home, 'ca')
    const all = ['IP:127.0.0.1', 'IP:::1', ...Object.keys(names).map(one => `DNS:${one}`)]
    const service = kept(await startTestServer({ tls: authority.issue(...all), answer: good }))
    return { authority, service, env: { ...withHostNames(home, names), NODE_EXTRA_CA_CERTS: authority.file } }
  })()
  return making
}

/** A proxy that leads the service's names to it. */
async function proxied(options: TestProxyOptions = {}) {
  const { authority, env, service } = await secured()
  const leads = new Map(Object.keys(names).map(one => [`${one}:${service.port}`, service.port]))
  const proxy = kept(await startTestProxy({ routes: leads, ...options }))
  const base = service.baseUrl(name)
  const before = service.requests.length
  return {
    authority,
    env,
    proxy,
    base,
    service,
    came: () => service.requests.slice(before),
    target: `${name}:${service.port}`,
  }
}

describe('proxies', () => {
  testWith('openssl').each(['HTTPS_PROXY', 'https_proxy'])(
    '%s carries reads and changes, by CONNECT',
    async variable => {
      const { env, proxy, base, came, target } = await proxied()
      const options = { env: { ...env, [variable]: `http://${proxy.host}` } }
      await run(getQueue(base), queueRead, options)
      await run(
        ask(base, 'pr', 'submit', '7', '8', '--json'),
        { code: 0, format: 'json', documents: 2 },
        options,
      )
      // Each change has a connection of its own.
      expect(proxy.connectRequests.map(one => one.target)).toEqual([target, target, target])
      expect(proxy.otherRequests).toEqual([])
      expect(came().map(({ headers }) => headers.get('x-api-token'))).toEqual([token, token, token])
      for (const { headers } of proxy.connectRequests)
        expect([...headers.values()].join()).not.toContain(token)
      for (const { headers } of came())
        expect([...headers.keys()].filter(key => key.startsWith('proxy'))).toEqual([])
    },
  )

  testWith('openssl')('a proxy resolves the name: none is looked up here', async () => {
    const { env, proxy, base } = await proxied()
    await run(getQueue(base), queueRead, {
      env: { ...env, ...withHostNames(home, { nothing: [] }), HTTPS_PROXY: `http://${proxy.host}` },
    })
    expect(proxy.connectRequests).toHaveLength(1)
  })

  testWith('openssl')('lower case takes precedence over upper case, as in curl', async () => {
    const { env, proxy, base } = await proxied()
    await run(getQueue(base), queueRead, {
      env: {
        ...env,
        https_proxy: `http://${proxy.host}`,
        HTTPS_PROXY: `http://127.0.0.1:${await closedPort()}`,
      },
    })
    expect(proxy.connectRequests).toHaveLength(1)
  })

  testWith('openssl')('a proxy that is spoken to by TLS itself', async () => {
    const { authority } = await secured()
    const { env, proxy, base } = await proxied({ tls: authority.issue('DNS:localhost') })
    await run(getQueue(base), queueRead, { env: { ...env, HTTPS_PROXY: `https://localhost:${proxy.port}` } })
    expect(proxy.connectRequests).toHaveLength(1)
  })

  testWith('openssl')('an address without its scheme is a proxy, as with curl and gh', async () => {
    const { env, proxy, base } = await proxied()
    await run(getQueue(base), queueRead, { env: { ...env, HTTPS_PROXY: proxy.host } })
    expect(proxy.connectRequests).toHaveLength(1)
  })

  testWith('openssl')('HTTP_PROXY is not for https, as with curl and gh', async () => {
    const { env, proxy, base } = await proxied()
    await run(getQueue(base), queueRead, { env: { ...env, HTTP_PROXY: `http://${proxy.host}` } })
    expect(proxy.connectRequests).toHaveLength(0)
  })

  /** Whether a form of NO_PROXY lets the service be reached directly. */
  async function goes(form: string): Promise<'direct' | 'through the proxy'> {
    const { env, proxy, base, came, service } = await proxied()
    const variables = {
      HTTPS_PROXY: `http://${proxy.host}`,
      NO_PROXY: form.replace('<port>', String(service.port)),
    }
    await run(getQueue(base), queueRead, { env: { ...env, ...variables } })
    expect(came()).toHaveLength(1)
    return proxy.connectRequests.length === 0 ? 'direct' : 'through the proxy'
  }
  const matching = [
    name,
    name.toUpperCase(),
    '.acme.test',
    '*.acme.test',
    'acme.test',
    `${name}:<port>`,
    '.acme.test:<port>',
    '*',
    `other.test,${name}`,
    `other.test, ${name} ,.more.test`,
  ]
  testWith('openssl').each(matching)("NO_PROXY '%s' goes direct", async form => {
    expect(await goes(form)).toBe('direct')
  })
  const others = ['', `${name}:1`, 'cme.test', `${name}.other`, 'other.test,.more.test']
  testWith('openssl').each(others)("NO_PROXY '%s' goes through the proxy", async form => {
    expect(await goes(form)).toBe('through the proxy')
  })

  testWith('openssl')('no_proxy in lower case goes direct, for changes too', async () => {
    const { env, proxy, base, came } = await proxied()
    await run(
      ask(base, 'pr', 'submit', '7'),
      { code: 0 },
      {
        env: { ...env, HTTPS_PROXY: `http://${proxy.host}`, no_proxy: name },
      },
    )
    expect(came()).toHaveLength(1)
    expect(proxy.connectRequests).toHaveLength(0)
  })

  test('a host of NO_PROXY that closes the connection is named without the proxy', async () => {
    const silent = kept(await startRawServer('reset'))
    const env = {
      ...withHostNames(home, { 'direct.test': ['127.0.0.1'] }),
      HTTPS_PROXY: `http://127.0.0.1:${await closedPort()}`,
      NO_PROXY: 'direct.test',
    }
    const { err } = await run(
      ask(`https://direct.test:${silent.port}/v1`, 'queue', 'get', '--retries', '0'),
      { code: 7 },
      { env },
    )
    expect(err).toContain(
      `mergeq: The connection to direct.test:${silent.port} was closed before the response was complete.\n`,
    )
  })

  const loopbacks = ['127.0.0.1', 'localhost', '[::1]', '127.1', '2130706433']
  testWith('openssl').each(loopbacks)('the loopback address %s is never proxied', async hostname => {
    const { proxy, env } = await proxied()
    const address = `http://${proxy.host}`
    const service = kept(
      await startTestServer({ answer: good, hostname: hostname === '[::1]' ? '::1' : '127.0.0.1' }),
    )
    await run(getQueue(service.baseUrl(hostname)), queueRead, {
      env: {
        ...env,
        HTTPS_PROXY: address,
        HTTP_PROXY: address,
        https_proxy: address,
        http_proxy: address,
        ALL_PROXY: address,
      },
    })
    expect(service.requests).toHaveLength(1)
    expect([proxy.connectRequests, proxy.otherRequests]).toEqual([[], []])
  })

  testWith('openssl')('a name that begins like a loopback address is proxied', async () => {
    const { env, proxy, service } = await proxied()
    await run(getQueue(service.baseUrl('127.0.0.1.acme.test')), queueRead, {
      env: { ...env, HTTPS_PROXY: `http://${proxy.host}` },
    })
    expect(proxy.connectRequests.map(({ target }) => target)).toEqual([`127.0.0.1.acme.test:${service.port}`])
  })

  testWith('openssl')(
    'user and password of the proxy are sent to it, decoded, and nowhere else',
    async () => {
      const { env, proxy, base, came } = await proxied({ login: 'us:er@home:p@ss/word%' })
      await run(getQueue(base), queueRead, {
        env: { ...env, HTTPS_PROXY: `http://us%3Aer%40home:p%40ss%2Fword%25@${proxy.host}` },
      })
      expect(proxy.connectRequests).toHaveLength(1)
      expect(came().map(({ headers }) => headers.get('proxy-authorization'))).toEqual([undefined])
    },
  )

  /** The password of the proxy is in no stream: raw, percent-encoded or as the header has it. */
  const hidden = (said: { out: string; err: string }) => {
    const forms = ['s3cret', 'someone', Buffer.from('someone:s3cret').toString('base64')]
    for (const form of forms) expect(said.out + said.err).not.toContain(form)
  }
  const asksForLogin = async () => {
    const { env, proxy, base, came } = await proxied({ login: 'someone:else' })
    return { env: { ...env, HTTPS_PROXY: `http://someone:s3cret@${proxy.host}` }, proxy, base, came }
  }

  testWith('openssl').each(['text', 'json'])(
    'a read that the proxy answers with 407 is reported once, as %s',
    async format => {
      const { env, proxy, base, came } = await asksForLogin()
      const said = await run(
        ask(base, 'queue', 'get', ...(format === 'json' ? ['--json'] : [])),
        { code: 7, names: ['getQueue', proxy.host], ...(format === 'json' ? { format } : {}) },
        { env },
      )
      expect(said.out).toBe('')
      hidden(said)
      expect(proxy.connectRequests).toHaveLength(1)
      expect(came()).toHaveLength(0)
    },
  )

  testWith('openssl')(
    'a change that the proxy answers with 407 was not sent, and is not repeated',
    async () => {
      const { env, proxy, base } = await asksForLogin()
      const said = await run(
        ask(base, 'pr', 'submit', '7'),
        { code: 7, names: ['submitPullRequest', proxy.host] },
        { env },
      )
      hidden(said)
      expect(said.err).toMatch(/nothing was sent/i)
      expect(proxy.connectRequests).toHaveLength(1)
    },
  )

  testWith('sh').each([
    ['queue get', 'getQueue'],
    ['pr submit 7', 'submitPullRequest'],
  ])(
    '%s through a proxy that refuses the connection names the proxy and no password',
    async (line, operation) => {
      const port = await closedPort()
      const said = await run(
        ask(`https://${name}/v1`, ...line.split(' '), '--retries', '0'),
        { code: 7, names: [operation, `127.0.0.1:${port}`] },
        { env: { HTTPS_PROXY: `http://someone:s3cret@127.0.0.1:${port}` } },
      )
      hidden(said)
      expect(said.err).toMatch(/nothing was sent/i)
      expect(said.out).toBe('')
    },
  )

  testWith('sh')('a proxy whose name does not resolve is named, and no password', async () => {
    const said = await run(
      ask(`https://${name}/v1`, 'queue', 'get', '--retries', '0'),
      { code: 7, names: ['getQueue', 'proxy.acme.test'] },
      { env: { ...withHostNames(home, names), HTTPS_PROXY: 'http://someone:s3cret@proxy.acme.test:3128' } },
    )
    hidden(said)
  })

  const refusals: readonly (readonly [what: string, instead: string])[] = [
    ['403', 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'],
    ['502', 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'],
    ['a redirect', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'],
  ]
  const breaks: readonly (readonly [what: string, instead: string])[] = [
    ['an SSH banner', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
    ['a reset', 'reset'],
    ['silence', 'silence'],
  ]
  const lines = ['queue get', 'pr submit 7'] as const
  const eachLine = (rows: typeof refusals) => rows.flatMap(row => lines.map(line => [...row, line] as const))

  /** A proxy that does not connect: the service was not reached, so a change is as safe as a read. */
  async function notConnected(instead: string, line: string) {
    const proxy = kept(await startTestProxy({ reply: instead }))
    const said = await run(
      ask(`https://${name}/v1`, ...line.split(' '), '--retries', '0', '--timeout', '500ms'),
      { code: 7, names: [line === 'queue get' ? 'getQueue' : 'submitPullRequest', proxy.host] },
      { env: { HTTPS_PROXY: `http://someone:s3cret@${proxy.host}` }, timeLimit: 3_000 },
    )
    hidden(said)
    expect(said.err).toMatch(/proxy/)
    expect(said.err).toMatch(/nothing was sent/i)
    expect(said.out).toBe('')
    expect(proxy.connectRequests).toHaveLength(1)
  }
  testWith('openssl').each(eachLine(refusals))(
    'the proxy answers %s (%j): %s is unavailable, and nothing was sent',
    (_, instead, line) => notConnected(instead, line),
  )
  test.each(eachLine(breaks))(
    'the proxy answers with %s (%j): %s is unavailable, and nothing was sent',
    (_, instead, line) => notConnected(instead, line),
  )

  testWith('openssl')(
    'a proxy that could not connect is asked again, as often as --retries says',
    async () => {
      const proxy = kept(await startTestProxy({}))
      await run(
        ask(`https://${name}/v1`, 'pr', 'submit', '7', '--retries', '1'),
        { code: 7, names: ['submitPullRequest', proxy.host] },
        { env: { HTTPS_PROXY: `http://${proxy.host}` } },
      )
      expect(proxy.connectRequests).toHaveLength(2)
    },
  )

  test.each(['socks5://someone:s3cret@127.0.0.1:1080', 'http://someone:s3cret@[', 'someone:s3cret'])(
    '%s is no proxy: refused here, without its password',
    async address => {
      const said = await run(
        ask(`https://${name}/v1`, 'queue', 'get'),
        { code: 2 },
        { env: { HTTPS_PROXY: address } },
      )
      hidden(said)
      expect(said.err).toContain('HTTPS_PROXY')
    },
  )

  describe('a proxy that we did not write', () => {
    /** Runs tinyproxy in front of our own, which alone can lead names to loopback. */
    async function openTinyproxy(upstream: string, login?: string) {
      const port = await closedPort()
      const file = home.path(`tinyproxy-${port}.conf`)
      const lines = [
        `Port ${port}`,
        'Listen 127.0.0.1',
        'Timeout 20',
        'MaxClients 10',
        'StartServers 1',
        `LogFile "${home.path(`tinyproxy-${port}.log`)}"`,
        'LogLevel Info',
        `Upstream http ${upstream}`,
        ...(login === undefined ? [] : [`BasicAuth ${login.replace(':', ' ')}`]),
      ]
      writeFileSync(file, `${lines.join('\n')}\n`)
      const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' })
      kept({ close: () => child.kill('SIGKILL') })
      for (let tries = 200; tries > 0; tries--) {
        const isOpen = await new Promise<boolean>(resolve => {
          const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
          socket.on('close', () => resolve(false)).unref()
          socket.on('connect', () => socket.destroy())
        })
        if (isOpen)
          return {
            host: `127.0.0.1:${port}`,
            log: () => readFileSync(home.path(`tinyproxy-${port}.log`), 'utf8'),
          }
        await pause(20)
      }
      return expect.fail('tinyproxy does not listen')
    }

    testWith('tinyproxy')('tinyproxy carries a read and a change', async () => {
      const { env, proxy, base, came, target } = await proxied()
      const tiny = await openTinyproxy(proxy.host)
      const options = { env: { ...env, HTTPS_PROXY: `http://${tiny.host}` } }
      await run(getQueue(base), queueRead, options)
      await run(ask(base, 'pr', 'submit', '7', '--json'), queueRead, options)
      expect(proxy.connectRequests.map(one => one.target)).toEqual([target, target])
      expect(came()).toHaveLength(2)
      expect(tiny.log()).toContain(`CONNECT ${target}`)
    })

    testWith('tinyproxy')('tinyproxy accepts valid credentials, and its 407 is reported once', async () => {
      const { env, proxy, base, came } = await proxied()
      const tiny = await openTinyproxy(proxy.host, 'someone:s3cret')
      await run(getQueue(base), queueRead, {
        env: { ...env, HTTPS_PROXY: `http://someone:s3cret@${tiny.host}` },
      })
      expect(came()).toHaveLength(1)
      const { err } = await run(
        ask(base, 'queue', 'get'),
        { code: 7, names: ['getQueue', tiny.host, '407'] },
        { env: { ...env, HTTPS_PROXY: `http://${tiny.host}` } },
      )
      expect(err).not.toMatch(/again/)
      expect(proxy.connectRequests).toHaveLength(1)
    })

    testWith('tinyproxy')(
      'the 401 of tinyproxy to a wrong password is a refused login, reported once',
      async () => {
        const { env, proxy, base } = await proxied()
        const tiny = await openTinyproxy(proxy.host, 'someone:else')
        const said = await run(
          ask(base, 'queue', 'get'),
          { code: 7, names: ['getQueue', tiny.host] },
          { env: { ...env, HTTPS_PROXY: `http://someone:s3cret@${tiny.host}` } },
        )
        hidden(said)
        expect(said.err).not.toMatch(/retrying in/)
      },
    )
  })
})

describe('certificates', () => {
  const noSwitch = /REJECT_UNAUTHORIZED|insecure|--no-?check|disable|turn.*off|-k\b/i

  testWith('openssl')('a self-signed certificate is not trusted, until it is added', async () => {
    const { env } = await secured()
    const file = home.path('self.pem')
    const key = home.path('self.key')
    const made = [
      '-nodes',
      '-keyout',
      key,
      '-out',
      file,
      '-days',
      '2',
      '-subj',
      '/CN=self',
      '-addext',
      `subjectAltName=DNS:${name}`,
    ]
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...made],
      { stdio: 'pipe' },
    )
    const tls = { cert: readFileSync(file, 'utf8'), key: readFileSync(key, 'utf8') }
    const service = kept(await startTestServer({ tls, answer: good }))
    const base = service.baseUrl(name)
    const { err } = await run(
      ask(base, 'queue', 'get'),
      { code: 7, names: ['getQueue', `${name}:${service.port}`] },
      { env },
    )
    expect(err).toMatch(/certificate .*not trusted/)
    expect(err).toMatch(/--ca-file .*NODE_EXTRA_CA_CERTS/)
    expect(err).not.toMatch(noSwitch)
    expect({ asked: service.requests, connections: service.connectionCount() }).toEqual({
      asked: [],
      connections: 1,
    })
    await run(getQueue(base), queueRead, { env: { ...env, NODE_EXTRA_CA_CERTS: file } })
    await run([...getQueue(base), '--ca-file', file], queueRead, { env })
  })

  testWith('openssl')(
    'a change to a service whose authority is not known was not sent, and leaves no receipt',
    async () => {
      const { env, service } = await secured()
      const before = service.requests.length
      const { out, err } = await run(
        ask(service.baseUrl(name), 'pr', 'submit', '7', '--json'),
        { code: 7, format: 'json', names: ['submitPullRequest', name] },
        { env: { ...env, NODE_EXTRA_CA_CERTS: undefined } },
      )
      expect(out).toBe('')
      expect(JSON.parse(err).error.hint).not.toMatch(noSwitch)
      expect(service.requests).toHaveLength(before)
    },
  )

  /** Two services, each with an authority of its own. */
  async function twoServices() {
    const { authority, env, service } = await secured()
    const second = createCertificateAuthority(home, 'second')
    const other = kept(await startTestServer({ tls: second.issue(`DNS:${name}`), answer: good }))
    // The defaults of this machine, for once with an authority of ours among them.
    const defaults = {
      ...env,
      NODE_OPTIONS: `${env.NODE_OPTIONS} --use-openssl-ca`,
      SSL_CERT_FILE: authority.file,
      NODE_EXTRA_CA_CERTS: undefined,
    }
    const both = async (words: readonly string[], variables: RunOptions['env'] = {}) => {
      for (const peer of [service, other])
        await run([...getQueue(peer.baseUrl(name)), ...words], queueRead, { env: { ...variables } })
    }
    return { env, defaults, both, second: second.file }
  }

  testWith('openssl')('--ca-file adds to the defaults, and takes nothing away', async () => {
    const { both, defaults, second } = await twoServices()
    await both(['--ca-file', second], defaults)
  })

  testWith('openssl')('NODE_EXTRA_CA_CERTS adds to the defaults, and takes nothing away', async () => {
    const { both, defaults, second } = await twoServices()
    await both([], { ...defaults, NODE_EXTRA_CA_CERTS: second })
  })

  testWith('openssl')('--ca-file and NODE_EXTRA_CA_CERTS apply together', async () => {
    const { both, env, second } = await twoServices()
    await both(['--ca-file', second], env)
  })

  testWith('openssl')('a file of several authorities, text between them, adds them all', async () => {
    const { authority, env, service } = await secured()
    const file = home.path('bundle.pem')
    writeFileSync(
      file,
      `# first\n${createCertificateAuthority(home, 'unrelated').pem}\n# second\n${authority.pem}`,
    )
    const options = { env: { ...env, NODE_EXTRA_CA_CERTS: undefined } }
    await run([...getQueue(service.baseUrl(name)), '--ca-file', file], queueRead, options)
  })

  testWith('openssl')('--ca-file also applies behind a proxy', async () => {
    const { authority, env, proxy, base } = await proxied()
    await run([...getQueue(base), '--ca-file', authority.file], queueRead, {
      env: { ...env, NODE_EXTRA_CA_CERTS: undefined, HTTPS_PROXY: `http://${proxy.host}` },
    })
    expect(proxy.connectRequests).toHaveLength(1)
  })

  const badFiles: readonly (readonly [what: string, make: () => string])[] = [
    ['that is not there', () => home.path('none.pem')],
    ['that is a folder', () => home.folder],
    ['that is no certificate', () => written('text.pem', 'hello\n')],
    ['that is empty', () => written('empty.pem', '')],
    [
      'whose certificate is damaged',
      () => written('damaged.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
    ],
  ]
  const written = (file: string, text: string) => {
    writeFileSync(home.path(file), text)
    return home.path(file)
  }
  test.each(badFiles)('a --ca-file %s is refused here, and named', async (_, make) => {
    const service = kept(await startTestServer({ answer: good }))
    const { err } = await run([...ask(service.baseUrl(), 'queue', 'get'), '--ca-file', make()], { code: 2 })
    expect(err).toMatch(/--ca-file/)
    expect(service.connectionCount()).toBe(0)
  })

  testWith('openssl')('NODE_TLS_REJECT_UNAUTHORIZED=0 does not make a bad certificate good', async () => {
    const { env, service } = await secured()
    const before = service.requests.length
    const { out, err } = await run(
      getQueue(service.baseUrl(name)),
      { code: 7, format: 'json', names: ['getQueue', name] },
      { env: { ...env, NODE_EXTRA_CA_CERTS: undefined, NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    )
    expect(out).toBe('')
    expect(err).toMatch(/^mergeq: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored/)
    expect(service.requests).toHaveLength(before)
  })

  testWith('openssl')(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is reported once, in our own words and no others',
    async () => {
      const { env, service } = await secured()
      const { err } = await run(getQueue(service.baseUrl(name)), queueRead, {
        env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      })
      expect(err).toMatch(/^mergeq: NODE_TLS_REJECT_UNAUTHORIZED=0 [^\n]*\n$/)
    },
  )

  testWith('openssl')('the same behind a proxy and for several changes', async () => {
    const { env, proxy, base } = await proxied()
    const { err } = await run(
      ask(base, 'pr', 'submit', '7', '8', '--json'),
      { code: 0, format: 'json', documents: 2 },
      { env: { ...env, HTTPS_PROXY: `http://${proxy.host}`, NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    )
    expect(err).toMatch(/^mergeq: NODE_TLS_REJECT_UNAUTHORIZED=0 [^\n]*\n$/)
  })

  testWith('openssl').each(['queue get', 'pr submit 7'])(
    '%s to a certificate for another name ends before the token is sent',
    async line => {
      const { authority, env } = await secured()
      const service = kept(
        await startTestServer({ tls: authority.issue('DNS:other.acme.test'), answer: good }),
      )
      const { err, out } = await run(
        ask(service.baseUrl(name), ...line.split(' ')),
        { code: 7, names: [`${name}:${service.port}`] },
        { env },
      )
      expect(err).toMatch(/a different host name/)
      expect({ out, asked: service.requests, connections: service.connectionCount() }).toEqual({
        out: '',
        asked: [],
        connections: 1,
      })
    },
  )

  testWith('openssl')('the same behind a proxy', async () => {
    const { authority, env } = await secured()
    const service = kept(await startTestServer({ tls: authority.issue('DNS:other.acme.test'), answer: good }))
    const proxy = kept(await startTestProxy({ routes: new Map([[`${name}:443`, service.port]]) }))
    const { err } = await run(
      ask(`https://${name}/v1`, 'pr', 'submit', '7'),
      { code: 7, names: ['submitPullRequest', name] },
      {
        env: { ...env, HTTPS_PROXY: `http://${proxy.host}` },
      },
    )
    expect(err).toMatch(/a different host name/)
    expect(service.requests).toEqual([])
  })

  testWith('openssl')('a port that speaks no TLS ends before the token is sent', async () => {
    const { env } = await secured()
    const service = kept(await startTestServer({ answer: good }))
    await run(
      ask(`https://${name}:${service.port}/v1`, 'pr', 'submit', '7', '--retries', '0'),
      { code: 7, names: ['submitPullRequest', `${name}:${service.port}`] },
      { env },
    )
    expect(service.requests).toEqual([])
  })
})

describe('addresses', () => {
  testWith('openssl')('--timeout applies while a service does not complete the TLS handshake', async () => {
    const silent = kept(await startRawServer('silence'))
    await run(
      ask(`https://${silent.host}/v1`, 'queue', 'get', '--retries', '0', '--timeout', '1s'),
      { code: 7, names: ['getQueue', silent.host] },
      { timeLimit: 4_000 },
    )
    expect(silent.opened()).toBe(1)
  })

  test('a host that does not resolve is named', async () => {
    const { out } = await run(
      ask('https://mergeq.invalid/v1', 'queue', 'get', '--retries', '0', '--timeout', '15s'),
      { code: 7, names: ['getQueue', 'mergeq.invalid'] },
    )
    expect(out).toBe('')
  })

  test('a change to a host that does not resolve was not sent, is safe to repeat, and leaves no receipt', async () => {
    const { err, out } = await run(
      ask('https://mergeq.invalid/v1', 'pr', 'submit', '7', '--retries', '0', '--json'),
      { code: 7, format: 'json', names: ['submitPullRequest', 'mergeq.invalid'] },
      { env: withHostNames(home, { nothing: [] }) },
    )
    expect(JSON.parse(err).error.hint).toMatch(/nothing was sent.*safe/i)
    expect(out).toBe('')
  })

  test.each(['queue get', 'pr submit 7'])(
    '%s to a localhost that refuses both families names host and port',
    async line => {
      const port = await closedPort()
      const { out } = await run(
        ask(`http://localhost:${port}/v1`, ...line.split(' '), '--retries', '0'),
        { code: 7, names: [`localhost:${port}`] },
        { env: withHostNames(home, { localhost: ['::1', '127.0.0.1'] }) },
      )
      expect(out).toBe('')
    },
  )

  test('if one address family refuses, the other is used', async () => {
    const service = kept(await startTestServer({ answer: good }))
    await run(getQueue(service.baseUrl('localhost')), queueRead, {
      env: withHostNames(home, { localhost: ['::1', '127.0.0.1'] }),
    })
    expect(service.requests).toHaveLength(1)
  })

  test('[::1] works, and messages keep its brackets', async () => {
    const service = kept(
      await startTestServer({
        hostname: '::1',
        answer: (asked, index) => (index === 0 ? good(asked) : { status: 500 }),
      }),
    )
    await run(getQueue(service.baseUrl()), queueRead)
    expect(service.requests[0]?.headers.get('host')).toBe(`[::1]:${service.port}`)
    const words = ['queue', 'get', '--retries', '0']
    await run(ask(service.baseUrl(), ...words), { code: 7, names: [`[::1]:${service.port}`] })
    const port = await closedPort()
    await run(ask(`http://[::1]:${port}/v1`, ...words), { code: 7, names: [`[::1]:${port}`] })
  })

  testWith('openssl')('[::1] works behind TLS, by its address in the certificate', async context => {
    // In this version, tls.connect itself compares an IPv6 address with the names in the certificate only.
    if (process.version === 'v22.23.3') context.skip()
    const { authority, env } = await secured()
    const service = kept(
      await startTestServer({ hostname: '::1', tls: authority.issue('IP:::1'), answer: good }),
    )
    await run(getQueue(service.baseUrl()), queueRead, { env })
  })

  test('a cookie is never sent back', async () => {
    const service = kept(
      await startTestServer({
        answer: (_, index) => ({
          headers: { 'set-cookie': ['session=1; Path=/', 'other=2'] },
          body: JSON.stringify({
            tests: [{ id: `id-${index}`, name: `test ${index}` }],
            page: { next_page_token: index === 0 ? 'more' : '' },
          }),
        }),
      }),
    )
    await run(ask(service.baseUrl(), 'flaky', 'list', '--json'), queueRead)
    expect(service.requests.map(({ headers }) => headers.has('cookie'))).toEqual([false, false])
  })
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
  async function send(url: string, method: 'GET' | 'POST', env: Readonly<Record<string, string>> = {}) {
    const { default: requestBy } = await import('undici/lib/api/api-request.js')
    const ways = createConnectionPools(env, { isLoopback })
    try {
      const { origin, pathname } = new URL(url)
      const body = method === 'POST' ? new TextEncoder().encode('{}') : null
      const answer = await requestBy.call(ways.poolFor(new URL(url), false).dispatcher, {
        origin,
        path: pathname,
        method,
        body,
      })
      const pieces: Uint8Array[] = []
      for await (const piece of answer.body) pieces.push(piece)
      return { status: answer.statusCode, bytes: Buffer.concat(pieces) }
    } finally {
      await ways.close()
    }
  }

  test.each([
    ['GET', 301],
    ['POST', 302],
    ['POST', 303],
    ['POST', 307],
    ['GET', 308],
  ] as const)('a %s with status %i is returned unchanged, and not followed', async (method, status) => {
    const other = kept(await startTestServer({ answer: good }))
    const service = kept(
      await startTestServer({ answer: () => ({ status, headers: { location: other.baseUrl() } }) }),
    )
    expect((await send(service.baseUrl(), method)).status).toBe(status)
    expect(other.connectionCount()).toBe(0)
  })

  test.each(['GET', 'POST'] as const)(
    'a %s whose connection breaks is not repeated by itself',
    async method => {
      const service = kept(await startTestServer({ answer: () => 'reset' }))
      await expect(send(service.baseUrl(), method)).rejects.toMatchObject({
        code: expect.stringMatching(/^(UND_ERR_SOCKET|ECONNRESET)$/),
      })
      expect(service.requests).toHaveLength(1)
    },
  )

  test.each(['GET', 'POST'] as const)(
    'a %s with status 503 or 429 is not retried by the client',
    async method => {
      const service = kept(
        await startTestServer({
          answer: (_, index) => ({ status: index === 0 ? 503 : 429, headers: { 'retry-after': '0' } }),
        }),
      )
      expect((await send(service.baseUrl(), method)).status).toBe(503)
      expect((await send(service.baseUrl(), method)).status).toBe(429)
      expect(service.requests).toHaveLength(2)
    },
  )

  test('headers end at 16 KiB', async () => {
    const service = kept(
      await startTestServer({
        answer: (_, index) => ({
          headers: { 'x-long': 'x'.repeat((15 + 2 * index) * 1024) },
          body: queueDocument,
        }),
      }),
    )
    expect((await send(service.baseUrl(), 'GET')).status).toBe(200)
    await expect(send(service.baseUrl(), 'GET')).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_OVERFLOW' })
  })

  test('over 16 KiB of headers are an error, in any number of pieces', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'x'.repeat(64)]))
    for (const headers of [{ 'x-long': 'x'.repeat(17 * 1024) }, many]) {
      const service = kept(await startTestServer({ answer: () => ({ headers, body: queueDocument }) }))
      const names = ['getQueue', service.host]
      await run(ask(service.baseUrl(), 'queue', 'get', '--retries', '0'), { code: 15, names })
      expect(service.requests).toHaveLength(1)
    }
  })

  test('a compressed body is returned unchanged: the caller limits its size', async () => {
    const body = gzipSync(queueDocument)
    const service = kept(
      await startTestServer({ answer: () => ({ headers: { 'content-encoding': 'gzip' }, body }) }),
    )
    expect((await send(service.baseUrl(), 'GET')).bytes).toEqual(body)
  })

  test('a body that is cut is an error', async () => {
    const service = kept(await startRawServer('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"state"'))
    await expect(send(service.base, 'POST')).rejects.toMatchObject({
      code: expect.stringMatching(/^UND_ERR_|^ECONNRESET$/),
    })
  })

  testWith('sh')('the environment of the process is not read if the proxy was given', async () => {
    const proxy = kept(await startTestProxy({}))
    const args = { HTTPS_PROXY: `http://${proxy.host}` }
    try {
      vi.stubEnv('NO_PROXY', '*')
      await expect(send(`https://${name}/v1`, 'GET', args)).rejects.toThrow()
      expect(proxy.connectRequests.map(({ target }) => target)).toEqual([`${name}:443`])
      vi.stubEnv('HTTPS_PROXY', `http://${proxy.host}`)
      vi.stubEnv('NO_PROXY', '')
      await expect(send('https://mergeq.invalid/v1', 'GET')).rejects.toThrow()
      expect(proxy.connectRequests).toHaveLength(1)
    } finally {
      vi.unstubAllEnvs()
    }
  })

  testWith('openssl')('HTTP/1.1 is used even if HTTP/2 is offered', async () => {
    const { env, service } = await secured()
    await run(getQueue(service.baseUrl(name)), queueRead, { env })
    expect(service.requests.at(-1)?.headers.get('connection')).toBe('keep-alive')
  })
})
