import { memoize } from '../domain/memoize.ts'
import { type Repository, repositoryName } from '../domain/values/repository.ts'
import type { JsonObject } from '../json.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { configure } from './engine/actions.ts'
import { isEmpty } from './engine/queries.ts'
import {
  createEmptyQueue,
  createTimings,
  type PullRequestState,
  type Queue,
  type Timings,
} from './engine/queue.ts'
import { advanceTo } from './engine/rules.ts'
import { statusError } from './requests.ts'
import type { Scenario } from './scenarios.ts'
import { createFailingTests, type SandboxTest } from './test-history.ts'

export interface QueueRef {
  readonly repo: Repository
  readonly targetBranch: string
}

/** The same options, and the same requests at the same times, give the same responses. */
export interface SandboxStateOptions {
  readonly dialect: DialectName
  /** Divides every duration, above 0; at 1 a test run takes about two seconds. */
  readonly speed: number
  readonly seed: number
  readonly scenario: Scenario
  readonly queues: readonly QueueRef[]
}

/** The data of a sandbox. Methods that return a queue advance it to the present first. */
export interface SandboxState {
  readonly dialect: Dialect
  readonly timings: Timings
  /** How long getSubmittedPullRequest does not show a new submit, in milliseconds. */
  readonly readDelay: number
  readonly reportedStates: Set<PullRequestState>
  /** Throws 400 for a state in upper case, if the scenario accepts lower case only in the hosted dialect. */
  checkStateCase(body: JsonObject): void
  listQueues(): readonly Queue[]
  listQueuesWithDeleted(): readonly Queue[]
  /** Returns a queue; throws 404 if there is none. */
  getQueue(ref: QueueRef): Queue
  /**
   * Creates a queue; settings that are not named have their defaults. Throws 409 if the branch has a queue
   * (docs/reference/service.md, "Error responses").
   */
  createQueue(ref: QueueRef, settings: JsonObject): Queue
  /**
   * Deletes a queue. Throws 404 if there is none, and `queueNotEmptyStatus` of the dialect while the queue
   * contains pull requests (docs/reference/service.md, "deleteQueue").
   */
  deleteQueue(ref: QueueRef): void
  /** Returns the tests of a repository that has, or had, a queue; throws 404 for any other repository. */
  getTests(repo: Repository): readonly SandboxTest[]
  /** Links a ticket to a test; throws 404 if the repository or the test is unknown. */
  linkTicket(repo: Repository, testId: string, ticket: string): void
}

export const defaultQueue: QueueRef = {
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
}

const queueKey = ({ repo, targetBranch }: QueueRef): string =>
  JSON.stringify([repositoryName(repo), targetBranch])

/**
 * Creates a sandbox with the default queue and the queues of the options; they have the settings of the
 * scenario.
 *
 * @param now Returns the present time in milliseconds since 1970.
 */
export function createSandboxState(
  { dialect, speed, seed, scenario, queues: additionalQueues }: SandboxStateOptions,
  now: () => number,
): SandboxState {
  const startedAt = now()
  const queues = new Map<string, Queue>()
  const deletedQueues: Queue[] = []
  const testsByRepository = new Map<string, () => readonly SandboxTest[]>()
  const linkedTickets = new Map<string, string>()
  const timings = createTimings(speed, scenario)

  const createQueue = ({ repo, targetBranch }: QueueRef, settings: JsonObject): Queue => {
    const key = queueKey({ repo, targetBranch })
    if (queues.has(key)) throw statusError(409, `The branch ${targetBranch} already has a queue.`)
    const queue = createEmptyQueue({ repo, targetBranch, seed, scenario, timings, now: now() })
    configure(queue, settings)
    queues.set(key, queue)
    if (!testsByRepository.has(repositoryName(repo)))
      testsByRepository.set(
        repositoryName(repo),
        memoize(() => createFailingTests(seed, repo, startedAt)),
      )
    return queue
  }

  const createInitialQueue = (ref: QueueRef) => {
    const { scheduledEvents } = createQueue(ref, scenario.settings ?? {})
    for (const { after, settings } of scenario.moments ?? [])
      scheduledEvents.add(startedAt + Math.round(after * timings.second), { type: 'configure', settings })
  }

  const getQueue = (ref: QueueRef): Queue => {
    const queue = queues.get(queueKey(ref))
    if (queue === undefined) throw statusError(404, 'There is no queue for this branch.')
    advanceTo(queue, now())
    return queue
  }

  const getTests = (repo: Repository): readonly SandboxTest[] => {
    const readTests = testsByRepository.get(repositoryName(repo))
    if (readTests === undefined) throw statusError(404, `The repository ${repositoryName(repo)} is unknown.`)
    if (linkedTickets.size === 0) return readTests()
    return readTests().map(test => ({ ...test, ticketUrl: linkedTickets.get(test.id) ?? test.ticketUrl }))
  }

  const listQueues = () => [...queues.values()].map(getQueue)

  for (const ref of [defaultQueue, ...additionalQueues])
    if (!queues.has(queueKey(ref))) createInitialQueue(ref)

  return {
    dialect: dialects[dialect],
    timings,
    readDelay: dialects[dialect].readDelay / speed,
    reportedStates: new Set(),
    checkStateCase({ state }) {
      if (!scenario.lowerCaseStatesOnly || !dialects[dialect].hasObservedFields) return
      if (typeof state === 'string' && state !== state.toLowerCase())
        throw statusError(400, `state must be in lower case, not ${state}.`)
    },
    listQueues,
    listQueuesWithDeleted: () => [...deletedQueues, ...listQueues()],
    getQueue,
    createQueue,
    deleteQueue(ref) {
      const queue = getQueue(ref)
      if (!isEmpty(queue)) throw statusError(dialects[dialect].queueNotEmptyStatus, 'The queue is not empty.')
      deletedQueues.push(queue)
      queues.delete(queueKey(ref))
    },
    getTests,
    linkTicket(repo, testId, ticket) {
      if (!getTests(repo).some(({ id }) => id === testId))
        throw statusError(404, `There is no test ${testId}.`)
      linkedTickets.set(testId, `https://tickets.sandbox.example/${encodeURIComponent(ticket)}`)
    },
  }
}
