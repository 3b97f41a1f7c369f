import { operationMethod, operationName } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'
import { bodyText } from '../../src/api/request.ts'
import { MergeqError } from '../../src/base/errors.ts'
import type { ServiceHost } from '../../src/host/host.ts'
import type { HttpResponse } from '../../src/http/messages.ts'
import type { Attempt } from '../../src/http/undici.ts'
import { cancel, setTargets, submit } from '../../src/sandbox/engine/actions.ts'
import { enterPhase, removeFromBatches } from '../../src/sandbox/engine/batches.ts'
import { getHeadCommit, type Queue } from '../../src/sandbox/engine/queue.ts'
import { advanceTo } from '../../src/sandbox/engine/rules.ts'
import { configure } from '../../src/sandbox/engine/settings.ts'
import {
  formatPullRequest,
  formatQueue,
  formatQueueSettings,
  formatTimeline,
} from '../../src/sandbox/records.ts'
import { createService } from '../../src/sandbox/service.ts'
import { defaultQueue } from '../../src/sandbox/state.ts'
import { repositoryName } from '../../src/values/repository.ts'
import { mergeq, noon, type Setting } from './harness.ts'
import { createHostClient, nodeHost, token } from './library-client.ts'
import { isQueued, queueChanges } from './operations.ts'
import { network, networkEnv } from './replaced-transport.ts'

/** A clock whose time passes only while everything sleeps: what sleeps side by side wakes in order. */
interface VirtualClock {
  now: number
  /** Ends at once, without an error, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
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
    sleep: (ms, signal) =>
      new Promise(wake => {
        const one = { at: clock.now + ms, wake }
        const index = sleeping.findIndex(other => other.at > one.at)
        sleeping.splice(index < 0 ? sleeping.length : index, 0, one)
        signal?.addEventListener('abort', () => {
          const place = sleeping.indexOf(one)
          if (place >= 0) sleeping.splice(place, 1)
          wake()
        })
        arm()
      }),
  }
  return clock
}

/** How an answer is lost, or what stands in its place. */
export type Loss = 'reset' | 'time-out' | 307 | 408 | 503 | 'cut' | 'page'

/**
 * What happens to one sending of a change. `refused` with 404 or 409 happens to a replay only: a service that
 * refuses the first sending like that means it. `applied late, lost` applies it so many milliseconds after it came, and
 * loses the answer.
 */
export type ChangeFault =
  | { readonly kind: 'works' | 'no connection' }
  | { readonly kind: '429'; readonly retryAfter?: string }
  | { readonly kind: 'lost' | 'applied, lost'; readonly loss: Loss }
  | { readonly kind: 'applied late, lost'; readonly loss: Loss; readonly delay: number }
  | { readonly kind: 'refused'; readonly status: number }

/**
 * What happens to one reading. `stale` shows how things were so many milliseconds ago; with `no words` the readings fail
 * that ask why a pull request ended.
 */
export type ReadFault =
  | { readonly kind: 'works' }
  | { readonly kind: 'stale'; readonly lag: number }
  | { readonly kind: 'lost'; readonly loss: Loss }
  | { readonly kind: 'other body'; readonly body: string; readonly status?: number }
  | { readonly kind: 'attempt before' | 'brief 404' | 'no words' }
  | { readonly kind: 'refused'; readonly status: number }

/** The reason of a failure after which a pull request may have merged all the same. */
export const doubtfulReason = 'github_api_merge_already_in_progress'

/** What the queue itself does, and a pause. */
const queueActs: Readonly<Record<string, (queue: Queue, number: number) => void>> = {
  pause: queue => configure(queue, { state: 'PAUSED' }),
  advance,
  fail,
  // For a reason that is not the pull request's own.
  stall: (queue, number) => fail(queue, number, 'github_api_rate_limit_exceeded'),
  doubt: (queue, number) => fail(queue, number, doubtfulReason),
  push,
}

/** What another client does is a change that a reading shows, in the name of its operation. */
export const actNames: readonly string[] = [
  ...queueChanges.flatMap(({ name, operation }) =>
    operation.change?.recovery.readBack === undefined ? [] : [name],
  ),
  ...Object.keys(queueActs),
]

/** What another client, or the queue itself, does at a moment, in milliseconds from the start of the command. */
export interface Act {
  readonly at: number
  /** One of `actNames`. */
  readonly what: string
  readonly pr: number
  readonly branch: string
}

/** A pull request as the engine has it; `changedAt` is in milliseconds by the program's clock. */
export interface Pull {
  readonly state: string
  readonly changedAt: number
  readonly priority: number
  readonly noBatch: boolean
  /** The head commit. */
  readonly head?: string
  /** Why it came to its state, in a word of the service. */
  readonly reason?: string | undefined
}

export type Settings = Readonly<Record<string, unknown>>

/** How something was from a moment on; `by` is the number of our sending, or undefined for anybody else. */
export interface Version<T> {
  readonly at: number
  /** Undefined while there is no such thing. */
  readonly value: T | undefined
  /** The body with which the service showed it, with the timeline of a pull request. */
  readonly shown: string
  readonly by: number | undefined
}

/** One sending of a change, as it came to the service. */
export interface Sending {
  readonly number: number
  readonly operation: string
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
  readonly at: number
  readonly fault: ChangeFault
  endedAt: number
  /** When the engine applied it. */
  appliedAt?: number
  /** The engine's own answer was a 2xx and it was not lost. */
  isAccepted: boolean
}

/** The head commit of a pull request from a moment on, whether it is in a queue or not. */
export interface Head {
  readonly at: number
  readonly sha: string
}

/** What one reading showed. */
export interface Reading {
  readonly key: string
  readonly at: number
  readonly body: string
  /** How many changes had been sent before. */
  readonly sent: number
}

/** What is in the queues, and what goes wrong between them and the program. */
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
  /** Whether git knows the head commits: then it says them as they are. */
  readonly checkout: boolean
}

