import { callOperation } from '../api/call.ts'
import { findCurrentPullRequest } from '../api/current-pull-request.ts'
import { explain, explanationJson } from '../api/explain.ts'
import { explainQueueAt, queueExplanationJson } from '../api/explain-queue.ts'
import { completeCommit, findTargetsCommit } from '../api/head-commit.ts'
import { incompleteListError, type ListEnd, readList } from '../api/list.ts'
import type { List, Operation } from '../api/operation.ts'
import { type BodyOverride, checkOverrides, createReceipt, isAlwaysSent, isChange } from '../api/operation.ts'
import { explainPullRequest, explainQueue } from '../api/operations/conclusions.ts'
import { clientOperations } from '../api/operations/index.ts'
import { submitPullRequest } from '../api/operations/pull-requests.ts'
import { resourceOf } from '../api/request.ts'
import { readReference, resolveValues } from '../api/resolve.ts'
import { createServiceClient, limitPrograms, type ServiceClient } from '../api/service-client.ts'
import { rangeEnd } from '../api/service-time.ts'
import { nextCommands, nextQueueCommands } from '../config/next-commands.ts'
import { type Config, notGivenError, resolveSettings } from '../config/settings.ts'
import { createTokenReader } from '../config/token.ts'
import { maxConcurrent as maxDepartures } from '../domain/map-concurrent.ts'
import { memoize } from '../domain/memoize.ts'
import type { SendingTime } from '../domain/service-clock.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import { repositoryKey, repositoryName } from '../domain/values/repository.ts'
import { encodeTargets } from '../domain/values/target-list.ts'
import { startWaitTime, type WaitTime } from '../domain/wait-time.ts'
import { MergeqError, toMergeqError, usageError } from '../errors.ts'
import { createInterruption, type Environment, type ServiceHost } from '../host/host.ts'
import { createTraffic, type Traffic } from '../http/traffic.ts'
import type { Json, JsonObject } from '../json.ts'
import { createLogger, type LogWriter } from '../output/logger.ts'
import { createRedactor, type Redactor } from '../output/redactor.ts'
import { resolveHead } from '../wait/head.ts'
import type { SharedQueues } from '../wait/shared-queues.ts'
import type { WaitTarget } from '../wait/wait-target.ts'
import type { QueuesView } from '../wait/watch-queues.ts'
import { libraryAdvice } from './advice.ts'
import { stoppable, valuesOf, withPublicErrors } from './iterators.ts'
import { type IteratorName, iteratorName, type MethodName, methodName } from './method-names.ts'
import {
  clientReaders,
  type GivenSettings,
  methodReaders,
  readCallOptions,
  readOptions,
  readWaitOptions,
  readWatchOptions,
  settingsIn,
  sourceOf,
  toPublicError,
} from './options.ts'
import type { ClientOptions, WaitChange, WaitForPullRequestsOptions, WatchQueueOptions } from './types.ts'

/**
 * Returns a signal that follows others, with an `interrupted` error as its reason, whose cause is their reason;
 * `release` ends this. The others get no listener: Node 20 would warn of many.
 */
function followSignals(...signals: readonly (AbortSignal | undefined)[]) {
  const source = AbortSignal.any(signals.filter(signal => signal !== undefined))
  const interruption = createInterruption()
  const abort = () =>
    interruption.abort(new MergeqError('interrupted', 'The call was aborted.', {}, source.reason))
  if (source.aborted) abort()
  source.addEventListener('abort', abort)
  return { signal: interruption.signal, release: () => source.removeEventListener('abort', abort) }
}

/** The methods of a client. The published types, which the build makes, say what each takes and returns. */
export type Client = Readonly<Record<MethodName, (options?: object) => Promise<JsonObject>>> &
  Readonly<Record<IteratorName, (options?: object) => AsyncGenerator<JsonObject, void>>> & {
    waitForPullRequests(options: WaitForPullRequestsOptions): Promise<readonly JsonObject[]>
    watchQueue(options?: WatchQueueOptions): AsyncGenerator<JsonObject, void>
  }

