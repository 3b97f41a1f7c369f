import { readIfFound } from '../../api/call.ts'
import type { Operation } from '../../api/operation.ts'
import { type BodyOverride, checkOverrides, type ParamValues } from '../../api/operation.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { resolveRequest, type ServiceRequest } from '../../api/resolve.ts'
import type { Cli } from '../../cli/cli.ts'
import { each, type Outcome } from '../../cli/each.ts'
import { expandFiles, openInput } from '../../cli/input-files.ts'
import { flag, type Input, option, type TypedInput, typedInput } from '../../cli/inputs.ts'
import { reportErrors } from '../../cli/report.ts'
import { callerOf, overridesOf, setOption } from '../../cli/requests.ts'
import { findFileAbove } from '../../config/project-file.ts'
import { parentDirectory } from '../../config/store.ts'
import { pluralize } from '../../domain/format.ts'
import {
  type Difference,
  differences,
  type LiveSettings,
  liveSettings,
  parseQueueFile,
  type QueueFile,
  readSetting,
  settingNames,
  settingsDigest,
  showKey,
  unknownKey,
} from '../../domain/queue-file.ts'
import { suggestName } from '../../domain/similar-name.ts'
import {
  isSameRepository,
  parseRepository,
  queueName,
  repositoryKey,
} from '../../domain/values/repository.ts'
import { readText } from '../../domain/values/text.ts'
import { fileName } from '../../domain/values/types.ts'
import { MergeqError, mostSevere, usageError, withName } from '../../errors.ts'
import { type Json, type JsonObject, parseJson, stringifyJson } from '../../json.ts'

export type QueueParams = ParamValues<typeof getQueue.params>

export type QueueRequest = ServiceRequest<QueueParams>

export const includeStateInput = flag("Include the queue's state, which is ignored by default")

const typedFile = typedInput(
  'file',
  option(
    fileName('file|directory'),
    'Queue file (- for standard input) or directory of queue files, with the directories below it; required',
    { short: 'f' },
  ),
)

/** The file or directory that was typed: a usage error without one. */
export const fileInput: TypedInput<string> = {
  ...typedFile,
  read(args) {
    const file = typedFile.read(args)
    if (file !== undefined) return file
    throw usageError(
      'No file was given.',
      'Specify a file with -f. To create one, run: mergeq queue export -f queue.yaml',
    )
  },
}

/** Upper limit for a queue file, in bytes. */
const maxFileSize = 256 * 1024

export const isJsonFileName = (path: string): boolean => /\.json$/i.test(path)

const queueFileEndings = ['.yaml', '.yml', '.json'] as const

export const isQueueFileName = (path: string): boolean =>
  queueFileEndings.some(ending => path.toLowerCase().endsWith(ending))

/** The package for YAML is large: most commands of the group do not need it. */
export const loadYaml = () => import('./yaml.ts')

export const outputError = (path: string, error: Error): MergeqError =>
  new MergeqError('output', `${path} could not be written: ${error.message}.`, {
    hint: 'Existing files are unchanged. Check the directory and the free disk space.',
  })

export interface LoadedFile {
  readonly text: string
  readonly content: QueueFile
}

/** Reads a queue file, or standard input for `-`. Throws a usage error that names file and line. */
export async function readQueueFile(path: string, cli: Cli): Promise<LoadedFile> {
  const name = path === '-' ? 'standard input' : path
  const text = await readText(openInput(path, cli), name, maxFileSize)
  // Each byte that is not UTF-8 was decoded as this character.
  if (text.includes('\uFFFD'))
    throw usageError(`${name} contains bytes that are not UTF-8.`, 'Save the text as UTF-8.')
  const { parseYaml } = await loadYaml()
  const source = parseYaml(text, name)
  if (isJsonFileName(path) && parseJson(text) === undefined)
    throw usageError(`${path}:1: invalid JSON.`, 'Fix the file, or rename it to end in .yaml.')
  return { text, content: parseQueueFile(source, name, 'For an example, run: mergeq queue export') }
}

