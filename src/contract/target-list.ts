import { usage } from '../failure.ts'
import type { Context, Encoded, Field, Given } from './field.ts'
import { largestBody } from './limits.ts'

/** The targets a pull request impacts: a list, encoded while it was read, or every target there is. */
export interface Targets {
  readonly list: 'ALL' | Encoded
  readonly number: number
  readonly dropped: number
}

/** The words that name where targets come from; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--all', '--none']

/** After so many bytes of input a list counts as over the limit, however often it repeats itself (CLI.md section 7). */
const mostInput = 256 * 1024 * 1024

const fromJson = '--from-json takes a JSON array of strings.'

/** Gathers targets: order kept, repeats dropped, counted in bytes as they will be sent. */
function gather() {
  const seen = new Set<string>()
  const pieces: Uint8Array[] = []
  const utf8 = new TextEncoder()
  let [bytes, dropped] = [2, 0]
  return {
    /** Takes a target; false once the list is over the limit and reading can stop. */
    add(target: string): boolean {
      if (seen.has(target)) {
        dropped++
        return true
      }
      seen.add(target)
      const piece = utf8.encode(`${seen.size > 1 ? ',' : ''}${JSON.stringify(target)}`)
      pieces.push(piece)
      bytes += piece.length
      return bytes <= largestBody
    },
    /** Makes the list count as over the limit. */
    overflow: () => {
      bytes = Math.max(bytes, largestBody + 1)
    },
    targets: (): Targets => ({
      list: { encoded: [utf8.encode('['), ...pieces, utf8.encode(']')], bytes },
      number: seen.size,
      dropped,
    }),
  }
}

/** Reads one target a line: a BOM, CRLF and blank lines are fine; bytes that are not UTF-8 are refused with their line. */
async function readLines(bytes: AsyncIterable<Uint8Array>, name: string): Promise<Targets> {
  const list = gather()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = new Uint8Array(0)
  let [line, read] = [0, 0]
  const take = (piece: Uint8Array): boolean => {
    line++
    const target = decodeLine(decoder, piece, line)
    return target === '' || list.add(target)
  }
  for await (const chunk of bytes) {
    read += chunk.length
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; from = end + 1, end = chunk.indexOf(10, from)) {
      const piece = rest.length === 0 ? chunk.subarray(from, end) : joined(rest, chunk.subarray(from, end))
      rest = new Uint8Array(0)
      if (!take(piece)) return list.targets()
    }
    rest = joined(rest, chunk.subarray(from))
    if (read > mostInput || rest.length > largestBody) {
      list.overflow()
      return list.targets()
    }
  }
  if (rest.length > 0) take(rest)
  const targets = list.targets()
  if (targets.number === 0)
    throw usage(
      `${name}: the list of targets is empty.`,
      'A pipe that broke looks like this. If no target is impacted, say so with --none.',
    )
  return targets
}

function decodeLine(decoder: { decode(bytes: Uint8Array): string }, bytes: Uint8Array, line: number): string {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw usage(
      `line ${line} of the targets is not UTF-8.`,
      'Write the list as UTF-8 (PowerShell: -Encoding utf8).',
    )
  }
  if (text.includes('\0'))
    throw usage(
      `line ${line} of the targets holds a NUL byte.`,
      'Separate targets by newlines, not NULs, and write UTF-8, not UTF-16.',
    )
  const target = text.trim()
  if (/^\[.*"/.test(target)) throw usage(`line ${line} of the targets looks like JSON.`, fromJson)
  return target
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

async function readJson(bytes: AsyncIterable<Uint8Array>): Promise<Targets> {
  const list = gather()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let read = 0
  try {
    for await (const chunk of bytes) {
      read += chunk.length
      text += decoder.decode(chunk, { stream: true })
      if (read > mostInput) {
        list.overflow()
        return list.targets()
      }
    }
    text += decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw usage('--from-json: the list of targets is not UTF-8.')
    throw error
  }
  if (text.trim() === '')
    throw usage('--from-json: the input is empty.', 'An empty list is [], or say --none.')
  const document = parsed(text)
  if (!Array.isArray(document) || !document.every(item => typeof item === 'string' && item !== ''))
    throw usage('--from-json: this is not a JSON array of strings.', fromJson)
  if (document.length === 0)
    throw usage('--from-json: the list of targets is empty.', 'If that is meant, say --none.')
  for (const target of document) if (!list.add(target)) break
  return list.targets()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readArguments(words: readonly string[]): Targets {
  const list = gather()
  for (const word of words) {
    if (word === '') throw usage('A target must not be empty.')
    list.add(word)
  }
  return list.targets()
}

const shown = (name: string): string => (name === 'target' ? 'Targets as arguments' : name)

/** The targets, from arguments, a file or standard input; an empty list is never a request by itself. */
export const targetList: Field<Targets> = {
  words: [
    { spell: '[target...]', summary: 'Impacted targets, any names' },
    {
      spell: '--from <file>',
      summary: 'Read them from a file, one a line (- is standard input)',
      file: true,
    },
    { spell: '--from-json <file>', summary: 'Read them from a JSON array of strings', file: true },
    { spell: '--all', summary: 'The pull request impacts every target' },
    { spell: '--none', summary: 'The pull request impacts no target' },
  ],
  at: 'body.impactedTargets',
  needed: true,
  wire: ({ list }) => list,
  read(given: Given, context: Context) {
    const typed = sources.filter(name => given.has(name))
    if (typed.length !== 1)
      throw usage(
        typed.length === 0
          ? 'No targets were given.'
          : `${typed.map(shown).join(' and ')} cannot be combined.`,
        'Give targets as arguments, or exactly one of --from, --from-json, --all and --none.',
      )
    const [source = ''] = typed
    const words = given.get(source) ?? []
    if (source === '--all') return { list: 'ALL', number: 0, dropped: 0 }
    if (source === '--none') return gather().targets()
    if (source === 'target') return readArguments(words)
    const bytes = context.open(words[0] ?? '')
    return source === '--from' ? readLines(bytes, source) : readJson(bytes)
  },
}
