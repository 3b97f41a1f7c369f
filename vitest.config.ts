import { accessSync, constants } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { textModules } from './scripts/text-modules.mjs'

interface Options {
  readonly include?: string[]
  readonly exclude?: string[]
  readonly execArgv?: string[]
  readonly globalSetup?: string[]
  readonly setupFiles?: string[]
  readonly isolate?: boolean
  readonly retry?: number
  /** Groups of projects run one after the other, in this order. */
  readonly sequence?: { readonly groupOrder: number }
}

/**
 * How V8 runs tests of the program that start it thousands of times in a process, but most of its code only now and then:
 * memory is collected less often, all code is compiled at once, and only what runs much longer is optimized. This takes a
 * tenth less time. Newer versions of Node do not have the last option.
 */
const shortRuns = [
  '--max-semi-space-size=64',
  '--always-sparkplug',
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=540000'] : []),
]

/**
 * The files that take longest, in the order in which they start. A file that starts last runs alone at the end, while
 * the other workers have nothing to do; without the times of an earlier run, Vitest only knows sizes.
 */
const slowFiles = [
  'start/start',
  'http/retries',
  'every-command/random-writes',
  'every-command/screens',
  'every-command/hostile-texts',
  'every-command/options',
  'api/write-recovery',
  'cli/help',
  'api/error-messages',
  'every-command/wait-time',
  'every-command/request-table',
  'every-command/json-schemas',
  'commands/queue/watch-several',
  'commands/pr/wait',
  'commands/pr/land',
  'commands/queue/apply',
  'commands/pr/submit',
  'commands/flaky/match',
  'commands/flaky/match/junit',
  'api/target-list',
  // Those that compute beside those that wait.
  'process/documentation',
  'process/package',
  'process/response-cost',
  'process/queue-watch',
  'process/target-recipes',
  'process/completion',
  'process/release',
  'process/recipes',
  'process/pr-wait',
  'process/github-action',
  'process/library-server',
  'process/stored-settings',
  'process/channel',
  'process/impacted-targets',
  'process/stdio',
  'process/git-checkout',
  'process/code-cache',
  'process/container-image',
  'process/sandbox',
  'process/prometheus-pack',
  'process/network',
  'process/library-project',
  'process/library-bundle',
  'process/guard',
]

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = slowFiles.findIndex(name => moduleId.endsWith(`/test/${name}.test.ts`))
      return rank < 0 ? slowFiles.length : rank
    }
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => rankOf(one) - rankOf(other))
  }
}

/** The tests of the folder of test/ with the name of the project, unless the options name others. */
const project = (name: string, options: Options = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
})

const globalSetup = ['test/support/build.ts']

/** What `npm test` runs, with Node and git only. */
const shortProjects = [
  // What needs no built program. Its files share the modules of a worker, which loads the program once; a worker belongs
  // to one project.
  project('in-process', {
    include: ['test/**/*.test.ts'],
    exclude: ['start', 'process', 'windows'].map(folder => `test/${folder}/**`),
    isolate: false,
    execArgv: shortRuns,
    setupFiles: ['test/support/random-seed.ts'],
  }),
  // A short look at the built program.
  project('start', { globalSetup, isolate: false, retry: 1 }),
]

/** What `npm run test:all` runs, too. */
const otherProjects = [
  // They use real processes, terminals and clocks, which a busy machine delays: a test that fails is run again, and the
  // last lines of a run name it.
  project('process', {
    globalSetup,
    isolate: false,
    execArgv: shortRuns,
    retry: 1,
    sequence: { groupOrder: 1 },
  }),
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
    // One worker more than there are cores: many tests wait, for processes, for connections and for clocks.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFilesFirst },
    experimental: { fsModuleCache: canCache },
    reporters: ['default', './scripts/tally.mjs'],
    testTimeout: 20_000,
    env: { NODE_EXTRA_CA_CERTS: '', MERGEQ_TEST_SAMPLE: '' },
  },
}))
