import type { CommandContext } from '../../cli/context.ts'
import { flag, option, type TypedInput } from '../../cli/inputs.ts'
import { joinPath } from '../../config/file-paths.ts'
import { createParseContext, type ParsedArgs } from '../../config/settings.ts'
import { parseQueueFile, type QueueFile, readSetting } from '../../domain/queue-file.ts'
import { findInexactNumber } from '../../domain/values/numbers.ts'
import { requireUtf8, textParser } from '../../domain/values/text.ts'
import { toMergeqError, usageError } from '../../errors.ts'
import { type Json, parseJson } from '../../json.ts'

export interface LoadedQueueFile {
  /** The path as it was typed or found; `-` is standard input. */
  readonly path: string
  readonly content: QueueFile
}

export const includeStateInput = flag({
  name: 'include-state',
  summary: "Include the queue's state, which is ignored by default",
})

const typedFile = option({
  name: 'file',
  short: 'f',
  value: 'file|directory',
  summary: 'Queue file (- for standard input) or directory of queue files; required',
  file: true,
  parse: textParser('file name'),
})

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

/** Whether a file counts as a queue file in a folder: .yaml, .yml or .json, and not hidden. */
export const isQueueFileName = (path: string): boolean =>
  /^[^.].*\.(ya?ml|json)$/i.test(path.replace(/^.*[\\/]/, ''))

/** Reads a file, or standard input for `-`; undefined if there is no file. Throws a usage error. */
export async function readQueueText(path: string, context: CommandContext): Promise<string | undefined> {
  if (path !== '-')
    return context.host.files.read(path, maxFileSize).catch((error: Error) => {
      throw usageError(
        `${path} cannot be read: ${error.message}.`,
        'Specify a queue file or a directory of queue files.',
      )
    })
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  for await (const chunk of createParseContext(context.settings, context).open(path)) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxFileSize) throw usageError(`Standard input is larger than ${maxFileSize} bytes.`)
  }
  return text
}

/** Parses a queue file. Throws a usage error that names file and line. */
export async function parseQueueText(text: string, path: string): Promise<QueueFile> {
  const { parseYaml } = await import('./yaml.ts')
  const name = path === '-' ? 'standard input' : path
  const plainText = requireUtf8(text, name)
  // Each byte that is not UTF-8 was decoded as this character.
  if (plainText.includes('\uFFFD'))
    throw usageError(`${name} contains bytes that are not UTF-8.`, 'Save the text as UTF-8.')
  const source = parseYaml(plainText, name)
  if (isJsonFileName(path) && parseJson(plainText) === undefined)
    throw usageError(`${path}:1: invalid JSON.`, 'Fix the file, or rename it to end in .yaml.')
  return parseQueueFile(source, name)
}

/**
 * Reads a queue file, or all queue files of a folder in the order of their names. Throws a usage error if the
 * file is missing or the folder has no queue file.
 */
export async function readQueueFiles(
  path: string,
  context: CommandContext,
): Promise<readonly LoadedQueueFile[]> {
  const folder = path.replace(/(?<=.)[\\/]+$/, '')
  const names = path === '-' ? [] : await context.host.files.list(folder).catch(() => [])
  const paths = names
    .filter(isQueueFileName)
    .sort()
    .map(name => joinPath(folder, name, context.host.runtime.platform))
  if (names.length > 0 && paths.length === 0)
    throw usageError(`${path} contains no .yaml, .yml or .json file.`)
  const files: LoadedQueueFile[] = []
  for (const filePath of paths.length > 0 ? paths : [path]) {
    const text = await readQueueText(filePath, context)
    if (text === undefined)
      throw usageError(
        `${filePath} does not exist.`,
        'To create a queue file, run: mergeq queue export -f queue.yaml',
      )
    files.push({ path: filePath, content: await parseQueueText(text, filePath) })
  }
  return files
}

/** Returns a queue file with the settings of `--set`, and without its state unless `includesState` is set. */
export function withOverrides(
  { settings, ...queueFile }: QueueFile,
  args: ParsedArgs,
  includesState: boolean,
): QueueFile {
  const overrides = (args.get('--set') ?? []).map(parseOverride)
  const duplicate = overrides.find(([key], index) => overrides.findIndex(([other]) => other === key) < index)
  if (duplicate !== undefined)
    throw usageError(`--set was given twice for ${duplicate[0]}.`, 'Use each setting only once.')
  const merged = Object.entries({ ...settings, ...Object.fromEntries(overrides) })
  return {
    ...queueFile,
    settings: Object.fromEntries(merged.filter(([key]) => includesState || key !== 'state')),
  }
}

/** Parses `--set key=value`: the value is JSON if it parses as JSON, else text. Throws a usage error. */
function parseOverride(text: string): readonly [string, Json] {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  if (!/^[^.]+$/.test(key)) throw usageError(`--set: '${text}' is not <setting>=<value>.`)
  const document = parseJson(value)
  const inexact = document === undefined ? undefined : findInexactNumber(value)
  if (inexact !== undefined)
    throw usageError(`--set: ${key}: the number ${inexact} cannot be represented exactly.`)
  try {
    return [key, readSetting(key, document ?? value)]
  } catch (error) {
    const { message, details } = toMergeqError(error)
    throw usageError(`--set: ${key}: ${message}`, details.hint)
  }
}
