import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMergeqError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { cancel, restart, setTargets, submit } from '../../src/sandbox/engine/actions.ts'
import {
  createEmptyQueue,
  createTimings,
  getHeadCommit,
  hasNoPullRequests,
  listEnqueued,
  type Queue,
  type TargetSet,
} from '../../src/sandbox/engine/queue.ts'
import { advanceTo } from '../../src/sandbox/engine/rules.ts'
import { configure } from '../../src/sandbox/engine/settings.ts'
import { findScript, type Scenario, type ScenarioScript, scenarios } from '../../src/sandbox/scenarios.ts'
import { type ScenarioName, scenarioNames } from '../../src/values/scenario-names.ts'
import { sampleRuns } from '../support/sample.ts'

const repo = { host: 'github.com', owner: 'acme', name: 'web' }

/** Creates a queue at the time 0. */
const createQueue = (scenario: Scenario, seed = 1): Queue =>
  createEmptyQueue({
    repo,
    targetBranch: 'main',
    seed,
    scenario,
    timings: createTimings(1, scenario),
    now: 0,
  })

/** Opens a queue, and functions that submit to it and advance its time. */
function openQueue(scenario: ScenarioName | Scenario, settings: JsonObject = {}, seed = 1) {
  const script = typeof scenario === 'string' ? scenarios[scenario] : scenario
  const queue = createQueue(script, seed)
  configure(queue, { ...script.settings, ...settings })
  return {
    queue,
    submit(...numbers: readonly number[]) {
      for (const number of numbers) submit(queue, { number })
    },
    urgent: (number: number) => submit(queue, { number, priority: 0 }),
    later: (seconds: number) => advanceTo(queue, queue.now + seconds * 1000),
    end: () => advanceTo(queue, queue.now + 3_600_000),
  }
}

const stateIn = ({ pullRequests }: Queue, number: number) => pullRequests.get(number)?.state
const statesOf = ({ transitions }: Queue, number: number) =>
  transitions.filter(transition => transition.number === number).map(({ to }) => to)
const mergesOf = ({ transitions }: Queue) =>
  transitions.filter(({ to }) => to === 'MERGED').map(({ number }) => number)

describe('the final states of each scenario', () => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  const endings: Readonly<Record<ScenarioName, (number: number) => string>> = {
    happy: () => 'MERGED',
    flaky: () => 'MERGED',
    failure: number => (number % 3 === 0 ? 'FAILED' : 'MERGED'),
    cancelled: () => 'CANCELLED',
    'batch-failure': number => (number % 4 === 0 ? 'FAILED' : 'MERGED'),
    paused: () => 'PENDING',
    outage: () => 'MERGED',
    slow: () => 'MERGED',
    stack: () => 'MERGED',
    'host-trouble': () => 'FAILED',
    // The first, the third and so on show their merge later.
    'maybe-merged': number => (number % 2 === 1 ? 'MERGED' : 'FAILED'),
    'not-ready': number => (number % 3 === 0 ? 'CANCELLED' : 'MERGED'),
    'silent-check': () => 'FAILED',
    'rate-limit': () => 'MERGED',
    'rotated-token': () => 'MERGED',
  }

  const allSettings = [
    {},
    { concurrency: 3 },
    { mode: 'parallel' },
    { canOptimisticallyMerge: true, pendingFailureDepth: 2, concurrency: 4 },
  ]

  it.each(scenarioNames)('are those of its name, with all settings: %s', name => {
    for (const settings of allSettings) {
      const { queue, submit, end } = openQueue(name, settings)
      for (const number of numbers) setTargets(queue, number, new Set([`t${number % 2}`]), undefined)
      submit(...numbers)
      end()
      expect(numbers.map(number => stateIn(queue, number))).toEqual(numbers.map(endings[name]))
      expect(hasNoPullRequests(queue)).toBe(name !== 'paused')
      expect([...queue.runs.values()].filter(({ status }) => status === 'in_progress')).toEqual([])
    }
  })
})

