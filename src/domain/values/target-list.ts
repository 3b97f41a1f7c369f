import { type MergeqError, usageError } from '../../errors.ts'
import type { StringArray } from './string-array.ts'

/**
 * After so many bytes of input a list counts as over the limit, however often it repeats itself (CLI.md
 * section 7).
 */
const mostInput = 256 * 1024 * 1024

/** Takes input piece by piece. */
interface Reader {
  /** False once nothing more needs to be read. */
  take(piece: Uint8Array): boolean
  /** At the end of the input. */
  end(): void
}

/** How an input is read: a reader of its pieces, which puts targets into a list. */
export type TargetParser = (list: StringArray, name: string) => Reader

/**
 * Reads targets until the input ends or the answer is known; false if that is that the list is over the
 * limit. Input that is empty, or that the reader cannot take, is a usage failure. `note` is told how many
 * bytes were read.
 */
export async function readTargets(
  input: AsyncIterable<Uint8Array>,
  reading: TargetParser,
  list: StringArray,
  name: string,
  note: (bytes: number) => void,
): Promise<boolean> {
  const reader = reading(list, name)
  let read = 0
  for await (const piece of input) {
    if (read === 0 && isUtf16(piece)) throw usageError(`${name}: the targets are UTF-16.`, utf8Hint)
    read += piece.length
    note(read)
    if (!reader.take(piece) || list.isTooLong() || read > mostInput) return false
  }
  reader.end()
  if (list.number === 0)
    throw usageError(
      `${name}: the list of targets is empty.`,
      'A pipe that broke looks like this. If no target is impacted, say so with --none.',
    )
  return true
}

const utf8Hint = 'Write them as UTF-8; in PowerShell with `... | Out-File -Encoding utf8 targets.txt`.'
const jsonHint = '--from-json takes a JSON array of strings.'

const isUtf16 = ([one, two]: Uint8Array): boolean =>
  (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff)

/** Most blanks in a row inside a target: they are held until it is known what follows. */
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

/** The bytes of a BOM. */
const mark = [0xef, 0xbb, 0xbf]
const isBlank = (byte: number): boolean => byte === blank || byte === tab || byte === carriageReturn

/** The text of a JSON string that was written between its quotes. */
const unescaped = (written: string): string => String(JSON.parse(`"${written}"`))

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeStrictly(bytes: Uint8Array, refuse: () => MergeqError): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw refuse()
  }
}

/**
 * One target a line: a BOM, CRLF, blank lines and blanks around a target are fine; bytes that are not UTF-8,
 * a NUL, and a line that looks like JSON are refused with their line.
 */
export const parseLines: TargetParser = (list, name) => {
  let line = 1
  /** The first byte of the target on this line; 0 until there is one. */
  let first = 0
  /** Blanks inside a target, or behind it: what follows tells. */
  let blanks: number[] = []
  const refuse = (what: string, hint = utf8Hint) => usageError(`${name}: line ${line} ${what}.`, hint)

  const endLine = (): boolean => {
    const isPlain = list.isAscii() && first !== opening
    first = 0
    if (isPlain) return list.end()
    const written = decodeStrictly(list.current(), () => refuse('is not UTF-8'))
    const hasMark = written.startsWith('\uFEFF')
    const target = hasMark ? unescaped(written).replace(/^\uFEFF[\t ]*/, '') : written
    if (/^\[\s*(\\?"|\]?$)/.test(target)) throw refuse('looks like JSON', jsonHint)
    if (!hasMark) return list.end()
    return target === '' || list.addText(target)
  }
  const flush = () => {
    for (const byte of blanks) list.put(byte)
    blanks = []
  }
  return {
    take(piece) {
      for (let index = 0; index < piece.length; index++) {
        const byte = piece[index] ?? 0
        if (byte === newline) {
          if (first !== 0 && !endLine()) return false
          if (blanks.length > 0) blanks = []
          line++
        } else if (isBlank(byte)) {
          if (first === 0) continue
          if (blanks.length >= maxBlanks)
            throw refuse('holds a run of blanks that is too long', 'Is this a list of targets?')
          blanks.push(byte)
        } else if (byte === 0)
          throw refuse(
            'holds a NUL byte',
            'Separate targets by newlines, not NULs, and write UTF-8, not UTF-16.',
          )
        else {
          if (first === 0) {
            list.begin()
            first = byte
          }
          if (blanks.length > 0) flush()
          list.put(byte)
          index = list.write(piece, index + 1) - 1
        }
      }
      return true
    },
    end() {
      if (first !== 0) endLine()
    },
  }
}

/** A JSON array of strings; anything else is refused with its line. */
export const parseJsonStrings: TargetParser = (list, name) => {
  let expects: 'array' | 'first' | 'item' | 'comma' | 'nothing' = 'array'
  let [inString, isEmpty, isNext, hasEscapes] = [false, true, false, false]
  let line = 1
  const refuse = (what = 'is no JSON array of strings') =>
    usageError(`${name}: line ${line} ${what}.`, jsonHint)

  const endString = (): boolean => {
    if (isEmpty) throw refuse('holds an empty target')
    if (list.isAscii() && !hasEscapes) return list.end()
    const text = decodeStrictly(list.current(), () => refuse('is not UTF-8'))
    return hasEscapes ? list.addText(parsed(text)) : list.end()
  }
  const parsed = (text: string): string => {
    try {
      return unescaped(text)
    } catch {
      throw refuse()
    }
  }
  /** What a byte between the strings means. */
  const takeMark = (byte: number) => {
    if (byte === newline) line++
    else if (isBlank(byte) || (expects === 'array' && mark.includes(byte))) return
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
    take(piece) {
      for (let index = 0; index < piece.length; index++) {
        const byte = piece[index] ?? 0
        if (!inString) takeMark(byte)
        else if (byte === quote && !isNext) {
          inString = false
          expects = 'comma'
          if (!endString()) return false
        } else if (byte < blank) throw refuse()
        else {
          // An escape stays as it was written until the string is whole.
          isNext = byte === backslash && !isNext
          hasEscapes ||= isNext
          isEmpty = false
          list.putAsIs(byte)
          if (!isNext) index = list.write(piece, index + 1) - 1
        }
      }
      return true
    },
    end() {
      // An input without anything is an empty list, and refused as one.
      if (expects !== 'array' && expects !== 'nothing') throw refuse('ends before the array does')
    },
  }
}
