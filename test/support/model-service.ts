import { isDeepStrictEqual } from 'node:util'
import { bodyText } from '../../src/api/request.ts'
import type { HttpResponse } from '../../src/http/messages.ts'
import type { Attempt } from '../../src/http/undici.ts'
import { mergeq, noon, type Setting } from './harness.ts'
import { network, networkEnv } from './replaced-transport.ts'

/** A clock whose time passes only while everything sleeps: what sleeps side by side wakes in order. */
export interface VirtualClock {
  now: number
  sleep(ms: number): Promise<void>
}

/** Makes a virtual clock that begins at `now`, in milliseconds since 1970. */
export function virtualClock(now: number): VirtualClock {
  const sleeping: { readonly at: number; wake(): void }[] = []
  let isArmed = false
  const arm = () => {
    if (isArmed) return
    isArmed = true
    setImmediate(() => {
      isArmed = false
      const next = sleeping.shift()
      if (next === undefined) return
      clock.now = Math.max(clock.now, next.at)
      next.wake()
      if (sleeping.length > 0) arm()
    })
  }
  const clock: VirtualClock = {
    now,
    sleep: ms =>
      new Promise(wake => {
        const at = clock.now + ms
        const index = sleeping.findIndex(other => other.at > at)
        sleeping.splice(index < 0 ? sleeping.length : index, 0, { at, wake })
        arm()
      }),
  }
  return clock
}

/** How an answer is lost, or what stands in its place. */
export type Loss = 'reset' | 'time-out' | 307 | 408 | 503 | 'cut' | 'page'

/**
 * What happens to one sending of a change. `refused` with 404 or 409 happens to a replay only: a service that
 * refuses the first sending like that means it. `late` applies it so many milliseconds after it came, and
 * loses the answer.
 */
export type ChangeFault =
  | { readonly kind: 'none' | 'not-sent' }
  | { readonly kind: 'limited'; readonly retryAfter?: string }
  | { readonly kind: 'before' | 'after'; readonly loss: Loss }
  | { readonly kind: 'late'; readonly loss: Loss; readonly delay: number }
  | { readonly kind: 'refused'; readonly status: number }

/** What happens to one reading. `stale` shows how things were so many milliseconds ago. */
export type ReadFault =
  | { readonly kind: 'none' }
  | { readonly kind: 'stale'; readonly lag: number }
  | { readonly kind: 'lost'; readonly loss: Loss }
  | { readonly kind: 'body'; readonly body: string; readonly status?: number }
  | { readonly kind: 'previous' | 'brief-404' }
  | { readonly kind: 'refused'; readonly status: number }

export const acts = [
  ...(['submit', 'cancel', 'restart', 'advance', 'fail'] as const),
  ...(['create', 'delete', 'update', 'pause'] as const),
]

/**
 * What another client, or the queue itself, does at a moment, in milliseconds from the start of the command.
 */
export interface Act {
  readonly at: number
  readonly what: (typeof acts)[number]
  readonly pr: number
  readonly branch: string
}

/**
 * A pull request as the service has it; `changedAt` is the true moment, in milliseconds by the program's
 * clock.
 */
export interface Pull {
  readonly state: string
  readonly changedAt: number
  readonly priority: number
  readonly noBatch: boolean
}

export type Settings = Readonly<Record<string, unknown>>

/** How something was from a moment on; `by` is the number of our sending, or undefined for anybody else. */
export interface Version<T> {
  readonly at: number
  readonly value: T | undefined
  readonly by: number | undefined
}

/** One sending of a change, as the service saw it. */
export interface Sending {
  readonly number: number
  readonly operation: string
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
  readonly at: number
  readonly fault: ChangeFault
  endedAt: number
  /** When it was applied. */
  appliedAt?: number
  /** The service's own answer was a 2xx and it was not lost. */
  isAccepted: boolean
}

