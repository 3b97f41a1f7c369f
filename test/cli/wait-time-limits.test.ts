import { beforeEach, expect, test, vi } from 'vitest'
import { mergeq, noon, type Setting } from '../support/harness.ts'
import {
  type Model,
  modelService,
  type ReadFault,
  type Scenario,
  virtualClock,
} from '../support/model-service.ts'
import { restoreTransport } from '../support/replaced-transport.ts'

/** An attempt: when it began, in milliseconds from the start, and the limit that it was given. */
interface Attempt {
  readonly operation: string
  readonly at: number
  readonly limit: number
}

/** The model that requests go to, in the place of the network, and what was asked of it. */
const network = vi.hoisted((): { model: Model | undefined; now: () => number; attempts: Attempt[] } => ({
  model: undefined,
  now: () => 0,
  attempts: [],
}))

// Test files share loaded modules: this one loads its own, in which a module is replaced, and leaves none of
// them.
vi.hoisted(() => vi.resetModules())
restoreTransport()
vi.mock('../../src/http/undici.ts', async () => {
  const { replacedTransport } = await import('../support/replaced-transport.ts')
  return replacedTransport((...parts: Parameters<Model['attempt']>) => {
    const [, { request, limit }] = parts
    network.attempts.push({ operation: request.operation, at: network.now(), limit })
    return network.model?.attempt(...parts)
  })
})

const scenario: Scenario = {
  skew: 0,
  latency: 0,
  changes: [],
  readings: [],
  acts: [],
  queues: { main: { state: 'RUNNING', mode: 'single', concurrency: 1, batch: false } },
  pulls: {},
  refusesQueued: false,
  deletesNothing: false,
  dated: true,
}

const silence: ReadFault = { kind: 'lost', loss: 'time-out' }

/** Runs a command line against a model by a virtual clock. */
async function play(line: string, more: Partial<Scenario>, env: Setting['env'] = {}) {
  const clock = virtualClock(noon)
  network.model = modelService({ ...scenario, ...more }, clock)
  network.now = () => clock.now - noon
  const outcome = await mergeq(line, {
    clock,
    env: {
      MERGEQ_BASE_URL: 'http://127.0.0.1:9/v1',
      MERGEQ_REPO: 'acme/web',
      MERGEQ_TARGET_BRANCH: 'main',
      ...env,
    },
  })
  return { ...outcome, took: clock.now - noon }
}

beforeEach(() => {
  network.attempts = []
})

test.each([
  ['pr submit 7 --wait --timeout 20s', 20_000],
  ['pr submit 7 --wait --timeout 90s', 90_000],
])('%s: each attempt, also of a read-back, gets the remaining time', async (line, whole) => {
  const { took, code } = await play(line, {
    changes: [{ kind: 'before', loss: 'reset' }],
    readings: [{ kind: 'none' }, ...Array.from({ length: 30 }, () => silence)],
  })
  expect(code).toBe(11)
  expect(network.attempts.length).toBeGreaterThan(3)
  for (const { operation, at, limit } of network.attempts) {
    const usual = operation === 'submitPullRequest' ? 60_000 : 30_000
    expect({ operation, at, limit }).toEqual({
      operation,
      at,
      limit: Math.min(usual, Math.max(1_000, whole - at)),
    })
  }
  // Once the time is over, three readings, each repeated once, take a second an attempt and the pauses
  // between.
  expect(took).toBeLessThan(whole + 30_000)
})
