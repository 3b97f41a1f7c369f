import { configure, submit } from './engine/actions.ts'
import { advance } from './engine/advance.ts'
import { createQueueState, type Queue } from './engine/queue.ts'
import { defaultQueue } from './sandbox-state.ts'
import { randomSequence } from './seed.ts'

/** What is put into a simulated queue. */
export interface SimulatedLoad {
  readonly prsPerHour: number
  readonly testMinutes: number
  /** The share of pull requests whose tests fail by their own fault, from 0 to less than 1. */
  readonly failureRate: number
  readonly weeks: number
  readonly seed: number
}

/** How the queue is set; a batch of 1 is none. */
export interface SimulatedSetup {
  readonly concurrency: number
  readonly batch: number
}

/** What came out: times in minutes, from the submit to the merge, of what merged. */
export interface SimulationResult extends SimulatedSetup {
  readonly submitted: number
  readonly merged: number
  readonly failed: number
  /** Still in the queue at the end: many when it cannot keep up. */
  readonly left: number
  readonly mergedPerHour: number
  /** Null where nothing merged. */
  readonly p50: number | null
  readonly p95: number | null
  readonly ciMinutesPerMerge: number | null
}

/** What the model leaves out, as it is told with every answer. */
export const simulationLimits: readonly string[] = [
  'pull requests come evenly at random, day and night, and are ready at once',
  'a test run takes the same time, give or take a tenth, and never flakes',
  'failures are independent of each other, and no merge conflicts',
  'one line: no lanes by impacted targets, no priorities, nobody cancels or pushes',
  'a batch that is not full waits five minutes for more, the default of the sandbox',
]

const [minute, hour] = [60_000, 3_600_000]
const day = 24 * hour

/** More pull requests than this are not simulated: their history has to be kept. */
export const maxSubmits = 200_000

/** The moments of the submits: a Poisson process, the same ones for the same seed whatever the setup. */
function* arrivals({ prsPerHour, weeks, seed }: SimulatedLoad): Generator<number> {
  const roll = randomSequence(seed, 'simulate', 'arrivals')
  const end = weeks * 7 * day
  const pause = () => (-Math.log(1 - roll()) * hour) / prsPerHour
  for (let at = pause(); at < end; at += pause()) yield Math.floor(at)
}

/**
 * Runs the sandbox's own queue over simulated weeks and returns it as it stands at their end. It yields after each
 * simulated day, so that whoever drives it can stop. Those that will fail have even numbers: one script names them all.
 */
export function* simulateQueue(
  load: SimulatedLoad,
  { concurrency, batch }: SimulatedSetup,
): Generator<undefined, Queue> {
  const scenario = { name: 'simulate', summary: '', scripts: [{ divisibleBy: 2, runs: ['fail' as const] }] }
  const queue = createQueueState({
    ...defaultQueue,
    seed: load.seed,
    scenario,
    timings: { ready: 0, test: load.testMinutes * minute, hold: 0, merge: 0, minute, second: 1_000 },
    now: 0,
  })
  configure(queue, {
    concurrency,
    testingTimeoutMinutes: 0,
    ...(batch > 1 ? { batch: true, batchingMinSize: batch } : {}),
  })
  const roll = randomSequence(load.seed, 'simulate', 'failures')
  const end = load.weeks * 7 * day
  let [index, today] = [0, 0]
  for (const at of arrivals(load)) {
    while (today + day <= at) {
      today += day
      advance(queue, today)
      yield
    }
    advance(queue, at)
    index++
    const isBad = roll() < load.failureRate
    submit(queue, { number: 2 * index + (isBad ? 0 : 1), priority: undefined, noBatch: undefined })
  }
  advance(queue, end)
  return queue
}

/** The value that a share of sorted values lies at or below. */
const ranked = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null

const rounded = (value: number): number => Math.round(value * 100) / 100

/** Tells an outcome from the queue's own history: its moves and its test runs. */
export function simulationResult(
  queue: Queue,
  { weeks }: Pick<SimulatedLoad, 'weeks'>,
  setup: SimulatedSetup,
): SimulationResult {
  const merges = queue.transitions.filter(({ to }) => to === 'MERGED')
  const times = merges.map(({ sinceSubmit }) => sinceSubmit / minute).toSorted((one, other) => one - other)
  const failed = queue.transitions.filter(({ to }) => to === 'FAILED').length
  let tested = 0
  for (const { startedAt, endedAt } of queue.runs.values()) tested += (endedAt ?? queue.now) - startedAt
  const [p50, p95] = [ranked(times, 0.5), ranked(times, 0.95)]
  return {
    ...setup,
    submitted: queue.entries.size,
    merged: merges.length,
    failed,
    left: queue.entries.size - merges.length - failed,
    mergedPerHour: rounded(merges.length / (weeks * 7 * 24)),
    p50: p50 === null ? null : rounded(p50),
    p95: p95 === null ? null : rounded(p95),
    ciMinutesPerMerge: merges.length === 0 ? null : rounded(tested / minute / merges.length),
  }
}
