import { flag, type Given, on } from '../../../cli/inputs.ts'
import { type Code, readCode, readSetting, type Spot } from '../../../domain/queue-file.ts'
import { text } from '../../../domain/values/parsers.ts'
import { asFailure, usage } from '../../../errors.ts'
import type { Desk } from '../../../cli/context.ts'
import { contextOf } from '../../../config/config.ts'
import { decode } from '../../../output/json-text.ts'
import type { Json } from '../../../json.ts'

/** A file with a queue in it. */
export interface CodeFile {
  readonly path: string
  readonly code: Code
}

/** The flags of every command that works with queues as files. */
export const codeFlags = {
  includeState: on('--include-state', "Let the queue's state be part of it; without this it is left alone"),
}

/** The flag of the commands that compare a file with its live queue. */
export const unknownFlag = {
  allowUnknown: on('--allow-unknown', 'Allow settings that neither mergeq nor the queue knows'),
}

export const fromFile = flag(
  '-f, --file <file|folder>',
  'The file of a queue (- is standard input), or a folder of such files',
  text('file name'),
  { file: true },
)

/** The name of a file that must be given. */
export function needed(file: string | undefined): string {
  if (file !== undefined) return file
  throw usage('No file was given.', 'Name one with -f; `mergeq queue export -f queue.yaml` writes it.')
}

/** A queue's file is at most so large, in bytes. */
const largest = 256 * 1024

const isJson = (path: string): boolean => /\.json$/i.test(path)
export const isCodeFile = (path: string): boolean =>
  /^[^.].*\.(ya?ml|json)$/i.test(path.replace(/^.*[\\/]/, ''))

/** The text of a file, or of standard input for `-`; undefined where there is none. */
export async function textAt(path: string, desk: Desk): Promise<string | undefined> {
  if (path !== '-')
    return desk.world.files.read(path, largest).catch((error: Error) => {
      throw usage(`${path} cannot be read: ${error.message}.`, 'Name a file, or a folder of such files.')
    })
  const decoder = new TextDecoder()
  let read = ''
  for await (const piece of contextOf(desk.settings, desk).open(path)) {
    read += decoder.decode(piece, { stream: true })
    if (read.length > largest) throw usage(`standard input is larger than ${largest} bytes.`)
  }
  return read
}

/** The queue in the text of a file; what is wrong with it is a usage failure that names file and line. */
export async function readText(text: string, path: string): Promise<Code> {
  return readCode(await parsed(text, path), nameOf(path))
}

const nameOf = (path: string): string => (path === '-' ? 'standard input' : path)

async function parsed(text: string, path: string): Promise<Spot> {
  const { parseYaml } = await import('./yaml.ts')
  const plain = text.replace(/^\uFEFF/, '')
  const spot = parseYaml(plain, nameOf(path))
  if (isJson(path) && decode(plain) === undefined)
    throw usage(`${path}:1: this is no JSON.`, 'Mend it, or give the file a name that ends in .yaml.')
  return spot
}

/** The files that a path means: itself, or those of a folder by their names. A missing or empty one is a usage failure. */
export async function readFiles(path: string, desk: Desk): Promise<readonly CodeFile[]> {
  const folder = path.replace(/(?<=.)[\\/]+$/, '')
  const names = path === '-' ? [] : await desk.world.files.list(folder).catch(() => [])
  const paths = names
    .filter(isCodeFile)
    .sort()
    .map(name => `${folder}/${name}`)
  if (names.length > 0 && paths.length === 0)
    throw usage(`${path} holds no file that ends in .yaml, .yml or .json.`)
  const files: CodeFile[] = []
  for (const one of paths.length > 0 ? paths : [path]) {
    const text = await textAt(one, desk)
    if (text === undefined)
      throw usage(`There is no file ${one}.`, 'Write one with `mergeq queue export -f queue.yaml`.')
    files.push({ path: one, code: await readText(text, one) })
  }
  return files
}

/** A file's queue with what `--set` lays over its settings, without its state unless that is part of it. */
export function laidOver({ settings, ...code }: Code, given: Given, withState: boolean): Code {
  const laid = (given.get('--set') ?? []).map(readSet)
  const twice = laid.find(([key], index) => laid.findIndex(([other]) => other === key) < index)
  if (twice !== undefined) throw usage(`--set gives ${twice[0]} twice.`, 'Leave one of them out.')
  const all = Object.entries({ ...settings, ...Object.fromEntries(laid) })
  return { ...code, settings: Object.fromEntries(all.filter(([key]) => withState || key !== 'state')) }
}

/** `--set key=value`: the value is JSON if it parses as JSON, else a string. */
function readSet(word: string): readonly [string, Json] {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
  if (!/^[^.]+$/.test(key)) throw usage(`--set: '${word}' is not <setting>=<value>.`)
  try {
    return [key, readSetting(key, decode(value) ?? value)]
  } catch (error) {
    const { message, details } = asFailure(error)
    throw usage(`--set: ${key}: ${message}`, details.hint)
  }
}