/** Reads a setting of `--set`: a path without dots. Throws a usage error for another path or a wrong value. */
function readOverride({ path, value }: BodyOverride): readonly [string, Json] {
  const [key = '', ...below] = path
  if (below.length > 0)
    throw usageError(`--set: '${path.join('.')}=${formatValue(value)}' is not <setting>=<value>.`)
  return [key, withName(`--set: ${key}`, () => readSetting(key, value))]
}

/** The settings of `--set`, which replace those of the files. */
export function settingsOf(operation: Operation): Input<JsonObject> {
  const overrides = overridesOf(operation)
  const summary = 'Replace a setting of the files, or add one; a value that is not JSON is text'
  return {
    definitions: overrides.definitions.map(each => ({ ...each, summary, value: 'setting=value' })),
    read(args) {
      const overrides = setOption.read(args) ?? []
      const settings = overrides.map(readOverride)
      checkOverrides('--set', overrides, [])
      return Object.fromEntries(settings)
    },
  }
}

export interface QueueFileItem {
  /** The path as it was typed or found; `-` is standard input. */
  readonly path: string
  /** The queue in messages: `main of acme/web`. */
  readonly name: string
  readonly content: QueueFile
  /** Returns where a setting of the content comes from: `--set`, the file, or its file of defaults. */
  sourceOf(setting: string): string
  readonly request: QueueRequest
}

export interface Plan extends QueueFileItem {
  /** Undefined if the branch has no queue. */
  readonly live: LiveSettings | undefined
  readonly digest: string
  readonly differences: readonly Difference[]
}

interface LoadedDefaults {
  /** Undefined if there are no defaults. */
  readonly path?: string
  readonly settings: JsonObject
}

type QueueNames = Pick<QueueFile, 'repo' | 'targetBranch'>

/** Throws a usage error if a file is for another queue than what `--repo` and `--target-branch` name. */
export function checkQueueOfFile(
  path: string,
  { repo, targetBranch }: QueueNames,
  named: Readonly<Record<keyof QueueNames, string | undefined>>,
): void {
  const isSame = (one: string | undefined, other: string | undefined, keyOf = (text: string) => text) =>
    one === undefined || other === undefined || keyOf(one) === keyOf(other)
  const problem = (option: string, name = '', inFile = '') =>
    usageError(`${option} is ${name}, but ${path} is for ${inFile}.`, 'Omit the option, or use another file.')
  if (!isSame(named.repo, repo, text => repositoryKey(parseRepository(text))))
    throw problem('--repo', named.repo, repo)
  if (!isSame(named.targetBranch, targetBranch))
    throw problem('--target-branch', named.targetBranch, targetBranch)
}

/**
 * Makes the request that reads the queue of a file: repository and target branch come from the file, else from the
 * settings. Throws a usage error if an option contradicts the file.
 */
export function requestOfFile(
  path: string,
  file: QueueNames,
  overrides: readonly BodyOverride[],
  { args, settings }: Cli,
): Promise<QueueRequest> {
  const { repo, targetBranch } = file
  checkQueueOfFile(path, file, {
    repo: args.get('--repo')?.at(-1),
    targetBranch: args.get('--target-branch')?.at(-1),
  })
  const values = new Map<string, () => unknown>()
  if (repo !== undefined) values.set('repo', () => parseRepository(repo))
  if (targetBranch !== undefined) values.set('targetBranch', () => targetBranch)
  return resolveRequest(getQueue, { values, overrides }, callerOf(settings))
}

/** The options that say which settings of files count. */
export interface FileOptions {
  readonly includeState: boolean
  /** The settings of `--set`. */
  readonly set: JsonObject
}

const defaultsNames = ['defaults.yaml', 'defaults.json'] as const

export const isDefaultsFile = (path: string): boolean => /(?:^|[\\/])defaults\.(?:yaml|json)$/.test(path)

/**
 * Reads the settings of the nearest file of defaults, from the directory of a queue file up to the root of the
 * checkout; outside a checkout up to `path`, which was typed.
 */