/**
 * Returns a client: a method for each operation of the service, with the settings, retries, limits and errors
 * of the command line. Settings that are left out come from the same sources as on the command line. Throws a
 * usage error for a wrong option.
 */
export function createHostClient(options: ClientOptions, host: ServiceHost): Client {
  const secrets = createRedactor()
  const {
    token,
    signal,
    proxy,
    maxConcurrent = 8,
    onNotice,
    discover = true,
    ...settings
  } = readClientOptions(options, secrets.redact)
  if (token !== undefined) secrets.hide(token.trim())
  // A callback that fails, or never ends, must not stop a change.
  const notify = async (text: string) => onNotice?.(text)
  const write = async (text: string | Uint8Array) => {
    notify(secrets.redact(String(text)).trimEnd()).catch(() => undefined)
  }
  const clientHost: ServiceHost = {
    ...host,
    machineFile: discover ? host.machineFile : undefined,
    // Without an environment there are no stored settings either, and no proxy but one that is asked for.
    env: {
      ...(discover ? host.env : proxy === 'environment' ? proxiesIn(host.env) : {}),
      ...(token === undefined ? {} : { MERGEQ_TOKEN: token }),
    },
  }
  // Without any token, the option is what to set.
  const namesToken = token !== undefined || !discover || (host.env.MERGEQ_TOKEN ?? '').trim() === ''
  const context: ClientContext = {
    settings,
    discover,
    host: clientHost,
    write,
    signal,
    proxy: proxy === 'environment' ? undefined : proxy?.toString(),
    traffic: createTraffic(maxConcurrent),
    secrets,
    namesToken,
    queues: memoize(async () => (await import('../wait/shared-queues.ts')).createSharedQueues()),
    submissions: new Map(),
  }
  const asMethod =
    (run: (callOptions: unknown) => Promise<CallOutcome>) =>
    async (callOptions: unknown = {}): Promise<Json> => {
      const { document, failure } = await run(callOptions).catch((error: unknown) => ({
        document: null,
        failure: toMergeqError(error),
      }))
      if (failure !== undefined) throw toPublicError(failure, secrets.redact, document)
      return document
    }
  const methods: Record<string, unknown> = {
    waitForPullRequests: asMethod(callOptions => waitFor(callOptions, context)),
    watchQueue(callOptions: unknown = {}) {
      const stop = new AbortController()
      const changes = valuesOf<JsonObject>(give => watch(callOptions, stop.signal, give, context), stop)
      return stoppable(withPublicErrors(changes, secrets.redact), stop)
    },
  }
  for (const operation of clientOperations) {
    const work = explaining.get(operation.name) ?? send
    methods[methodName(operation)] = asMethod(callOptions => call(operation, callOptions, context, work))
    if (operation.list !== undefined)
      methods[iteratorName(operation)] = (callOptions: unknown = {}) =>
        withPublicErrors(iterate(operation, callOptions, context), secrets.redact)
  }
  return methods as unknown as Client
}

/** The variables of an environment that are about proxies. */
const proxiesIn = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => /^(?:https|no)_proxy$/i.test(name)))

function readClientOptions(options: ClientOptions, redact: (text: string) => string): ClientOptions {
  try {
    return readOptions('createClient', options, clientReaders)
  } catch (error) {
    throw toPublicError(error, redact)
  }
}

interface CallOutcome {
  /** The result; after an error, the receipt of a change or the part of a list that was read, else null. */
  readonly document: Json
  readonly failure?: MergeqError
}

interface ClientContext {
  readonly settings: GivenSettings
  /** Whether settings that no option gives are looked up. */
  readonly discover: boolean
  readonly host: ServiceHost
  /** Writes what the command line would print on standard error. */
  readonly write: LogWriter['write']
  /** The signal of the client, which aborts every call. */
  readonly signal: AbortSignal | undefined
  /** The address of the proxy, in the place of that of the environment. */
  readonly proxy: string | undefined
  readonly traffic: Traffic
  readonly secrets: Redactor
  /** Whether messages name the token as an option. */
  readonly namesToken: boolean
  /** When pull requests were submitted: a wait does not take the end of an earlier attempt for the result. */
  readonly submissions: Map<string, SendingTime>
  /** What its waits share. */
  queues(): Promise<SharedQueues>
}