describe('the states of a pull request', () => {
  it('follow in order, in the time of speed 1', () => {
    const { queue, submit, later } = openQueue('happy')
    submit(1)
    later(0.1)
    expect(stateIn(queue, 1)).toBe('NOT_READY')
    later(0.3)
    expect(stateIn(queue, 1)).toBe('TESTING')
    later(3)
    expect(statesOf(queue, 1)).toEqual(['NOT_READY', 'PENDING', 'TESTING', 'TESTS_PASSED', 'MERGED'])
    expect(queue.transitions.map(({ at }) => at).at(-1)).toBeGreaterThan(2_300)
  })
})

describe('the order of testing', () => {
  it('is by priority, then by submit', () => {
    const { queue, submit: submitAll, end, later } = openQueue('happy')
    submitAll(1, 2, 3)
    submit(queue, { number: 4, priority: 10 })
    submit(queue, { number: 5, priority: 10 })
    submit(queue, { number: 2, priority: 200 })
    later(1)
    expect(listEnqueued(queue).map(({ number }) => number)).toEqual([4, 5, 1, 3, 2])
    end()
    expect(mergesOf(queue)).toEqual([4, 5, 1, 3, 2])
  })

  it('after a failure, tests the pull requests behind it again, and not those ahead', () => {
    const { queue, submit, end } = openQueue('failure', { concurrency: 4 })
    submit(2, 3, 4)
    end()
    expect(statesOf(queue, 2).filter(state => state === 'TESTING')).toHaveLength(1)
    expect(statesOf(queue, 4)).toEqual([
      'NOT_READY',
      'PENDING',
      'TESTING',
      'PENDING_FAILURE',
      'PENDING',
      'TESTING',
      'TESTS_PASSED',
      'MERGED',
    ])
  })

  it('after a cancel, tests the pull requests behind it again', () => {
    const { queue, submit, later, end } = openQueue('happy', { concurrency: 2 })
    submit(1, 2)
    later(1)
    cancel(queue, 1)
    end()
    expect(statesOf(queue, 1).at(-1)).toBe('CANCELLED')
    expect(statesOf(queue, 2).filter(state => state === 'TESTING')).toHaveLength(2)
    expect(stateIn(queue, 2)).toBe('MERGED')
  })

  it('keeps the position of a restarted pull request', () => {
    const { queue, submit, later, end } = openQueue('happy', { concurrency: 2 })
    submit(1, 2)
    later(1)
    restart(queue, 1)
    end()
    expect(mergesOf(queue)).toEqual([1, 2])
    expect(statesOf(queue, 1).filter(state => state === 'TESTING')).toHaveLength(2)
    expect(statesOf(queue, 2).filter(state => state === 'TESTING')).toHaveLength(1)
  })

  it('tests a pull request again that a later run cleared, if a pull request ahead is cancelled', () => {
    const { queue, submit, later, end } = openQueue('happy', { concurrency: 3, canOptimisticallyMerge: true })
    submit(1, 2, 3)
    later(1)
    configure(queue, { state: 'paused' })
    restart(queue, 2)
    later(2)
    expect(stateIn(queue, 2)).toBe('TESTS_PASSED')
    cancel(queue, 1)
    expect(stateIn(queue, 2)).toBe('PENDING')
    configure(queue, { state: 'running' })
    end()
    expect(mergesOf(queue)).toEqual([2, 3])
  })
})

describe('the states of the queue', () => {
  it('starts and merges nothing while paused, and lets running tests finish', () => {
    const { queue, submit, later, end } = openQueue('happy', { concurrency: 1 })
    submit(1, 2)
    later(1)
    configure(queue, { state: 'PAUSED' })
    end()
    expect([1, 2].map(number => stateIn(queue, number))).toEqual(['TESTS_PASSED', 'PENDING'])
    configure(queue, { state: 'running' })
    end()
    expect(mergesOf(queue)).toEqual([1, 2])
  })
})

