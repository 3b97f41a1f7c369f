import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isMergeqError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/json.ts'
import { cancel, configure, restart, setTargets, submit } from '../../src/sandbox/engine/actions.ts'
import {
  compareTestOrder,
  createEmptyQueue,
  createTimings,
  getHeadCommit,
  isEmpty,
  isSubmitted,
  type Queue,
  type SandboxTestRun,
  schedule,
  type TargetSet,
} from '../../src/sandbox/engine/queue.ts'
import { advanceTo } from '../../src/sandbox/engine/rules.ts'
import {
  findScript,
  getScriptedResult,
  type Scenario,
  type ScenarioScript,
} from '../../src/sandbox/scenarios.ts'

/** Number of random action sequences; MERGEQ_TEST_SEQUENCES changes it. */
const sequenceCount = Number(process.env.MERGEQ_TEST_SEQUENCES ?? 800)
const limit = 20_000 + sequenceCount * 50
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
  fc.record(
    { pr: number, runs, readyAfter: seconds, cancelledAfter: seconds, pushedAfter: seconds },
    { requiredKeys: ['pr'] },
  ),
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
  moments: fc.array(fc.record({ after: seconds, settings }), { maxLength: 2 }),
  targets: fc.array(targets, { minLength: maxNumber, maxLength: maxNumber }),
  actions: fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), action), { maxLength: 25 }),
})
type ActionSequence = typeof sequence extends fc.Arbitrary<infer S> ? S : never

/** Whether two uploads have a common target. */
const shareTarget = (one: TargetSet, other: TargetSet): boolean =>
  one === 'ALL' || other === 'ALL' || [...one].some(target => other.has(target))

/** Creates a function that checks the invariants of a queue; it is called after each step. */
function createChecker(queue: Queue): () => void {
  let seen = 0
  return () => {
    const { batches, waiting, notReady, pullRequests, transitions, runs } = queue
    if (transitions.length === seen) return
    const located = [...batches.flatMap(({ members }) => members), ...waiting, ...notReady]
    expect(located.length).toBe(new Set(located).size)
    expect(located.length).toBe([...pullRequests.values()].filter(isSubmitted).length)
    expect(located.every(isSubmitted)).toBe(true)
    for (const [index, { members, phase, dependencies }] of batches.entries()) {
      expect(members.every(({ state }) => state === phase)).toBe(true)
      const before = batches.slice(0, index)
      expect([...dependencies].every(other => before.includes(other))).toBe(true)
    }
    expect([...waiting].sort(compareTestOrder)).toEqual(waiting)
    const tested = [...runs.values()].filter(({ status }) => status === 'in_progress')
    expect(tested.length).toBe(batches.filter(({ phase }) => phase === 'TESTING').length)
    for (const transition of transitions.slice(seen)) {
      const { number, to } = transition
      const pullRequest = pullRequests.get(number)
      if (to === 'FAILED') {
        const mayFail = (findScript(queue.scenario, number)?.runs ?? []).includes('fail')
        expect(mayFail).toBe(true)
      }
      if (to === 'MERGED') {
        const run = pullRequest?.lastRun
        expect(run).toBeDefined()
        const isCleared = [...runs.values()].some(
          other => other.status === 'succeeded' && other.builtOn.includes(number),
        )
        expect(run?.status === 'succeeded' || isCleared).toBe(true)
      }
    }
    seen = transitions.length
  }
}

