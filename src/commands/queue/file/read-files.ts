import type { CommandContext } from '../../../cli/context.ts'
import { flag, option } from '../../../cli/inputs.ts'
import type { ParsedArgs } from '../../../config/args.ts'
import { createParseContext } from '../../../config/config.ts'
import { parseQueueFile, type QueueFile, readSetting, type SourceNode } from '../../../domain/queue-file.ts'
import { textParser } from '../../../domain/values/parsers.ts'
import { toMergeqError, usageError } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import { parseJson } from '../../../output/json-text.ts'

/** A file with a queue in it. */
export interface LoadedQueueFile {
  readonly path: string
  readonly code: QueueFile
}

/** The flags of every command that works with queues as files. */
export const queueFileInputs = {
  includeState: flag('--include-state', "Let the queue's state be part of it; without this it is left alone"),
}

/** The flag of the commands that compare a file with its live queue. */
export const unknownFlag = {
  allowUnknown: flag('--allow-unknown', 'Allow settings that neither mergeq nor the queue knows'),
}

export const fileInput = option(
  '-f, --file <file|folder>',
  'The file of a queue (- is standard input), or a folder of such files',
  textParser('file name'),
  { file: true },
)

/** The name of a file that must be given. */
export function requireFile(file: string | undefined): string {
  if (file !== undefined) return file
  throw usageError('No file was given.', 'Name one with -f; `mergeq queue export -f queue.yaml` writes it.')
}

/** A queue's file is at most so large, in bytes. */
const maxFileSize = 256 * 1024

const isJson = (path: string): boolean => /\.json$/i.test(path)
export const isQueueFileName = (path: string): boolean =>
  /^[^.].*\.(ya?ml|json)$/i.test(path.replace(/^.*[\\/]/, ''))

/** The text of a file, or of standard input for `-`; undefined where there is none. */
export async function readQueueText(path: string, context: CommandContext): Promise<string | undefined> {
  if (path !== '-')
    return context.host.files.read(path, maxFileSize).catch((error: Error) => {
      throw usageError(`${path} cannot be read: ${error.message}.`, 'Name a file, or a folder of such files.')
    })
  const decoder = new TextDecoder()
  let read = ''
  for await (const piece of createParseContext(context.settings, context).open(path)) {
    read += decoder.decode(piece, { stream: true })
    if (read.length > maxFileSize) throw usageError(`standard input is larger than ${maxFileSize} bytes.`)
  }
  return read
}

/** The queue in the text of a file; what is wrong with it is a usage failure that names file and line. */
export async function parseQueueText(text: string, path: string): Promise<QueueFile> {
  return parseQueueFile(await parsed(text, path), nameOf(path))
}

const nameOf = (path: string): string => (path === '-' ? 'standard input' : path)

async function parsed(text: string, path: string): Promise<SourceNode> {
  const { parseYaml } = await import('./yaml.ts')
  const plain = text.replace(/^\uFEFF/, '')
  const spot = parseYaml(plain, nameOf(path))
  if (isJson(path) && parseJson(plain) === undefined)
    throw usageError(`${path}:1: this is no JSON.`, 'Mend it, or give the file a name that ends in .yaml.')
  return spot
}

/** The files that a path means: itself, or those of a folder by their names. A missing or empty one is a usage failure. */
export async function readQueueFiles(
  path: string,
  context: CommandContext,
): Promise<readonly LoadedQueueFile[]> {
  const folder = path.replace(/(?<=.)[\\/]+$/, '')
  const names = path === '-' ? [] : await context.host.files.list(folder).catch(() => [])
  const paths = names
    .filter(isQueueFileName)
    .sort()
    .map(name => `${folder}/${name}`)
  if (names.length > 0 && paths.length === 0)
    throw usageError(`${path} holds no file that ends in .yaml, .yml or .json.`)
  const files: LoadedQueueFile[] = []
  for (const one of paths.length > 0 ? paths : [path]) {
    const text = await readQueueText(one, context)
    if (text === undefined)
      throw usageError(`There is no file ${one}.`, 'Write one with `mergeq queue export -f queue.yaml`.')
    files.push({ path: one, code: await parseQueueText(text, one) })
  }
  return files
}

/** A file's queue with what `--set` lays over its settings, without its state unless that is part of it. */
export function withOverrides(
  { settings, ...code }: QueueFile,
  args: ParsedArgs,
  withState: boolean,
): QueueFile {
  const laid = (args.get('--set') ?? []).map(readSet)
  const twice = laid.find(([key], index) => laid.findIndex(([other]) => other === key) < index)
  if (twice !== undefined) throw usageError(`--set gives ${twice[0]} twice.`, 'Leave one of them out.')
  const all = Object.entries({ ...settings, ...Object.fromEntries(laid) })
  return { ...code, settings: Object.fromEntries(all.filter(([key]) => withState || key !== 'state')) }
}

/** `--set key=value`: the value is JSON if it parses as JSON, else a string. */
function readSet(word: string): readonly [string, Json] {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
  if (!/^[^.]+$/.test(key)) throw usageError(`--set: '${word}' is not <setting>=<value>.`)
  try {
    return [key, readSetting(key, parseJson(value) ?? value)]
  } catch (error) {
    const { message, details } = toMergeqError(error)
    throw usageError(`--set: ${key}: ${message}`, details.hint)
  }
}
