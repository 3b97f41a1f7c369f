import { expect, test } from 'vitest'
import { ProxyConnectionError } from '../../src/http/proxy.ts'
import { classifyError } from '../../src/http/transport-error.ts'

const read = {
  operation: 'getQueue',
  host: 'queue.example',
  proxy: undefined,
  proxies: { name: 'HTTPS_PROXY', check: 'Check the proxy in HTTPS_PROXY, or bypass it with NO_PROXY.' },
  began: true,
  limit: 1_000,
  nameOf: (setting: string) => (setting === 'caFile' ? '--ca-file' : '--timeout'),
}

const failed = (details: object): Error => Object.assign(new Error(), details)

test.each(['ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])(
  'a lookup that fails with %s is an error of DNS, and nothing was sent',
  code => {
    const failure = failed({ code, syscall: 'getaddrinfo', hostname: 'queue.example' })
    const { error } = classifyError(new TypeError('fetch failed', { cause: failure }), read)
    expect(error.details).toMatchObject({ sentState: 'not-sent', failedStep: 'dns' })
    expect(error.message).toBe('The host name queue.example could not be resolved (DNS).')
  },
)

test('the hint on a certificate names what adds an authority, in the store of the system too', () => {
  const failure = failed({ code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  const { hint } = classifyError(failure, { ...read, began: false }).error.details
  expect(hint).toBe(
    'If your network uses its own certificate authority, add it with --ca-file <pem> or NODE_EXTRA_CA_CERTS. ' +
      'From Node 22.15 on, NODE_OPTIONS=--use-system-ca adds those of the system. Nothing was sent; it is safe to try again.',
  )
})

test.each([
  ['CERT_HAS_EXPIRED', 'has expired', /^Check the date and time of this machine\. /],
  ['CERT_NOT_YET_VALID', 'is not valid yet', /^Check the date and time of this machine\. /],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for a different host name', /^Check the base URL\. /],
  ['CERT_REVOKED', 'is not accepted (CERT_REVOKED)', /^The server needs another certificate\. /],
])('a certificate with %s says that it %s, and does not advise another authority', (code, problem, hint) => {
  const { error } = classifyError(failed({ code }), { ...read, began: false })
  expect(error.message).toBe(`The certificate of queue.example ${problem}.`)
  expect(error.details.hint).toMatch(hint)
  expect(error.details.hint).not.toContain('--ca-file')
})

test('a failure of TLS is no error of a certificate', () => {
  const code = 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'
  const { error } = classifyError(failed({ code }), { ...read, began: false })
  expect(error.message).toBe(`TLS with queue.example failed (${code}).`)
})

test.each([
  new ReferenceError('WebAssembly is not defined'),
  new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance'),
])('without WebAssembly (%s) nothing is sent, and trying again does not help', failure => {
  const { error, retryable } = classifyError(failure, read)
  expect({ kind: error.kind, sent: error.details.sentState, retryable }).toEqual({
    kind: 'usage',
    sent: 'not-sent',
    retryable: false,
  })
  expect(error.message).toBe('The HTTP client needs WebAssembly, which Node could not load.')
})

test('of several failures of a connection the first says what happened', () => {
  const failures = ['ECONNREFUSED', 'ENETUNREACH'].map(code => failed({ code }))
  const { error } = classifyError(new AggregateError(failures), { ...read, began: false })
  expect({ sent: error.details.sentState, message: error.message }).toEqual({
    sent: 'not-sent',
    message: 'queue.example refused the connection.',
  })
})

const proxy = 'proxy.example:3128'
const closed = 'The connection to queue.example was closed before'
test.each([
  ['EHOSTUNREACH', { began: false }, 'not-sent', 'queue.example could not be reached.'],
  ['EHOSTUNREACH', { began: true }, 'ambiguous', `${closed} the response was complete.`],
  ['ECONNRESET', { began: false }, 'not-sent', `${closed} anything was sent.`],
  ['ECONNRESET', { began: true }, 'ambiguous', `${closed} the response was complete.`],
  [
    'ECONNRESET',
    { began: false, proxy },
    'not-sent',
    `Could not connect to queue.example through the proxy ${proxy} (HTTPS_PROXY).`,
  ],
  ['ECONNRESET', { began: true, proxy }, 'ambiguous', `${closed} the response was complete.`],
  ['ETIMEDOUT', { began: false }, 'not-sent', 'queue.example did not send a complete response within 1s.'],
  ['ETIMEDOUT', { began: true }, 'ambiguous', 'queue.example did not send a complete response within 1s.'],
])('%s of a request with %j is %s', (code, info, sent, message) => {
  const { error } = classifyError(failed({ code }), { ...read, ...info })
  expect({ sent: error.details.sentState, message: error.message }).toEqual({ sent, message })
  expect(error.details.hint?.includes('Nothing was sent')).toBe(sent === 'not-sent')
})

test.each(['proxy.example', '[fd00::1]:3128', 'proxy.example:3128'])(
  'whatever the port and the kind of the address, the proxy %s is named, not the service',
  proxy => {
    const info = { ...read, proxy, began: false }
    const said = (error: object) => classifyError(failed(error), info).error.message
    const name = `proxy ${proxy} (HTTPS_PROXY)`
    expect(said({ code: 'ECONNREFUSED', port: 80 })).toBe(`The ${name} refused the connection.`)
    expect(said({ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'fd00::1' })).toBe(
      `The host name of the ${name} could not be resolved (DNS).`,
    )
    expect(said({ code: 'EHOSTUNREACH' })).toBe(`The ${name} could not be reached.`)
    const through = `Could not connect to queue.example through the ${name}.`
    expect(said({ code: 'UND_ERR_CONNECT_TIMEOUT' })).toBe(through)
    const atProxy = (code: string) =>
      classifyError(new ProxyConnectionError('failed', { cause: failed({ code }) }), info).error
    const messages = {
      UND_ERR_CONNECT_TIMEOUT: `The ${name} could not be reached.`,
      ERR_TLS_CERT_ALTNAME_INVALID: `The certificate of the ${name} is for a different host name.`,
      SELF_SIGNED_CERT_IN_CHAIN: `The certificate of the ${name} is from an authority that is not trusted (SELF_SIGNED_CERT_IN_CHAIN).`,
      CERT_HAS_EXPIRED: `The certificate of the ${name} has expired.`,
      ERR_SSL_WRONG_VERSION_NUMBER: `The ${name} does not speak TLS (https).`,
      ERR_SSL_X: `TLS with the ${name} failed (ERR_SSL_X).`,
      ECONNRESET: through,
    }
    for (const [code, message] of Object.entries(messages)) {
      expect(atProxy(code).message).toBe(message)
      expect(atProxy(code).details.hint).not.toContain('base URL')
    }
  },
)

test.each([
  { code: 'ECONNREFUSED', port: 3128 },
  { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'proxy.example' },
  { code: 'ECONNRESET' },
  { message: 'Proxy response (403) !== 200 when HTTP Tunneling' },
])('the hint about a proxy that fails with %j names its variable', failure => {
  const { error } = classifyError(failed(failure), { ...read, proxy, began: false })
  expect(error.message).toContain(`proxy ${proxy} (HTTPS_PROXY)`)
  expect(error.details.hint).toMatch(/^Check the proxy in HTTPS_PROXY, or bypass it with NO_PROXY\. Nothing/)
})
