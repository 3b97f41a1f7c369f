import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build.ts'],
    reporters: ['default', './scripts/tally.mjs'],
    testTimeout: 20_000,
    env: { NODE_EXTRA_CA_CERTS: '' },
  },
})
