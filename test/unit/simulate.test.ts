import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Queue } from '../../src/sandbox/engine/queue.ts'
import {
  type SimulatedLoad,
  type SimulatedSetup,
  simulateQueue,
  simulationResult,
} from '../../src/sandbox/simulation.ts'

const minute = 60_000
const load = (more: Partial<SimulatedLoad> = {}): SimulatedLoad => ({
  prsPerHour: 4,
  testMinutes: 10,
  failureRate: 0,
  weeks: 4,
  seed: 1,
  ...more,
})

function simulate(load: SimulatedLoad, setup: SimulatedSetup): Queue {
  const days = simulateQueue(load, setup)
  for (;;) {
    const step = days.next()
    if (step.done) return step.value
  }
}
const outcome = (more: Partial<SimulatedLoad>, setup: SimulatedSetup) =>
  simulationResult(simulate(load(more), setup), load(more), setup)

/** Returns the mean minutes from submit to merge, and the mean minutes before a test run. */
function means({ transitions }: Queue) {
  const merges = transitions.filter(({ to }) => to === 'MERGED')
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length / minute
  return {
    total: mean(merges.map(({ timeSinceSubmit }) => timeSinceSubmit)),
    wait: mean(
      transitions
        .filter(({ from, to }) => from === 'PENDING' && to === 'TESTING')
        .map(({ timeInPreviousState }) => timeInPreviousState),
    ),
  }
}

/** Returns the probability of waiting with `servers` and an offered load, both in runs (Erlang C). */
function erlangC(servers: number, offered: number): number {
  let blocked = 1
  for (let one = 1; one <= servers; one++) blocked = (offered * blocked) / (one + offered * blocked)
  const busy = offered / servers
  return blocked / (1 - busy * (1 - blocked))
}

describe('queueing theory', () => {
  // The length of a run is uniform within a tenth: the second moment exceeds that of a fixed length by 1/300.
  const spread = 1 + 0.2 ** 2 / 12

  test.each([1, 3, 4.5])(
    'one run at a time: the wait of Pollaczek and Khinchine at %d an hour',
    prsPerHour => {
      const result = means(simulate(load({ prsPerHour, weeks: 52 }), { concurrency: 1, batch: 1 }))
      const rho = (prsPerHour * 10) / 60
      const wait = (rho * 10 * spread) / (2 * (1 - rho))
      expect(result.wait / wait).toBeGreaterThan(0.9)
      expect(result.wait / wait).toBeLessThan(1.1)
      expect(result.total).toBeCloseTo(result.wait + 10, 0)
    },
  )

  test.each([2, 4])('%d at a time: the wait of M/D/c, by Cosmetatos', servers => {
    const prsPerHour = 6 * servers * 0.8
    const result = means(simulate(load({ prsPerHour, weeks: 26 }), { concurrency: servers, batch: 1 }))
    const markov = (erlangC(servers, 0.8 * servers) * 10) / (servers * 0.2)
    const fixed =
      0.5 * markov * (1 + (0.2 * (servers - 1) * (Math.sqrt(4 + 5 * servers) - 2)) / (16 * servers * 0.8))
    expect(result.wait / fixed).toBeGreaterThan(0.88)
    expect(result.wait / fixed).toBeLessThan(1.12)
  })

  test('overload: the runs limit how many merge, and the rest is left', () => {
    const result = outcome({ prsPerHour: 60 }, { concurrency: 2, batch: 1 })
    expect(result.mergedPerHour).toBeCloseTo(12, 0)
    expect(result.left).toBeGreaterThan(result.submitted * 0.75)
    expect(result.ciMinutesPerMerge).toBeCloseTo(10, 0)
  })

  test('batches of four cost a quarter where nothing fails', () => {
    const result = outcome({ prsPerHour: 60 }, { concurrency: 2, batch: 4 })
    expect(result.ciMinutesPerMerge).toBeCloseTo(2.5, 1)
    expect(result.mergedPerHour).toBeCloseTo(48, 0)
  })
})

describe('the history of a simulated queue', () => {
  const setup = fc.record({
    concurrency: fc.integer({ min: 1, max: 5 }),
    batch: fc.integer({ min: 1, max: 4 }),
  })
  const some = fc.record({
    prsPerHour: fc.integer({ min: 1, max: 20 }),
    failureRate: fc.constantFrom(0, 0.1, 0.5),
    seed: fc.nat(1_000),
  })

  test('adds up: each pull request fails, merges or is left, and concurrency limits the runs', () => {
    fc.assert(
      fc.property(some, setup, (more, setup) => {
        const about = load({ ...more, weeks: 1 })
        const queue = simulate(about, setup)
        const result = simulationResult(queue, about, setup)
        const ends = queue.transitions.filter(({ to }) => to === 'MERGED' || to === 'FAILED')
        expect(new Set(ends.map(({ number }) => number)).size).toBe(ends.length)
        expect(result.merged + result.failed + result.left).toBe(result.submitted)
        // Exactly the pull requests with even numbers fail.
        for (const { number, to } of ends) expect(to).toBe(number % 2 === 0 ? 'FAILED' : 'MERGED')
        if (more.failureRate === 0) expect(result.failed).toBe(0)
        const edges = [...queue.runs.values()]
          .flatMap(
            ({ startedAt, endedAt, kind }) =>
              [
                [startedAt, 1, kind],
                [endedAt ?? Number.POSITIVE_INFINITY, -1, kind],
              ] as const,
          )
          .toSorted(([one, up], [other, down]) => one - other || up - down)
        const busy = { main: 0, bisection: 0 }
        for (const [, change, kind] of edges) {
          busy[kind] += change
          expect(busy[kind]).toBeLessThanOrEqual(setup.concurrency)
        }
      }),
      { numRuns: 15 },
    )
  })

  test('without failures and batches, runs start in order of submits as soon as a slot is free', () => {
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 5 }), (more, concurrency) => {
        const queue = simulate(load({ ...more, failureRate: 0, weeks: 1 }), { concurrency, batch: 1 })
        const submits = queue.transitions.filter(({ to }) => to === 'NOT_READY')
        const runs = new Map([...queue.runs.values()].map(run => [run.tested[0], run]))
        const free = Array.from({ length: concurrency }, () => 0)
        let merged = 0
        for (const { number, at } of submits) {
          const run = runs.get(number)
          free.sort((one, other) => one - other)
          const start = Math.max(at, free[0] ?? 0)
          if (run === undefined) {
            expect(start).toBeGreaterThanOrEqual(queue.now)
            continue
          }
          expect(run.startedAt).toBe(start)
          free[0] = run.endsAt
          merged = Math.max(merged, run.endsAt)
          const merge = queue.transitions.find(
            transition => transition.number === number && transition.to === 'MERGED',
          )
          expect(merge?.at).toBe(merged > queue.now ? undefined : merged)
        }
      }),
      { numRuns: 15 },
    )
  })
})