const targetName = ({ repo, targetBranch, pr }: PullRequest): string =>
  `${repositoryKey(repo)} ${targetBranch} #${pr}`

type OpenCall = Awaited<ReturnType<typeof openCall>>

/** Checks the options of a call and opens its client, which the caller closes. */
async function openCall(operation: Operation, name: string, options: unknown, context: ClientContext) {
  const { signal, ...values } = readCallOptions(name, options, methodReaders(operation))
  const given = { ...context.settings, ...settingsIn(values) }
  const overrides = (values.set ?? []) as readonly BodyOverride[]
  const setters = Object.entries(operation.params)
    .filter(
      ([option, param]) =>
        Object.hasOwn(given, option) || Object.hasOwn(values, option) || isAlwaysSent(option, param),
    )
    .map(([option, param]) => ({ name: option, param }))
  checkOverrides(`${name}: set`, overrides, setters)
  const client = await createCallClient(given, signal, context, { changes: isChange(operation) })
  try {
    const { nameOf } = client
    const { settings, ...read } = await readGiven(operation, values, given, client)
    const caller = { settings, nameOf, prefix: `${name}: ` }
    const resolved = await resolveValues(operation, read.values, overrides, caller)
    const now = await rangeEnd(client, operation, resolved, client.host.clock.now())
    const list = operation.list?.(resolved, now, nameOf)
    return { operation, values: resolved, overrides, client, list }
  } catch (error) {
    await client.close()
    throw error
  }
}

async function call(
  operation: Operation,
  options: unknown,
  context: ClientContext,
  work: (opened: OpenCall) => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const opened = await openCall(operation, methodName(operation), options, context)
  const { clock } = context.host
  try {
    const from = clock.now()
    const outcome = await work(opened)
    if (operation.route === submitPullRequest.route && outcome.failure === undefined)
      context.submissions.set(targetName(opened.values as PullRequest), { from, to: clock.now() })
    return outcome
  } finally {
    await opened.client.close()
  }
}

/** Yields the records of a list; requests a page when the records before it were taken. */
async function* iterate(operation: Operation, options: unknown, context: ClientContext) {
  const opened = await openCall(operation, iteratorName(operation), options, context)
  try {
    const { list } = opened
    if (list === undefined) return
    for await (const { records, end } of readList(opened.client, list, opened)) {
      yield* records
      if (end !== undefined) await checkEnd(end, opened.client)
    }
  } finally {
    await opened.client.close()
  }
}

/** Waits for pull requests. */
async function waitFor(callOptions: unknown, context: ClientContext): Promise<CallOutcome> {
  const { prs, signal, settings, options, matchHead, onChange } = readWaitOptions(
    'waitForPullRequests',
    callOptions,
  )
  const given = { ...context.settings, ...settings }
  const time = startWaitTime(options.waitLimit, context.host.clock)
  const client = await createCallClient(given, signal, context, { changes: false, time })
  try {
    const targets = new Map<string, WaitTarget>()
    for (const reference of prs) {
      const { number: pr, settings } = await findPullRequest(reference, given, client)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      const values = { repo, targetBranch, pr }
      const name = targetName(values)
      const state = { submission: context.submissions.get(name) }
      if (!targets.has(name)) targets.set(name, { request: { values, overrides: [] }, state })
    }
    const { waitForResults } = await import('../wait/pull-requests.ts')
    const head = await resolveHead(matchHead, targets.size, client)
    // A callback that fails, or never ends, must not stop the wait.
    const report = async (change: WaitChange) => onChange?.(change)
    const results = await waitForResults(
      [...targets.values()],
      { ...options, head },
      { ...client, time },
      await context.queues(),
      change => {
        report(change).catch(() => undefined)
      },
    )
    return { document: results.map(({ record }) => record) }
  } finally {
    await client.close()
  }
}

