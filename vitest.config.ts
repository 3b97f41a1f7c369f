import { defineConfig } from 'vitest/config'

/** The tests of a folder of test/. */
const project = (
  name: string,
  options: { readonly globalSetup?: string[]; readonly isolate?: boolean; readonly retry?: number } = {},
) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
})

export default defineConfig({
  test: {
    projects: [
      // Their files share the modules of a worker, which then loads the program once.
      project('unit', { isolate: false }),
      project('cli', { isolate: false }),
      // Only these tests run the built program. They use real processes, terminals and clocks, which a busy machine
      // delays: a test that fails is run again, and the last lines of a run name it.
      project('process', { globalSetup: ['test/support/build.ts'], isolate: false, retry: 1 }),
      ...(process.platform === 'win32'
        ? [project('windows', { globalSetup: ['test/support/build.ts'] })]
        : []),
    ],
    maxWorkers: '100%',
    experimental: { fsModuleCache: true },
    reporters: ['default', './scripts/tally.mjs'],
    testTimeout: 20_000,
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
})