/** The settings of a queue of which a scenario says no more. */
const initialSettings = { state: 'RUNNING', concurrency: 1 }

const hour = 3_600_000
const repo = { host: 'github.com', owner: 'acme', name: 'web' }
/** The HTTP method of each operation of the service. */
const methods: ReadonlyMap<string, string> = new Map(
  serviceOperations.map(({ route }) => [operationName(route), operationMethod(route)]),
)
/** The pull requests whose head commits are kept. */
const headNumbers = [7, 8, 9]
/** A record of the previous attempt, or a brief 404, comes only so soon after a sending, in milliseconds. */
const anomalous = 4_000

export const pullKey = (repository: string, branch: string, pr: unknown) => `${repository} ${branch} #${pr}`
export const queueKey = (repository: string, branch: string) => `${repository} ${branch}`

/** The key of what a body is about. */
function keyOf(body: Readonly<Record<string, unknown>>): string {
  const { host, owner, name } = Object(body.repo)
  const [repository, branch] = [`${host}/${owner}/${name}`, String(body.targetBranch)]
  return body.pr === undefined
    ? queueKey(repository, branch)
    : pullKey(repository, branch, Object(body.pr).number)
}

/** Lets what a pull request waits for happen now: the engine itself stands still. */
function advance(queue: Queue, number: number): void {
  const pullRequest = queue.pullRequests.get(number)
  if (pullRequest === undefined) return
  const batch = queue.batches.find(({ members }) => members.includes(pullRequest))
  if (batch !== undefined) batch.phaseEndsAt = queue.now
  pullRequest.mergeableAt = queue.now
  advanceTo(queue, queue.now)
}

function fail(queue: Queue, number: number, reason = 'test_run_required_status_failed'): void {
  const tested = queue.batches.flatMap(({ members }) => members).filter(member => member.number === number)
  removeFromBatches(queue, tested, 'FAILED', () => ({ reason }))
}

/** The head commit after the first push. */
export const pushedHead = '1'.repeat(40)