/** Gives the changes of a queue until it is stopped. */
async function watch(
  callOptions: unknown,
  stopped: AbortSignal,
  give: (changes: readonly JsonObject[]) => Promise<void>,
  context: ClientContext,
): Promise<void> {
  const { since, signal, interval, giveUpAfter, settings } = readWatchOptions('watchQueue', callOptions)
  const given = { ...context.settings, ...settings }
  const signals = signal === undefined ? [stopped] : [stopped, signal]
  const client = await createCallClient(given, AbortSignal.any(signals), context, { changes: false })
  try {
    const repo = await client.settings.require('repo')
    const targetBranch = await client.settings.require('targetBranch')
    const place = { repo, targetBranch }
    const { clock } = client.host
    const limit = startWaitTime(Number.POSITIVE_INFINITY, clock)
    const { createQueueReader } = await import('../wait/queue-reader.ts')
    const { pollQueues } = await import('../wait/watch-queues.ts')
    const readerOptions = { overrides: [], since, startedAt: clock.now(), atOnce: maxDepartures }
    const read = createQueueReader(place, readerOptions)
    const view: QueuesView = {
      async show(_, { changes }) {
        const name = { repo: repositoryName(repo), targetBranch }
        if (changes.length > 0) await give(changes.map(change => ({ type: 'change', ...change, ...name })))
      },
      async lose(_, failure) {
        throw failure
      },
      notify: client.logger.info,
    }
    await pollQueues([{ place, read }], { interval, limit, giveUpAfter }, view, client, {})
  } finally {
    await client.close()
  }
}

interface CallClient extends ServiceClient {
  readonly settings: Config
  readonly discover: boolean
  close(): Promise<void>
}

const nameOf = (name: string): string => name

/** Creates the client of a call, which ends with the signal of the call and with that of the client. */
async function createCallClient(
  given: GivenSettings,
  signal: AbortSignal | undefined,
  { secrets, namesToken, write, discover, proxy, traffic, ...context }: ClientContext,
  { changes, time }: { readonly changes: boolean; readonly time?: WaitTime },
): Promise<CallClient> {
  if (!discover && given.profile !== undefined)
    throw usageError('profile cannot be used with discover: false.', 'Leave out profile.')
  const { signal: interrupted, release } = followSignals(context.signal, signal)
  // What git says is kept for each host: another call reads the checkout again.
  const ofCall = { ...context.host, interrupted }
  const host = time === undefined ? ofCall : limitPrograms(ofCall, time)
  const logger = createLogger({ write }, { quiet: false, verbose: false, json: true })
  const settings = resolveSettings(sourceOf(given), host, {
    changes,
    changesSettings: false,
    needsSettings: discover,
    nameOf,
    notify: text => logger.infoOnce(text),
  })
  const storeError = await settings.checkStore()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const parts = {
    nameOf,
    advice: libraryAdvice,
    host,
    settings,
    options: { timeout: await settings.read('timeout'), verbose: false },
    time,
    proxy,
    traffic,
    maxRetries: await settings.require('retries'),
    logger,
    secrets,
    token: createTokenReader(host, settings, { hide: secrets.hide, warn: logger.warn, isOption: namesToken }),
    renewsToken: true,
  }
  const client = createServiceClient(parts)
  return { ...client, discover, close: () => client.close().finally(release) }
}

type Values = Readonly<Record<string, unknown>>

/** Returns what a call gives of a request, and the settings of the repository that its pull request names. */
async function readGiven(
  { params }: Operation,
  { pr, targets, ...values }: Values,
  given: GivenSettings,
  client: CallClient,
) {
  const own = Object.entries(values).filter(([name]) => !Object.hasOwn(given, name))
  const result = new Map<string, unknown>(own)
  if (targets !== undefined) result.set('targets', encodeTargets(targets as 'ALL' | readonly string[]))
  if (params.run !== undefined && values.run === undefined && pr === undefined) {
    // The test run that the CI job runs on.
    if (!client.discover) throw notGivenError('run')
    result.set('run', params.run.type.check(await client.settings.require('testRun')))
  }
  const needsPullRequest =
    params.pr !== undefined && (params.pr.required || params.head !== undefined) && values.head === undefined
  if (pr === undefined && !needsPullRequest) return { values: result, settings: client.settings }
  const { number, settings } = await findPullRequest(pr === undefined ? undefined : String(pr), given, client)
  result.set('pr', number)
  if (params.sha !== undefined)
    result.set('sha', await readCommit(values.sha, number, { ...client, settings }))
  return { values: result, settings }
}

