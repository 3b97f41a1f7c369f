import type { JsonObject } from '../json.ts'
import { nameOf, type Repository } from '../domain/values/parsers.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { advance } from './engine/run-until-stable.ts'
import { configure } from './engine/inputs.ts'
import { isEmpty } from './engine/queue-order.ts'
import { openQueue, type Pace, type PullRequestState, paceOf, type Queue } from './engine/queue.ts'
import { type FlakyTest, flakyTests } from './failing-tests.ts'
import { refusal } from './error-status.ts'
import type { Scenario } from './scenarios.ts'

/** A branch that a queue merges into. */
export interface Place {
  readonly repo: Repository
  readonly targetBranch: string
}

/** What a sandbox is made of; the same options and requests at the same moments give the same answers. */
export interface StageOptions {
  readonly dialect: DialectName
  /** Divides every duration; 1 is a test run of about two seconds. */
  readonly speed: number
  readonly seed: number
  readonly scenario: Scenario
  /** Queues besides the default one. */
  readonly queues: readonly Place[]
}

/** Everything that the handlers play on: queues that are up to date, and tests that have failed. */
export interface Stage {
  readonly dialect: Dialect
  readonly pace: Pace
  /** For how long a submit does not show in reads of the pull request, in milliseconds. */
  readonly blindness: number
  /** The states that pull requests were told to be in. */
  readonly told: Set<PullRequestState>
  /** All queues, at the moment of the request. */
  queues(): readonly Queue[]
  /** All queues that there ever were, those deleted as they were then. */
  everyQueue(): readonly Queue[]
  /** The queue of a branch, at the moment of the request; 404 when there is none. */
  queueOf(place: Place): Queue
  /** A new queue with these settings, the rest as usual; 409 when the branch has one (service-observed.md section 1.3). */
  create(place: Place, settings: JsonObject): Queue
  /** Deletes a queue, which must be empty (service-api.md section 3 rule 1). */
  remove(place: Place): void
  /** The tests of a repository that has, or had, a queue; 404 for any other. */
  testsOf(repo: Repository): readonly FlakyTest[]
}

/** The queue that every sandbox starts with. */
export const defaultPlace: Place = {
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'main',
}

const keyOf = ({ repo, targetBranch }: Place): string => JSON.stringify([nameOf(repo), targetBranch])

/** Sets a stage: the default queue and those asked for, each with the settings of the scenario. */
export function openStage(
  { dialect, speed, seed, scenario, queues: more }: StageOptions,
  now: () => number,
): Stage {
  const openedAt = now()
  const queues = new Map<string, Queue>()
  const deleted: Queue[] = []
  const tests = new Map<string, () => readonly FlakyTest[]>()
  const pace = paceOf(speed, scenario)

  const create = ({ repo, targetBranch }: Place, settings: JsonObject): Queue => {
    const key = keyOf({ repo, targetBranch })
    if (queues.has(key)) throw refusal(409, `${targetBranch} has a queue already.`)
    const queue = openQueue({ repo, targetBranch, seed, scenario, pace, now: now() })
    configure(queue, settings)
    queues.set(key, queue)
    if (!tests.has(nameOf(repo)))
      tests.set(
        nameOf(repo),
        once(() => flakyTests(seed, repo, openedAt)),
      )
    return queue
  }

  /** A queue that is there from the start: what the scenario says of queues is said of these. */
  const prepare = (place: Place) => {
    const { happenings } = create(place, scenario.settings ?? {})
    for (const { after, settings } of scenario.moments ?? [])
      happenings.add(openedAt + Math.round(after * pace.second), { what: 'changed', settings })
  }

  const queueOf = (place: Place): Queue => {
    const queue = queues.get(keyOf(place))
    if (queue === undefined)
      throw refusal(404, `${place.targetBranch} of ${nameOf(place.repo)} has no queue.`)
    advance(queue, now())
    return queue
  }

  for (const place of [defaultPlace, ...more]) if (!queues.has(keyOf(place))) prepare(place)

  return {
    dialect: dialects[dialect],
    pace,
    blindness: dialects[dialect].blindness / speed,
    told: new Set(),
    queues: () => [...queues.values()].map(queueOf),
    everyQueue: () => [...deleted, ...[...queues.values()].map(queueOf)],
    queueOf,
    create,
    remove(place) {
      const queue = queueOf(place)
      if (!isEmpty(queue)) throw refusal(dialects[dialect].notEmpty, 'The queue is not empty.')
      deleted.push(queue)
      queues.delete(keyOf(place))
    },
    testsOf: repo => (tests.get(nameOf(repo)) ?? unknown(repo))(),
  }
}

function unknown(repo: Repository): never {
  throw refusal(404, `The repository ${nameOf(repo)} is not known here.`)
}

/** Makes a value when it is first asked for and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
