import { type MergeqError, usageError, withName } from '../base/errors.ts'
import type { EncodedJson } from '../base/json.ts'
import { decodeUtf8 } from '../values/text.ts'
import { maxBodySize } from './limits.ts'

/** Why a line is no target, as the end of a sentence, and what to do. */
interface LineProblem {
  readonly problem: string
  readonly hint: string
}

/** The lines of an indented JSON document that end or begin one of its lists or objects. */
const brackets = new Set(['[', ']', '],', '}', '},'])

/** Returns what a JSON text says; undefined for another text. */
function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a line is a part of JSON, as jq prints it without -r. `[locale]`, the name of a file, is a target. */
const looksLikeJson = (line: string): boolean =>
  line.startsWith('{') ||
  brackets.has(line) ||
  /^"(?:.*")?,?$/s.test(line) ||
  /^\[\s*"/.test(line) ||
  (line.startsWith('[') && tryParseJson(line) !== undefined)

const controlCharacter = /[\0-\u001F\u007F-\u009F]/

const problemsOfControls: Readonly<Record<string, LineProblem>> = {
  '\0': {
    problem: 'contains a NUL byte',
    hint: 'Separate targets with newlines, not NUL bytes, and save the list as UTF-8.',
  },
  '\r': {
    problem: 'contains a carriage return that is not at its end',
    hint: 'End each line with a newline. A program that shows its progress must write it to standard error.',
  },
  '\t': { problem: 'contains a tab', hint: 'Write only the target on each line, without other columns.' },
}

function describeControl(character: string): LineProblem {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return (
    problemsOfControls[character] ?? {
      problem: `contains the control character U+${code}`,
      hint: 'Switch colors off in the program that writes the list, for example with NO_COLOR=1.',
    }
  )
}

/** Returns why a trimmed text is no target; undefined for a target. `fromJson` names the option that reads JSON. */
export function findLineProblem(line: string, fromJson: string): LineProblem | undefined {
  const [control] = controlCharacter.exec(line) ?? []
  if (control !== undefined) return describeControl(control)
  if (!looksLikeJson(line)) return undefined
  return {
    problem: 'looks like JSON',
    hint: `To read a JSON array of strings, use ${fromJson}. To print one name per line, use jq -r.`,
  }
}

/** The targets that a pull request impacts: an encoded list, or all targets. */
export interface ImpactedTargets {
  readonly list: 'ALL' | EncodedJson
  /** How many targets the list has, without duplicates. */
  readonly number: number
  readonly dropped: number
  /** How much of the input was read, in bytes. */
  readonly bytesRead: number
}

const utf8 = new TextEncoder()

/** Encodes targets that are in memory already, without duplicates. Throws a usage error for an empty name. */
export function encodeTargets(names: readonly string[] | 'ALL'): ImpactedTargets {
  if (names === 'ALL') return { list: 'ALL', number: 0, dropped: 0, bytesRead: 0 }
  if (names.includes('')) throw usageError('A target must not be empty.')
  const targets = [...new Set(names)]
  const chunk = utf8.encode(JSON.stringify(targets))
  return {
    list: { chunks: [chunk], bytes: chunk.length },
    number: targets.length,
    dropped: names.length - targets.length,
    bytesRead: chunk.length,
  }
}

/** More input counts as over the limit, even if it repeats itself (docs/reference/cli.md, "Impacted targets"). */
const maxInputSize = 256 * 1024 * 1024

const space = 0x20
const newline = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c
const opening = 0x5b
const backslash = 0x5c
const closing = 0x5d
/** The first bytes of lines that may be JSON; `"` is never plain. */
const jsonBytes = [opening, closing, 0x7b, 0x7d]

const isBlank = (byte = 0): boolean => byte === space || byte === 0x09 || byte === carriageReturn

/** Whether bytes are ASCII without quotes, backslashes and controls, which JSON has as they are. */
function isPlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index] ?? 0
    if (byte < 0x20 || byte >= 0x7f || byte === quote || byte === backslash) return false
  }
  return true
}

const bytesOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { length }) => sum + length, 0)

const isUtf16 = ([one, two]: Uint8Array): boolean =>
  (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff)

const utf8Hint = 'Save the list as UTF-8. In PowerShell: ... | Out-File -Encoding utf8 targets.txt'

/** Decodes a JSON text. Throws a usage error that names the first line that is not UTF-8. */
function decodeJson(bytes: Buffer, source: string): string {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  const lines = bytes.toString('latin1').split('\n')
  const index = lines.findIndex(line => decodeUtf8(Buffer.from(line, 'latin1')) === undefined)
  throw usageError(`${source}: line ${index + 1} is not valid UTF-8.`, utf8Hint)
}

/** The constants of the FNV-1a hash. A collision costs time only: equal hashes are followed by a comparison. */
const [initialHash, prime] = [0x811c9dc5, 0x01000193]

/**
 * A list of targets. One of lines is encoded while it is read: each target is written once, into the JSON array that is
 * sent, and a hash table of their offsets finds duplicates. Strings in a Set need twice the memory and three times the time.
 */
export class TargetList {
  number = 0
  dropped = 0
  bytesRead = 0
  private readonly nameOf: (name: string) => string
  private line = 1
  /**
   * The array without its closing bracket. Twice the limit has room for it and for one target that is compared
   * with the others; the operating system does not allocate what is never written.
   */
  private readonly array = Buffer.alloc(2 * maxBodySize + 4)
  private length = 1
  private isOverLimit = false
  /** The offset of each target and its hash; an offset 0 is free. At most half of the slots are used. */
  private slots = new Int32Array(2048)

  /** @param nameOf returns the name of what the caller gives: `from` or `fromJson` */
  constructor(nameOf: (name: string) => string) {
    this.nameOf = nameOf
  }

  /** Reads one target per line, but not further once it is over the limit. Throws a usage error for invalid input. */
  async readLines(input: AsyncIterable<Uint8Array>): Promise<ImpactedTargets> {
    const source = this.nameOf('from')
    let rest: Uint8Array[] = []
    this.array[0] = opening
    for await (const chunk of this.chunksOf(input, source)) {
      // A target without an end is not searched again with each chunk. The pieces of a file share a buffer.
      if (chunk.includes(newline)) {
        const bytes = Buffer.concat([...rest, chunk])
        rest = [bytes.subarray(this.takeLines(bytes))]
      } else rest.push(Buffer.from(chunk))
      if (this.isOverLimit || bytesOf(rest) > maxBodySize || this.bytesRead > maxInputSize)
        return this.overLimit()
    }
    const last = Buffer.concat(rest)
    this.takeLine(last, 0, last.length, false)
    this.array[this.length] = closing
    return this.result({ chunks: [this.array.subarray(0, this.length + 1)], bytes: this.length + 1 })
  }

  /** Reads a JSON array of strings, or the string "ALL". Throws a usage error for invalid input. */
  async readJson(input: AsyncIterable<Uint8Array>): Promise<ImpactedTargets> {
    const source = this.nameOf('fromJson')
    const chunks: Uint8Array[] = []
    for await (const chunk of this.chunksOf(input, source)) {
      chunks.push(Buffer.from(chunk))
      if (this.bytesRead > maxInputSize) return this.overLimit()
    }
    const text = decodeJson(Buffer.concat(chunks), source)
    const names = text.trim() === '' ? [] : tryParseJson(text)
    if (names === 'ALL') return encodeTargets(names)
    if (!Array.isArray(names) || !names.every(name => typeof name === 'string'))
      throw usageError(
        `${source}: the targets are not a JSON array of strings.`,
        `${source} expects a JSON array of strings.`,
      )
    return { ...withName(source, () => encodeTargets(names)), bytesRead: this.bytesRead }
  }