/** Returns the commit that targets belong to: the one that the caller gives, or else the head of the pull request. */
async function readCommit(sha: unknown, pr: number, client: CallClient): Promise<string | false> {
  const { settings } = client
  if (sha === false) return false
  if (sha !== undefined) return completeCommit(String(sha), 'sha', settings)
  if (!client.discover) throw notGivenError('sha')
  const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
  return findTargetsCommit({ repo, targetBranch, pr }, client)
}

/** Finds the pull request of a call, and the settings of its repository, which an address names too. */
async function findPullRequest(
  reference: string | undefined,
  given: GivenSettings,
  client: CallClient,
): Promise<{ readonly number: number; readonly settings: Config }> {
  const { settings } = client
  if (reference === undefined && !client.discover) throw notGivenError('pr')
  const text =
    reference ??
    (await findCurrentPullRequest(settings, client, {
      advice: 'Set the option pr.',
      give: pr => `set the option pr to ${pr}.`,
    }))
  const givenRepo = given.repo === undefined ? undefined : String(given.repo)
  const { number, repo } = readReference(text, givenRepo, client.nameOf)
  if (repo === undefined) return { number, settings }
  if (given.repo !== undefined) return { number, settings }
  return { number, settings: settings.withArgs(sourceOf({ ...given, repo })) }
}

async function explainOpened({ client, values, ...request }: OpenCall): Promise<CallOutcome> {
  const pullRequest = values as PullRequest
  const commandFor = nextCommands(client.settings, pullRequest)
  return { document: explanationJson(await explain({ ...request, values: pullRequest }, client, commandFor)) }
}

async function explainOpenedQueue({ client, values, overrides }: OpenCall): Promise<CallOutcome> {
  const queue = values as Pick<PullRequest, 'repo' | 'targetBranch'>
  const explanation = await explainQueueAt({ values: queue, overrides }, client, {
    ofQueue: nextQueueCommands(client.settings, queue),
    ofPullRequest: pr => nextCommands(client.settings, { ...queue, pr }),
  })
  return { document: queueExplanationJson(explanation) }
}

/** What the methods do that read several things. */
const explaining = new Map<string | undefined, (opened: OpenCall) => Promise<CallOutcome>>([
  [explainPullRequest.name, explainOpened],
  [explainQueue.name, explainOpenedQueue],
])

async function send(opened: OpenCall): Promise<CallOutcome> {
  const { client, operation, values, overrides } = opened
  const { route } = operation
  if (opened.list !== undefined) return collectRecords(opened, opened.list)
  try {
    const { response, resource, delivery, wasQueued } = await callOperation(client, operation, values, {
      overrides,
    })
    const document = response.document?.(response.records)
    return { document: document ?? createReceipt(route, resource, delivery, undefined, wasQueued) }
  } catch (error) {
    const failure = toMergeqError(error)
    const { delivery } = failure.details
    const resource = resourceOf(values)
    const document = delivery === undefined ? null : createReceipt(route, resource, delivery, failure)
    return { document, failure }
  }
}

/** Reads a whole list as one document. */
async function collectRecords(opened: OpenCall, list: List): Promise<CallOutcome> {
  const found: JsonObject[] = []
  let document: JsonObject | null = null
  try {
    for await (const { records, end } of readList(opened.client, list, opened)) {
      for (const record of records) found.push(record)
      if (end === undefined) continue
      document = { [list.operation.pages?.key ?? '']: found, ...end.envelope }
      await checkEnd(end, opened.client)
    }
    return { document }
  } catch (error) {
    return { document, failure: toMergeqError(error) }
  }
}

/** Reports what is to be said about a list. Throws the error of a list that could not be read completely. */
async function checkEnd(end: ListEnd, { logger }: CallClient): Promise<void> {
  if (end.failure?.kind === 'interrupted') throw end.failure
  for (const note of end.notes) await logger.info(note)
  if (end.isBroken) throw incompleteListError(end)
}
