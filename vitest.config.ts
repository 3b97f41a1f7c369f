import { accessSync, constants } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { textModules } from './scripts/text-modules.mjs'

interface Options {
  readonly globalSetup?: string[]
  readonly isolate?: boolean
  readonly retry?: number
}

/** The tests of a folder of test/. */
const project = (name: string, options: Options = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
})

const globalSetup = ['test/support/build.ts']

/** What `npm test` runs, with Node and git only. */
const shortProjects = [
  // Their files share the modules of a worker, which then loads the program once.
  project('rules', { isolate: false }),
  project('commands', { isolate: false }),
  project('framework', { isolate: false }),
  // A short look at the built program.
  project('start', { globalSetup, isolate: false, retry: 1 }),
]

/** What `npm run test:all` runs, too. */
const otherProjects = [
  // They use real processes, terminals and clocks, which a busy machine delays: a test that fails is run again, and the
  // last lines of a run name it.
  project('process', { globalSetup, isolate: false, retry: 1 }),
  ...(process.platform === 'win32' ? [project('windows', { globalSetup })] : []),
]

/** Runs a sample of the slow tests (test/support/sample.ts). */
const sampled = ({ test, ...rest }: ReturnType<typeof project>) => ({
  ...rest,
  test: { ...test, env: { MERGEQ_TEST_SAMPLE: '1' } },
})

/** Whether this user may write a cache there: root may have run `npm ci`. */
const canCache = (() => {
  try {
    accessSync('node_modules', constants.W_OK)
    return true
  } catch {
    return false
  }
})()

/** `npm test` has the mode `short`. */
export default defineConfig(({ mode }) => ({
  plugins: [textModules],
  test: {
    projects: mode === 'short' ? shortProjects.map(sampled) : [...shortProjects, ...otherProjects],
    maxWorkers: '100%',
    experimental: { fsModuleCache: canCache },
    reporters: ['default', './scripts/tally.mjs'],
    testTimeout: 20_000,
    env: { NODE_EXTRA_CA_CERTS: '', MERGEQ_TEST_SAMPLE: '' },
  },
}))
