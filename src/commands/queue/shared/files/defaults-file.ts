// The file of defaults, whose settings all queue files of a directory and the directories below it have.

import { usageError } from '../../../../base/errors.ts'
import type { JsonObject } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { findFileAbove } from '../../../../config/project-file.ts'
import { parentDirectory } from '../../../../config/store.ts'
import { readQueueFile } from './read-queue-file.ts'

export interface LoadedDefaults {
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
