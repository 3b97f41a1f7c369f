import { afterAll, vi } from 'vitest'

/** What a test file puts in the place of `src/http/undici.ts`: each attempt goes to `sendOnce`. */
export const replacedTransport = (sendOnce: (...parts: never[]) => unknown) => ({
  createTrust: async () => undefined,
  createConnectionPools: () => ({
    poolFor: () => ({ dispatcher: undefined, close: async () => undefined }),
    close: async () => undefined,
  }),
  sendOnce,
})

/** Restores the network when the tests of a file are over: test files share loaded modules. */
export function restoreTransport(): void {
  afterAll(() => {
    vi.doUnmock('../../src/http/undici.ts')
    vi.resetModules()
  })
}
