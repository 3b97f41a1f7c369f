import type { pullRequestStates } from '../../domain/states.ts'
import { type Repository, repositoryName } from '../../values/repository.ts'
import { createHex } from '../sample-data.ts'
import type { PlannedEnd, Scenario, ScriptedResult } from '../scenarios.ts'
import { defaultSettings, type QueueSettings } from './settings.ts'

/** The data of a simulated merge queue. All times are milliseconds since 1970, all durations milliseconds. */

export type PullRequestState = (typeof pullRequestStates)[number]

/** `bisection` tests parts of a batch that failed, to find the pull requests that caused the failure. */
export type RunKind = 'main' | 'bisection'

/** Names, or `ALL` for every target (docs/reference/service.md, "setImpactedTargets"). */
export type TargetSet = 'ALL' | ReadonlySet<string>

interface HeadCommit {
  readonly sha: string
  /** Earlier head commits of the pull request, the oldest first. */
  readonly previousShas: readonly string[]
  /** Impacted targets uploaded for this commit; undefined before the first upload. */
  readonly targets: TargetSet | undefined
}

/** The queue keeps the record of a pull request after it left. */
export interface PullRequest {
  readonly number: number
  readonly submittedAt: number
  /** Time at which the pull request becomes mergeable, unless a push delays it. */
  mergeableAt: number
  /** Position in the order of submits; pull requests of equal priority are tested in this order. */
  readonly submitOrder: number
  state: PullRequestState
  stateChangedAt: number
  /** The record from before the latest submit; undefined after a first submit. */
  readonly previousAttempt: PullRequest | undefined
  /** 0 to 255; a lower number is tested first, and 0 is urgent. */
  priority: number
  usesDefaultPriority: boolean
  noBatch: boolean
  runCount: number
  lastRun: SandboxTestRun | undefined
  /** What ends this attempt other than its tests. */
  planned: PlannedEnd | undefined
  /** When it turns out to be merged after it failed. */
  mergesAt: number | undefined
}

export interface SandboxTestRun {
  readonly id: string
  readonly kind: RunKind
  /** Numbers of the pull requests whose result the run decides. */
  readonly tested: readonly number[]
  /** Numbers of the pull requests ahead in the queue, not yet merged, whose changes the run includes. */
  readonly builtOn: readonly number[]
  readonly startedAt: number
  readonly result: ScriptedResult
  status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled'
  endedAt: number | undefined
}

/** Pull requests that are tested and merged together. Without batching a batch has one member. */
export interface Batch {
  members: readonly PullRequest[]
  readonly kind: RunKind
  /** Targets that the members impacted when the batch was created; later uploads do not change them. */
  readonly targets: TargetSet
  phase: 'PENDING' | 'TESTING' | 'TESTS_PASSED' | 'PENDING_FAILURE'
  /** The latest run; undefined before the first run and while the batch waits for a rerun. */
  run: SandboxTestRun | undefined
  /**
   * Batches ahead that must merge or leave before this batch can merge or fail: the batches that share
   * targets with this batch, and their own dependencies. A run includes their changes.
   */
  dependencies: Set<Batch>
  /** Earliest time at which the phase ends; Infinity while the batch waits for a run. */
  phaseEndsAt: number
}

/** A change of state of one pull request. The list of all transitions is the history of the queue. */
export interface Transition {
  readonly at: number
  readonly number: number
  readonly from: PullRequestState | undefined
  readonly to: PullRequestState
  readonly kind: RunKind
  readonly timeInPreviousState: number
  readonly timeSinceSubmit: number
  /** Why, in a word of the service; two states have none (docs/reference/service.md, "Reasons"). */
  readonly reason: string | undefined
  /** GitHub's own words. */
  readonly message: string | undefined
  /** The login of the person who caused it; undefined for the service and for programs. */
  readonly actor: string | undefined
  readonly run: SandboxTestRun | undefined
  /** Numbers of the pull requests ahead at that time, the oldest first. */
  readonly ahead: readonly number[]
}

