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

const run = (line: string, answers: Answers, env = {}) => {
  network.answers = answers
  return mergeq(line, { env: { MERGEQ_BASE_URL: '', ...env } })
}

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