  private async *chunksOf(input: AsyncIterable<Uint8Array>, source: string): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      if (this.bytesRead === 0 && isUtf16(chunk))
        throw usageError(`${source}: the targets are encoded as UTF-16, not UTF-8.`, utf8Hint)
      this.bytesRead += chunk.length
      yield chunk
    }
  }

  private overLimit(): ImpactedTargets {
    return this.result({ chunks: [new Uint8Array(0)], bytes: maxBodySize + 1 })
  }

  private result(list: EncodedJson): ImpactedTargets {
    return { list, number: this.number, dropped: this.dropped, bytesRead: this.bytesRead }
  }

  private takeLines(bytes: Uint8Array): number {
    let start = 0
    for (let index = 0; index < bytes.length && !this.isOverLimit; index++)
      if (bytes[index] === newline) {
        this.takeLine(bytes, start, index, true)
        start = index + 1
        this.line++
      }
    return start
  }

  /** @param isEnded whether a newline follows, before which a carriage return is not part of the line */
  private takeLine(bytes: Uint8Array, start: number, end: number, isEnded: boolean): void {
    let [from, to] = [start, end]
    while (from < to && isBlank(bytes[from])) from++
    if (from === to) return
    from = start
    if (isEnded && bytes[to - 1] === carriageReturn) to--
    while (bytes[from] === space) from++
    while (bytes[to - 1] === space) to--
    if (!jsonBytes.includes(bytes[from] ?? 0) && isPlain(bytes, from, to)) {
      this.add(bytes, from, to)
      return
    }
    // Spaces may follow the mark at the start of a file.
    const target = decodeUtf8(bytes.subarray(from, to))?.replace(/^ +/, '')
    if (target === undefined) throw this.refuse('is not valid UTF-8', utf8Hint)
    const found = findLineProblem(target, this.nameOf('fromJson'))
    if (found !== undefined) throw this.refuse(found.problem, found.hint)
    const encoded = utf8.encode(JSON.stringify(target).slice(1, -1))
    if (encoded.length > 0) this.add(encoded, 0, encoded.length)
  }

  private refuse(problem: string, hint: string): MergeqError {
    return usageError(`${this.nameOf('from')}: line ${this.line} ${problem}.`, hint)
  }

  /** Adds a target whose bytes are escaped for JSON already; a duplicate is dropped. */
  private add(bytes: Uint8Array, from: number, to: number): void {
    if (to - from > maxBodySize) {
      this.isOverLimit = true
      return
    }
    const { array } = this
    let end = this.length
    if (this.number > 0) array[end++] = comma
    const start = end
    array[end++] = quote
    let hash = initialHash
    for (let index = from; index < to; index++) {
      const byte = bytes[index] ?? 0
      array[end++] = byte
      hash = Math.imul(hash ^ byte, prime)
    }
    array[end++] = quote
    if (!this.addOffset(start, end, hash ^ (hash >>> 15))) {
      this.dropped++
      return
    }
    this.number++
    this.length = end
    this.isOverLimit = end >= maxBodySize
  }

  /**
   * Adds the target from `start` to `end` to the hash table, and returns false if the table has an equal one.
   * The quotes are compared, too: no target equals the beginning of another.
   */
  private addOffset(start: number, end: number, hash: number): boolean {
    const { array, slots } = this
    let slot = (2 * hash) & (slots.length - 2)
    for (let other = slots[slot] ?? 0; other !== 0; other = slots[slot] ?? 0) {
      const isSame =
        slots[slot + 1] === hash && array.compare(array, start, end, other, other + end - start) === 0
      if (isSame) return false
      slot = (slot + 2) & (slots.length - 2)
    }
    slots[slot] = start
    slots[slot + 1] = hash
    if (4 * (this.number + 1) > slots.length) this.growTable()
    return true
  }

  private growTable(): void {
    const old = this.slots
    const slots = new Int32Array(2 * old.length)
    for (let index = 0; index < old.length; index += 2) {
      const [start = 0, hash = 0] = [old[index], old[index + 1]]
      if (start === 0) continue
      let slot = (2 * hash) & (slots.length - 2)
      while (slots[slot] !== 0) slot = (slot + 2) & (slots.length - 2)
      slots[slot] = start
      slots[slot + 1] = hash
    }
    this.slots = slots
  }
}
