import { describe, expect, it } from 'vitest'
import { scenarioNames } from '../../src/domain/scenario-names.ts'
import type { JsonObject } from '../../src/json.ts'
import { cancel, configure, restart, setTargets, submit } from '../../src/sandbox/engine/actions.ts'
import {
  createEmptyQueue,
  createTimings,
  isEmpty,
  listEnqueued,
  type Queue,
} from '../../src/sandbox/engine/queue.ts'
import { advanceTo } from '../../src/sandbox/engine/rules.ts'
import { findScenario, type Scenario } from '../../src/sandbox/scenarios.ts'

const noon = Date.parse('2026-01-05T12:00:00Z')

/** Opens a queue at noon, and functions that submit to it and advance its time. */
function openQueue(scenario: string | Scenario, settings: JsonObject = {}, seed = 1) {
  const script = typeof scenario === 'string' ? findScenario(scenario) : scenario
  if (script === undefined) throw new Error(`no scenario ${scenario}`)
  const queue = createEmptyQueue({
    repo: { host: 'github.com', owner: 'acme', name: 'web' },
    targetBranch: 'main',
    seed,
    scenario: script,
    timings: createTimings(1, script),
    now: noon,
  })
  configure(queue, { ...script.settings, ...settings })
  return {
    queue,
    submit(...numbers: readonly number[]) {
      for (const number of numbers) submit(queue, { number, priority: undefined, noBatch: undefined })
    },
    urgent: (number: number) => submit(queue, { number, priority: 0, noBatch: undefined }),
    later: (seconds: number) => advanceTo(queue, queue.now + seconds * 1000),
    until(condition: () => boolean) {
      for (let step = 0; step < 100_000 && !condition(); step++) advanceTo(queue, queue.now + 10)
      expect(condition()).toBe(true)
    },
    end: () => advanceTo(queue, queue.now + 3_600_000),
  }
}

const stateIn = ({ pullRequests }: Queue, number: number) => pullRequests.get(number)?.state
const statesOf = ({ transitions }: Queue, number: number) =>
  transitions.filter(transition => transition.number === number).map(({ to }) => to)
const mergesOf = ({ transitions }: Queue) =>
  transitions.filter(({ to }) => to === 'MERGED').map(({ number }) => number)

/** Returns the maximum number of pull requests that were tested at the same time. */
function maxTestedTogether({ transitions }: Queue): number {
  const tested = new Set<number>()
  let most = 0
  for (const [index, { at, number, to }] of transitions.entries()) {
    if (to === 'TESTING') tested.add(number)
    else tested.delete(number)
    if (transitions[index + 1]?.at !== at) most = Math.max(most, tested.size)
  }
  return most
}

