// The queues that files describe: which queue a file is for, and its settings with those of the defaults and of --set.

import { usageError } from '../../../../base/errors.ts'
import type { Cli } from '../../../../command/command.ts'
import { expandFiles } from '../../../../command/input-files.ts'
import {
  isSameRepository,
  parseRepository,
  type Queue,
  queueName,
  repositoryKey,
} from '../../../../values/repository.ts'
import { isDefaultsFile, type LoadedDefaults, readDefaults } from './defaults-file.ts'
import type { FileOptions } from './file-inputs.ts'
import type { QueueFile } from './queue-file.ts'
import { queueFileEndings, readQueueFiles } from './read-queue-file.ts'

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
  return namedQueue(file, cli)
}

/** Returns the queue of a file, whatever the options are: they may select among the queues of several files. */
export const namedQueue = async ({ repo, targetBranch }: QueueNames, { settings }: Cli): Promise<Queue> => ({
  repo: repo === undefined ? await settings.require('repo') : parseRepository(repo),
  targetBranch: targetBranch ?? (await settings.require('targetBranch')),
})

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
