// Reads a queue file, YAML or JSON, and says by its name which of the two it is.

import { usageError } from '../../../../base/errors.ts'
import { parseJson } from '../../../../base/json.ts'
import type { Cli } from '../../../../command/command.ts'
import { openInput } from '../../../../command/input-files.ts'
import { readText } from '../../../../values/text.ts'
import { parseQueueFile, parseQueueFiles, type QueueFile } from './queue-file.ts'

const maxFileSize = 256 * 1024

export const isJsonFileName = (path: string): boolean => /\.json$/i.test(path)

export const queueFileEndings = ['.yaml', '.yml', '.json'] as const

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
