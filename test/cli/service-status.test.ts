import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Attempt as TransportAttempt } from '../../src/http/undici.ts'
import { mergeq } from '../support/harness.ts'
import { restoreTransport } from '../support/replaced-transport.ts'

/** What is returned in the place of the network, by operation: a status and a body. */
type Answers = Readonly<Record<string, readonly [status: number, body: string]>>

interface Attempt {
  readonly operation: string
  readonly hasToken: boolean
  readonly limit: number
}
const network = vi.hoisted((): { answers: Answers; attempts: Attempt[] } => ({ answers: {}, attempts: [] }))

// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
restoreTransport()
vi.mock('../../src/http/undici.ts', async () => {
  const { replacedTransport } = await import('../support/replaced-transport.ts')
  return replacedTransport(
    async (_: unknown, { request: { operation }, headers, limit, onBegin }: TransportAttempt) => {
      onBegin?.()
      network.attempts.push({ operation, hasToken: 'x-api-token' in headers, limit })
      const [status, body] = network.answers[operation] ?? [503, '']
      return { status, headers: new Map(), bytes: new TextEncoder().encode(body) }
    },
  )
})
beforeEach(() => {
  network.attempts.length = 0
})

const where = '-R acme/web -b main'
const run = (line: string, answers: Answers, env = {}) => {
  network.answers = answers
  return mergeq(line, { env: { MERGEQ_BASE_URL: '', ...env } })
}
const operations = () => network.attempts.map(({ operation }) => operation)
const plain =
  'mergeq: api.trunk.io could not process the request for #7 in the queue for main in github.com/acme/web (503).\n  Try again later.\n'

describe('an unavailable service at the default base URL', () => {
  test.each([
    ['a word', '{"status":"degraded"}', 'degraded.'],
    ['a sentence', '{"status":{"description":"Partial outage!"}}', 'Partial outage!'],
    ['a text', 'maintenance until noon', 'maintenance until noon.'],
  ])('the error has what the service says about an outage: %s', async (_, body, words) => {
    const { code, err } = await run(`pr get 7 ${where} --retries 1 -q`, { status: [200, body] })
    expect(code).toBe(7)
    expect(err).toBe(plain.replace('(503).', `(503). The service reports an outage: ${words}`))
    expect(operations()).toEqual(['getSubmittedPullRequest', 'getSubmittedPullRequest', 'status'])
    expect(network.attempts.at(-1)).toEqual({ operation: 'status', hasToken: false, limit: 3_000 })
  })

  test.each([
    ['all is well', [200, '{"status":"ok"}']],
    ['there is nothing in the answer', [200, '{}']],
    ['all is well, as a text', [200, 'OK']],
    ['there is no status', [404, 'Not Found']],
    ['the status cannot be read either', [503, 'outage']],
    ['a web page answers', [404, '<!doctype html><title>x</title>']],
  ] as const)('without a report the error stays the same: %s', async (_, status) => {
    const { code, err } = await run(`pr get 7 ${where} --retries 1 -q`, { status })
    expect({ code, err }).toEqual({ code: 7, err: plain })
    expect(operations()).toEqual(['getSubmittedPullRequest', 'getSubmittedPullRequest', 'status'])
  })

  test('several requests that fail ask once', async () => {
    const { err } = await run(`pr get 7 8 ${where} --retries 1 -q`, { status: [200, 'down'] })
    expect(operations().filter(name => name === 'status')).toHaveLength(1)
    expect(err.match(/The service reports an outage: down\./g)).toHaveLength(2)
  })

  test('a command with its own logic reports it too', async () => {
    const { code, err } = await run(`queue check --max-depth 1 ${where} --retries 1`, {
      status: [200, 'down'],
    })
    expect(code).toBe(7)
    expect(err).toContain('The service reports an outage: down.')
  })

  test.each([
    ['--retries 0 is one request', `pr get 7 ${where} --retries 0`, { status: [200, 'down'] }, {}],
    [
      'another base URL',
      `pr get 7 ${where} --retries 1`,
      { status: [200, 'down'] },
      { MERGEQ_BASE_URL: 'https://queue.example.test/v1' },
    ],
    [
      'another error',
      `pr get 7 ${where} --retries 1`,
      { status: [200, 'down'], getSubmittedPullRequest: [404, ''] },
      {},
    ],
  ] as const)('no further request: %s', async (_, line, answers, env) => {
    const { err } = await run(line, answers, env)
    expect(err).not.toContain('outage')
    expect(operations()).not.toContain('status')
  })
})

describe('api status', () => {
  test('needs no token, no repository and no branch', async () => {
    const { code, out, err } = await run(
      'api status',
      { status: [200, '{"status":"ok"}'] },
      { MERGEQ_TOKEN: '' },
    )
    expect({ code, out, err }).toEqual({ code: 0, out: '{"status":"ok"}', err: '' })
    expect(network.attempts).toEqual([{ operation: 'status', hasToken: false, limit: 30_000 }])
  })

  test('its preview has no token', async () => {
    const { code, out } = await run('api status --dry-run', {}, { MERGEQ_TOKEN: '' })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      operation: 'status',
      method: 'GET',
      url: 'https://api.trunk.io/v1/status',
      headers: { accept: '*/*', 'user-agent': 'mergeq/0.0.0-test' },
    })
  })

  test('where it is missing, the error says so', async () => {
    const { code, err } = await run('api status', { status: [404, 'Not Found'] })
    expect(code).toBe(5)
    expect(err).toContain('api.trunk.io returned 404 (not found): the service has no operation status.\n')
  })

  test('a 401 does not blame a token that was not sent', async () => {
    const { code, err } = await run('api status', { status: [401, ''] })
    expect(code).toBe(4)
    expect(err).toBe(
      'mergeq: api.trunk.io rejected a request without a token (401).\n  The operation status does not require a token, but the service rejected the request. Check the base URL, and any proxy in front of the service.\n',
    )
  })
})
