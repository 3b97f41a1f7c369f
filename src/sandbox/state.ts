import type { JsonObject } from '../base/json.ts'
import { type Repository, repositoryName } from '../values/repository.ts'
import { rotatedToken, sandboxToken } from '../values/scenario-names.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { configure, submit } from './engine/actions.ts'
import {
  createEmptyQueue,
  createTimings,
  hasNoPullRequests,
  type Queue,
  type Timings,
} from './engine/queue.ts'
import { advanceTo, resume } from './engine/rules.ts'
import { statusError } from './requests.ts'
import type { Scenario } from './scenarios.ts'
import { createFailingTests, type SandboxTest } from './test-history.ts'

export interface QueueRef {
  readonly repo: Repository
  readonly targetBranch: string
}

/** The same options, and the same requests at the same times, give the same responses. */
export interface StateOptions {
  /** Divides every duration, above 0; at 1, the default, a test run takes about two seconds. */
  readonly speed?: number | undefined
  /** Determines the sample data; 1 by default. */
  readonly seed?: number | undefined
  /** `document` by default. */
  readonly dialect?: DialectName | undefined
  /** The only token that is accepted (docs/reference/service.md, "Authentication"); `sandbox` by default. */
  readonly token?: string | undefined
  readonly unknown?: readonly number[] | undefined
  /** Numbers of pull requests that are closed: what is submitted is cancelled. */
  readonly closed?: readonly number[] | undefined
  /** Pull requests that are in the queue at the start, and move when `release` is called. */
  readonly held?: readonly number[] | undefined
  readonly queues?: readonly QueueRef[] | undefined
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
  readonly speed: number
  readonly seed: number
  readonly token: string
  readonly unknown: readonly number[]
  readonly scenario: Scenario
  readonly timings: Timings
  readonly startedAt: number
  /** How long getSubmittedPullRequest does not show a new submit, in milliseconds. */
  readonly readDelay: number
  readonly now: () => number
  readonly #queues = new Map<string, Queue>()
  /** The names of the repositories that have, or had, a queue. */
  readonly #repositories = new Set<string>()
  readonly #tests = new Map<string, readonly SandboxTest[]>()

  /** Creates the default queue and the queues of the options; they have the settings of the scenario. */
  constructor(options: StateOptions, scenario: Scenario) {
    const { dialect = 'both', speed = 1, seed = 1, token = sandboxToken, queues = [] } = options
    const { unknown = [], closed = [], held = [] } = options
    this.dialect = dialects[dialect]
    this.speed = speed
    this.seed = seed
    this.token = token
    this.unknown = unknown
    this.scenario = { ...scenario, closed }
    this.timings = createTimings(speed, scenario)
    this.now = () => options.now()
    this.startedAt = options.now()
    this.readDelay = this.dialect.readDelay / speed
    for (const ref of [defaultQueue, ...queues]) {
      if (!this.#queues.has(queueKey(ref))) this.createQueue(ref, scenario.settings ?? {})
    }
    if (held.length > 0) this.#hold(held)
  }

  /** Submits pull requests, and stops the queue when the first of them is tested. */
  #hold(held: readonly number[]): void {
    const queue = this.getQueue(defaultQueue)
    for (const number of held) submit(queue, { number, priority: undefined, noBatch: undefined })
    advanceTo(queue, this.now() + this.timings.notReady)
    queue.heldSince = queue.now
  }

  release(): void {
    const queue = this.#queues.get(queueKey(defaultQueue))
    if (queue?.heldSince !== undefined) resume(queue, this.now())
  }

  accepts(token: string): boolean {
    const { tokenLasts = Number.POSITIVE_INFINITY } = this.scenario
    if (token === rotatedToken && Number.isFinite(tokenLasts)) return true
    return token === this.token && this.now() < this.startedAt + tokenLasts * this.timings.second
  }

  listQueues(): readonly Queue[] {
    return [...this.#queues.values()].map(queue => this.getQueue(queue))
  }

  getQueue(ref: QueueRef): Queue {
    const queue = this.#queues.get(queueKey(ref))
    if (queue === undefined) throw statusError(404, 'Not Found')
    advanceTo(queue, this.now())
    return queue
  }

  /** Throws 409 if the branch has a queue (docs/reference/service.md, "Error responses"). */
  createQueue({ repo, targetBranch }: QueueRef, settings: JsonObject): Queue {
    const { seed, scenario, timings } = this
    const key = queueKey({ repo, targetBranch })
    if (this.#queues.has(key)) throw statusError(409, `The branch ${targetBranch} already has a queue.`)
    const queue = createEmptyQueue({ repo, targetBranch, seed, scenario, timings, now: this.now() })
    configure(queue, settings)
    this.#queues.set(key, queue)
    this.#repositories.add(repositoryName(repo))
    return queue
  }

  /** Throws if it contains pull requests (docs/reference/service.md, "deleteQueue"). */
  deleteQueue(ref: QueueRef): void {
    if (!hasNoPullRequests(this.getQueue(ref)))
      throw statusError(this.dialect.queueNotEmptyStatus, 'The queue is not empty.')
    this.#queues.delete(queueKey(ref))
  }

  /** Returns the tests of a repository that has, or had, a queue; throws 404 for any other repository. */
  getTests(repo: Repository): readonly SandboxTest[] {
    const name = repositoryName(repo)
    if (!this.#repositories.has(name)) throw statusError(404, `The repository ${name} is unknown.`)
    const { formatTime } = this.dialect
    const tests =
      this.#tests.get(name) ?? createFailingTests({ seed: this.seed, repo, now: this.startedAt, formatTime })
    this.#tests.set(name, tests)
    return tests
  }

  getTest(repo: Repository, id: string): SandboxTest {
    const test = this.getTests(repo).find(other => other.id === id.toLowerCase())
    if (test === undefined) throw statusError(404, `There is no test ${id}.`)
    return test
  }
}
