import type { Cli } from '../../cli/cli.ts'
import { findFileAbove } from '../../config/settings.ts'
import { parentDirectory } from '../../config/store.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { readQueueFile } from './read-queue-file.ts'

interface LoadedDefaults {
  /** Undefined if there are no defaults. */
  readonly path?: string
  readonly settings: JsonObject
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
