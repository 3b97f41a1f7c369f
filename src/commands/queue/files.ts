import type { CommandContext } from '../../cli/context.ts'
import { flag, option, type TypedInput } from '../../cli/inputs.ts'
import { openInput, type ParsedArgs } from '../../config/settings.ts'
import { parseQueueFile, type QueueFile, readSetting } from '../../domain/queue-file.ts'
import { findInexactNumber } from '../../domain/values/numbers.ts'
import { readText, textParser } from '../../domain/values/text.ts'
import { usageError, withName } from '../../errors.ts'
import { type Json, parseJson } from '../../json.ts'

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

export const queueFileEndings = ['.yaml', '.yml', '.json'] as const

/** Reads a queue file, or standard input for `-`. Throws a usage error that names file and line. */
export async function readQueueFile(
  path: string,
  context: CommandContext,
): Promise<{ readonly text: string; readonly content: QueueFile }> {
  const name = path === '-' ? 'standard input' : path
  const text = await readText(openInput(path, context), name, maxFileSize)
  // Each byte that is not UTF-8 was decoded as this character.
  if (text.includes('\uFFFD'))
    throw usageError(`${name} contains bytes that are not UTF-8.`, 'Save the text as UTF-8.')
  const { parseYaml } = await import('./yaml.ts')
  const source = parseYaml(text, name)
  if (isJsonFileName(path) && parseJson(text) === undefined)
    throw usageError(`${path}:1: invalid JSON.`, 'Fix the file, or rename it to end in .yaml.')
  return { text, content: parseQueueFile(source, name) }
}

/** Returns a queue file with the settings of `--set`, and without its state unless `includesState` is set. */
export function withOverrides(
  { settings, ...queueFile }: QueueFile,
  args: ParsedArgs,
  includesState: boolean,
): QueueFile {
  const overrides = (args.get('--set') ?? []).map(parseOverride)
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
  return [key, withName(`--set: ${key}`, () => readSetting(key, document ?? value))]
}
