import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TargetList } from '../../src/domain/values/target-list.ts'

describe('the list itself', () => {
  /** Feeds bytes in pieces of these sizes, over and over. */
  async function* pieces(bytes: Uint8Array, sizes: readonly number[]) {
    for (let from = 0, turn = 0; from < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1
      yield bytes.slice(from, from + size)
      from += size
    }
  }

  async function encode(
    bytes: Uint8Array,
    sizes: readonly number[],
    source: '--from' | '--from-json',
  ): Promise<string> {
    const { list } = await new TargetList(source).read(pieces(bytes, sizes))
    if (list === 'ALL') return list
    const whole = Buffer.concat(list.chunks)
    expect(whole.length).toBe(list.bytes)
    return whole.toString()
  }

  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  const asJson = (list: readonly string[]) => JSON.stringify([...new Set(list)])

  test('a property: any list gives the same text as JSON.stringify', async () => {
    const texts = fc.array(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(texts, sizes, fc.constantFrom(undefined, 2), async (list, cut, indent) => {
        const bytes = new TextEncoder().encode(JSON.stringify(list, null, indent))
        expect(await encode(bytes, cut, '--from-json')).toBe(asJson(list))
      }),
    )
  })

  test('a property: every way to write a character in JSON is the same target', async () => {
    const wordy = (text: string) =>
      `"${[...text]
        .flatMap(one => one.split(''))
        .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join('')}"`
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 1, unit: 'binary' }), { minLength: 1 }),
        sizes,
        async (list, cut) => {
          const bytes = new TextEncoder().encode(
            `[${list.map(wordy).join(',')},${list.map(one => JSON.stringify(one)).join()}]`,
          )
          expect(await encode(bytes, cut, '--from-json')).toBe(asJson(list))
        },
      ),
    )
  })

  test('a property: one target per line, with any white space around it', async () => {
    const target = fc
      .string({ minLength: 1, unit: 'grapheme' })
      .map(text => text.replace(/[\0\n]/g, ''))
      .filter(text => /^[^\t\r \uFEFF[](?:.*[^\t\r ])?$/su.test(text))
    const row = fc.tuple(fc.constantFrom('', ' ', '\t'), target, fc.constantFrom('', ' ', '\r', ' \t\r'))
    const blank = fc.constantFrom('', '\r', '  ', '\t')
    const written = fc.array(fc.oneof(row, blank), { minLength: 1 }).filter(rows => rows.some(Array.isArray))
    await fc.assert(
      fc.asyncProperty(written, sizes, fc.boolean(), fc.boolean(), async (rows, cut, bom, last) => {
        const text = rows.map(one => (Array.isArray(one) ? one.join('') : one)).join('\n')
        const bytes = new TextEncoder().encode(`${bom ? '\uFEFF' : ''}${text}${last ? '\n' : ''}`)
        const targets = rows.flatMap(one => (Array.isArray(one) ? [one[1]] : []))
        expect(await encode(bytes, cut, '--from')).toBe(asJson(targets))
      }),
    )
  })

  test('a property: bytes that are not UTF-8 are refused with their line, wherever they are cut', async () => {
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
        await expect(encode(bytes, cut, '--from')).rejects.toThrow(`line ${before + 1} is not valid UTF-8`)
      }),
    )
  })
})