/** What a model is made of. */
export interface Scenario {
  /** How far the service's clock is ahead of the program's, in milliseconds. */
  readonly skew: number
  readonly latency: number
  readonly changes: readonly ChangeFault[]
  readonly readings: readonly ReadFault[]
  /** What went before, at negative moments, and what happens meanwhile. */
  readonly acts: readonly Act[]
  /** Queues and pull requests as they were an hour before. */
  readonly queues: Readonly<Record<string, Settings>>
  readonly pulls: Readonly<Record<string, string | Partial<Pull> | undefined>>
  /** Whether a submit of what is queued is refused with 409, and a delete of what is not there succeeds. */
  readonly refusesQueued: boolean
  readonly deletesNothing: boolean
  /** Whether answers bear a Date. */
  readonly dated: boolean
}

const hour = 3_600_000
const second = 1_000
const repository = 'github.com/acme/web'
const names: Readonly<Record<string, number>> = { urgent: 0, high: 10, medium: 100, low: 200 }
const ends = ['MERGED', 'FAILED', 'CANCELLED']
const known =
  /^((submit|cancel)PullRequest|restartTestsOnPullRequest|setImpactedTargets|(create|update|delete)Queue)$/
/** A record of the previous attempt, or a brief 404, comes only so soon after a sending, in milliseconds. */
const anomalous = 4_000

export const isQueued = (pull: Pull | undefined): boolean => pull !== undefined && !ends.includes(pull.state)

export const pullKey = (repo: string, branch: string, pr: unknown) => `${repo} ${branch} #${pr}`
export const queueKey = (repo: string, branch: string) => `${repo} ${branch}`

export const priorityIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' ? names[value.toLowerCase()] : undefined

const nameOf = (repo: unknown): string => {
  const { host, owner, name } = Object(repo)
  return `${host}/${owner}/${name}`
}

/** The key of what a body is about. */
function keyOf(operation: string, body: Readonly<Record<string, unknown>>): string {
  const [repo, branch] = [nameOf(body.repo), String(body.targetBranch)]
  return /queue$/i.test(operation) ? queueKey(repo, branch) : pullKey(repo, branch, Object(body.pr).number)
}

/**
 * A service in memory with a history: queues and pull requests with everything that became of them, and every
 * sending of a change with what was done with it. Nothing of it is shared with the program.
 */