describe('batches', () => {
  it('test four together, and bisection finds the cause of a failure', () => {
    const { queue, submit, end } = openQueue('batch-failure')
    submit(1, 2, 3, 4)
    end()
    const runs = [...queue.runs.values()].map(({ tested, kind }) => [kind, ...tested])
    expect(runs[0]).toEqual(['main', 1, 2, 3, 4])
    expect(runs[1]).toEqual(['bisection', 1, 2])
    expect(mergesOf(queue)).toEqual([1, 2, 3])
    expect(stateIn(queue, 4)).toBe('FAILED')
  })

  it('wait for more members for a limited time', () => {
    const settings = { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 }
    const { queue, submit, later } = openQueue('happy', settings)
    submit(1, 2)
    later(4)
    expect(stateIn(queue, 1)).toBe('PENDING')
    later(2)
    expect([...queue.runs.values()].map(({ tested }) => tested)).toEqual([[1, 2]])
  })

  it('do not include a pull request with noBatch', () => {
    const { queue, submit: submitAll, end } = openQueue('happy', { batch: true, batchingMinSize: 2 })
    submit(queue, { number: 1, noBatch: true })
    submitAll(2, 3)
    end()
    expect([...queue.runs.values()].map(({ tested }) => tested)).toEqual([[1], [2, 3]])
  })
})

describe('settings', () => {
  const scenarioWith = (scripts: NonNullable<Scenario['scripts']>): Scenario => ({ scripts })

  it('canOptimisticallyMerge passes a pull request in PENDING_FAILURE when a later run passes', () => {
    const { queue, submit, end } = openQueue(scenarioWith([{ pr: 1, runs: ['flake', 'pass'] }]), {
      concurrency: 2,
      canOptimisticallyMerge: true,
      pendingFailureDepth: 1,
    })
    submit(1, 2)
    end()
    expect(statesOf(queue, 1).slice(2)).toEqual(['TESTING', 'PENDING_FAILURE', 'TESTS_PASSED', 'MERGED'])
  })

  it('an urgent pull request does not wait for a batch', () => {
    const { queue, submit, urgent, later, end } = openQueue('happy', { batch: true, batchingMinSize: 2 })
    submit(1, 2)
    later(1)
    configure(queue, { state: 'draining' })
    urgent(9)
    end()
    expect([1, 2, 9].map(number => stateIn(queue, number))).toEqual(['MERGED', 'MERGED', 'PENDING'])
    configure(queue, { state: 'running' })
    later(0)
    expect(stateIn(queue, 9)).toBe('TESTING')
  })
})

describe('parallel mode', () => {
  it('waits for targets, and tests pull requests without common targets independently', () => {
    const { queue, submit, later, end } = openQueue('failure', { mode: 'parallel', concurrency: 3 })
    submit(3, 4, 5)
    later(1)
    expect(stateIn(queue, 3)).toBe('NOT_READY')
    setTargets(queue, 3, new Set(['cart']), undefined)
    setTargets(queue, 4, new Set(['search']), undefined)
    setTargets(queue, 5, 'ALL', undefined)
    later(0)
    expect([...queue.runs.values()].map(({ builtOn }) => builtOn)).toEqual([[], [], [4, 3]])
    end()
    expect(statesOf(queue, 4).filter(state => state === 'TESTING')).toHaveLength(1)
    expect([3, 4, 5].map(number => stateIn(queue, number))).toEqual(['FAILED', 'MERGED', 'MERGED'])
  })

  it('merges a pull request after those that its run was built on, whatever was uploaded since', () => {
    const { queue, submit, later, end } = openQueue('happy', { mode: 'parallel', concurrency: 2 })
    for (const number of [1, 2]) setTargets(queue, number, new Set(['cart']), undefined)
    submit(1, 2)
    later(1)
    restart(queue, 1)
    setTargets(queue, 2, new Set(['search']), undefined)
    end()
    expect(mergesOf(queue)).toEqual([1, 2])
  })
})

const maxNumber = 8
const numbers = Array.from({ length: maxNumber }, (_, index) => index + 1)

const number = fc.integer({ min: 1, max: maxNumber })
const seconds = fc.integer({ min: 0, max: 80 }).map(tenths => tenths / 10)
const targets: fc.Arbitrary<TargetSet> = fc.oneof(
  fc.constant('ALL' as const),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 2 }).map(names => new Set(names)),
)