/** Gives a pull request that has not merged another head commit. */
function push(queue: Queue, number: number): void {
  if (queue.pullRequests.get(number)?.state === 'MERGED') return
  const { previousShas } = getHeadCommit(queue, number)
  setTargets(queue, number, 'ALL', String(previousShas.length + 1).repeat(40))
}

/** In this order no pull request keeps one behind it from its state. */
const stageOrder = 'MERGED FAILED CANCELLED TESTS_PASSED PENDING_FAILURE TESTING PENDING NOT_READY'.split(' ')

/** Submits pull requests, and brings each to the state that it has when the story begins. */
function placePulls(queue: Queue, pulls: readonly (readonly [number: number, pull: Partial<Pull>])[]): void {
  configure(queue, { concurrency: 10 })
  const stateOf = ({ state = 'PENDING' }: Partial<Pull>) => state
  const inOrder = pulls.toSorted(
    ([, one], [, other]) => stageOrder.indexOf(stateOf(one)) - stageOrder.indexOf(stateOf(other)),
  )
  for (const [number, pull] of inOrder) {
    const state = stateOf(pull)
    if (state === 'PENDING') configure(queue, { state: 'PAUSED' })
    submit(queue, { number, priority: pull.priority, noBatch: pull.noBatch })
    if (state === 'NOT_READY') continue
    advance(queue, number)
    if (state === 'CANCELLED') cancel(queue, number)
    if (state === 'FAILED') fail(queue, number)
    if (state === 'TESTS_PASSED' || state === 'MERGED') advance(queue, number)
    if (state === 'MERGED') advance(queue, number)
    const batch = queue.batches.find(({ members }) => members.some(member => member.number === number))
    if (state === 'PENDING_FAILURE' && batch !== undefined) enterPhase(queue, batch, state)
  }
}

/**
 * The engine of the sandbox, with everything that became of its queues and pull requests, behind a layer that
 * loses, delays and replaces answers. The layer knows every sending of a change and what the engine did with it.
 */
