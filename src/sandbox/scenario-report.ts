import { isSubmitted } from './engine/queue-queries.ts'
import type { SandboxState } from './sandbox-state.ts'
import type { Scenario } from './scenarios.ts'

/** How a rehearsal went. Whoever is held and merges counts as both. */
export interface ScenarioReport {
  readonly submitted: number
  readonly merged: number
  readonly failed: number
  readonly cancelled: number
  readonly held: number
  readonly queued: number
  /** Endings that the scenario has, and that no answer told of, in words: `a failed pull request`. */
  readonly unseen: readonly string[]
}

/** Counts what became of all pull requests, and names what the scenario would have had to show besides. */
export function createScenarioReport(stage: SandboxState, scenario: Scenario): ScenarioReport {
  const queues = stage.everyQueue()
  const entries = queues.flatMap(({ entries }) => [...entries.values()])
  const moves = queues.flatMap(({ repo, targetBranch, transitions }) =>
    transitions.map(({ number, to }) => ({ to, who: JSON.stringify([repo, targetBranch, number]) })),
  )
  const held = new Set(moves.filter(({ to }) => to === 'PENDING_FAILURE').map(({ who }) => who)).size
  const counted = (state: string) => entries.filter(entry => entry.state === state).length
  const { reportedStates } = stage
  const seen = {
    merged: reportedStates.has('MERGED'),
    failed: reportedStates.has('FAILED'),
    cancelled: reportedStates.has('CANCELLED'),
    // It passes quickly, so that it happened is enough.
    held: held > 0,
  }
  return {
    submitted: entries.length,
    merged: counted('MERGED'),
    failed: counted('FAILED'),
    cancelled: counted('CANCELLED'),
    held,
    queued: entries.filter(isSubmitted).length,
    unseen: endingsOf(scenario)
      .filter(ending => !seen[ending])
      .map(ending => `a ${ending} pull request`),
  }
}

type Ending = 'merged' | 'failed' | 'cancelled' | 'held'

/** The endings that a scenario has for some pull request. */
function endingsOf({ scripts }: Scenario): readonly Ending[] {
  const verdicts = scripts.flatMap(({ runs = [] }) => runs)
  const isCancelled = scripts.some(
    ({ cancelledAfter, pushedAfter }) => (cancelledAfter ?? pushedAfter) !== undefined,
  )
  const noneMerges = ({ divisibleBy, runs = ['pass'] }: Scenario['scripts'][number]) =>
    divisibleBy === 1 && runs.at(-1) !== 'pass'
  const has: Readonly<Record<Ending, boolean>> = {
    merged: !scripts.some(noneMerges),
    failed: verdicts.includes('fail'),
    cancelled: isCancelled || verdicts.includes('cancel'),
    held: verdicts.includes('flake'),
  }
  return (['merged', 'failed', 'cancelled', 'held'] as const).filter(ending => has[ending])
}