export async function readDefaults(file: string, path: string, cli: Cli): Promise<LoadedDefaults> {
  const { files } = cli.host
  const directory = parentDirectory(files.absolute(file))
  const top = file === path ? directory : files.absolute(path)
  const found = file === '-' ? undefined : await findFileAbove(directory, top, defaultsNames, cli.host)
  if (found === undefined) return { settings: {} }
  const { content } = await readQueueFile(found, cli)
  if (content.repo !== undefined || content.targetBranch !== undefined)
    throw usageError(`${found} must not name a queue.`, 'Defaults have only the key `settings`.')
  return { path: found, settings: content.settings }
}

export const sameQueueError = (path: string, otherPath: string, queue: string): MergeqError =>
  usageError(`${path} and ${otherPath} describe the same queue: ${queue}.`)

/** Reads the queue files of a path. Throws a usage error if two files describe the same queue. */
export async function readItems(
  path: string,
  { includeState, set }: FileOptions,
  cli: Cli,
): Promise<readonly QueueFileItem[]> {
  const items: QueueFileItem[] = []
  const paths = await expandFiles(path, queueFileEndings, cli, true)
  const queuePaths = paths.filter(filePath => !isDefaultsFile(filePath))
  if (queuePaths.length === 0) throw usageError(`${path} has defaults, but no queue file.`)
  for (const filePath of queuePaths) {
    const { content: read } = await readQueueFile(filePath, cli)
    const defaults = await readDefaults(filePath, path, cli)
    const written = { ...read, settings: { ...defaults.settings, ...read.settings } }
    const { state, ...others } = { ...written.settings, ...set }
    const content = {
      ...written,
      settings: includeState && state !== undefined ? { state, ...others } : others,
    }
    const request = await requestOfFile(filePath, written, [], cli)
    const { repo, targetBranch } = request.values
    const name = queueName(request.values)
    const duplicate = items.find(
      ({ request: { values } }) =>
        isSameRepository(values.repo, repo) && values.targetBranch === targetBranch,
    )
    if (duplicate !== undefined) throw sameQueueError(duplicate.path, filePath, name)
    if (Object.hasOwn(written.settings, 'state') && !includeState)
      await cli.logger.info(`${filePath}: state is ignored; to include it, add --include-state.`)
    const sources = [
      { source: '--set', settings: set },
      { source: filePath, settings: read.settings },
    ]
    const sourceOf = (key: string) =>
      sources.find(({ settings }) => Object.hasOwn(settings, key))?.source ?? defaults.path ?? filePath
    items.push({ path: filePath, name, content, sourceOf, request })
  }
  return items
}

/** Reads the live settings of a queue. Throws a `not-found` error if the branch has no queue. */
export async function requireLive(
  request: QueueRequest,
  includesState: boolean,
  cli: Cli,
): Promise<LiveSettings> {
  const live = await readLive(request, includesState, cli)
  if (live !== undefined) return live
  throw new MergeqError('not-found', `The queue for ${queueName(request.values)} does not exist.`, {
    hint: 'To use another queue, name it with --repo and --target-branch.',
    status: 404,
  })
}

/** Reads the live settings of a queue; undefined if the branch has no queue. */
export async function readLive(
  request: QueueRequest,
  includesState: boolean,
  cli: Cli,
): Promise<LiveSettings | undefined> {
  const queue = await readIfFound(cli.client(), getQueue, request.values, request)
  return queue && liveSettings(queue, includesState)
}

export interface Failed {
  readonly failure: MergeqError
}

/** The queues of several files: those that were read, and those that failed. */
export interface PlanResults {
  readonly plans: readonly Plan[]
  readonly failed: readonly (QueueFileItem & Failed)[]
}

interface QueueOutcomes<T, R> {
  readonly outcomes: readonly Outcome<T, R>[]
  readonly results: readonly R[]
  readonly failed: readonly (T & Failed)[]
}

/**
 * Works on several queues at a time; one that fails does not stop the others. Returns the results, and the errors with
 * their items, both in the order of the items. Throws if a signal arrived or there is no token.
 */
