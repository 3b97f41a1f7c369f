import type { JsonObject } from '../base/json.ts'
import { memoize } from '../base/scheduling.ts'
import { type Repository, repositoryName } from '../values/repository.ts'
import { rotatedToken, sandboxToken } from '../values/scenario-names.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { submit } from './engine/actions.ts'
import { createEmptyQueue, createTimings, hasNoPullRequests, type Queue } from './engine/queue.ts'
import { advanceTo, resume } from './engine/rules.ts'
import { configure } from './engine/settings.ts'
import { statusError } from './requests.ts'
import type { Scenario } from './scenarios.ts'
import { createFailingTests, type SandboxTest } from './test-history.ts'

interface QueueRef {
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

/**
 * Creates the data of a sandbox, with the default queue and the queues of the options; they have the settings of the
 * scenario. Functions that return a queue advance it to the present first.
 */
export function createState(options: StateOptions, given: Scenario) {
  const { speed = 1, seed = 1, token = sandboxToken, unknown = [], closed = [], held = [] } = options
  const dialect: Dialect = dialects[options.dialect ?? 'both']
  const scenario: Scenario = { ...given, closed }
  const timings = createTimings(speed, scenario)
  const now = () => options.now()
  const startedAt = now()
  const queues = new Map<string, Queue>()
  /** The tests of each repository that has, or had, a queue, by its name. */
  const testsByRepository = new Map<string, () => readonly SandboxTest[]>()

  const getQueue = (ref: QueueRef): Queue => {
    const queue = queues.get(queueKey(ref))
    if (queue === undefined) throw statusError(404, 'Not Found')
    advanceTo(queue, now())
    return queue
  }

  /** Throws 409 if the branch has a queue (docs/reference/service.md, "Error responses"). */
  const createQueue = ({ repo, targetBranch }: QueueRef, settings: JsonObject): Queue => {
    const key = queueKey({ repo, targetBranch })
    if (queues.has(key)) throw statusError(409, `The branch ${targetBranch} already has a queue.`)
    const queue = createEmptyQueue({ repo, targetBranch, seed, scenario, timings, now: now() })
    configure(queue, settings)
    queues.set(key, queue)
    const createTests = () =>
      createFailingTests({ seed, repo, now: startedAt, formatTime: dialect.formatTime })
    const name = repositoryName(repo)
    if (!testsByRepository.has(name)) testsByRepository.set(name, memoize(createTests))
    return queue
  }

  /** Returns the tests of a repository that has, or had, a queue; throws 404 for any other repository. */
  const getTests = (repo: Repository): readonly SandboxTest[] => {
    const name = repositoryName(repo)
    const tests = testsByRepository.get(name)
    if (tests === undefined) throw statusError(404, `The repository ${name} is unknown.`)
    return tests()
  }

  for (const ref of [defaultQueue, ...(options.queues ?? [])])
    if (!queues.has(queueKey(ref))) createQueue(ref, scenario.settings ?? {})
  if (held.length > 0) {
    // The queue stops when the first of them is tested.
    const queue = getQueue(defaultQueue)
    for (const number of held) submit(queue, { number })
    advanceTo(queue, now() + timings.notReady)
    queue.heldSince = queue.now
  }

  return {
    dialect,
    speed,
    seed,
    token,
    unknown,
    scenario,
    timings,
    /** How long getSubmittedPullRequest does not show a new submit, in milliseconds. */
    readDelay: dialect.readDelay / speed,
    now,
    getQueue,
    createQueue,
    getTests,

    release(): void {
      const queue = queues.get(queueKey(defaultQueue))
      if (queue?.heldSince !== undefined) resume(queue, now())
    },

    accepts(text: string): boolean {
      const { tokenLasts = Number.POSITIVE_INFINITY } = scenario
      if (text === rotatedToken && Number.isFinite(tokenLasts)) return true
      return text === token && now() < startedAt + tokenLasts * timings.second
    },

    listQueues: (): readonly Queue[] => [...queues.values()].map(getQueue),

    /** Throws if it contains pull requests (docs/reference/service.md, "deleteQueue"). */
    deleteQueue(ref: QueueRef): void {
      if (!hasNoPullRequests(getQueue(ref)))
        throw statusError(dialect.queueNotEmptyStatus, 'The queue is not empty.')
      queues.delete(queueKey(ref))
    },

    getTest(repo: Repository, id: string): SandboxTest {
      const test = getTests(repo).find(other => other.id === id.toLowerCase())
      if (test === undefined) throw statusError(404, `There is no test ${id}.`)
      return test
    },
  }
}

export type SandboxState = ReturnType<typeof createState>
