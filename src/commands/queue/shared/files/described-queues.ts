import { type BodyOverride, checkOverrides } from '../../../../api/added-fields.ts'
import type { Operation } from '../../../../api/operation.ts'
import { usageError, withName } from '../../../../base/errors.ts'
import { type Json, type JsonObject, parseJson } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { expandFiles, openInput } from '../../../../command/input-files.ts'
import { flag, type Input, option, optionInput } from '../../../../command/inputs.ts'
import { setOf, setOption } from '../../../../command/set-option.ts'
import { findFileAbove } from '../../../../config/project-file.ts'
import { parentDirectory } from '../../../../config/store.ts'
import {
  isSameRepository,
  parseRepository,
  type Queue,
  queueName,
  repositoryKey,
} from '../../../../values/repository.ts'
import { readText } from '../../../../values/text.ts'
import { fileName } from '../../../../values/types.ts'
import { formatValue, parseQueueFile, parseQueueFiles, type QueueFile, readSetting } from './queue-file.ts'

export const includeStateInput = flag('Include the state of the queue (left out by default)')

const flagFile = optionInput(
  'file',
  option(
    fileName('file|directory'),
    'Queue file (- for standard input) or directory of queue files, with the directories below it; required',
    { short: 'f' },
  ),
)

/** The file or directory that was typed: a usage error without one. */
export const fileInput: Input<string> = {
  ...flagFile,
  read(args) {
    const file = flagFile.read(args)
    if (file !== undefined) return file
    throw usageError('No file was given.', 'Specify a file with -f. To create one, use queue export -f.')
  },
}

/** Reads a setting of `--set`: a path without dots. Throws a usage error for another path or a wrong value. */
function readOverride({ path, value }: BodyOverride): readonly [string, Json] {
  const [key = '', ...below] = path
  if (below.length > 0)
    throw usageError(`--set: '${path.join('.')}=${formatValue(value)}' is not <setting>=<value>.`)
  return [key, withName(`--set: ${key}`, () => readSetting(key, value))]
}

export function settingsOf(operation: Operation): Input<JsonObject> {
  const overrides = setOf(operation)
  const summary = 'Replace a setting of the files, or add one; a value that is not JSON is text'
  return {
    definitions: overrides.definitions.map(definition => ({
      ...definition,
      summary,
      value: 'setting=value',
    })),
    read(args) {
      const overrides = setOption.read(args) ?? []
      const settings = overrides.map(readOverride)
      checkOverrides('--set', overrides, [])
      return Object.fromEntries(settings)
    },
  }
}

const maxFileSize = 256 * 1024

export const isJsonFileName = (path: string): boolean => /\.json$/i.test(path)

const queueFileEndings = ['.yaml', '.yml', '.json'] as const

export const isQueueFileName = (path: string): boolean =>
  queueFileEndings.some(ending => path.toLowerCase().endsWith(ending))

/** The package for YAML is large: most commands of the group do not need it. */
export const loadYaml = () => import('./yaml.ts')

export interface LoadedFile {
  readonly text: string
  readonly content: QueueFile
}

export async function readQueueFile(path: string, cli: Cli): Promise<LoadedFile> {
  const { text, source, name } = await readSource(path, cli)
  return { text, content: parseQueueFile(source, name) }
}

export async function readQueueFiles(path: string, cli: Cli): Promise<readonly QueueFile[]> {
  const { source, name } = await readSource(path, cli)
  return parseQueueFiles(source, name)
}

async function readSource(path: string, cli: Cli) {
  const name = path === '-' ? 'standard input' : path
  const text = await readText(openInput(path, cli), name, maxFileSize)
  // Each byte that is not UTF-8 was decoded as this character.
  if (text.includes('\uFFFD'))
    throw usageError(`${name} contains bytes that are not UTF-8.`, 'Save the text as UTF-8.')
  const { parseYaml } = await loadYaml()
  const source = parseYaml(text, name)
  if (isJsonFileName(path) && parseJson(text) === undefined)
    throw usageError(`${path}:1: invalid JSON.`, 'Fix the file, or rename it to end in .yaml.')
  return { text, source, name }
}

interface LoadedDefaults {
  /** Undefined if there are no defaults. */
  readonly path?: string
  readonly settings: JsonObject
}

const defaultsNames = ['defaults.yaml', 'defaults.json'] as const

/** Names that a person may give defaults. A file system that ignores case finds the right name first. */
const wrongNames = ['defaults.yml', 'Defaults.yaml', 'Defaults.yml', 'Defaults.json'] as const

/** Whether a path is a file of defaults. Throws a usage error if its name is almost that of one. */
export function isDefaultsFile(path: string): boolean {
  const [, ending] = /(?:^|[\\/])defaults\.(yaml|yml|json)$/i.exec(path) ?? []
  if (ending === undefined || defaultsNames.some(name => path.endsWith(name))) return ending !== undefined
  const rightName = /^json$/i.test(ending) ? 'defaults.json' : 'defaults.yaml'
  throw usageError(
    `${path} is no queue file, and defaults must be called ${rightName}.`,
    `Rename the file to ${rightName}.`,
  )
}

/** The nearest one up to the root of the checkout; outside a checkout up to `path`, which was typed. */
export async function readDefaults(file: string, path: string, cli: Cli): Promise<LoadedDefaults> {
  const { files } = cli.host
  const directory = parentDirectory(files.absolute(file))
  const top = file === path ? directory : files.absolute(path)
  const names = [...defaultsNames, ...wrongNames]
  const found = file === '-' ? undefined : await findFileAbove(directory, top, names, cli.host)
  if (found === undefined || !isDefaultsFile(found)) return { settings: {} }
  const { content } = await readQueueFile(found, cli)
  if (content.repo !== undefined || content.targetBranch !== undefined)
    throw usageError(`${found} must not name a queue.`, 'Defaults have only the key `settings`.')
  return { path: found, settings: content.settings }
}

