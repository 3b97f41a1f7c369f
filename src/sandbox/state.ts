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
  /** Returns the present time in milliseconds since 1970. */
  now(): number
}

export const defaultQueue: QueueRef = {
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
}

const queueKey = ({ repo, targetBranch }: QueueRef): string =>
  JSON.stringify([repositoryName(repo), targetBranch])

/** The data of a sandbox. Methods that return a queue advance it to the present first. */
export class SandboxState {
  readonly dialect: Dialect
  readonly timings: Timings
  /** How long getSubmittedPullRequest does not show a new submit, in milliseconds. */
  readonly readDelay: number
  readonly reportedStates = new Set<PullRequestState>()
  readonly #queues = new Map<string, Queue>()
  readonly #deletedQueues: Queue[] = []
  readonly #tests = new Map<string, () => readonly SandboxTest[]>()
  readonly #linkedTickets = new Map<string, string>()
  readonly #options: SandboxStateOptions
  readonly #startedAt: number

  /** Creates the default queue and the queues of the options; they have the settings of the scenario. */
  constructor(options: SandboxStateOptions) {
    const { dialect, speed, scenario, queues } = options
    this.#options = options
    this.#startedAt = options.now()
    this.dialect = dialects[dialect]
    this.timings = createTimings(speed, scenario)
    this.readDelay = this.dialect.readDelay / speed
    for (const ref of [defaultQueue, ...queues])
      if (!this.#queues.has(queueKey(ref))) this.#createInitialQueue(ref)
  }

  #createInitialQueue(ref: QueueRef): void {
    const { settings = {}, moments = [] } = this.#options.scenario
    const { scheduledEvents } = this.createQueue(ref, settings)
    for (const { after, settings } of moments)
      scheduledEvents.add(this.#startedAt + Math.round(after * this.timings.second), {
        type: 'configure',
        settings,
      })
  }

  /** Throws 400 for a state in upper case, if the scenario accepts lower case only in the hosted dialect. */
  checkStateCase({ state }: JsonObject): void {
    if (!this.#options.scenario.lowerCaseStatesOnly || !this.dialect.hasObservedFields) return
    if (typeof state === 'string' && state !== state.toLowerCase())
      throw statusError(400, `state must be in lower case, not ${state}.`)
  }

  listQueues(): readonly Queue[] {
    return [...this.#queues.values()].map(queue => this.getQueue(queue))
  }

  listQueuesWithDeleted(): readonly Queue[] {
    return [...this.#deletedQueues, ...this.listQueues()]
  }

  /** Throws 404 if there is no such queue. */
  getQueue(ref: QueueRef): Queue {
    const queue = this.#queues.get(queueKey(ref))
    if (queue === undefined) throw statusError(404, 'There is no queue for this branch.')
    advanceTo(queue, this.#options.now())
    return queue
  }

  /**
   * Creates a queue; settings that are not named have their defaults. Throws 409 if the branch has a queue
   * (docs/reference/service.md, "Error responses").
   */
  createQueue({ repo, targetBranch }: QueueRef, settings: JsonObject): Queue {
    const { seed, scenario, now } = this.#options
    const key = queueKey({ repo, targetBranch })
    if (this.#queues.has(key)) throw statusError(409, `The branch ${targetBranch} already has a queue.`)
    const queue = createEmptyQueue({ repo, targetBranch, seed, scenario, timings: this.timings, now: now() })
    configure(queue, settings)
    this.#queues.set(key, queue)
    const name = repositoryName(repo)
    if (!this.#tests.has(name))
      this.#tests.set(
        name,
        memoize(() => createFailingTests(seed, repo, this.#startedAt)),
      )
    return queue
  }

  /**
   * Deletes a queue. Throws 404 if there is none, and `queueNotEmptyStatus` of the dialect while the queue
   * contains pull requests (docs/reference/service.md, "deleteQueue").
   */
  deleteQueue(ref: QueueRef): void {
    const queue = this.getQueue(ref)
    if (!isEmpty(queue)) throw statusError(this.dialect.queueNotEmptyStatus, 'The queue is not empty.')
    this.#deletedQueues.push(queue)
    this.#queues.delete(queueKey(ref))
  }

  /** Returns the tests of a repository that has, or had, a queue; throws 404 for any other repository. */
  getTests(repo: Repository): readonly SandboxTest[] {
    const readTests = this.#tests.get(repositoryName(repo))
    if (readTests === undefined) throw statusError(404, `The repository ${repositoryName(repo)} is unknown.`)
    const tickets = this.#linkedTickets
    if (tickets.size === 0) return readTests()
    return readTests().map(test => ({ ...test, ticketUrl: tickets.get(test.id) ?? test.ticketUrl }))
  }

  /** Links a ticket to a test; throws 404 if the repository or the test is unknown. */
  linkTicket(repo: Repository, testId: string, ticket: string): void {
    if (!this.getTests(repo).some(({ id }) => id === testId))
      throw statusError(404, `There is no test ${testId}.`)
    this.#linkedTickets.set(testId, `https://tickets.sandbox.example/${encodeURIComponent(ticket)}`)
  }
}
