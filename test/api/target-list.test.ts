import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxBodySize } from '../../src/api/limits.ts'
import { TargetList } from '../../src/api/target-list.ts'
import type { MergeqError } from '../../src/base/errors.ts'
import { flagName } from '../../src/command/inputs.ts'
import { anyCharacter } from '../support/any-character.ts'

type Form = 'lines' | 'json'

/** Feeds bytes in pieces of these sizes, over and over. The pieces share a buffer, as those of a file do. */
async function* pieces(bytes: Uint8Array, sizes: readonly number[]) {
  const buffer = new Uint8Array(Math.max(...sizes))
  for (let from = 0, turn = 0; from < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    const piece = bytes.subarray(from, from + size)
    buffer.set(piece)
    yield buffer.subarray(0, piece.length)
    from += size
  }
}

/** Reads a list and returns the JSON array that is sent. */
async function encode(input: string | Uint8Array, form: Form, sizes = [65_536]): Promise<string> {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const targets = new TargetList(flagName)
  const { list } = await (form === 'json' ? targets.readJson : targets.readLines).call(
    targets,
    pieces(bytes, sizes),
  )
  if (list === 'ALL') return list
  const whole = Buffer.concat(list.chunks)
  expect(whole.length).toBe(list.bytes)
  return whole.toString()
}

const asJson = (list: readonly string[]) => JSON.stringify([...new Set(list)])

describe('a list of targets in any pieces', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  const texts = fc.array(fc.string({ minLength: 1, unit: anyCharacter }), { minLength: 1 })
  // Each list reserves 40 MiB.
  const runs = { numRuns: 25 }

  test('has each target once, however JSON writes its characters', async () => {
    const inUnits = (text: string) =>
      text
        .split('')
        .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')
    const commas = fc.constantFrom(',', ' ,\n  ')
    await fc.assert(
      fc.asyncProperty(texts, sizes, commas, async (list, cut, comma) => {
        const both = [...list.map(text => `"${inUnits(text)}"`), ...list.map(text => JSON.stringify(text))]
        expect(await encode(`[${both.join(comma)}]`, 'json', cut)).toBe(asJson(list))
      }),
      runs,
    )
  })

  test('has one target per line, with spaces around it, and lines that end with LF or CRLF', async () => {
    const target = fc
      .string({ minLength: 1, unit: anyCharacter })
      .map(text => text.replace(/[\0-\x1f\x7f-\x9f]/g, ''))
      .filter(text => /^[^ \uFEFF[\]{}"](?:.*[^ ])?$/su.test(text))
    const row = fc.tuple(fc.constantFrom('', ' '), target, fc.constantFrom('\n', ' \n', '\r\n', '  \r\n'))
    const blank = fc.constantFrom('\n', '\r\n', '  \n')
    const written = fc.array(fc.oneof(row, blank), { minLength: 1 }).filter(rows => rows.some(Array.isArray))
    await fc.assert(
      fc.asyncProperty(written, sizes, fc.boolean(), fc.boolean(), async (rows, cut, bom, last) => {
        const text = rows.map(one => (Array.isArray(one) ? one.join('') : one)).join('')
        const targets = rows.flatMap(one => (Array.isArray(one) ? [one[1]] : []))
        const input = `${bom ? '\uFEFF' : ''}${last ? text : text.replace(/\r?\n$/, '')}`
        expect(await encode(input, 'lines', cut)).toBe(asJson(targets))
      }),
      runs,
    )
  })

  test('is refused with its line if its bytes are not UTF-8', async () => {
    const bad = fc.constantFrom(
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe7, 0x9b],
      [0x80],
    )
    await fc.assert(
      fc.asyncProperty(bad, fc.nat({ max: 30 }), sizes, async (wrong, before, cut) => {
        const good = Buffer.from('目é🦀\n'.repeat(before))
        const bytes = Buffer.concat([good, Buffer.from('x'), Buffer.from(wrong), Buffer.from('\nmore\n')])
        await expect(encode(bytes, 'lines', cut)).rejects.toThrow(`line ${before + 1} is not valid UTF-8`)
      }),
      runs,
    )
  })
})

