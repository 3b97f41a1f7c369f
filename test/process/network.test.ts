import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { createCertificateAuthority } from '../support/certificates.ts'
import { closeAfterTests } from '../support/close-after-tests.ts'
import { checkGeneralRules, type ExpectedResult } from '../support/command-checks.ts'
import { testWith } from '../support/programs.ts'
import {
  freePort,
  type ReceivedRequest,
  type ServerReply,
  startTestServer,
  withHostNames,
} from '../support/service.ts'
import { openTestFolder } from '../support/test-folder.ts'
import { startTestProxy } from '../support/test-proxy.ts'

const kept = closeAfterTests()
const home = kept(openTestFolder())

const good = ({ path }: ReceivedRequest): ServerReply => ({
  body: path.endsWith('/getQueue') ? '{"state":"RUNNING","concurrency":2,"enqueuedPullRequests":[]}' : 'OK',
})

type Environment = Readonly<Record<string, string | undefined>>

/** Runs the built program and checks what came out. */
async function run(line: string, base: string, expected: ExpectedResult, env: Environment) {
  const result = await home.run([...line.split(' '), '--base-url', base], { env })
  checkGeneralRules(result, expected)
  return result
}

const name = 'queue.acme.test'

/** A service behind TLS, whose authority the environment trusts, and a proxy that leads to it. */
async function secured(authorityName = 'ca') {
  const authority = createCertificateAuthority(home, authorityName)
  const tls = authority.issue(`DNS:${name}`, 'DNS:localhost')
  const service = kept(await startTestServer({ tls, answer: good }))
  const target = `${name}:${service.port}`
  const proxy = kept(await startTestProxy({ routes: new Map([[target, service.port]]) }))
  const hosts = withHostNames(home, { [name]: ['127.0.0.1'] })
  const env: Environment = { ...hosts, NODE_EXTRA_CA_CERTS: authority.file }
  return { authority, tls, service, target, proxy, env, base: service.baseUrl(name) }
}

const one: ExpectedResult = { code: 0, format: 'json' }

/** Runs tinyproxy, which we did not write, in front of our own, which alone can lead names to loopback. */
async function openTinyproxy(upstream: string, login: string) {
  const port = await freePort()
  const file = home.path(`tinyproxy-${port}.conf`)
  const log = home.path(`tinyproxy-${port}.log`)
  const lines = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 20',
    'MaxClients 10',
    'StartServers 1',
    `LogFile "${log}"`,
    'LogLevel Info',
    `Upstream http ${upstream}`,
    `BasicAuth ${login.replace(':', ' ')}`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' })
  kept({ close: () => child.kill('SIGKILL') })
  const isOpen = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (!(await isOpen())) await pause(20)
  return { host: `127.0.0.1:${port}`, log: () => readFileSync(log, 'utf8') }
}

testWith('tinyproxy')(
  'tinyproxy carries a read and a change, and reports a missing or wrong login once',
  async () => {
    const { base, env, proxy, target } = await secured()
    const tiny = await openTinyproxy(proxy.host, 'someone:s3cret')
    const login = { ...env, HTTPS_PROXY: `http://someone:s3cret@${tiny.host}` }
    await run('queue get --json', base, one, login)
    await run('pr submit 7 --json', base, one, login)
    expect(proxy.connectRequests.map(connectRequest => connectRequest.target)).toEqual([target, target])
    expect(tiny.log()).toContain(`CONNECT ${target}`)
    for (const [user, status] of [
      ['', '407'],
      ['someone:wr0ng@', '401'],
    ] as const) {
      const HTTPS_PROXY = `http://${user}${tiny.host}`
      const names = ['getQueue', tiny.host, status]
      const { out, err } = await run('queue get', base, { code: 7, names }, { ...env, HTTPS_PROXY })
      expect(out + err).not.toMatch(/retrying in|someone|wr0ng/)
    }
    expect(proxy.connectRequests).toHaveLength(2)
  },
)

testWith('openssl').each(['NODE_EXTRA_CA_CERTS', '--ca-file', 'MERGEQ_CA_FILE'])(
  '%s adds to the authorities of this machine, and takes none away',
  async way => {
    const first = await secured('first')
    const second = await secured('second')
    // The defaults of this machine, for once with an authority of ours among them.
    const env = {
      NODE_OPTIONS: `${first.env.NODE_OPTIONS} --use-openssl-ca`,
      SSL_CERT_FILE: first.authority.file,
      NODE_EXTRA_CA_CERTS: undefined,
      ...(way === '--ca-file' ? {} : { [way]: second.authority.file }),
    }
    const line = `queue get --json${way === '--ca-file' ? ` --ca-file ${second.authority.file}` : ''}`
    for (const { base } of [first, second]) await run(line, base, one, env)
  },
)

testWith('openssl')(
  'NODE_TLS_REJECT_UNAUTHORIZED=0 makes no bad certificate good, and is reported once, in our words',
  async () => {
    const { base, env, proxy, service } = await secured()
    const ignored = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const refused: ExpectedResult = { code: 7, format: 'json', names: ['getQueue', name] }
    const unknown = { ...ignored, NODE_EXTRA_CA_CERTS: undefined }
    const { out, err } = await run('queue get --json', base, refused, unknown)
    expect(out).toBe('')
    expect(err).toMatch(/^mergeq: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored/)
    expect(service.requests).toEqual([])
    for (const more of [{}, { HTTPS_PROXY: `http://${proxy.host}` }]) {
      const several: ExpectedResult = { code: 0, format: 'json', documents: 2 }
      const ran = await run('pr submit 7 8 --json', base, several, { ...ignored, ...more })
      expect(ran.err).toMatch(/^mergeq: NODE_TLS_REJECT_UNAUTHORIZED=0 [^\n]*\n$/)
    }
  },
)
