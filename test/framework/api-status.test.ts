import { describe, expect, test, vi } from 'vitest'
import { mergeq } from '../support/harness.ts'
import { network, restoreTransport } from '../support/replaced-transport.ts'

// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
restoreTransport()
vi.mock('../../src/http/undici.ts', async () => {
  const { replacedTransport } = await import('../support/replaced-transport.ts')
  return replacedTransport
})

describe('api status', () => {
  const run = async (line: string, status: number, body: string, env = {}) => {
    const attempts: object[] = []
    network.attempt = ({ request: { operation }, headers, limit, onBegin }) => {
      onBegin?.()
      attempts.push({ operation, hasToken: 'x-api-token' in headers, limit })
      return { status, headers: new Map(), bytes: Buffer.from(body) }
    }
    return { ...(await mergeq(line, { env: { MERGEQ_BASE_URL: '', ...env } })), attempts }
  }

  test('needs no token, no repository and no branch', async () => {
    const { code, out, err, attempts } = await run('api status', 200, '{"status":"ok"}', { MERGEQ_TOKEN: '' })
    expect({ code, out, err }).toEqual({ code: 0, out: '{"status":"ok"}', err: '' })
    expect(attempts).toEqual([{ operation: 'status', hasToken: false, limit: 30_000 }])
  })

  test('its preview has no token', async () => {
    const { code, out } = await run('api status --dry-run', 500, '', { MERGEQ_TOKEN: '' })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      operation: 'status',
      method: 'GET',
      url: 'https://api.trunk.io/v1/status',
      headers: { accept: '*/*', 'user-agent': 'mergeq/0.0.0-test' },
    })
  })

  test('a 401 does not blame a token that was not sent', async () => {
    const { code, err } = await run('api status', 401, '')
    expect(code).toBe(4)
    expect(err).toBe(
      'mergeq: api.trunk.io rejected a request without a token (401).\n  The operation status does not require a token, but the service rejected the request. Check the base URL, and any proxy in front of the service.\n',
    )
  })
})
