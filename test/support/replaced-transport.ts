import { afterAll, beforeAll, vi } from 'vitest'
import type { HttpResponse } from '../../src/http/messages.ts'
import type { Attempt } from '../../src/http/undici.ts'

/** Who answers in the place of the network. */
export const network: { attempt(attempt: Attempt): HttpResponse | Promise<HttpResponse> } = {
  attempt: () => ({ status: 500, headers: new Map(), bytes: new Uint8Array() }),
}

const replacedTransport = {
  connectLimit: 10_000,
  createTrust: async () => undefined,
  createConnectionPools: () => ({
    poolFor: () => ({ dispatcher: undefined, close: async () => undefined }),
    close: async () => undefined,
  }),
  sendOnce: async (_: unknown, attempt: Attempt) => network.attempt(attempt),
}

/**
 * In a file that calls this, what `network` says takes the place of `src/http/undici.ts`: its tests need thousands of
 * requests. The program loads that module with its first request, so that no other module is loaded again.
 */
export function replaceTransport(): void {
  beforeAll(() => {
    vi.doMock('../../src/http/undici.ts', () => replacedTransport)
  })
  afterAll(() => {
    vi.doUnmock('../../src/http/undici.ts')
  })
}

/** The settings with which a command sends its requests to nobody but the replaced transport. */
export const networkEnv = {
  MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1',
  MERGEQ_REPO: 'acme/web',
  MERGEQ_TARGET_BRANCH: 'main',
  MERGEQ_ORG: 'acme',
  NO_COLOR: '1',
}