describe('the final states of each scenario', () => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
  const endings: Readonly<Record<string, (number: number) => string>> = {
    happy: () => 'MERGED',
    flaky: () => 'MERGED',
    failure: number => (number % 3 === 0 ? 'FAILED' : 'MERGED'),
    cancelled: () => 'CANCELLED',
    'batch-failure': number => (number % 4 === 0 ? 'FAILED' : 'MERGED'),
    paused: () => 'PENDING',
    outage: () => 'MERGED',
    slow: () => 'MERGED',
  }

  it('has an expectation for each scenario', () =>
    expect(Object.keys(endings).sort()).toEqual([...scenarioNames].sort()))

  for (const [name, ending] of Object.entries(endings))
    for (const settings of [
      {},
      { concurrency: 3 },
      { mode: 'parallel' },
      { canOptimisticallyMerge: true, pendingFailureDepth: 2, concurrency: 4 },
    ])
      it(`${name} with ${JSON.stringify(settings)}`, () => {
        const { queue, submit, end } = openQueue(name, settings)
        for (const number of numbers) setTargets(queue, number, new Set([`t${number % 2}`]), undefined)
        submit(...numbers)
        end()
        expect(numbers.map(number => stateIn(queue, number))).toEqual(numbers.map(ending))
        expect(isEmpty(queue)).toBe(name !== 'paused')
        expect([...queue.runs.values()].filter(({ status }) => status === 'in_progress')).toEqual([])
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
    expect(queue.transitions.map(({ at }) => at - noon).at(-1)).toBeGreaterThan(2_300)
  })

  it('include a rerun after a flaky failure', () => {
    const { queue, submit, end } = openQueue('flaky')
    submit(1)
    end()
    expect(statesOf(queue, 1)).toEqual([
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

  it('start again with a new submit', () => {
    const { queue, submit, end } = openQueue('failure')
    submit(3)
    end()
    submit(3)
    expect(queue.transitions.at(-1)).toMatchObject({ from: 'FAILED', to: 'NOT_READY' })
    end()
    expect(statesOf(queue, 3).filter(state => state === 'FAILED')).toHaveLength(2)
  })

  it('determine which requests are rejected: a submit after the merge, a cancel or restart outside the queue', () => {
    const { queue, submit, end } = openQueue('happy')
    submit(1)
    end()
    expect(() => submit(1)).toThrow('is already merged')
    expect(() => cancel(queue, 1)).toThrow('not in the queue')
    expect(() => restart(queue, 2)).toThrow('not in the queue')
  })
})

describe('the order of testing', () => {
  it('is by priority, then by submit', () => {
    const { queue, submit: submitAll, end, later } = openQueue('happy')
    submitAll(1, 2, 3)
    submit(queue, { number: 4, priority: 10, noBatch: undefined })
    submit(queue, { number: 5, priority: 10, noBatch: undefined })
    submit(queue, { number: 2, priority: 200, noBatch: undefined })
    later(1)
    expect(listEnqueued(queue).map(({ number }) => number)).toEqual([4, 5, 1, 3, 2])
    end()
    expect(mergesOf(queue)).toEqual([4, 5, 1, 3, 2])
  })

  it('never exceeds the concurrency', () => {
    for (const concurrency of [1, 2, 5]) {
      const { queue, submit, end } = openQueue('failure', { concurrency })
      submit(1, 2, 3, 4, 5, 6, 7, 8, 9)
      end()
      expect(maxTestedTogether(queue)).toBe(concurrency)
      expect(mergesOf(queue)).toEqual([1, 2, 4, 5, 7, 8])
    }
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

  it('merges and starts nothing while draining', () => {
    const { queue, submit, later, end } = openQueue('happy')
    submit(1, 2)
    later(1)
    configure(queue, { state: 'draining' })
    end()
    expect([1, 2].map(number => stateIn(queue, number))).toEqual(['MERGED', 'PENDING'])
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
    const {
      queue,
      submit: submitAll,
      later,
    } = openQueue('happy', { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 })
    submitAll(1, 2)
    later(4)
    expect(stateIn(queue, 1)).toBe('PENDING')
    later(2)
    expect([...queue.runs.values()].map(({ tested }) => tested)).toEqual([[1, 2]])
  })

  it('do not include a pull request with noBatch', () => {
    const { queue, submit: submitAll, end } = openQueue('happy', { batch: true, batchingMinSize: 2 })
    submit(queue, { number: 1, priority: undefined, noBatch: true })
    submitAll(2, 3)
    end()
    expect([...queue.runs.values()].map(({ tested }) => tested)).toEqual([[1], [2, 3]])
  })
})

describe('settings', () => {
  const scenarioWith = (scripts: NonNullable<Scenario['scripts']>): Scenario => ({ scripts })

  it('canOptimisticallyMerge passes a pull request in PENDING_FAILURE when a later run passes', () => {
    const { queue, submit, end } = openQueue(scenarioWith([{ pr: 1, runs: ['flake', 'pass'] }]), {
      ...{ concurrency: 2, canOptimisticallyMerge: true, pendingFailureDepth: 1 },
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

  it('parallel mode needs a new upload after a push', () => {
    const { queue, submit, later, end } = openQueue(
      scenarioWith([{ pr: 1, pushedAfter: 1, readyAfter: 2 }]),
      {
        mode: 'parallel',
      },
    )
    setTargets(queue, 1, 'ALL', 'old')
    submit(1)
    later(10)
    expect(stateIn(queue, 1)).toBe('NOT_READY')
    setTargets(queue, 1, 'ALL', 'old')
    later(1)
    expect(stateIn(queue, 1)).toBe('NOT_READY')
    setTargets(queue, 1, 'ALL', 'new')
    end()
    expect(mergesOf(queue)).toEqual([1])
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

describe('a simulation', () => {
  const history = (seed: number, step: number) => {
    const { queue, submit } = openQueue('failure', { concurrency: 3 }, seed)
    submit(1, 2, 3, 4, 5, 6)
    for (let at = 0; at < 60_000; at += step) advanceTo(queue, noon + at)
    return { transitions: queue.transitions, runs: [...queue.runs.keys()] }
  }

  it('has the same history for the same seed, however often it is advanced', () => {
    expect(history(1, 7)).toEqual(history(1, 20_000))
    expect(history(1, 7)).not.toEqual(history(2, 7))
  })

  it('never goes back in time', () => {
    const { queue, submit, later } = openQueue('happy')
    submit(1)
    later(5)
    const { length } = queue.transitions
    advanceTo(queue, noon)
    expect([queue.now, queue.transitions.length]).toEqual([noon + 5_000, length])
  })
})