function faultySandbox(scenario: Scenario, clock: VirtualClock) {
  const start = clock.now
  const pulls = new Map<string, Version<Pull>[]>()
  const queues = new Map<string, Version<Settings>[]>()
  const heads = new Map<string, Head[]>()
  const sendings: Sending[] = []
  const readings: Reading[] = []
  const faults = [...scenario.changes]
  const troubles = [...scenario.readings]
  const agenda: { readonly at: number; act(): void }[] = []
  const log: string[] = []
  const operations: string[] = []

  let engineTime = start - hour
  const branches = Object.keys(scenario.queues)
  // The engine is so slow that it stands still: what happens in a queue is in `acts`.
  const { state, handle } = createService(
    {
      dialect: 'hosted',
      speed: 1e-6,
      now: () => engineTime + scenario.skew,
      queues: branches.map(targetBranch => ({ repo, targetBranch })),
    },
    {},
  )
  Object.assign(state, { readDelay: 0 })

  const send = (operation: string, text: string) =>
    handle({
      method: methods.get(operation) ?? 'POST',
      path: `/v1/${operation}`,
      query: new Map(),
      headers: { 'x-api-token': state.token },
      body: text,
    })

  const append = <T>(
    history: Map<string, Version<T>[]>,
    key: string,
    version: Pick<Version<T>, 'value' | 'shown'>,
    sending: Sending | undefined,
  ) => {
    const versions = history.get(key) ?? []
    history.set(key, versions)
    const last = versions.at(-1)
    const isSame = last?.shown === version.shown
    if (!isSame || key === sending?.key) versions.push({ at: engineTime, by: sending?.number, ...version })
  }
  const observeHead = (queue: Queue, key: string, number: number) => {
    const { sha } = getHeadCommit(queue, number)
    const versions = heads.get(key) ?? []
    heads.set(key, versions)
    if (versions.at(-1)?.sha !== sha) versions.push({ at: engineTime, sha })
  }
  /** Appends to the histories what became of queues and pull requests, and what a sending was for. */
  const observe = (sending?: Sending) => {
    const present = state.listQueues()
    const keys = new Set<string>()
    for (const queue of present) {
      const ofQueue = queueKey(repositoryName(queue.repo), queue.targetBranch)
      keys.add(ofQueue)
      const settings = formatQueueSettings(queue, state.dialect)
      const record = formatQueue(queue, state.dialect)
      append(queues, ofQueue, { value: settings, shown: JSON.stringify(record) }, sending)
      for (const number of headNumbers) observeHead(queue, `${ofQueue} #${number}`, number)
      for (const pullRequest of queue.pullRequests.values()) {
        const { number, priority, noBatch } = pullRequest
        const key = `${ofQueue} #${number}`
        keys.add(key)
        const changedAt = pullRequest.stateChangedAt - scenario.skew
        const head = getHeadCommit(queue, number).sha
        const reason = queue.transitions.findLast(transition => transition.number === number)?.reason
        const value = { state: pullRequest.state, changedAt, priority, noBatch, head, reason }
        const record = formatPullRequest(queue, pullRequest, state.dialect)
        const timeline = formatTimeline(queue, pullRequest, state.dialect)
        append(pulls, key, { value, shown: JSON.stringify({ ...record, timeline }) }, sending)
      }
    }
    for (const history of [queues, pulls])
      for (const key of history.keys())
        if (!keys.has(key)) append<unknown>(history, key, { value: undefined, shown: '' }, sending)
  }

  /** Does what is due until now, in order. */
  const catchUp = (until = clock.now) => {
    for (;;) {
      const index = agenda.findIndex(({ at }) => at <= until)
      const [due] = index < 0 ? [] : agenda.splice(index, 1)
      if (due === undefined) break
      engineTime = due.at
      due.act()
    }
    engineTime = Math.max(engineTime, clock.now)
  }
  const plan = (at: number, act: () => void) => {
    const index = agenda.findIndex(other => other.at > at)
    agenda.splice(index < 0 ? agenda.length : index, 0, { at, act })
  }

  /** Lets the engine apply a change; returns the status and the body of its answer. */
  const apply = (sending: Sending) => {
    const { number, operation, key, text } = sending
    const has = (history: Map<string, Version<unknown>[]>) => history.get(key)?.at(-1)?.value !== undefined
    const answer = () => {
      if (
        scenario.refusesQueued &&
        operation === 'submitPullRequest' &&
        isQueued(pulls.get(key)?.at(-1)?.value)
      )
        return { status: 409, body: '' }
      if (scenario.deletesNothing && operation === 'deleteQueue' && !has(queues))
        return { status: 200, body: 'OK' }
      if (methods.has(operation)) return send(operation, text)
      return { status: 200, body: 'OK' }
    }
    const before = has(queues)
    const { status, body } = answer()
    if (status === 200 && (operation !== 'deleteQueue' || before)) sending.appliedAt = engineTime
    observe(sending.appliedAt === undefined ? undefined : sending)
    log.push(`${engineTime - start} our ${number} ${operation} ${key}: ${status}`)
    return { status, body }
  }

  const act = ({ what, pr, branch }: Act) => {
    log.push(`${engineTime - start} somebody: ${what} ${branch} #${pr}`)
    const ofQueue = queueActs[what]
    if (ofQueue !== undefined) {
      const queue = state.listQueues().find(({ targetBranch }) => targetBranch === branch)
      if (queue !== undefined) ofQueue(queue, pr)
    } else {
      const { operation, change } = queueChanges.find(({ name }) => name === what) ?? {}
      const about = operation?.params.pr === undefined ? {} : { pr: { number: pr } }
      send(what, JSON.stringify({ repo, targetBranch: branch, ...about, ...change?.sentByOthers }))
    }
    observe()
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
    const key = keyOf(body)
    const isFirst = sendings.every(one => one.operation !== operation || one.key !== key)
    const drawn = faults.shift() ?? { kind: 'works' }
    const fault: ChangeFault =
      drawn.kind === 'refused' && /^40[49]$/.test(`${drawn.status}`) && isFirst ? { kind: 'works' } : drawn
    if (fault.kind === 'no connection') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    began()
    const [number, at] = [sendings.length, clock.now]
    const sending: Sending = { number, operation, key, body, text, at, fault, endedAt: at, isAccepted: false }
    sendings.push(sending)
    log.push(`${at - start} sent ${number} ${operation} ${text}: ${JSON.stringify(fault)}`)
    try {
      await clock.sleep(Math.min(scenario.latency, limit))
      catchUp()
      switch (fault.kind) {
        case '429':
          return respond(429, '', fault.retryAfter === undefined ? [] : [['retry-after', fault.retryAfter]])
        case 'refused':
          return respond(fault.status, '')
        case 'lost':
          return await lose(fault.loss, limit)
        case 'applied late, lost':
          plan(sending.at + fault.delay, () => apply(sending))
          return await lose(fault.loss, limit)
        case 'applied, lost':
          apply(sending)
          return await lose(fault.loss, limit)
        case 'works': {
          const answer = apply(sending)
          sending.isAccepted = answer.status === 200
          return respond(answer.status, answer.body)
        }
      }
    } finally {
      sending.endedAt = clock.now
    }
  }

  /** What the service showed, with a timeline only if the request asks for it. */
  const recordFor = (text: string, shown: string): Readonly<Record<string, unknown>> => {
    const { timeline, ...record } = JSON.parse(shown)
    return JSON.parse(text).includeTimeline === true ? { ...record, timeline } : record
  }

  /** Answers with what the service showed so many milliseconds ago. */
  const showOld = (operation: string, key: string, text: string, lag: number): HttpResponse => {
    const recordOf = (key: string) => {
      const versions: readonly Version<unknown>[] = pulls.get(key) ?? queues.get(key) ?? []
      const version = versions.findLast(({ at }) => at <= clock.now - lag)
      return version?.value === undefined ? undefined : recordFor(text, version.shown)
    }
    if (operation !== 'getSubmittedPullRequests') {
      const record = recordOf(key)
      return record === undefined ? respond(404, 'Not Found') : respond(200, JSON.stringify(record))
    }
    const numbers: readonly number[] = JSON.parse(text).prs.map((pr: { number: number }) => pr.number)
    const old = numbers.map(number => ({ number, record: recordOf(`${key} #${number}`) }))
    const pullRequests = old.flatMap(({ record }) => record ?? [])
    const notFound = old.flatMap(({ number, record }) => (record === undefined ? number : []))
    return respond(200, JSON.stringify({ pullRequests, notFound }))
  }

  const show = async (operation: string, text: string, limit: number): Promise<HttpResponse> => {
    const key = keyOf(JSON.parse(text))
    await clock.sleep(Math.min(scenario.latency, limit))
    catchUp()
    const trouble = troubles.shift() ?? { kind: 'works' }
    const isEarly = sendings.length === 0 || clock.now - (sendings.at(-1)?.at ?? 0) < anomalous
    const answer = async (): Promise<HttpResponse> => {
      switch (trouble.kind) {
        case 'stale':
          return showOld(operation, key, text, trouble.lag)
        case 'lost':
          return lose(trouble.loss, limit)
        case 'other body':
          return respond(trouble.status ?? 200, trouble.body)
        case 'refused':
          return respond(trouble.status, '')
        case 'no words':
          if (text.includes('"includeTimeline":true')) return lose(503, limit)
          break
        case 'brief 404':
          if (isEarly && operation === 'getSubmittedPullRequest') return respond(404, 'Not Found')
          break
        case 'attempt before': {
          const previous = pulls.get(key)?.findLast(({ value }) => value !== undefined && !isQueued(value))
          if (isEarly && previous !== undefined)
            return respond(200, JSON.stringify(recordFor(text, previous.shown)))
          break
        }
        default:
          break
      }
      const { status, body } = send(operation, text)
      return respond(status, body)
    }
    const response = await answer()
    const body = new TextDecoder().decode(response.bytes)
    readings.push({ key, at: clock.now, body, sent: sendings.length })
    log.push(
      `${clock.now - start} read ${operation} ${key}: ${trouble.kind} ${response.status} ${body.slice(0, 200)}`,
    )
    return response
  }

  for (const branch of branches) {
    const queue = state.getQueue({ repo, targetBranch: branch })
    const placed = Object.entries(scenario.pulls).flatMap(([place, given]) => {
      const [onBranch, pr] = place.split('#')
      const pull = typeof given === 'string' ? { state: given } : given
      return onBranch !== branch || pull === undefined ? [] : [[Number(pr), pull] as const]
    })
    placePulls(queue, placed)
    for (const [number, { changedAt }] of placed) {
      const pullRequest = queue.pullRequests.get(number)
      if (changedAt !== undefined && pullRequest !== undefined)
        pullRequest.stateChangedAt = changedAt + scenario.skew
    }
    // Batches do not wait for more members.
    queue.settings = { ...queue.settings, batchingMaxWaitTimeMinutes: 0 }
    configure(queue, { ...initialSettings, ...scenario.queues[branch] })
  }
  if (!branches.includes(defaultQueue.targetBranch)) state.deleteQueue(defaultQueue)
  observe()
  for (const one of scenario.acts) plan(start + one.at, () => act(one))
  catchUp()

  return {
    sendings,
    readings,
    pulls,
    queues,
    heads,
    log,
    /** The operation of each request that came, in order. */
    operations,
    /** In the place of an attempt of the transport. */
    async attempt(attempt: Attempt): Promise<HttpResponse> {
      const { request, limit } = attempt
      catchUp()
      const text = request.body === undefined ? '{}' : bodyText(request.body)
      const { operation } = request
      if (faults[0]?.kind !== 'no connection' || !request.isChange) operations.push(operation)
      if (request.isChange) return receive(operation, text, limit, () => (attempt.hasBegun = true))
      attempt.hasBegun = true
      return show(operation, text, limit)
    },
    /** The head commit of a pull request of main, as git says it. */
    headNow(pr: number): string | undefined {
      catchUp()
      return heads.get(pullKey(repositoryName(repo), defaultQueue.targetBranch, pr))?.at(-1)?.sha
    },
    /** Lets everything happen that is still to come. */
    finish: () => catchUp(Number.POSITIVE_INFINITY),
  }
}

