import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  numberText,
  parseExposition,
  parseSamples,
  type Sample,
  seriesText,
} from '../../src/domain/metrics/exposition.ts'
import { isPatternError, parsePattern } from '../../src/domain/metrics/pattern.ts'
import { isRead } from '../support/prometheus-text.ts'

const label = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/).filter(name => name !== '__name__')
const labels = fc.dictionary(label, fc.string({ unit: 'grapheme', maxLength: 12 }), { maxKeys: 4 })
const value = fc.oneof(
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
)
const sample: fc.Arbitrary<Sample> = fc.record({
  name: fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,12}$/),
  type: fc.constant('untyped'),
  labels,
  value,
})
const plain = (samples: readonly Sample[]) => samples.map(one => ({ ...one, labels: { ...one.labels } }))

describe('read back', () => {
  test('whatever is written in the format, with blank lines, comments, time stamps and either line end', () => {
    const between = fc.constantFrom('', '\n', '# only a comment\n', ' \t \n', '\r\n')
    const stamp = fc.option(fc.maxSafeInteger(), { nil: undefined })
    const end = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, between, stamp, end)), written => {
        const text = written
          .map(
            ([{ name, labels, value }, before, stamp, end]) =>
              `${before}${seriesText(name, labels)} ${numberText(value)}${stamp === undefined ? '' : ` ${stamp}`}${end}`,
          )
          .join('')
        expect(plain(parseSamples(text))).toEqual(
          written.map(([{ value, ...rest }]) => ({ ...rest, value: value === 0 ? 0 : value })),
        )
      }),
    )
  })

  test('any text is read or refused, never anything else', () => {
    const pieces = fc.constantFrom(
      'a',
      '{',
      '}',
      '"',
      '\\',
      ',',
      '=',
      ' ',
      '\n',
      '1',
      '#',
      'TYPE',
      'e',
      '+',
      '\r',
      'é',
    )
    fc.assert(fc.property(fc.string({ unit: pieces, maxLength: 40 }), text => void isRead(text)))
  })

  test('HELP is read without its escapes', () => {
    const { help } = parseExposition('# HELP a one\\ntwo \\\\ "three"\n# HELP b\n#HELP c  near\n')
    expect([...help]).toEqual([
      ['a', 'one\ntwo \\ "three"'],
      ['b', ''],
      ['c', 'near'],
    ])
  })

  test('parts belong to a histogram or a summary, and to nothing else', () => {
    const text = '# TYPE h histogram\n# TYPE s summary\n# TYPE g gauge\n'
    const types = (names: readonly string[]) =>
      parseSamples(text + names.map(name => `${name} 1\n`).join('')).map(({ type }) => type)
    expect(types(['h_sum', 'h_count', 'h', 's_sum', 's_count', 's_bucket', 'g_sum', 'g'])).toEqual([
      'histogram',
      'histogram',
      'histogram',
      'summary',
      'summary',
      'untyped',
      'untyped',
      'gauge',
    ])
    expect(parseSamples(`${text}h_bucket{le="1"} 1\ns{quantile="0.5"} 1\n`).map(({ type }) => type)).toEqual([
      'histogram',
      'summary',
    ])
  })
})

describe('patterns', () => {
  const pattern = (source: string) => {
    const found = parsePattern(source)
    if (isPatternError(found)) throw new Error(found.flaw)
    return found
  }

  test('match what JavaScript matches between two anchors', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\.',
      '\\d',
      '\\w',
      '-',
      'é',
      '^',
      '$',
      '\\-',
      '/',
      '[\\d.-]',
    )
    const piece: fc.Arbitrary<string> = fc.letrec<{ all: string }>(tie => ({
      all: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc
          .tuple(
            atom.filter(one => !/^[\^$]$/.test(one)),
            fc.constantFrom('', '*', '+', '?', '{2}', '{1,}', '{0,2}', '+?'),
          )
          .map(([one, times]) => one + times),
        atom,
        fc.array(tie('all'), { maxLength: 3 }).map(parts => parts.join('')),
        fc.tuple(tie('all'), tie('all')).map(([one, other]) => `(${one}|${other})`),
        tie('all').map(one => `(?:${one})?`),
      ),
    })).all
    fc.assert(
      fc.property(
        piece,
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '1', '-', 'é', '/'), maxLength: 6 }),
        (source, text) => {
          const theirs = new RegExp(`^(?:${source.replaceAll('\\-', '-').replaceAll('/', '\\/')})$`, 'su')
          expect(pattern(source)(text)).toBe(theirs.test(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('cannot be made to hang', () => {
    const text = `${'a'.repeat(9_000)}!`
    const began = performance.now()
    for (const source of ['(a+)+', '(a|a)*', '(a*)*b', '(a|aa)+$', '([a-z]+)*\\d', '(.*)*x', '(a?){50}a{50}'])
      expect(pattern(source)(text)).toBe(false)
    expect(performance.now() - began).toBeLessThan(5_000)
    // Longer than any label: not tried at all.
    expect(pattern('.*')('a'.repeat(10_001))).toBe(false)
  })

  test.each([
    ['(a', 'a ) is missing', 0],
    ['a)', 'a ( is missing', 1],
    ['[a', 'a ] is missing', 0],
    ['*a', 'there is nothing before it to repeat', 0],
    ['a**', 'two signs of repetition follow each other', 2],
    ['a{3,2}', 'this repeats it out of bounds (at most 1000 times)', 0],
    ['a{1001}', 'this repeats it out of bounds (at most 1000 times)', 0],
    ['(?i)a', 'flags and groups with names are not taken', 0],
    ['a\\b', 'this escape is not known', 1],
    ['[z-a]', 'these characters are not a class', 0],
    ['[[:alpha:]]', 'these characters are not a class', 0],
    ['(a{1000}){1000}', 'it is too large', 15],
    ['a\\', 'this escape is not known', 1],
  ])('%s is refused: %s', (source, flaw, at) => {
    expect(parsePattern(source)).toEqual({ flaw, at })
  })
})
