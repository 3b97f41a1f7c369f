import { callOperation } from '../api/call.ts'
import { findCurrentPullRequest } from '../api/current-pull-request.ts'
import {
  type BodyOverride,
  checkOverrides,
  createReceipt,
  isAlwaysSent,
  isChange,
  type Operation,
} from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { submitPullRequest } from '../api/operations/pull-requests.ts'
import { incompleteListError, type PageQuery, type Paginator } from '../api/pages.ts'
import { resourceOfParams } from '../api/request.ts'
import { createServiceClient, type ServiceClient } from '../api/service-client.ts'
import type { WaitTarget } from '../api/wait/poll.ts'
import { type Config, resolveSettings } from '../config/settings.ts'
import { readToken } from '../config/token.ts'
import { memoize } from '../domain/memoize.ts'
import type { SendingTime } from '../domain/service-clock.ts'
import { parsePullRequest, type RequestedPullRequest } from '../domain/values/pull-request.ts'
import { isSameRepository, parseRepository, repositoryKey } from '../domain/values/repository.ts'
import { encodeTargets } from '../domain/values/target-list.ts'
import { MergeqError, toMergeqError, usageError } from '../errors.ts'
import { createInterruption, type Host, type Output } from '../host/host.ts'
import type { Json, JsonObject } from '../json.ts'
import { createLogger } from '../output/logger.ts'
import { createRedactor, type Redactor } from '../output/redactor.ts'
import { isLoopback } from '../url.ts'
import { type IteratorName, iteratorName, type MethodName, methodName } from './method-names.ts'
import {
  clientReaders,
  type GivenSettings,
  methodReaders,
  readOptions,
  readWaitOptions,
  settingsIn,
  sourceOf,
} from './options.ts'
import type { ClientOptions, WaitForPullRequestsOptions } from './types.ts'

const createOutput = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

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

/** The error that the caller receives: its details and the document are members of it. */
const toPublicError = (error: unknown, redact: (text: string) => string, document: Json = null): Error => {
  const failure = toMergeqError(error)
  const { details, message } = failure
  return Object.assign(failure, details, { name: 'MergeqError', message: redact(message), document })
}

/** The methods of a client. The published types, which the build makes, say what each takes and returns. */
export type Client = Readonly<Record<MethodName, (options?: object) => Promise<JsonObject>>> &
  Readonly<Record<IteratorName, (options?: object) => AsyncGenerator<JsonObject, void>>> & {
    waitForPullRequests(options: WaitForPullRequestsOptions): Promise<readonly JsonObject[]>
  }

/**
 * Returns a client: a method for each operation of the service, with the settings, retries, limits and errors
 * of the command line. Settings that are left out come from the same sources as on the command line. Throws a
 * usage error for a wrong option.
 */
export function createHostClient(options: ClientOptions, host: Host): Client {
  const secrets = createRedactor()
  const { token, signal, onNotice, ...settings } = readClientOptions(options, secrets.redact)
  if (token !== undefined) secrets.hide(token.trim())
  // A callback that fails, or never ends, must not stop a change.
  const notify = async (text: string) => onNotice?.(text)
  const clientHost: Host = {
    ...host,
    env: token === undefined ? host.env : { ...host.env, MERGEQ_TOKEN: token },
    out: createOutput(async () => undefined),
    err: createOutput(async text => {
      notify(secrets.redact(String(text)).trimEnd()).catch(() => undefined)
    }),
    interrupted: followSignals(signal).signal,
  }
  const context = { settings, host: clientHost, signal, secrets, submissions: new Map() }
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
  }
  for (const operation of serviceOperations as readonly Operation[]) {
    methods[methodName(operation)] = asMethod(callOptions => call(operation, callOptions, context))
    if (operation.pagination !== undefined)
      methods[iteratorName(operation)] = async function* (callOptions: unknown = {}) {
        const records = iterate(operation, callOptions, context)
        const next = () =>
          records.next().catch(error => {
            throw toPublicError(error, secrets.redact)
          })
        try {
          for (let result = await next(); result.done !== true; result = await next()) yield result.value
        } finally {
          await records.return(undefined)
        }
      }
  }
  return methods as unknown as Client
}

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
  readonly host: Host
  /** The signal of the caller, which `host.interrupted` follows. */
  readonly signal: AbortSignal | undefined
  readonly secrets: Redactor
  /** When pull requests were submitted: a wait does not take the end of an earlier attempt for the result. */
  readonly submissions: Map<string, SendingTime>
}

const nameOf = ({ repo, targetBranch, pr }: RequestedPullRequest): string =>
  `${repositoryKey(repo)} ${targetBranch} #${pr}`