const settings: fc.Arbitrary<JsonObject> = fc.record(
  {
    mode: fc.constantFrom('single', 'parallel'),
    concurrency: fc.integer({ min: 1, max: 4 }),
    bisectionConcurrency: fc.integer({ min: 1, max: 3 }),
    pendingFailureDepth: fc.integer({ min: 0, max: 3 }),
    canOptimisticallyMerge: fc.boolean(),
    batch: fc.boolean(),
    batchingMinSize: fc.integer({ min: 1, max: 5 }),
    batchingMaxWaitTimeMinutes: fc.integer({ min: 1, max: 3 }),
    state: fc.constantFrom('running', 'running', 'paused', 'draining'),
  },
  { requiredKeys: [] },
)

const runs = fc
  .tuple(
    fc.array(fc.constantFrom('pass', 'fail', 'flake', 'cancel'), { maxLength: 2 }),
    fc.constantFrom('pass', 'pass', 'fail', 'cancel'),
  )
  .map(([first, last]) => [...first, last])

const scripts: fc.Arbitrary<readonly ScenarioScript[]> = fc.uniqueArray(
  fc.record({ pr: number, runs, readyAfter: seconds }, { requiredKeys: ['pr'] }),
  { selector: ({ pr }) => pr, maxLength: maxNumber },
)

const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      number,
      priority: fc.constantFrom(undefined, undefined, 0, 10, 200),
      noBatch: fc.constantFrom(undefined, undefined, true, false),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'restart' as const), number }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('upload' as const),
      number,
      targets,
      sha: fc.constantFrom(undefined, 'one', 'two'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('configure' as const), settings }) },
)

const sequence = fc.record({
  seed: fc.nat(),
  scripts,
  settings,
  targets: fc.array(targets, { minLength: maxNumber, maxLength: maxNumber }),
  actions: fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), action), { maxLength: 25 }),
})
type ActionSequence = typeof sequence extends fc.Arbitrary<infer S> ? S : never

/** Applies a sequence of actions to a queue that is advanced every `step` milliseconds. */
function runActions({ seed, scripts, settings, targets, actions }: ActionSequence, step: number): Queue {
  const scenario: Scenario = { scripts }
  const queue = createQueue(scenario, seed)
  configure(queue, settings)
  for (const [index, some] of targets.entries())
    if (index % 3 !== 0) setTargets(queue, index + 1, some, undefined)
  const until = (end: number) => {
    while (queue.now < end) advanceTo(queue, Math.min(end, queue.now + step))
    advanceTo(queue, end)
  }
  for (const [wait, action] of actions) {
    until(queue.now + wait)
    try {
      if (action.do === 'submit') submit(queue, action)
      if (action.do === 'cancel') cancel(queue, action.number)
      if (action.do === 'restart') restart(queue, action.number)
      if (action.do === 'upload') setTargets(queue, action.number, action.targets, action.sha)
      if (action.do === 'configure') configure(queue, action.settings)
    } catch (error) {
      expect(isMergeqError(error)).toBe(true)
    }
  }
  // After all actions, a running queue with all targets must become empty.
  until(queue.now + 10_000)
  configure(queue, { state: 'running' })
  for (const number of numbers) setTargets(queue, number, 'ALL', getHeadCommit(queue, number).sha)
  until(queue.now + 300_000)
  return queue
}

describe('any sequence of actions', () => {
  it('empties the queue, in a history that does not depend on how often the queue is advanced', () => {
    fc.assert(
      fc.property(sequence, sequence => {
        const [one, other] = [runActions(sequence, 1_000_000), runActions(sequence, 137)]
        expect(other.transitions).toEqual(one.transitions)
        expect([...other.runs.values()]).toEqual([...one.runs.values()])
        expect(hasNoPullRequests(one)).toBe(true)
        const runs = [...one.runs.values()]
        expect(runs.some(({ status }) => status === 'in_progress')).toBe(false)
        // What merges was tested with success, and what fails is said to fail.
        const passed = runs.filter(({ status }) => status === 'succeeded')
        const covered = new Set(passed.flatMap(({ tested, builtOn }) => [...tested, ...builtOn]))
        for (const { number, to } of one.transitions) {
          if (to === 'MERGED') expect(covered).toContain(number)
          if (to === 'FAILED') expect(findScript(one.scenario, number)?.runs).toContain('fail')
        }
      }),
      { numRuns: sampleRuns(400) },
    )
  }, 60_000)
})
