import { type Repository, repositoryName } from '../domain/values/repository.ts'
import { advance } from '../domain/wait-state.ts'
import type { JsonObject } from '../json.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { configure } from './engine/actions.ts'
import {
  createQueueState,
  type PullRequestState,
  type Queue,
  type Timings,
  timingsFor,
} from './engine/queue.ts'
import { isEmpty } from './engine/queue-queries.ts'
import { createFailingTests, type SandboxTest } from './failing-tests.ts'
import type { Scenario } from './scenarios.ts'
import { statusError } from './status-error.ts'

/** A branch that a queue merges into. */
export interface QueueRef {
  readonly repo: Repository
  readonly targetBranch: string
}

/** What a sandbox is made of; the same options and requests at the same moments give the same answers. */
export interface SandboxStateOptions {
  readonly dialect: DialectName
  /** Divides every duration; 1 is a test run of about two seconds. */
  readonly speed: number
  readonly seed: number
  readonly scenario: Scenario
  /** Queues besides the default one. */
  readonly queues: readonly QueueRef[]
}

/** Everything that the handlers play on: queues that are up to date, and tests that have failed. */
export interface SandboxState {
  readonly dialect: Dialect
  readonly timings: Timings
  /** For how long a submit does not show in reads of the pull request, in milliseconds. */
  readonly readDelay: number
  /** The states that pull requests were told to be in. */
  readonly reportedStates: Set<PullRequestState>
  /** All queues, at the moment of the request. */
  queues(): readonly Queue[]
  /** All queues that there ever were, those deleted as they were then. */
  everyQueue(): readonly Queue[]
  /** The queue of a branch, at the moment of the request; 404 when there is none. */
  queueOf(place: QueueRef): Queue
  /** A new queue with these settings, the rest as usual; 409 when the branch has one (service-observed.md section 1.3). */
  create(place: QueueRef, settings: JsonObject): Queue
  /** Deletes a queue, which must be empty (service-api.md section 3 rule 1). */
  remove(place: QueueRef): void
  /** The tests of a repository that has, or had, a queue; 404 for any other. */
  testsOf(repo: Repository): readonly SandboxTest[]
}

/** The queue that every sandbox starts with. */
export const defaultQueue: QueueRef = {
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
}

const keyOf = ({ repo, targetBranch }: QueueRef): string =>
  JSON.stringify([repositoryName(repo), targetBranch])

/** Sets a stage: the default queue and those asked for, each with the settings of the scenario. */
export function createSandboxState(
  { dialect, speed, seed, scenario, queues: more }: SandboxStateOptions,
  now: () => number,
): SandboxState {
  const openedAt = now()
  const queues = new Map<string, Queue>()
  const deleted: Queue[] = []
  const tests = new Map<string, () => readonly SandboxTest[]>()
  const timings = timingsFor(speed, scenario)

  const create = ({ repo, targetBranch }: QueueRef, settings: JsonObject): Queue => {
    const key = keyOf({ repo, targetBranch })
    if (queues.has(key)) throw statusError(409, `${targetBranch} has a queue already.`)
    const queue = createQueueState({ repo, targetBranch, seed, scenario, timings, now: now() })
    configure(queue, settings)
    queues.set(key, queue)
    if (!tests.has(repositoryName(repo)))
      tests.set(
        repositoryName(repo),
        once(() => createFailingTests(seed, repo, openedAt)),
      )
    return queue
  }

  /** A queue that is there from the start: what the scenario says of queues is said of these. */
  const prepare = (place: QueueRef) => {
    const { scheduledEvents } = create(place, scenario.settings ?? {})
    for (const { after, settings } of scenario.moments ?? [])
      scheduledEvents.add(openedAt + Math.round(after * timings.second), { what: 'changed', settings })
  }

  const queueOf = (place: QueueRef): Queue => {
    const queue = queues.get(keyOf(place))
    if (queue === undefined)
      throw statusError(404, `${place.targetBranch} of ${repositoryName(place.repo)} has no queue.`)
    advance(queue, now())
    return queue
  }

  for (const place of [defaultQueue, ...more]) if (!queues.has(keyOf(place))) prepare(place)

  return {
    dialect: dialects[dialect],
    timings,
    readDelay: dialects[dialect].blindness / speed,
    reportedStates: new Set(),
    queues: () => [...queues.values()].map(queueOf),
    everyQueue: () => [...deleted, ...[...queues.values()].map(queueOf)],
    queueOf,
    create,
    remove(place) {
      const queue = queueOf(place)
      if (!isEmpty(queue)) throw statusError(dialects[dialect].notEmpty, 'The queue is not empty.')
      deleted.push(queue)
      queues.delete(keyOf(place))
    },
    testsOf: repo => (tests.get(repositoryName(repo)) ?? unknown(repo))(),
  }
}

function unknown(repo: Repository): never {
  throw statusError(404, `The repository ${repositoryName(repo)} is not known here.`)
}

/** Makes a value when it is first asked for and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
