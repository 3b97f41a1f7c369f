import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatJson,
  get,
  getArray,
  isObject,
  type JsonObject,
  parseJson,
  stringifyJson,
} from '../../src/base/json.ts'

/** A document, and the objects in one of its lists. */
function parse(text: string, key = 'a'): readonly [document: JsonObject, items: readonly JsonObject[]] {
  const document = parseJson(text)
  if (!isObject(document)) throw new Error(`no object: ${text}`)
  return [document, getArray(document, key).filter(isObject)]
}

describe('what was parsed is written as its own text', () => {
  const exact = '{"n":90071992547409931234,"e":1e400,"f":1.0,"t":"\\u00e9\\/"}'

  test('a document, with all digits and without white space between tokens', () => {
    expect(stringifyJson(parse(exact)[0])).toBe(exact)
    expect(stringifyJson(parse(' {\n "n" : 9007199254740993, "s": " a : b " } ')[0])).toBe(
      '{"n":9007199254740993,"s":" a : b "}',
    )
  })
  test('indented', () => {
    expect(stringifyJson(parse('{"a":[{"n":1e400},[],{ }],"b":{}}')[0], true)).toBe(
      '{\n  "a": [\n    {\n      "n": 1e400\n    },\n    [],\n    {}\n  ],\n  "b": {}\n}',
    )
  })
  test('the items of each list, also in another document', () => {
    const [document, items] = parse(`{"a":[${exact},{}],"b":[{"n":1.0}]}`)
    expect(items.map(item => stringifyJson(item))).toEqual([exact, '{}'])
    expect(stringifyJson({ list: items })).toBe(`{"list":[${exact},{}]}`)
    expect(stringifyJson(getArray(document, 'b'))).toBe('[{"n":1.0}]')
  })
  test('a changed document has numbers of JavaScript', () => {
    const [document] = parse('{"n":9007199254740993,"f":1.0}')
    expect(stringifyJson({ ...document })).toBe('{"n":9007199254740992,"f":1}')
  })

  // The texts of items were once told apart by their number only.
  test.each([
    ['{"a":[5,{"x":1.0}],"b":{"c":{"y":2.0}}}', ['{"x":1}']],
    ['{"b":{"c":{"y":2.0}},"a":[{"x":1.0}]}', ['{"x":1.0}']],
    ['{"a":[{"x":1.0}],"a":[{"x":2.0}]}', ['{"x":2.0}']],
    ['{"a":[{"x":1.0}],"\\u0061":[{"x":2.0}]}', ['{"x":2.0}']],
    ['{"a":[{"x":1.0}],"\\u0061":[{"x":2.0}],"a":[{"x":3.0}]}', ['{"x":3.0}']],
    ['{"a":[{"x":1.0}],"a":[[{"x":2.0}]]}', []],
    ['{"a":[{"x":1.0}],"a":{"y":[{"x":2.0}]}}', []],
    ['{"b":{"a":[{"x":1.0}]},"a":[{"x":2.0},{"y":[{"x":3.0}]}]}', ['{"x":2.0}', '{"y":[{"x":3.0}]}']],
  ])('the items of %s', (text, items) => {
    expect(parse(text)[1].map(item => stringifyJson(item))).toEqual(items)
  })

  test('any document, with any white space', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(0, 1, 4, '\t'),
        (value, space) => {
          const text = JSON.stringify(value, null, space)
          const document = parseJson(text) ?? null
          expect(document).toEqual(JSON.parse(text))
          expect(formatJson(text, false)).toBe(JSON.stringify(value))
          expect(formatJson(text, true)).toBe(JSON.stringify(value, null, 2))
          expect(JSON.parse(stringifyJson(document))).toEqual(JSON.parse(text))
          for (const key of isObject(document) ? Object.keys(document) : [])
            expect(JSON.parse(stringifyJson(get(document, key) ?? null))).toEqual(JSON.parse(text)[key])
        },
      ),
    )
  })
  test('a text that is no JSON is not parsed', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[],:"\\a1 ') }), text => {
        const parsed = parseJson(text)
        if (parsed !== undefined) expect(parsed).toEqual(JSON.parse(text))
      }),
    )
  })
})
