import { callOperation } from '../api/call.ts'
import { findCurrentPullRequest } from '../api/current-pull-request.ts'
import {
  type BodyOverride,
  checkOverrides,
  createReceipt,
  isChange,
  type Operation,
  operationName,
} from '../api/operation.ts'
import { serviceOperations } from '../api/operations/index.ts'
import { incompleteListError, type PageQuery, type Paginator } from '../api/pages.ts'
import { resourceOfRequest } from '../api/request.ts'
import type { DecodedResponse } from '../api/response.ts'
import { createServiceClient, type ServiceClient } from '../api/service-client.ts'
import { isLoopback } from '../config/setting-definitions.ts'
import { type Config, resolveSettings } from '../config/settings.ts'
import { readToken } from '../config/token.ts'
import { memoize } from '../domain/memoize.ts'
import { parsePullRequest } from '../domain/values/pull-request.ts'
import { parseRepository, repositoryName } from '../domain/values/repository.ts'
import { encodeTargets } from '../domain/values/target-list.ts'
import { MergeqError, toMergeqError, usageError } from '../errors.ts'
import type { Host, Output } from '../host/host.ts'
import { createInterruption } from '../host/host.ts'
import type { Json, JsonObject } from '../json.ts'
import { createLogger } from '../output/logger.ts'
import { createRedactor, type Redactor } from '../output/redactor.ts'
import {
  clientReaders,
  type GivenSettings,
  methodReaders,
  readOptions,
  settingsIn,
  sourceOf,
} from './options.ts'
import type { Client, ClientOptions } from './types.ts'

const createOutput = (write: Output['write']): Output => ({ terminal: false, columns: 80, rows: 24, write })

/** Returns a signal that follows the caller's, if there is one, with an `interrupted` error as its reason. */
function toInterruption(signal: AbortSignal | undefined): AbortSignal {
  const interruption = createInterruption()
  const abort = () => interruption.abort(new MergeqError('interrupted', 'The call was aborted.'))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return interruption.signal
}

/** The error that the caller receives: its details and the document are members of it. */
const toPublicError = (error: unknown, redact: (text: string) => string, document: Json = null): Error => {
  const failure = toMergeqError(error)
  const { details, message } = failure
  return Object.assign(failure, details, { name: 'MergeqError', message: redact(message), document })
}

/** The name of the method of an operation: `listFailingTests` for `flaky-tests/list-failing-tests`. */
export const methodName = ({ route }: Operation): string =>
  (operationName(route).split('/').at(-1) ?? '').replace(/-./g, ([, letter = '']) => letter.toUpperCase())

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
    interrupted: toInterruption(signal),
  }
  const context = { settings, host: clientHost, secrets }
  const methods = serviceOperations.map((operation: Operation) => {
    const method = async (callOptions: unknown = {}): Promise<Json> => {
      const { document, failure } = await call(operation, callOptions, context).catch((error: unknown) => ({
        document: null,
        failure: toMergeqError(error),
      }))
      if (failure !== undefined) throw toPublicError(failure, secrets.redact, document)
      return document
    }
    return [methodName(operation), method] as const
  })
  // The types describe the responses of the service; the decoders check what they declare as present.
  return Object.fromEntries(methods) as unknown as Client
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
  readonly secrets: Redactor
}

async function call(operation: Operation, options: unknown, context: ClientContext): Promise<CallOutcome> {
  const name = methodName(operation)
  const values = readOptions(name, options, methodReaders(operation))
  const given = { ...context.settings, ...settingsIn(values) }
  const overrides = (values.set ?? []) as readonly BodyOverride[]
  for (const pair of operation.exclusive ?? [])
    if (pair.every(option => values[option] !== undefined && values[option] !== false))
      throw usageError(`${name}: ${pair.join(' and ')} cannot be used together.`, 'Use only one of them.')
  const setters = Object.entries(operation.params)
    .filter(([option]) => Object.hasOwn(given, option) || Object.hasOwn(values, option))
    .map(([option, param]) => ({ name: option, param }))
  checkOverrides(`${name}: set`, overrides, setters)
  const client = await createCallClient(given, context, isChange(operation))
  try {
    const params = await readParams(operation, values, given, client)
    operation.check?.(params, overrides.length > 0)
    return await send(client, operation, params, overrides)
  } finally {
    await client.close()
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
    token: memoize(() => readToken(host.env, settings, secrets.hide)),
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
  if (given.repo !== undefined && fullName(String(given.repo)) !== fullName(repo))
    throw usageError(
      `'${text}' and the option repo (${given.repo}) name different repositories.`,
      'Use only one of them.',
    )
  return { number, settings: settings.withArgs(sourceOf({ ...given, repo })) }
}

const fullName = (repository: string): string => repositoryName(parseRepository(repository))

async function send(
  client: CallClient,
  operation: Operation,
  params: Values,
  overrides: readonly BodyOverride[],
): Promise<CallOutcome> {
  const { route } = operation
  const pages = operation.pagination?.(params, client.host.clock.now())
  if (pages !== undefined) {
    const requestPage = async (pageQuery: PageQuery) =>
      (await callOperation(client, operation, params, { overrides, pageQuery })).response
    return collectRecords(pages, requestPage, client)
  }
  try {
    const { response, resource, delivery } = await callOperation(client, operation, params, { overrides })
    return { document: response.document?.(response.records) ?? createReceipt(route, resource, delivery) }
  } catch (error) {
    const failure = toMergeqError(error)
    const { delivery } = failure.details
    const resource = resourceOfRequest(operation, params, { overrides })
    const document = delivery === undefined ? null : createReceipt(route, resource, delivery, failure)
    return { document, failure }
  }
}

/** Requests page after page until the list ends, and returns all of them as one document. */
async function collectRecords(
  pages: Paginator,
  requestPage: (pageQuery: PageQuery) => Promise<DecodedResponse>,
  { logger }: ServiceClient,
): Promise<CallOutcome> {
  const found: JsonObject[] = []
  let failure: MergeqError | undefined
  try {
    for await (const records of pages.read(requestPage)) for (const record of records) found.push(record)
  } catch (error) {
    failure = toMergeqError(error)
    if (!pages.hasStarted) return { document: null, failure }
  }
  const { records, envelope, notes, isBroken, problem } = pages.finish(failure?.message)
  const document = { [pages.key]: [...found, ...records], ...envelope }
  if (failure?.kind === 'interrupted') return { document, failure }
  for (const note of notes) await logger.info(note)
  return isBroken ? { document, failure: incompleteListError(failure, problem) } : { document }
}
