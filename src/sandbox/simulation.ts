import { configure, submit } from './engine/actions.ts'
import { advanceTo } from './engine/advance.ts'
import { createEmptyQueue, type Queue } from './engine/queue.ts'
import { defaultQueue } from './sandbox-state.ts'
import { createRandom } from './seed.ts'

export interface SimulatedLoad {
  readonly prsPerHour: number
  /** Mean length of a test run. */
  readonly testMinutes: number
  /** Share of the pull requests whose own change makes their tests fail, from 0 to less than 1. */
  readonly failureRate: number
  readonly weeks: number
  readonly seed: number
}

export interface SimulatedSetup {
  readonly concurrency: number
  /** Size of a batch; 1 disables batching. */
  readonly batch: number
}

export interface SimulationResult extends SimulatedSetup {
  readonly submitted: number
  readonly merged: number
  readonly failed: number
  /** Pull requests still in the queue at the end; many if the queue cannot keep up. */
  readonly left: number
  readonly mergedPerHour: number
  /** Median of the minutes from the submit to the merge; null if nothing merged. */
  readonly p50: number | null
  /** 95th percentile of the minutes from the submit to the merge; null if nothing merged. */
  readonly p95: number | null
  readonly ciMinutesPerMerge: number | null
}

export const simulationLimits: readonly string[] = [
  'pull requests arrive at random times with a constant rate, day and night, and are ready immediately',
  'all test runs take the same time, plus or minus 10%, and are never flaky',
  'failures are independent, and there are no merge conflicts',
  'no parallel lanes by impacted targets, no priorities, no cancellations and no new commits',
  'an incomplete batch waits five minutes for more pull requests, the default of the sandbox',
]

const [minute, hour] = [60_000, 3_600_000]
const day = 24 * hour

/** Maximum number of simulated pull requests; the simulation keeps the history of all of them in memory. */
export const maxSubmits = 200_000

/**
 * Generates the times of the submits in milliseconds from the start: a Poisson process that depends on the
 * load only, so that setups are compared under the same load.
 */
function* generateSubmitTimes({ prsPerHour, weeks, seed }: SimulatedLoad): Generator<number> {
  const random = createRandom(seed, 'simulate', 'arrivals')
  const end = weeks * 7 * day
  const nextInterval = () => (-Math.log(1 - random()) * hour) / prsPerHour
  for (let time = nextInterval(); time < end; time += nextInterval()) yield Math.floor(time)
}

/**
 * Simulates a queue with the rules of the sandbox and returns it at the end of the last week. Yields after
 * each simulated day, so that the caller can stop the simulation. Pull requests with even numbers fail, the
 * others pass.
 */
export function* simulateQueue(
  load: SimulatedLoad,
  { concurrency, batch }: SimulatedSetup,
): Generator<undefined, Queue> {
  const scenario = { name: 'simulate', summary: '', scripts: [{ divisibleBy: 2, runs: ['fail' as const] }] }
  const queue = createEmptyQueue({
    ...defaultQueue,
    seed: load.seed,
    scenario,
    timings: {
      notReady: 0,
      testing: load.testMinutes * minute,
      pendingFailure: 0,
      testsPassed: 0,
      minute,
      second: 1_000,
    },
    now: 0,
  })
  configure(queue, {
    concurrency,
    testingTimeoutMinutes: 0,
    ...(batch > 1 ? { batch: true, batchingMinSize: batch } : {}),
  })
  const random = createRandom(load.seed, 'simulate', 'failures')
  const end = load.weeks * 7 * day
  let [submitCount, dayStart] = [0, 0]
  for (const time of generateSubmitTimes(load)) {
    while (dayStart + day <= time) {
      dayStart += day
      advanceTo(queue, dayStart)
      yield
    }
    advanceTo(queue, time)
    submitCount++
    const fails = random() < load.failureRate
    submit(queue, { number: 2 * submitCount + (fails ? 0 : 1), priority: undefined, noBatch: undefined })
  }
  advanceTo(queue, end)
  return queue
}

/** Returns the smallest value that a share of the sorted values does not exceed; null for an empty list. */
const percentile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100

export function simulationResult(
  queue: Queue,
  { weeks }: Pick<SimulatedLoad, 'weeks'>,
  setup: SimulatedSetup,
): SimulationResult {
  const merges = queue.transitions.filter(({ to }) => to === 'MERGED')
  const minutes = merges
    .map(({ timeSinceSubmit }) => timeSinceSubmit / minute)
    .toSorted((one, other) => one - other)
  const failed = queue.transitions.filter(({ to }) => to === 'FAILED').length
  let testTime = 0
  for (const { startedAt, endedAt } of queue.runs.values()) testTime += (endedAt ?? queue.now) - startedAt
  const [p50, p95] = [percentile(minutes, 0.5), percentile(minutes, 0.95)]
  return {
    ...setup,
    submitted: queue.pullRequests.size,
    merged: merges.length,
    failed,
    left: queue.pullRequests.size - merges.length - failed,
    mergedPerHour: roundToHundredths(merges.length / (weeks * 7 * 24)),
    p50: p50 === null ? null : roundToHundredths(p50),
    p95: p95 === null ? null : roundToHundredths(p95),
    ciMinutesPerMerge: merges.length === 0 ? null : roundToHundredths(testTime / minute / merges.length),
  }
}
