import type { pullRequestStates, queueStates } from '../../contract/states.ts'
import type { Repository } from '../../contract/words.ts'
import type { Scenario, Verdict } from '../scenarios.ts'
import { defaults, type Settings } from './settings.ts'

/** A state of service-api.md section 2.3. */
export type PullRequestState = (typeof pullRequestStates)[number]

/** A state of service-api.md section 2.4. */
export type QueueState = (typeof queueStates)[number]

/** Which line a run belongs to: the queue's own, or the search for the culprit in a failed batch. */
export type Lane = 'main' | 'bisection'

/** What a pull request impacts: targets by name, or every target (service-api.md section 8 rule 1). */
export type Targets = 'ALL' | ReadonlySet<string>

/** A pull request that was submitted at least once. It stays known after it has left the queue. */
export interface Entry {
  readonly number: number
  readonly firstSubmittedAt: number
  submittedAt: number
  /** Place in the order of submits: first come, first served among equals. */
  turn: number
  state: PullRequestState
  stateChangedAt: number
  priority: number
  usesDefaultPriority: boolean
  noBatch: boolean
  /** Test runs since the last submit. */
  runs: number
  lastRun: Run | undefined
}

/** One test run of a batch. */
export interface Run {
  readonly id: string
  readonly lane: Lane
  readonly tested: readonly number[]
  /** Pull requests that are tested along without being judged: those ahead that have not merged yet. */
  readonly builtOn: readonly number[]
  readonly startedAt: number
  readonly endsAt: number
  readonly verdict: Verdict
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled'
  endedAt: number | undefined
}

/** Pull requests that are tested and merged together; without batching there is one in each. */
export interface Batch {
  members: readonly Entry[]
  readonly lane: Lane
  phase: 'PENDING' | 'TESTING' | 'TESTS_PASSED' | 'PENDING_FAILURE'
  run: Run | undefined
  /** What its run, or the one that cleared it, included without judging it; it waits for these and falls with them. */
  builtOn: readonly number[]
  /** When the phase ends; undefined while it waits for something else than time. */
  due: number | undefined
}

/** A batch that waits for its first run. */
export const newBatch = (members: readonly Entry[], lane: Lane): Batch => ({
  members,
  lane,
  phase: 'PENDING',
  run: undefined,
  builtOn: [],
  due: undefined,
})

/** One change of one pull request's state. The list of them is the queue's whole history. */
export interface Move {
  readonly at: number
  readonly number: number
  readonly from: PullRequestState | undefined
  readonly to: PullRequestState
  readonly lane: Lane
  /** How long it had been in the state it left, in milliseconds. */
  readonly after: number
  readonly reason: string
}

/** How long things take, in milliseconds. All of it is the sandbox's own. */
export interface Pace {
  /** NOT_READY, until the merge request is known to be mergeable. */
  readonly ready: number
  readonly test: number
  /** PENDING_FAILURE, once nothing ahead can be to blame. */
  readonly hold: number
  /** TESTS_PASSED, once nothing is ahead. */
  readonly merge: number
  /** What a setting calls a minute. */
  readonly minute: number
}

/** The pace at a speed: at 1 a test run takes about two seconds, times the scenario's stretch. */
export function paceOf(speed: number, { stretch = 1 }: Scenario): Pace {
  const lasting = (milliseconds: number) => Math.max(1, Math.round(milliseconds / speed))
  return {
    ready: lasting(300),
    test: lasting(2_000 * stretch),
    hold: lasting(500),
    merge: lasting(300),
    minute: lasting(1_000),
  }
}

/** A merge queue at a moment. Only `inputs.ts` and `engine.ts` change it. */
export interface Queue {
  readonly repo: Repository
  readonly targetBranch: string
  readonly seed: number
  readonly scenario: Scenario
  readonly pace: Pace
  /** The moment up to which everything has happened. */
  now: number
  settings: Settings
  state: Exclude<QueueState, 'SWITCHING_MODES'>
  /** The mode that takes over once nothing is tested any more (service-observed.md section 3.3). */
  switchingTo: Settings['mode'] | undefined
  readonly entries: Map<number, Entry>
  readonly targets: Map<number, Targets>
  readonly shas: Map<number, string>
  /** Each unfinished pull request is in exactly one of these three. */
  unready: readonly Entry[]
  waiting: readonly Entry[]
  line: readonly Batch[]
  readonly runs: Map<string, Run>
  readonly moves: Move[]
}

/** A new queue, empty and running. */
export const openQueue = (
  about: Pick<Queue, 'repo' | 'targetBranch' | 'seed' | 'scenario' | 'pace' | 'now'>,
): Queue => ({
  ...about,
  settings: defaults,
  state: 'RUNNING',
  switchingTo: undefined,
  entries: new Map(),
  targets: new Map(),
  shas: new Map(),
  unready: [],
  waiting: [],
  line: [],
  runs: new Map(),
  moves: [],
})
