import { findCurrentPullRequest } from '../api/reads/current-pull-request.ts'
import { type Advice, createServiceClient } from '../api/service-client.ts'
import type { SendingTime } from '../api/service-clock.ts'
import { createServiceTime } from '../api/service-time.ts'
import type { WaitTime } from '../api/wait-time.ts'
import { limitPrograms } from '../api/wait-time.ts'
import { MergeqError, usageError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { type Config, notGivenError, resolveSettings } from '../config/settings.ts'
import { createTokenReader, findTokenSource } from '../config/token.ts'
import type { Environment, ServiceHost } from '../host/host.ts'
import { createInterruption } from '../host/node-host.ts'
import { createTraffic, maxRetryAfter, type Traffic } from '../http/traffic.ts'
import { createLogger } from '../output/logger.ts'
import { createRedactor } from '../output/redactor.ts'
import { readReference } from '../values/pull-request.ts'
import type { SharedQueues } from '../wait/shared-queues.ts'
import { clientParams, type GivenSettings, readPublicly, readWithDefaults, sourceOf } from './options.ts'

/** How a call ended. */
export interface CallOutcome {
  /** The result; after an error, the receipt of a change or the part of a list that was read, else null. */
  readonly document: Json
  readonly failure?: MergeqError
}

/** What the calls of a client share that ask the same service with the token of the same source. */
interface ServiceMemory {
  /** Limits the requests at a time, and pauses all of them after a 429. */
  readonly traffic: Traffic
  /** When pull requests were submitted: a wait does not take the end of an earlier attempt for the result. */
  readonly submissions: Map<string, SendingTime>
  /** What waits and watches read; undefined before the first of them. */
  queues?: SharedQueues
}

/** What all calls of a client share. */
export type ClientContext = ReturnType<typeof createContext>

/** Creates what all calls of a client share from its options. Throws a usage error for a wrong option. */
export function createContext(options: object, host: ServiceHost) {
  const secrets = createRedactor()
  const {
    token,
    signal,
    proxy,
    maxConcurrent,
    onNotice,
    discover = true,
    settings,
  } = readPublicly(() => readWithDefaults('createClient', options, clientParams), secrets.redact)
  if (token !== undefined) secrets.hide(token.trim())
  // A callback that fails, or never ends, must not stop a change.
  const notify = async (text: string) => onNotice?.(text)
  const write = async (text: string | Uint8Array) => {
    notify(secrets.redact(String(text)).trimEnd()).catch(() => undefined)
  }
  return {
    settings,
    /** Whether settings that no option gives are looked up. */
    discover,
    host: {
      ...host,
      machineFile: discover ? host.machineFile : undefined,
      // Without an environment there are no stored settings either, and no proxy but one that is asked for.
      env: {
        ...(discover ? host.env : proxy === 'environment' ? proxiesIn(host.env) : {}),
        ...(token === undefined ? {} : { MERGEQ_TOKEN: token }),
      },
    },
    /** Writes what the command line would print on standard error. */
    write,
    signal,
    /** The address of the proxy, in the place of that of the environment. */
    proxy: proxy === 'environment' ? undefined : proxy,
    /** By base address and source of the token. */
    memories: new Map<string, ServiceMemory>(),
    createMemory: (): ServiceMemory => ({
      traffic: createTraffic({ maxConcurrent, maxPause: maxRetryAfter }),
      submissions: new Map(),
    }),
    secrets,
    /** Whether messages name the token as an option: without any token, the option is what to set. */
    namesToken: token !== undefined || !discover || (host.env.MERGEQ_TOKEN ?? '').trim() === '',
  }
}

/** The variables of an environment that are about proxies. */
const proxiesIn = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => /^(?:https|no)_proxy$/i.test(name)))

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

/** The client of one call. */
export type CallClient = Awaited<ReturnType<typeof createCallClient>>