export interface QueueFileItem extends DescribedQueue {
  /** Returns where a setting of the content comes from: `--set`, the file, or its file of defaults. */
  sourceOf(setting: string): string
}

type QueueNames = { readonly [K in 'repo' | 'targetBranch']?: QueueFile[K] | undefined }

/** Throws a usage error if a file is for another queue than what `--repo` and `--target-branch` name. */
export function checkQueueOfFile(
  path: string,
  { repo, targetBranch }: QueueNames,
  named: Readonly<Record<keyof QueueNames, string | undefined>>,
  branchOption = '--target-branch',
): void {
  const isSame = (one: string | undefined, other: string | undefined, keyOf = (text: string) => text) =>
    one === undefined || other === undefined || keyOf(one) === keyOf(other)
  const problem = (option: string, name = '', inFile = '') =>
    usageError(
      `${option} is ${name}, but ${path} is for ${inFile}.`,
      option === '--target-branch'
        ? `Omit the option, or write the file with queue export --for ${name}.`
        : 'Omit the option, or use another file.',
    )
  if (!isSame(named.repo, repo, text => repositoryKey(parseRepository(text))))
    throw problem('--repo', named.repo, repo)
  if (!isSame(named.targetBranch, targetBranch)) throw problem(branchOption, named.targetBranch, targetBranch)
}

/** What a file does not name comes from the settings; an option must not contradict the file. */
export async function queueOfFile(path: string, file: QueueNames, cli: Cli): Promise<Queue> {
  const { args } = cli
  checkQueueOfFile(path, file, {
    repo: args.get('--repo')?.at(-1),
    targetBranch: args.get('--target-branch')?.at(-1),
  })
  return namedQueue(path, file, cli)
}

/** Returns the queue of a file, whatever the options are: they may select among the queues of several files. */
export const namedQueue = async (
  _: string,
  { repo, targetBranch }: QueueNames,
  { settings }: Cli,
): Promise<Queue> => ({
  repo: repo === undefined ? await settings.require('repo') : parseRepository(repo),
  targetBranch: targetBranch ?? (await settings.require('targetBranch')),
})

export interface FileOptions {
  readonly includeState: boolean
  readonly set: JsonObject
}

interface DescribedQueue {
  /** The path as it was typed or found; `-` is standard input. */
  readonly path: string
  /** The queue in messages: `main of acme/web`. */
  readonly name: string
  readonly content: QueueFile
  readonly queue: Queue
}

export async function readDescribedQueues(
  path: string,
  cli: Cli,
  queueOf = queueOfFile,
): Promise<readonly DescribedQueue[]> {
  const paths = await expandFiles(path, queueFileEndings, cli)
  const queuePaths = paths.filter(filePath => !isDefaultsFile(filePath))
  if (queuePaths.length === 0) throw usageError(`${path} has defaults, but no queue file.`)
  const described = await readFiles(queuePaths, queueOf, cli)
  if (described.length === 0) throw usageError(`${path} names no queue.`)
  return described
}

/** Reads the files with a queue. Two must not describe the same one. */
export async function readFiles(
  paths: readonly string[],
  queueOf: (path: string, file: QueueFile, cli: Cli) => Promise<Queue | undefined>,
  cli: Cli,
): Promise<readonly DescribedQueue[]> {
  const described: DescribedQueue[] = []
  for (const filePath of paths) {
    for (const content of await readQueueFiles(filePath, cli)) {
      const queue = await queueOf(filePath, content, cli)
      if (queue === undefined) continue
      const name = queueName(queue)
      const duplicate = described.find(
        ({ queue: { repo, targetBranch } }) =>
          isSameRepository(repo, queue.repo) && targetBranch === queue.targetBranch,
      )
      if (duplicate !== undefined)
        throw usageError(`${duplicate.path} and ${filePath} describe the same queue: ${name}.`)
      described.push({ path: filePath, name, content, queue })
    }
  }
  return described
}

/** Reads the queue files of a path with their defaults. Throws a usage error if two files describe the same queue. */
export async function readItems(
  path: string,
  { includeState, set }: FileOptions,
  cli: Cli,
): Promise<readonly QueueFileItem[]> {
  const items: QueueFileItem[] = []
  for (const described of await readDescribedQueues(path, cli)) {
    const { path: filePath, content: read, name } = described
    if (read.created === true) {
      await cli.logger.warn(
        `The queue for ${name} did not exist when ${filePath} was written. Its creation is not undone: mergeq queue delete deletes it.`,
      )
      continue
    }
    const defaults: LoadedDefaults =
      read.defaults === false ? { settings: {} } : await readDefaults(filePath, path, cli)
    const written = { ...read, settings: { ...defaults.settings, ...read.settings } }
    const { state, ...others } = { ...written.settings, ...set }
    const content = {
      ...written,
      settings: includeState && state !== undefined ? { state, ...others } : others,
    }
    if (Object.hasOwn(written.settings, 'state') && !includeState)
      await cli.logger.info(`${filePath}: state is ignored; to include it, add --include-state.`)
    const sources = [
      { source: '--set', settings: set },
      { source: filePath, settings: read.settings },
    ]
    const sourceOf = (key: string) =>
      sources.find(({ settings }) => Object.hasOwn(settings, key))?.source ?? defaults.path ?? filePath
    items.push({ ...described, content, sourceOf })
  }
  return items
}