export function modelService(scenario: Scenario, clock: VirtualClock) {
  const start = clock.now
  const pulls = new Map<string, Version<Pull>[]>()
  const queues = new Map<string, Version<Settings>[]>()
  const sendings: Sending[] = []
  const faults = [...scenario.changes]
  const troubles = [...scenario.readings]
  const agenda: { readonly at: number; act(at: number): void }[] = []
  const log: string[] = []
  const operations: string[] = []

  const put = <T>(
    history: Map<string, Version<T>[]>,
    key: string,
    value: T | undefined,
    at: number,
    by?: number,
  ) => {
    const versions = history.get(key) ?? []
    history.set(key, versions)
    versions.push({ at, value, by })
  }
  const was = <T>(history: Map<string, Version<T>[]>, key: string, at: number): T | undefined =>
    history.get(key)?.findLast(version => version.at <= at)?.value
  const now = <T>(history: Map<string, Version<T>[]>, key: string): T | undefined =>
    history.get(key)?.at(-1)?.value

  /** Does what is due until now, in order. */
  const catchUp = (until = clock.now) => {
    for (;;) {
      const index = agenda.findIndex(({ at }) => at <= until)
      const [due] = index < 0 ? [] : agenda.splice(index, 1)
      if (due === undefined) return
      due.act(due.at)
    }
  }
  const plan = (at: number, act: (at: number) => void) => {
    const index = agenda.findIndex(other => other.at > at)
    agenda.splice(index < 0 ? agenda.length : index, 0, { at, act })
  }

  /** Applies a change as the service does: its status, and whether anything came of it. */
  const perform = (
    operation: string,
    body: Readonly<Record<string, unknown>>,
    at: number,
    by?: number,
  ): readonly [status: number, isApplied: boolean] => {
    const key = keyOf(operation, body)
    const [repo, branch] = [nameOf(body.repo), String(body.targetBranch)]
    const ofQueue = queueKey(repo, branch)
    const pull = now(pulls, key)
    const queue = now(queues, ofQueue)
    if (!known.test(operation)) return [200, true]
    if (operation === 'createQueue') {
      if (queue !== undefined) return [409, false]
      const { mode = 'single', concurrency = 1 } = body
      put(queues, key, { state: 'RUNNING', mode, concurrency, batch: false }, at, by)
      return [200, true]
    }
    if (operation === 'deleteQueue' && queue === undefined)
      return scenario.deletesNothing ? [200, false] : [404, false]
    if (queue === undefined) return [404, false]
    switch (operation) {
      case 'submitPullRequest': {
        if (pull?.state === 'MERGED') return [400, false]
        const priority = priorityIn(body.priority)
        const noBatch = typeof body.noBatch === 'boolean' ? body.noBatch : undefined
        if (pull !== undefined && isQueued(pull)) {
          if (scenario.refusesQueued) return [409, false]
          const changed = { priority: priority ?? pull.priority, noBatch: noBatch ?? pull.noBatch }
          put(pulls, key, { ...pull, ...changed }, at, by)
          return [200, true]
        }
        const chosen = { priority: priority ?? 100, noBatch: noBatch ?? false }
        put(pulls, key, { state: 'PENDING', changedAt: at, ...chosen }, at, by)
        return [200, true]
      }
      case 'cancelPullRequest':
        if (pull === undefined || !isQueued(pull)) return [404, false]
        put(pulls, key, { ...pull, state: 'CANCELLED', changedAt: at }, at, by)
        return [200, true]
      case 'restartTestsOnPullRequest':
        if (pull === undefined) return [404, false]
        if (!/^(TESTING|PENDING_FAILURE)$/.test(pull.state)) return [400, false]
        put(pulls, key, { ...pull, state: 'TESTING', changedAt: at }, at, by)
        return [200, true]
      case 'setImpactedTargets':
        return [200, true]
      case 'updateQueue': {
        const { repo: _, targetBranch: __, ...settings } = body
        put(queues, key, { ...queue, ...settings }, at, by)
        return [200, true]
      }
      case 'deleteQueue': {
        const isEmpty = [...pulls].every(
          ([name, versions]) => !name.startsWith(`${ofQueue} #`) || !isQueued(versions.at(-1)?.value),
        )
        if (!isEmpty) return [400, false]
        put(queues, key, undefined, at, by)
        return [200, true]
      }
      default:
        return [200, true]
    }
  }

  const act = ({ what, pr, branch }: Act, at: number) => {
    const body = {
      repo: { host: 'github.com', owner: 'acme', name: 'web' },
      targetBranch: branch,
      pr: { number: pr },
    }
    const key = pullKey(repository, branch, pr)
    const pull = now(pulls, key)
    const next = new Map([
      ['NOT_READY', 'PENDING'],
      ['PENDING', 'TESTING'],
      ['TESTING', 'TESTS_PASSED'],
      ['TESTS_PASSED', 'MERGED'],
      ['PENDING_FAILURE', 'TESTING'],
    ]).get(pull?.state ?? '')
    const { pr: _, ...onQueue } = body
    log.push(`${at - start} somebody: ${what} ${key}`)
    if (what === 'submit' || what === 'cancel') perform(`${what}PullRequest`, body, at)
    else if (what === 'restart') perform('restartTestsOnPullRequest', body, at)
    else if (what === 'create' || what === 'delete') perform(`${what}Queue`, onQueue, at)
    else if (what === 'update') perform('updateQueue', { ...onQueue, concurrency: 5 }, at)
    else if (what === 'pause') perform('updateQueue', { ...onQueue, state: 'PAUSED' }, at)
    else if (pull === undefined || !isQueued(pull)) return
    else if (what === 'fail') put(pulls, key, { ...pull, state: 'FAILED', changedAt: at }, at)
    else if (what === 'advance' && next !== undefined)
      put(pulls, key, { ...pull, state: next, changedAt: at }, at)
  }

  const iso = (at: number) =>
    `${new Date(Math.floor((at + scenario.skew) / second) * second).toISOString().slice(0, 19)}.000Z`
  const recordOf = (key: string, pull: Pull) => ({
    id: key,
    state: pull.state.toLowerCase(),
    stateChangedAt: iso(pull.changedAt),
    priorityValue: pull.priority,
    priorityName: Object.keys(names).find(name => names[name] === pull.priority) ?? '',
    noBatch: pull.noBatch,
    isCurrentlySubmittedToQueue: isQueued(pull),
    prNumber: Number(key.split('#')[1]),
  })
  const read = (operation: string, key: string, at: number): readonly [status: number, body: string] => {
    if (operation === 'getSubmittedPullRequest') {
      const pull = was(pulls, key, at)
      return pull === undefined ? [404, 'Not Found'] : [200, JSON.stringify(recordOf(key, pull))]
    }
    const queue = was(queues, key, at)
    if (queue === undefined) return [404, 'Not Found']
    const enqueuedPullRequests = [...pulls.keys()].flatMap(name => {
      const pull = was(pulls, name, at)
      if (!name.startsWith(`${key} #`) || pull === undefined || !isQueued(pull) || pull.state === 'NOT_READY')
        return []
      const { isCurrentlySubmittedToQueue: _, ...entry } = recordOf(name, pull)
      return [entry]
    })
    return [200, JSON.stringify({ ...queue, branch: key.split(' ')[1], enqueuedPullRequests })]
  }

  const respond = (
    status: number,
    body: string,
    headers: readonly (readonly [string, string])[] = [],
  ): HttpResponse => ({
    status,
    headers: new Map([
      ...headers,
      ...(scenario.dated ? ([['date', new Date(clock.now + scenario.skew).toUTCString()]] as const) : []),
    ]),
    bytes: new TextEncoder().encode(body),
  })
  const lose = async (loss: Loss, limit: number): Promise<HttpResponse> => {
    if (loss === 'time-out') {
      await clock.sleep(limit)
      throw Object.assign(new Error('the time is over'), { code: 'MERGEQ_TIME_IS_OVER' })
    }
    if (loss === 'reset') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    if (loss === 'cut') return respond(200, '{"state":"RUN')
    if (loss === 'page') return respond(200, '<!doctype html><title>Sign in</title>')
    return respond(loss, '')
  }

  const receive = async (
    operation: string,
    text: string,
    limit: number,
    began: () => void,
  ): Promise<HttpResponse> => {
    const body = JSON.parse(text)
    const isFirst = sendings.every(one => one.operation !== operation || one.key !== keyOf(operation, body))
    const drawn = faults.shift() ?? { kind: 'none' }
    const fault: ChangeFault =
      drawn.kind === 'refused' && /^40[49]$/.test(`${drawn.status}`) && isFirst ? { kind: 'none' } : drawn
    if (fault.kind === 'not-sent') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    began()
    const key = keyOf(operation, body)
    const at = clock.now
    const number = sendings.length
    const sending: Sending = { number, operation, key, body, text, at, fault, endedAt: at, isAccepted: false }
    sendings.push(sending)
    const apply = (at: number) => {
      const [status, isApplied] = perform(operation, body, at, sending.number)
      log.push(
        `${at - start} our ${sending.number} ${operation} ${key}: ${status}${isApplied ? ', applied' : ''}`,
      )
      if (isApplied) sending.appliedAt = at
      return status
    }
    log.push(`${clock.now - start} sent ${sending.number} ${operation} ${text}: ${JSON.stringify(fault)}`)
    try {
      await clock.sleep(scenario.latency)
      catchUp()
      switch (fault.kind) {
        case 'limited':
          return respond(429, '', fault.retryAfter === undefined ? [] : [['retry-after', fault.retryAfter]])
        case 'refused':
          return respond(fault.status, '')
        case 'before':
          return await lose(fault.loss, limit)
        case 'late':
          plan(sending.at + fault.delay, apply)
          return await lose(fault.loss, limit)
        case 'after':
          apply(clock.now)
          return await lose(fault.loss, limit)
        case 'none': {
          const status = apply(clock.now)
          sending.isAccepted = status === 200
          return respond(status, status === 200 ? 'OK' : '')
        }
      }
    } finally {
      sending.endedAt = clock.now
    }
  }

  const show = async (operation: string, text: string, limit: number): Promise<HttpResponse> => {
    const key = keyOf(operation, JSON.parse(text))
    await clock.sleep(scenario.latency)
    catchUp()
    const trouble = troubles.shift() ?? { kind: 'none' }
    const isEarly = sendings.length === 0 || clock.now - (sendings.at(-1)?.at ?? 0) < anomalous
    const answer = async (): Promise<HttpResponse> => {
      switch (trouble.kind) {
        case 'stale':
          return respond(...read(operation, key, clock.now - trouble.lag))
        case 'lost':
          return lose(trouble.loss, limit)
        case 'body':
          return respond(trouble.status ?? 200, trouble.body)
        case 'refused':
          return respond(trouble.status, '')
        case 'brief-404':
          if (isEarly && operation === 'getSubmittedPullRequest') return respond(404, 'Not Found')
          break
        case 'previous': {
          const previous = pulls
            .get(key)
            ?.findLast(({ value }) => value !== undefined && ends.includes(value.state))
          if (isEarly && previous?.value !== undefined)
            return respond(200, JSON.stringify(recordOf(key, previous.value)))
          break
        }
        default:
          break
      }
      return respond(...read(operation, key, clock.now))
    }
    const response = await answer()
    log.push(
      `${clock.now - start} read ${operation} ${key}: ${trouble.kind} ${response.status} ${new TextDecoder().decode(response.bytes).slice(0, 200)}`,
    )
    return response
  }

  for (const [branch, settings] of Object.entries(scenario.queues))
    put(queues, queueKey(repository, branch), settings, start - hour)
  for (const [place, given] of Object.entries(scenario.pulls)) {
    if (given === undefined) continue
    const [branch = '', pr] = place.split('#')
    const pull = typeof given === 'string' ? { state: given } : given
    const usual = { state: 'PENDING', changedAt: start - hour, priority: 100, noBatch: false }
    put(pulls, pullKey(repository, branch, pr), { ...usual, ...pull }, start - hour)
  }
  for (const one of scenario.acts) plan(start + one.at, at => act(one, at))
  catchUp()

  return {
    sendings,
    pulls,
    queues,
    log,
    /** The operation of each request that came, in order. */
    operations,
    /** In the place of an attempt of the transport. */
    async attempt({ request, limit, onBegin }: Attempt): Promise<HttpResponse> {
      catchUp()
      const text = request.body === undefined ? '{}' : bodyText(request.body)
      const { operation } = request
      if (faults[0]?.kind !== 'not-sent' || !request.isChange) operations.push(operation)
      if (request.isChange) return receive(operation, text, limit, () => onBegin?.())
      onBegin?.()
      return show(operation, text, limit)
    },
    /** Lets everything happen that is still to come. */
    finish: () => catchUp(Number.POSITIVE_INFINITY),
  }
}