type OpenCall = Awaited<ReturnType<typeof openCall>>

/** Checks the options of a call and opens its client, which the caller closes. */
async function openCall(operation: Operation, name: string, options: unknown, context: ClientContext) {
  const values = readOptions(name, options, methodReaders(operation))
  const given = { ...context.settings, ...settingsIn(values) }
  const overrides = (values.set ?? []) as readonly BodyOverride[]
  for (const pair of operation.exclusive ?? [])
    if (pair.every(option => values[option] !== undefined && values[option] !== false))
      throw usageError(`${name}: ${pair.join(' and ')} cannot be used together.`, 'Use only one of them.')
  const setters = Object.entries(operation.params)
    .filter(
      ([option, param]) =>
        Object.hasOwn(given, option) || Object.hasOwn(values, option) || isAlwaysSent(option, param),
    )
    .map(([option, param]) => ({ name: option, param }))
  checkOverrides(`${name}: set`, overrides, setters)
  const client = await createCallClient(given, context, isChange(operation))
  try {
    const params = await readParams(operation, values, given, client)
    operation.check?.(params, overrides.length > 0)
    return { operation, client, params, overrides }
  } catch (error) {
    await client.close()
    throw error
  }
}

async function call(operation: Operation, options: unknown, context: ClientContext): Promise<CallOutcome> {
  const opened = await openCall(operation, methodName(operation), options, context)
  const { clock } = context.host
  try {
    const from = clock.now()
    const outcome = await send(opened)
    if (operation.route === submitPullRequest.route && outcome.failure === undefined)
      context.submissions.set(nameOf(opened.params as RequestedPullRequest), { from, to: clock.now() })
    return outcome
  } finally {
    await opened.client.close()
  }
}

/** Yields the records of a list; requests a page when the records before it were taken. */
async function* iterate(operation: Operation, options: unknown, context: ClientContext) {
  const opened = await openCall(operation, iteratorName(operation), options, context)
  try {
    const pages = operation.pagination?.(opened.params, context.host.clock.now())
    if (pages !== undefined) for await (const records of readRecords(pages, opened)) yield* records
  } finally {
    await opened.client.close()
  }
}

/** Waits for pull requests; the signal of the call ends the wait as that of the client does. */
async function waitFor(callOptions: unknown, context: ClientContext): Promise<CallOutcome> {
  const { prs, signal, settings, options } = readWaitOptions('waitForPullRequests', callOptions)
  const given = { ...context.settings, ...settings }
  const { signal: interrupted, release } = followSignals(context.signal, signal)
  let client: CallClient | undefined
  try {
    client = await createCallClient(given, { ...context, host: { ...context.host, interrupted } }, false)
    const targets = new Map<string, WaitTarget>()
    for (const reference of prs) {
      const { number: pr, settings } = await findPullRequest(reference, given, client)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      const values = { repo, targetBranch, pr }
      const name = nameOf(values)
      const state = { submission: context.submissions.get(name) }
      if (!targets.has(name)) targets.set(name, { request: { values, overrides: [] }, state, errors: 0 })
    }
    const { waitForResults } = await import('../api/wait/run.ts')
    const results = await waitForResults([...targets.values()], options, client)
    return { document: results.map(({ record }) => record) }
  } finally {
    release()
    await client?.close()
  }
}

interface CallClient extends ServiceClient {
  readonly settings: Config
  close(): Promise<void>
}

async function createCallClient(
  given: GivenSettings,
  { secrets, ...context }: ClientContext,
  changes: boolean,
): Promise<CallClient> {
  // What git says is kept for each host: another call reads the checkout again.
  const host = { ...context.host }
  const logger = createLogger(host.err, { quiet: false, verbose: false, json: true })
  const settings = resolveSettings(sourceOf(given), host, {
    changes,
    changesSettings: false,
    notify: text => logger.info(text),
  })
  const storeError = settings.store.readError()
  if (storeError !== undefined) await logger.warn(`${storeError.message} Continuing without stored settings.`)
  const parts = {
    host,
    settings,
    options: { timeout: await settings.read('timeout'), verbose: false },
    maxRetries: await settings.require('retries'),
    logger,
    secrets,
    token: memoize(() => readToken(host.env, settings, secrets.hide, logger.warn)),
  }
  return createServiceClient(parts, 'caFile', isLoopback)
}

type Values = Readonly<Record<string, unknown>>

/**
 * Returns the params of a call from its options and, for what they leave out, from the settings. Throws a usage
 * error for what is missing.
 */