/** The advice of the library: what to call next. After a refusal, the neutral hint stays. */
const libraryAdvice: Advice = {
  afterRefusal: () => undefined,
  toInspect: resources =>
    resources.map(({ pr }) => (pr === undefined ? 'getQueue()' : `getSubmittedPullRequest({ pr: ${pr} })`)),
  toCancel: pullRequests => pullRequests.map(({ pr }) => `cancelPullRequest({ pr: ${pr} })`),
  toWait: pullRequests =>
    pullRequests.length === 0
      ? []
      : [`waitForPullRequests({ prs: [${pullRequests.map(({ pr }) => pr).join(', ')}] })`],
  toSubmit: ({ pr }) => `submitPullRequest({ pr: ${pr} })`,
}

const nameOf = (name: string): string => name

/** Creates the client of a call, which ends with the signal of the call and with that of the client. */
export async function createCallClient(
  given: GivenSettings,
  signal: AbortSignal | undefined,
  { secrets, namesToken, write, discover, proxy, memories, createMemory, ...context }: ClientContext,
  { changes, time }: { readonly changes: boolean; readonly time?: WaitTime },
) {
  if (!discover && given.profile !== undefined)
    throw usageError('profile cannot be used with discover: false.', 'Leave out profile.')
  const { signal: interrupted, release } = followSignals(context.signal, signal)
  // What git says is kept for each host: another call reads the checkout again.
  const ofCall = { ...context.host, interrupted }
  const host = time === undefined ? ofCall : limitPrograms(ofCall, time)
  const logger = createLogger({ write }, { quiet: false, verbose: false, json: true })
  const settings = resolveSettings(sourceOf(given), host, {
    changes,
    use: discover ? undefined : 'not needed',
    nameOf,
    notify: text => logger.infoOnce(text),
  })
  const storeError = await settings.checkStore()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const service = await nameService(settings, host)
  const memory = memories.get(service) ?? createMemory()
  memories.set(service, memory)
  const parts = {
    nameOf,
    advice: libraryAdvice,
    host,
    settings,
    options: { timeout: await settings.read('timeout'), verbose: false },
    time,
    serviceTime: createServiceTime(host),
    proxy,
    traffic: memory.traffic,
    maxRetries: await settings.require('retries'),
    repeatsSilence: time !== undefined || given.retries !== undefined,
    logger,
    secrets,
    token: createTokenReader(host, settings, { hide: secrets.hide, warn: logger.warn, isOption: namesToken }),
    renewsToken: true,
  }
  const client = createServiceClient(parts)
  return { ...client, discover, memory, close: () => client.close().finally(release) }
}

/** Returns what tells services apart: the base address, and where the token comes from. */
async function nameService(settings: Config, host: ServiceHost): Promise<string> {
  const { href } = new URL(await settings.require('baseUrl'))
  // A call without a token ends with an error of its own.
  const token = await findTokenSource(host, settings).catch(() => undefined)
  return JSON.stringify([href.replace(/\/$/, ''), token])
}

/** Finds the pull request of a call, and the settings of its repository, which an address names too. */
export async function findPullRequest(
  reference: string | undefined,
  given: GivenSettings,
  client: CallClient,
  mayGuess = true,
): Promise<{ readonly number: number; readonly settings: Config }> {
  const { settings } = client
  if (reference === undefined && !client.discover) throw notGivenError('pr')
  const current =
    reference === undefined
      ? await findCurrentPullRequest(settings, client, {
          advice: 'Set the option pr.',
          give: pr => `set the option pr to ${pr}.`,
        })
      : { reference, guess: undefined }
  if (current.guess !== undefined && !mayGuess)
    throw usageError(
      `No pull request was named; that of the current ${current.guess} is #${current.reference}.`,
      'Set the option pr.',
    )
  const givenRepo = given.repo === undefined ? undefined : String(given.repo)
  const { number, repo } = readReference(current.reference, givenRepo, client.nameOf)
  if (repo === undefined || given.repo !== undefined) return { number, settings }
  return { number, settings: settings.withArgs(sourceOf({ ...given, repo })) }
}