export async function forEachQueue<T extends { readonly name: string; readonly request: QueueRequest }, R>(
  cli: Cli,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<QueueOutcomes<T, R>> {
  // A token may have access to some repositories only.
  const { outcomes } = await each(cli, getQueue, items, work, {
    resource: ({ request }) => request.values,
    name: ({ name }) => name,
    differInAccess: true,
  })
  const failed = outcomes.flatMap(({ item, failure }) =>
    failure === undefined ? [] : [{ ...item, failure }],
  )
  const last = failed
    .map(({ failure }) => failure)
    .find(({ kind, details }) => kind === 'interrupted' || (kind === 'auth' && details.status === undefined))
  if (last !== undefined) throw last
  cli.host.interrupted.throwIfAborted()
  return { outcomes, results: outcomes.flatMap(({ result }) => result ?? []), failed }
}

/** Logs the errors of queues that failed. Returns the most severe exit code. */
export async function reportFailures(failed: readonly Failed[], cli: Cli): Promise<number> {
  const failures = failed.map(({ failure }) => failure)
  await reportErrors(failures, cli)
  return mostSevere(failures.map(({ exit }) => exit))
}

/**
 * Reads every live queue and returns the plans. A setting that neither mergeq nor the live queue knows is the usage
 * error of its queue.
 */
export async function createPlans(
  items: readonly QueueFileItem[],
  includesState: boolean,
  cli: Cli,
): Promise<PlanResults> {
  const { results, failed } = await forEachQueue(cli, items, async (item): Promise<Plan> => {
    const live = await readLive(item.request, includesState, cli)
    const liveValues = live?.settings ?? {}
    const unknown = unknownKey(item.content.settings, liveValues)
    if (unknown !== undefined) throw unknownSettingError(unknown, item, liveValues)
    const digest = await settingsDigest(live?.settings ?? null)
    return { ...item, live, digest, differences: differences(liveValues, item.content.settings) }
  })
  return { plans: results, failed }
}

function unknownSettingError(name: string, { sourceOf }: QueueFileItem, live: JsonObject): MergeqError {
  const source = sourceOf(name)
  return usageError(
    `${source}: unknown queue setting${source === '--set' ? ` '${name}'` : showKey(name, " '", "'")}.`,
    suggestName(name, [...settingNames, ...Object.keys(live)]) ??
      'To see the settings of the queue, run: mergeq queue export',
  )
}

/**
 * Returns the digest of a single plan, or a digest of the digests of several plans; undefined if a queue could not be
 * read.
 */
export const combineDigests = async ({ plans, failed }: PlanResults): Promise<string | undefined> => {
  if (failed.length > 0) return undefined
  const [first, ...rest] = plans.map(({ digest }) => digest)
  return first !== undefined && rest.length === 0 ? first : settingsDigest([first ?? null, ...rest])
}

export const hasDifferences = ({ live, differences }: Plan): boolean =>
  live === undefined || differences.length > 0

/** Formats a value for a plan: text as it is, everything else as JSON. */
export const formatValue = (value: Json | undefined): string =>
  typeof value === 'string' ? value : stringifyJson(value ?? null)

/** Formats a value for people: yes or no, a list with commas, `none` for nothing, `-` for no value. */
export function formatSetting(value: Json | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'none'
  if (Array.isArray(value)) return value.map(formatSetting).join(', ')
  return value === undefined ? '-' : formatValue(value)
}

/** Returns a plan as lines of text: a summary, and a line for each difference. `creates` is for a missing queue. */
export function describePlan(
  { name, live, differences: allDifferences }: Plan,
  creates = false,
): readonly string[] {
  const summary = `${pluralize(allDifferences.length, 'setting')} ${allDifferences.length === 1 ? 'differs' : 'differ'}`
  return [
    live === undefined
      ? creates
        ? `The queue for ${name} will be created.`
        : `The queue for ${name} does not exist; \`mergeq queue apply --create\` creates it.`
      : allDifferences.length === 0
        ? `The queue for ${name} is up to date.`
        : `The queue for ${name}: ${summary}.`,
    ...allDifferences.map(({ setting, live: liveValue, file }) => {
      const before = live === undefined ? '' : `${formatSetting(liveValue)} -> `
      return `- ${setting}: ${before}${formatSetting(file)}`
    }),
  ]
}