async function readParams(
  operation: Operation,
  values: Values,
  given: GivenSettings,
  client: CallClient,
): Promise<Values> {
  const { settings } = client
  const { params } = operation
  const needsPullRequest =
    params.pr !== undefined &&
    (params.pr.required || params.head !== undefined ? values.head === undefined : values.pr !== undefined)
  const pullRequest = needsPullRequest
    ? await findPullRequest(values.pr === undefined ? undefined : String(values.pr), given, client)
    : undefined
  const queueSettings = pullRequest?.settings ?? settings
  const result: Record<string, unknown> = {}
  for (const [name, { setting, settingFrom, required = false }] of Object.entries(params)) {
    if (name === 'pr') result.pr = pullRequest?.number
    else if (setting !== undefined && settingFrom !== undefined)
      result[name] = await settings.readFrom(settingFrom, setting)
    else if (setting === 'repo' || setting === 'targetBranch' || setting === 'org')
      result[name] = await queueSettings.require(setting)
    else if (values[name] !== undefined) result[name] = values[name]
    else if (setting === 'sha') result[name] = await settings.require(setting)
    else if (setting !== undefined) result[name] = await settings.read(setting)
    else if (name === 'run' && values.pr === undefined)
      result[name] = await currentTestRun(operation, settings)
    else if (required)
      throw usageError(`${methodName(operation)}: ${name} is required.`, `Pass the option ${name}.`)
  }
  const { targets } = result
  return targets === undefined
    ? result
    : { ...result, targets: encodeTargets(targets as 'ALL' | readonly string[]) }
}

/** The test run that the CI job runs on, as the param checks it. */
const currentTestRun = async ({ params }: Operation, settings: Config): Promise<unknown> =>
  params.run?.type.check(await settings.require('testRun'))

/** Finds the pull request of a call, and the settings of its repository, which an address names too. */
async function findPullRequest(
  reference: string | undefined,
  given: GivenSettings,
  client: CallClient,
): Promise<{ readonly number: number; readonly settings: Config }> {
  const { settings } = client
  const text = reference ?? (await findCurrentPullRequest(settings, client))
  const { number, repo } = parsePullRequest(text)
  if (repo === undefined) return { number, settings }
  if (given.repo === undefined) return { number, settings: settings.withArgs(sourceOf({ ...given, repo })) }
  if (isSameRepository(parseRepository(String(given.repo)), parseRepository(repo)))
    return { number, settings }
  throw usageError(
    `'${text}' and the option repo (${given.repo}) name different repositories.`,
    'Use only one of them.',
  )
}

async function send(opened: OpenCall): Promise<CallOutcome> {
  const { client, operation, params, overrides } = opened
  const { route } = operation
  const pages = operation.pagination?.(params, client.host.clock.now())
  if (pages !== undefined) return collectRecords(pages, opened)
  try {
    const { response, resource, delivery } = await callOperation(client, operation, params, { overrides })
    return { document: response.document?.(response.records) ?? createReceipt(route, resource, delivery) }
  } catch (error) {
    const failure = toMergeqError(error)
    const { delivery } = failure.details
    const resource = resourceOfParams(params)
    const document = delivery === undefined ? null : createReceipt(route, resource, delivery, failure)
    return { document, failure }
  }
}

/** Requests page after page until the list ends, and returns all of them as one document. */
async function collectRecords(pages: Paginator, opened: OpenCall): Promise<CallOutcome> {
  const found: JsonObject[] = []
  const toDocument = () => ({ [pages.key]: found, ...pages.finish().envelope })
  try {
    for await (const records of readRecords(pages, opened)) for (const record of records) found.push(record)
    return { document: toDocument() }
  } catch (error) {
    return { document: pages.hasStarted ? toDocument() : null, failure: toMergeqError(error) }
  }
}

/** Yields the records of each page. Throws the error of a list that could not be read completely. */
async function* readRecords(
  pages: Paginator,
  { client, operation, params, overrides }: OpenCall,
): AsyncGenerator<readonly JsonObject[]> {
  const requestPage = async (pageQuery: PageQuery) =>
    (await callOperation(client, operation, params, { overrides, pageQuery })).response
  let failure: MergeqError | undefined
  try {
    yield* pages.read(requestPage)
  } catch (error) {
    failure = toMergeqError(error)
    if (!pages.hasStarted) throw failure
  }
  const { records, notes, isBroken, problem } = pages.finish(failure?.message)
  yield records
  if (failure?.kind === 'interrupted') throw failure
  for (const note of notes) await client.logger.info(note)
  if (isBroken) throw incompleteListError(failure, problem)
}