/**
 * Minimum time in each state, and the length of time units. All values are the sandbox's own: at speed 1 a test run takes
 * about two seconds. No state takes less than one millisecond.
 */
export function createTimings(speed: number, { stretch = 1 }: Scenario) {
  const scale = (duration: number) => Math.max(1, Math.round(duration / speed))
  return {
    /** NOT_READY, until the pull request is found to be mergeable. */
    notReady: scale(300),
    /** TESTING: the mean length of a test run. */
    testing: scale(2_000 * stretch),
    /** PENDING_FAILURE; longer while a batch ahead may have caused the failure. */
    pendingFailure: scale(500),
    /** TESTS_PASSED; longer while a dependency has not merged. */
    testsPassed: scale(300),
    minute: scale(1_000),
    second: 1_000 / speed,
  }
}

/** A merge queue at the time `now`. The actions, and the rules that `advanceTo` applies, change it. */
export interface Queue {
  readonly repo: Repository
  readonly targetBranch: string
  readonly seed: number
  readonly scenario: Scenario
  readonly timings: ReturnType<typeof createTimings>
  /** Time up to which the queue has been simulated. */
  now: number
  settings: QueueSettings
  readonly pullRequests: Map<number, PullRequest>
  /** Head commits by pull request number, of submitted pull requests and of others. */
  readonly headCommits: Map<number, HeadCommit>
  /** Each pull request in the queue is in exactly one of `notReady`, `waiting` and `batches`. */
  readonly notReady: Set<PullRequest>
  /** Pull requests in state PENDING that no batch contains, in the order in which they will be tested. */
  readonly waiting: PullRequest[]
  /** Batches in the order in which their changes build on each other: dependencies come first. */
  batches: readonly Batch[]
  /** All test runs by id, in the order in which they started. */
  readonly runs: Map<string, SandboxTestRun>
  readonly transitions: Transition[]
  stackSubmissions: number
  /** Since when nothing moves; undefined while the queue moves. */
  heldSince: number | undefined
}

export const createEmptyQueue = (
  options: Pick<Queue, 'repo' | 'targetBranch' | 'seed' | 'scenario' | 'timings' | 'now'>,
): Queue => ({
  ...options,
  settings: defaultSettings,
  pullRequests: new Map(),
  headCommits: new Map(),
  notReady: new Set(),
  waiting: [],
  batches: [],
  runs: new Map(),
  transitions: [],
  stackSubmissions: 0,
  heldSince: undefined,
})

export const finalStates: readonly string[] = ['MERGED', 'FAILED', 'CANCELLED']

/** A NOT_READY pull request is submitted, too (docs/reference/service.md, "getSubmittedPullRequest"). */
export const isStillQueued = ({ state }: Pick<PullRequest, 'state'>): boolean => !finalStates.includes(state)

/** Compares pull requests by the order of testing: a lower priority number first, then an earlier submit. */
export const compareTestOrder = (one: PullRequest, other: PullRequest): number =>
  one.priority - other.priority || one.submitOrder - other.submitOrder

/** Batches, then waiting ones, without NOT_READY ones (docs/reference/service.md, "getQueue"). */
export const listEnqueued = ({ batches, waiting }: Queue): readonly PullRequest[] => [
  ...batches.flatMap(({ members }) => members),
  ...waiting,
]

export const hasNoPullRequests = ({ notReady, waiting, batches }: Queue): boolean =>
  notReady.size === 0 && waiting.length === 0 && batches.length === 0

/** Returns the head commit of a pull request; an invented commit until an upload names it. */
export const getHeadCommit = ({ headCommits, seed, repo }: Queue, number: number): HeadCommit =>
  headCommits.get(number) ?? {
    sha: createHex(40, 'sha', seed, repositoryName(repo), number),
    previousShas: [],
    targets: undefined,
  }
