import { type MergeqError, usageError } from '../../errors.ts'
import type { EncodedJson } from '../../json.ts'
import { maxBodySize } from '../limits.ts'
import { createStringArray, type StringArray } from './string-array.ts'

/** The targets that a pull request impacts: a list, encoded while it was read, or all targets. */
export interface ImpactedTargets {
  readonly list: 'ALL' | EncodedJson
  /** How many targets the list has, without duplicates. */
  readonly number: number
  /** How many duplicates were dropped. */
  readonly dropped: number
  /** How much of the input was read, in bytes. */
  readonly bytesRead: number
}

/** Drops duplicates. Throws a usage error for an empty name. */
export function encodeTargets(names: readonly string[] | 'ALL'): ImpactedTargets {
  if (names === 'ALL') return { list: 'ALL', number: 0, dropped: 0, bytesRead: 0 }
  const list = createStringArray(maxBodySize)
  for (const name of names) {
    if (name === '') throw usageError('A target must not be empty.')
    list.addText(name)
  }
  return { list: list.encoded(), number: list.number, dropped: list.dropped, bytesRead: list.bytes }
}

/**
 * Input with more bytes counts as over the limit, even if it consists of duplicates
 * (docs/reference/cli.md, "Impacted targets").
 */
const maxInputSize = 256 * 1024 * 1024

interface ChunkParser {
  take(chunk: Uint8Array): boolean
  end(): void
}

/** Returns a parser that adds the targets of an input to a list; its errors call the input `name`. */
export type TargetParser = (list: StringArray, name: string) => ChunkParser

/**
 * Reads targets into a list. Returns true at the end of the input, and false, without reading further, if
 * the list is over its limit. Throws a usage error for empty or invalid input. Calls `onProgress` with the
 * number of bytes read so far.
 */
export async function readTargets(
  input: AsyncIterable<Uint8Array>,
  createParser: TargetParser,
  list: StringArray,
  name: string,
  onProgress: (bytes: number) => void,
): Promise<boolean> {
  const parser = createParser(list, name)
  let read = 0
  for await (const chunk of input) {
    if (read === 0 && isUtf16(chunk))
      throw usageError(`${name}: the targets are encoded as UTF-16, not UTF-8.`, utf8Hint)
    read += chunk.length
    onProgress(read)
    if (!parser.take(chunk) || list.isTooLong() || read > maxInputSize) return false
  }
  parser.end()
  if (list.number === 0)
    throw usageError(
      `${name}: the list of targets is empty.`,
      'The command that wrote the list may have failed. If no target is impacted, use --none.',
    )
  return true
}

const utf8Hint = 'Save the list as UTF-8. In PowerShell: ... | Out-File -Encoding utf8 targets.txt'
const jsonHint = '--from-json expects a JSON array of strings.'

const isUtf16 = ([one, two]: Uint8Array): boolean =>
  (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff)

/** The maximum run of white space inside a target; the run is kept in memory until a character follows. */
const maxBlanks = 64 * 1024

const tab = 0x09
const newline = 0x0a
const carriageReturn = 0x0d
const blank = 0x20
const quote = 0x22
const comma = 0x2c
const opening = 0x5b
const backslash = 0x5c
const closing = 0x5d

const byteOrderMark = [0xef, 0xbb, 0xbf]
const isBlank = (byte: number): boolean => byte === blank || byte === tab || byte === carriageReturn

const unescapeJson = (escaped: string): string => String(JSON.parse(`"${escaped}"`))

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeStrictly(bytes: Uint8Array, refuse: () => MergeqError): string {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    throw refuse()
  }
}

/**
 * Parses one target per line. Ignores a byte order mark, CRLF, empty lines and white space around targets.
 * Throws a usage error with the line number for invalid UTF-8, NUL bytes and lines that look like JSON.
 */