export type Model = ReturnType<typeof modelService>

/** What holds where a scenario does not say otherwise. */
const usual: Scenario = {
  skew: 0,
  latency: 0,
  changes: [],
  readings: [],
  acts: [],
  queues: { main: { state: 'RUNNING', mode: 'single', concurrency: 1, batch: false } },
  pulls: {},
  refusesQueued: false,
  deletesNothing: false,
  dated: true,
}

/**
 * Runs a command line against a model by a virtual clock that begins at noon. The test file replaces
 * `src/http/undici.ts` with `replacedTransport`.
 */
export async function runAgainstModel(line: string, scenario: Partial<Scenario>, setting: Setting = {}) {
  const clock = virtualClock(noon)
  const model = modelService({ ...usual, ...scenario }, clock)
  const attempts: { readonly operation: string; readonly at: number; readonly limit: number }[] = []
  network.attempt = attempt => {
    attempts.push({ operation: attempt.request.operation, at: clock.now - noon, limit: attempt.limit })
    return model.attempt(attempt)
  }
  const outcome = await mergeq(line, { ...setting, clock, env: { ...networkEnv, ...setting.env } })
  const end = clock.now
  model.finish()
  if (attempts.length === 0) throw new Error('No request came to the model: is the right module replaced?')
  return { ...outcome, model, attempts, end }
}

/** Whether two settings of a queue mean the same: states and modes in any case. */
export const isSameSetting = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string'
    ? one.toUpperCase() === other.toUpperCase()
    : isDeepStrictEqual(one, other)