export type FaultySandbox = ReturnType<typeof faultySandbox>

/** What the command wrote, and how many changes had been sent before. */
export interface Said {
  readonly text: string
  readonly sent: number
}

/** The head commit of a pull request before anybody pushed. */
export const firstHeadOf = (number: number): string =>
  faultySandbox(usual, virtualClock(noon)).headNow(number) ?? ''

/** What holds where a scenario does not say otherwise. */
export const usual: Scenario = {
  skew: 0,
  latency: 0,
  changes: [],
  readings: [],
  acts: [],
  queues: { main: {} },
  pulls: {},
  refusesQueued: false,
  deletesNothing: false,
  dated: true,
  checkout: false,
}

/**
 * Runs a command line against a faulty sandbox by a virtual clock that begins at noon. The test file replaces
 * `src/http/undici.ts` with `replacedTransport`. `interruptedAt` is when a signal comes, in milliseconds from the start.
 */
export async function runAgainstFaults(
  line: string,
  {
    interruptedAt = Number.POSITIVE_INFINITY,
    ...scenario
  }: Partial<Scenario> & { readonly interruptedAt?: number | undefined },
  setting: Setting = {},
) {
  const time = virtualClock(noon)
  const controller = new AbortController()
  /** Sleeps until the signal; resolves to the rest. */
  const sleepToSignal = async (ms: number): Promise<number> => {
    const toSignal = noon + interruptedAt - time.now
    if (toSignal > ms || controller.signal.aborted) return ms
    await time.sleep(Math.max(0, toSignal))
    controller.abort(new MergeqError('interrupted', 'Interrupted by SIGINT.'))
    return ms - Math.max(0, toSignal)
  }
  const clockWith = (sleep: VirtualClock['sleep']): VirtualClock => ({
    get now() {
      return time.now
    },
    set now(now) {
      time.now = now
    },
    sleep,
  })
  // The program sleeps no longer than to the signal; what is on the way to the service goes on.
  const clock = clockWith(async ms => {
    const rest = await sleepToSignal(ms)
    if (!controller.signal.aborted) await time.sleep(rest)
  })
  const clockOfService = clockWith(async ms => time.sleep(await sleepToSignal(ms)))
  const sandbox = faultySandbox({ ...usual, ...scenario }, clockOfService)
  const attempts: { readonly operation: string; readonly at: number; readonly limit: number }[] = []
  network.attempt = async attempt => {
    attempts.push({ operation: attempt.request.operation, at: clock.now - noon, limit: attempt.limit })
    const { interrupted } = attempt
    const ended = new AbortController()
    const stopped = new Promise<never>((_, reject) =>
      interrupted.addEventListener('abort', () => reject(interrupted.reason), { signal: ended.signal }),
    )
    return Promise.race([sandbox.attempt(attempt), stopped]).finally(() => ended.abort())
  }
  const spawn: Setting['spawn'] = (_, args) => {
    if (args.includes('-v')) return { code: 0, out: 'origin\tgit@github.com:acme/web.git (fetch)\n' }
    const ref = args.find(text => text.startsWith('refs/pull/')) ?? ''
    const sha = sandbox.headNow(Number(ref.split('/')[2]))
    return args.includes('ls-remote') && sha !== undefined
      ? { code: 0, out: `${sha}\t${ref}\n` }
      : { code: 128, out: '', err: 'fatal: odd.\n' }
  }
  const said: Said[] = []
  const screen: string[] = []
  screen.push = (...texts) => {
    for (const text of texts) said.push({ text, sent: sandbox.sendings.length })
    return said.length
  }
  const signal = Number.isFinite(interruptedAt) ? { signal: controller.signal } : {}
  const host = { ...(scenario.checkout === true && { spawn }), screen, ...signal, ...setting }
  const outcome = await mergeq(line, { ...host, clock, env: { ...networkEnv, ...setting.env } })
  const end = clock.now
  sandbox.finish()
  // git may say that nothing may be sent.
  if (attempts.length === 0 && scenario.checkout !== true && setting.inputStaysOpen !== true)
    throw new Error('No request came to the sandbox: is the right module replaced?')
  return { ...outcome, sandbox, attempts, said, end }
}

