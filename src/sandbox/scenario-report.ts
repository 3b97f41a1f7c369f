import { isSubmitted } from './engine/queue-queries.ts'
import type { SandboxState } from './sandbox-state.ts'
import type { Scenario } from './scenarios.ts'

/** Counts of pull requests by outcome. A pull request that was held and then merged counts in both. */
export interface ScenarioReport {
  readonly submitted: number
  readonly merged: number
  readonly failed: number
  readonly cancelled: number
  /** Pull requests that were in PENDING_FAILURE at least once. */
  readonly held: number
  readonly queued: number
  /** Outcomes of the scenario that no response has shown, in words: `a failed pull request`. */
  readonly unseen: readonly string[]
}

export function createScenarioReport(sandbox: SandboxState, scenario: Scenario): ScenarioReport {
  const queues = sandbox.listQueuesWithDeleted()
  const pullRequests = queues.flatMap(queue => [...queue.pullRequests.values()])
  const heldKeys = queues.flatMap(({ repo, targetBranch, transitions }) =>
    transitions
      .filter(({ to }) => to === 'PENDING_FAILURE')
      .map(({ number }) => JSON.stringify([repo, targetBranch, number])),
  )
  const held = new Set(heldKeys).size
  const countState = (state: string) => pullRequests.filter(pullRequest => pullRequest.state === state).length
  const { reportedStates } = sandbox
  const isSeen: Readonly<Record<ScenarioOutcome, boolean>> = {
    merged: reportedStates.has('MERGED'),
    failed: reportedStates.has('FAILED'),
    cancelled: reportedStates.has('CANCELLED'),
    // PENDING_FAILURE is short: a client that polls may miss it, so its occurrence is enough.
    held: held > 0,
  }
  return {
    submitted: pullRequests.length,
    merged: countState('MERGED'),
    failed: countState('FAILED'),
    cancelled: countState('CANCELLED'),
    held,
    queued: pullRequests.filter(isSubmitted).length,
    unseen: listOutcomes(scenario)
      .filter(outcome => !isSeen[outcome])
      .map(outcome => `a ${outcome} pull request`),
  }
}

type ScenarioOutcome = 'merged' | 'failed' | 'cancelled' | 'held'

function listOutcomes({ scripts }: Scenario): readonly ScenarioOutcome[] {
  const results = scripts.flatMap(({ runs = [] }) => runs)
  const hasCancelOrPush = scripts.some(
    ({ cancelledAfter, pushedAfter }) => (cancelledAfter ?? pushedAfter) !== undefined,
  )
  const preventsAllMerges = ({ divisibleBy, runs = ['pass'] }: Scenario['scripts'][number]) =>
    divisibleBy === 1 && runs.at(-1) !== 'pass'
  const hasOutcome: Readonly<Record<ScenarioOutcome, boolean>> = {
    merged: !scripts.some(preventsAllMerges),
    failed: results.includes('fail'),
    cancelled: hasCancelOrPush || results.includes('cancel'),
    held: results.includes('flake'),
  }
  return (['merged', 'failed', 'cancelled', 'held'] as const).filter(outcome => hasOutcome[outcome])
}
