import type { pullRequestStates, queueStates } from '../../domain/states.ts'
import type { Repository } from '../../domain/values/parsers.ts'
import type { JsonObject } from '../../json.ts'
import type { Scenario, ScriptedResult } from '../scenarios.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { defaults, type QueueSettings } from './queue-settings.ts'

/** A state of service-api.md section 2.3. */
export type PullRequestState = (typeof pullRequestStates)[number]

/** A state of service-api.md section 2.4. */
export type QueueState = (typeof queueStates)[number]

/** Which line a run belongs to: the queue's own, or the search for the culprit in a failed batch. */
export type Lane = 'main' | 'bisection'

/** What a pull request impacts: targets by name, or every target (service-api.md section 8 rule 1). */
export type Targets = 'ALL' | ReadonlySet<string>

/** The head commit of a pull request, those that were it before, and what was uploaded for it. */
export interface Head {
  readonly sha: string
  readonly past: readonly string[]
  readonly targets: Targets | undefined
}

/** A pull request that was submitted at least once. It stays known after it has left the queue. */
export interface Entry {
  readonly number: number
  submittedAt: number
  /** When it becomes mergeable, unless something happens to it. */
  mergeableAt: number
  /** Place in the order of submits: first come, first served among equals. */
  turn: number
  state: PullRequestState
  stateChangedAt: number
  /** As it was when it was submitted again; undefined after a first submit. */
  before: Entry | undefined
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
  readonly verdict: ScriptedResult
  /** Whether it is stopped at its limit, which is nobody's fault but its own. */
  readonly isTooLong: boolean
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled'
  endedAt: number | undefined
}

/** Pull requests that are tested and merged together; without batching there is one in each. */
export interface Batch {
  members: readonly Entry[]
  readonly lane: Lane
  /** What its members impacted when they were taken up: an upload that comes later changes no lane. */
  readonly targets: Targets
  phase: 'PENDING' | 'TESTING' | 'TESTS_PASSED' | 'PENDING_FAILURE'
  run: Run | undefined
  /** Those in the line that it has to wait for: what it overlaps, or was tested with, and what these wait for. */
  below: Set<Batch>
  /** What its run, or the one that cleared it, included without judging it; it falls with these. */
  builtOn: ReadonlySet<number>
  /** When the phase ends at the earliest; Infinity while it waits for a run. */
  due: number
}

/** One change of one pull request's state. The list of them is the queue's whole history. */
export interface Transition {
  readonly at: number
  readonly number: number
  readonly from: PullRequestState | undefined
  readonly to: PullRequestState
  readonly lane: Lane
  /** How long it had been in the state it left, and in the queue since its submit, in milliseconds. */
  readonly after: number
  readonly sinceSubmit: number
  readonly reason: string
}

/** Something that a scenario has happen by itself: to a pull request, or to the queue. */
export type ScheduledEvent =
  | { readonly what: 'cancelled' | 'pushed'; readonly number: number }
  | { readonly what: 'changed'; readonly settings: JsonObject }

/** How long things take, in milliseconds. All of it is the sandbox's own. */
export interface Timings {
  /** NOT_READY, until the merge request is known to be mergeable. */
  readonly ready: number
  readonly test: number
  /** PENDING_FAILURE, and longer while one ahead can be to blame. */
  readonly hold: number
  /** TESTS_PASSED, and longer while something is ahead. */
  readonly merge: number
  /** What a setting calls a minute. */
  readonly minute: number
  /** What a scenario calls a second. */
  readonly second: number
}

/** The pace at a speed: at 1 a test run takes about two seconds, times the scenario's stretch. */
export function timingsFor(speed: number, { stretch = 1 }: Scenario): Timings {
  const lasting = (milliseconds: number) => Math.max(1, Math.round(milliseconds / speed))
  return {
    ready: lasting(300),
    test: lasting(2_000 * stretch),
    hold: lasting(500),
    merge: lasting(300),
    minute: lasting(1_000),
    second: 1_000 / speed,
  }
}

/** A merge queue at a moment. Only `inputs.ts` and `engine.ts` change it. */
export interface Queue {
  readonly repo: Repository
  readonly targetBranch: string
  readonly seed: number
  readonly scenario: Scenario
  readonly timings: Timings
  /** The moment up to which everything has happened. */
  now: number
  settings: QueueSettings
  state: Exclude<QueueState, 'SWITCHING_MODES'>
  /** The mode that takes over once nothing is tested any more (service-observed.md section 3.3). */
  switchingTo: QueueSettings['mode'] | undefined
  readonly entries: Map<number, Entry>
  readonly heads: Map<number, Head>
  /** Each unfinished pull request is in exactly one of these three; what waits is in the order in which it is taken. */
  readonly unready: Set<Entry>
  readonly waiting: Entry[]
  batches: readonly Batch[]
  /** When to look again at what is not ready. A look too many changes nothing. */
  readonly rechecks: EventQueue<Entry>
  readonly scheduledEvents: EventQueue<ScheduledEvent>
  readonly runs: Map<string, Run>
  readonly transitions: Transition[]
}

/** A new queue, empty and running. */
export const createQueueState = (
  about: Pick<Queue, 'repo' | 'targetBranch' | 'seed' | 'scenario' | 'timings' | 'now'>,
): Queue => ({
  ...about,
  settings: defaults,
  state: 'RUNNING',
  switchingTo: undefined,
  entries: new Map(),
  heads: new Map(),
  unready: new Set(),
  waiting: [],
  batches: [],
  rechecks: createEventQueue(),
  scheduledEvents: createEventQueue(),
  runs: new Map(),
  transitions: [],
})