/** Applies a sequence of actions to a queue that is checked every `step` milliseconds. */
function runActions(
  { seed, scripts, settings, moments, targets, actions }: ActionSequence,
  step: number,
): Queue {
  const scenario: Scenario = { scripts }
  const queue = createEmptyQueue({
    repo: { host: 'github.com', owner: 'acme', name: 'web' },
    targetBranch: 'main',
    seed,
    scenario,
    timings: createTimings(1, scenario),
    now: 0,
  })
  configure(queue, settings)
  for (const { after, settings } of moments)
    schedule(queue, { at: after * 1_000, apply: () => configure(queue, settings) })
  for (const [index, some] of targets.entries())
    if (index % 3 !== 0) setTargets(queue, index + 1, some, undefined)
  const check = createChecker(queue)
  const until = (end: number) => {
    while (queue.now < end) {
      advanceTo(queue, Math.min(end, queue.now + step))
      check()
    }
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
  // After all events of the scenario, a running queue with all targets must become empty.
  until(queue.now + 10_000)
  configure(queue, { state: 'running' })
  for (const number of numbers) setTargets(queue, number, 'ALL', getHeadCommit(queue, number).sha)
  until(queue.now + 300_000)
  return queue
}

describe('any sequence of actions', () => {
  it(
    'empties the queue, in a history that does not depend on how often the queue is advanced',
    () => {
      fc.assert(
        fc.property(sequence, sequence => {
          const [one, other] = [runActions(sequence, 1_000_000), runActions(sequence, 137)]
          expect(other.transitions).toEqual(one.transitions)
          expect([...other.runs.values()]).toEqual([...one.runs.values()])
          expect(isEmpty(one)).toBe(true)
          expect([...one.runs.values()].some(({ status }) => status === 'in_progress')).toBe(false)
        }),
        { numRuns: sequenceCount },
      )
    },
    limit,
  )
})

describe('the history of a queue', () => {
  /** Submits under constant settings and targets, so that the history alone can be checked. */
  const submitSequence = fc.record({
    seed: fc.nat(),
    scripts,
    settings: settings.map(({ state: _, ...rest }) => rest),
    targets: fc.array(targets, { minLength: maxNumber, maxLength: maxNumber }),
    submits: fc.array(
      fc.tuple(fc.integer({ min: 0, max: 2_000 }), number, fc.constantFrom(undefined, 0, 10, 200)),
      { minLength: 1, maxLength: 15 },
    ),
  })

  function runSubmits({
    seed,
    scripts,
    settings,
    targets,
    submits,
  }: typeof submitSequence extends fc.Arbitrary<infer Q> ? Q : never) {
    const base = {
      moments: [],
      settings,
      seed,
      targets,
      scripts: scripts.map(({ readyAfter: _, cancelledAfter: _c, pushedAfter: _p, ...script }) => script),
    }
    const actions = submits.map(
      ([wait, number, priority]) =>
        [wait, { do: 'submit', number, priority, noBatch: undefined }] as ActionSequence['actions'][number],
    )
    return runActions({ ...base, actions }, 1_000_000)
  }

  /** Checks each run against the runs that were in progress when it started. */
  function checkRuns({ runs, settings }: Queue, targets: readonly TargetSet[]) {
    const { concurrency, mode } = settings
    const bisectionConcurrency = settings.bisectionConcurrency || concurrency
    const impacts = (number: number) => (number % 3 === 1 ? 'ALL' : (targets[number - 1] ?? 'ALL'))
    const mustBuildOnEachOther = (one: SandboxTestRun, other: SandboxTestRun) =>
      mode === 'single' ||
      one.tested.some(mine => other.tested.some(theirs => shareTarget(impacts(mine), impacts(theirs))))
    const isBuiltOn = (one: SandboxTestRun, other: SandboxTestRun) =>
      other.tested.every(number => one.builtOn.includes(number))
    const all = [...runs.values()]
    for (const [index, run] of all.entries()) {
      const running = all
        .slice(0, index)
        .filter(({ endedAt = Number.POSITIVE_INFINITY }) => endedAt > run.startedAt)
      const slots = run.kind === 'main' ? concurrency : bisectionConcurrency
      expect(running.filter(({ kind }) => kind === run.kind).length).toBeLessThan(slots)
      for (const other of running)
        expect(isBuiltOn(run, other) || isBuiltOn(other, run) || !mustBuildOnEachOther(run, other)).toBe(true)
    }
  }

  it(
    'respects the limits of concurrency, and merges only what passed with everything ahead of it',
    () => {
      fc.assert(
        fc.property(submitSequence, sequence => {
          const queue = runSubmits(sequence)
          checkRuns(queue, sequence.targets)
          const left = new Map<number, number>()
          for (const { number, to, at } of queue.transitions) {
            if (to === 'FAILED' || to === 'CANCELLED') left.set(number, at)
            if (to !== 'MERGED') continue
            const pullRequest = queue.pullRequests.get(number)
            const { canOptimisticallyMerge } = queue.settings
            const run = pullRequest?.lastRun
            if (!canOptimisticallyMerge) {
              expect(run?.status).toBe('succeeded')
              expect(getScriptedResult(queue.scenario, number, pullRequest?.runCount ?? 0)).toBe('pass')
            }
            // Nothing that its run was built on left the queue without a merge after the run had begun.
            for (const below of run?.status === 'succeeded' ? run.builtOn : [])
              expect((left.get(below) ?? -1) < (run?.startedAt ?? 0) || left.get(below) === at).toBe(true)
          }
        }),
        { numRuns: Math.ceil(sequenceCount / 2) },
      )
    },
    limit,
  )

  it(
    'merges by priority in single mode',
    () => {
      const submits = fc.uniqueArray(fc.tuple(number, fc.constantFrom(0, 10, 100, 200)), {
        selector: ([number]) => number,
        minLength: 1,
      })
      fc.assert(
        fc.property(submits, fc.boolean(), (submits, batch) => {
          const scenario: Scenario = { scripts: [] }
          const queue = createEmptyQueue({
            repo: { host: 'github.com', owner: 'acme', name: 'web' },
            targetBranch: 'main',
            seed: 1,
            scenario,
            timings: createTimings(1, scenario),
            now: 0,
          })
          configure(queue, { batch, concurrency: 3 })
          for (const [number, priority] of submits) submit(queue, { number, priority, noBatch: undefined })
          advanceTo(queue, 100_000)
          const merged = queue.transitions.filter(({ to }) => to === 'MERGED').map(({ number }) => number)
          const wanted = [...submits].sort(([, one], [, other]) => one - other).map(([number]) => number)
          expect(merged).toEqual(wanted)
        }),
        { numRuns: Math.ceil(sequenceCount / 10) },
      )
    },
    limit,
  )
})