describe('a list of targets', () => {
  test.each([
    [
      'names that begin with a bracket',
      '[slug].tsx\n[[...all]]/page.tsx\n[locale]\n',
      ['[slug].tsx', '[[...all]]/page.tsx', '[locale]'],
    ],
    ['brackets and quotes inside', 'a{b}\na"b"\n"a"b\n', ['a{b}', 'a"b"', '"a"b']],
    ['a mark before each of several files', '\uFEFFa\n\uFEFF b\n', ['a', 'b']],
    ['a target called ALL', 'ALL\n', ['ALL']],
    // Each two have the same hash.
    [
      'targets of one hash',
      'costarring\nliquid\naltarage\nzinke',
      ['costarring', 'liquid', 'altarage', 'zinke'],
    ],
    ['keys of objects', '__proto__\nconstructor\ntoString\n', ['__proto__', 'constructor', 'toString']],
    ['a target of a megabyte', 'x'.repeat(1_000_000), ['x'.repeat(1_000_000)]],
  ])('has %s', async (_, input, targets) => {
    expect(await encode(input, 'lines')).toBe(JSON.stringify(targets))
  })

  test('keeps the order of 50,000 labels, each once', async () => {
    const labels = Array.from({ length: 50_000 }, (_, index) => `//s${index % 97}:t${index % 40_000}`)
    expect((await encode(labels.join('\n'), 'lines')) === asJson(labels)).toBe(true)
  })

  test('ends over the limit at a target without an end, which is not kept', async () => {
    let given = 0
    async function* endless() {
      for (const chunk = new Uint8Array(2 ** 20).fill(0x78); ; given++) yield chunk
    }
    const { list, number } = await new TargetList(flagName).readLines(endless())
    expect({ number, given }).toEqual({ number: 0, given: 20 })
    expect(list !== 'ALL' && list.bytes).toBeGreaterThan(maxBodySize)
  })

  const refusals: readonly (readonly [Form, string | Uint8Array, RegExp])[] = [
    ['lines', 'a\nb\0c\n', /^--from: line 2 contains a NUL byte/],
    ['lines', Buffer.from('//a\n', 'utf16le'), /line 1 contains a NUL byte/],
    ['lines', '["a","b"]', /line 1 looks like JSON\.\n.*use --from-json.*jq -r/],
    ['lines', '[\n  "a"\n]\n', /line 1 looks like JSON/],
    ['lines', 'a\n[ "b"]', /line 2 looks like JSON/],
    ['lines', 'a\n  [\n', /line 2 looks like JSON/],
    ['lines', '{\n  "tasks": [],\n  "projects": ["app"]\n}\n', /line 1 looks like JSON/],
    ['lines', 'a\n{"target":"b"}\n', /line 2 looks like JSON/],
    ['lines', '\uFEFF{', /line 1 looks like JSON/],
    ...['{', '[', ']', '],', '}', '},', '  },', '"a"', '  "a",', '"', '""', '[]', '[1]', '[["a"]]'].map(
      line => ['lines', `a\n${line}\nb`, /line 2 looks like JSON/] as const,
    ),
    ['lines', 'a\nb\rc\n', /line 2 contains a carriage return/],
    ['lines', 'a\nb\r\r\n', /line 2 contains a carriage return/],
    ['lines', 'a\nb\r', /line 2 contains a carriage return/],
    ...['a\tb', '\ta', 'a\t'].map(line => ['lines', `${line}\n`, /line 1 contains a tab/] as const),
    [
      'lines',
      '\u001B[32m//a:b\u001B[0m\n',
      /line 1 contains the control character U\+001B\.\nSwitch colors off/,
    ],
    ...['\u0001', '\u001F', '\u007F', '\u0080', '\u009B', '\u009F'].map(
      control => ['lines', `a\nb${control}c\n`, /line 2 contains the control character U\+00/] as const,
    ),
    ['lines', Buffer.from('\uFEFF//a\n', 'utf16le'), /encoded as UTF-16, not UTF-8\.\n.*-Encoding utf8/],
    ['json', '["a",\n3]', /^--from-json: the targets are not a JSON array of strings/],
    ...['["a"', '["a"] x', '["a",]', '{"a":1}', '["a\nb"]', '["\\x"]'].map(
      text => ['json', text, /are not a JSON array of strings/] as const,
    ),
    ['json', '["a",""]', /^--from-json: A target must not be empty/],
    ['json', new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), /line 1 is not valid UTF-8/],
    ['json', Buffer.from('\uFEFF["a"]', 'utf16le'), /targets are encoded as UTF-16/],
  ]
  test.each(refusals)('with %s is refused: %j', async (source, input, message) => {
    const error: MergeqError = await encode(input, source).catch(failure => failure)
    expect(error.kind).toBe('usage')
    expect(`${error.message}\n${error.details.hint}`).toMatch(message)
  })
})