/** A call of the library that waits, as the command line that does the same. */
export interface WaitCall {
  readonly line: string
  readonly isLanding: boolean
  readonly options: object
}

/**
 * Runs two calls of one client of the library side by side, each against a faulty sandbox of its own: the second one at
 * another base address. Returns what became of each.
 */
export async function runAtTwoServices(
  calls: readonly { readonly call: WaitCall; readonly scenario: Scenario }[],
) {
  const time = virtualClock(noon)
  const services = calls.map(({ call, scenario }, index) => ({
    call,
    scenario,
    baseUrl: `http://127.0.0.1:9/${index}/v1`,
    sandbox: faultySandbox(scenario, time),
  }))
  network.attempt = attempt =>
    services.find(({ baseUrl }) => attempt.request.url.startsWith(baseUrl))?.sandbox.attempt(attempt) ??
    Promise.reject(new Error(`nobody is at ${attempt.request.url}`))
  const host: ServiceHost = {
    ...nodeHost,
    random: () => 0.5,
    clock: {
      now: () => time.now,
      monotonic: () => time.now,
      async sleep(ms, signal) {
        signal?.throwIfAborted()
        await time.sleep(ms, signal)
        signal?.throwIfAborted()
      },
    },
  }
  const place = { token, repo: 'acme/web', targetBranch: 'main', discover: false }
  const client = createHostClient(place, host)
  return Promise.all(
    services.map(async ({ call, scenario, baseUrl, sandbox }) => {
      const method = call.isLanding ? client.landPullRequests : client.waitForPullRequests
      const results = await method({ ...call.options, prs: [7], baseUrl })
      return { call, scenario, sandbox, results, end: time.now }
    }),
  )
}
