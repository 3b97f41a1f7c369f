import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberText, type Sample } from '../../src/domain/metrics/exposition.ts'
import { isRead, parseSamples } from '../support/prometheus-text.ts'

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
const seriesText = ({ name, labels }: Sample) => {
  const pairs = Object.entries(labels).map(
    ([key, value]) => `${key}="${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  return `${name}{${pairs.join(', ')}}`
}
const plain = (samples: readonly Sample[]) => samples.map(one => ({ ...one, labels: { ...one.labels } }))

describe('read back', () => {
  test('any text in the format, with blank lines, comments, timestamps and either line ending', () => {
    const between = fc.constantFrom('', '\n', '# only a comment\n', ' \t \n', '\r\n')
    const stamp = fc.option(fc.maxSafeInteger(), { nil: undefined })
    const end = fc.constantFrom('\n', '\r\n')
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, between, stamp, end)), written => {
        const text = written
          .map(
            ([sample, before, stamp, end]) =>
              `${before}${seriesText(sample)} ${numberText(sample.value)}${stamp === undefined ? '' : ` ${stamp}`}${end}`,
          )
          .join('')
        expect(plain(parseSamples(text))).toEqual(
          written.map(([{ value, ...rest }]) => ({ ...rest, value: value === 0 ? 0 : value })),
        )
      }),
    )
  })

  test('any other text is read or rejected', () => {
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