export const parseLines: TargetParser = (list, name) => {
  let line = 1
  /** The first byte of the target on this line; 0 before it. */
  let first = 0
  /** White space inside or after a target; the next byte decides which. */
  let blanks: number[] = []
  const refuse = (problem: string, hint = utf8Hint) => usageError(`${name}: line ${line} ${problem}.`, hint)

  const endLine = (): boolean => {
    const isPlain = list.isAscii() && first !== opening
    first = 0
    if (isPlain) return list.end()
    const text = decodeStrictly(list.current(), () => refuse('is not valid UTF-8'))
    const hasMark = text.startsWith('\uFEFF')
    const target = hasMark ? unescapeJson(text).replace(/^\uFEFF[\t ]*/, '') : text
    if (/^\[\s*(\\?"|\]?$)/.test(target))
      throw refuse('looks like JSON', 'To read a JSON array of strings, use --from-json.')
    if (!hasMark) return list.end()
    return target === '' || list.addText(target)
  }
  const flush = () => {
    for (const byte of blanks) list.put(byte)
    blanks = []
  }
  return {
    take(chunk) {
      for (let index = 0; index < chunk.length; index++) {
        const byte = chunk[index] ?? 0
        if (byte === newline) {
          if (first !== 0 && !endLine()) return false
          if (blanks.length > 0) blanks = []
          line++
        } else if (isBlank(byte)) {
          if (first === 0) continue
          if (blanks.length >= maxBlanks)
            throw refuse(
              'contains too much white space',
              'Check that the input is a list of targets, one per line.',
            )
          blanks.push(byte)
        } else if (byte === 0)
          throw refuse(
            'contains a NUL byte',
            'Separate targets with newlines, not NUL bytes, and save the list as UTF-8.',
          )
        else {
          if (first === 0) {
            list.begin()
            first = byte
          }
          if (blanks.length > 0) flush()
          list.put(byte)
          index = list.write(chunk, index + 1) - 1
        }
      }
      return true
    },
    end() {
      if (first !== 0) endLine()
    },
  }
}

/** Parses a JSON array of strings; throws a usage error with the line number for anything else. */
export const parseJsonStrings: TargetParser = (list, name) => {
  let expects: 'array' | 'first' | 'item' | 'comma' | 'nothing' = 'array'
  let [inString, isEmpty, isEscaped, hasEscapes] = [false, true, false, false]
  let line = 1
  const refuse = (problem = 'is not a JSON array of strings') =>
    usageError(`${name}: line ${line} ${problem}.`, jsonHint)

  const endString = (): boolean => {
    if (isEmpty) throw refuse('contains an empty target')
    if (list.isAscii() && !hasEscapes) return list.end()
    const text = decodeStrictly(list.current(), () => refuse('is not valid UTF-8'))
    return hasEscapes ? list.addText(unescapeOrRefuse(text)) : list.end()
  }
  const unescapeOrRefuse = (text: string): string => {
    try {
      return unescapeJson(text)
    } catch {
      throw refuse()
    }
  }
  const takePunctuation = (byte: number) => {
    if (byte === newline) line++
    else if (isBlank(byte) || (expects === 'array' && byteOrderMark.includes(byte))) return
    else if (byte === opening && expects === 'array') expects = 'first'
    else if (byte === closing && (expects === 'first' || expects === 'comma')) expects = 'nothing'
    else if (byte === comma && expects === 'comma') expects = 'item'
    else if (byte === quote && (expects === 'first' || expects === 'item')) {
      list.begin()
      inString = isEmpty = true
      hasEscapes = false
    } else throw refuse()
  }
  return {
    take(chunk) {
      for (let index = 0; index < chunk.length; index++) {
        const byte = chunk[index] ?? 0
        if (!inString) takePunctuation(byte)
        else if (byte === quote && !isEscaped) {
          inString = false
          expects = 'comma'
          if (!endString()) return false
        } else if (byte < blank) throw refuse()
        else {
          // Escapes are decoded at the end of the string, because a chunk can end inside an escape.
          isEscaped = byte === backslash && !isEscaped
          hasEscapes ||= isEscaped
          isEmpty = false
          list.putAsIs(byte)
          if (!isEscaped) index = list.write(chunk, index + 1) - 1
        }
      }
      return true
    },
    end() {
      // `readTargets` refuses input without an array as an empty list.
      if (expects !== 'array' && expects !== 'nothing') throw refuse('ends before the end of the array')
    },
  }
}
