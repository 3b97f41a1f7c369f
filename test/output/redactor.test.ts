import { expect, test } from 'vitest'
import { createRedactor } from '../../src/output/redactor.ts'
import { forTerminal, sanitizeLine } from '../../src/output/sanitize.ts'
import { piecesIn, token } from '../support/hostile-texts.ts'

const redactor = createRedactor()
redactor.hide(token)

const hex = (character: string) => character.charCodeAt(0).toString(16)
test.each([
  ['with every character as \\u00..', [...token].map(one => `\\u00${hex(one)}`).join('')],
  ['the same in capitals', [...token].map(one => `\\u00${hex(one).toUpperCase()}`).join('')],
  ['with `&` and `=` as \\u..', token.replaceAll('&', '\\u0026').replaceAll('=', '\\u003d')],
  ['with `&` and `+` as \\u.. in capitals', token.replaceAll('&', '\\u0026').replaceAll('+', '\\u002B')],
  ['percent-encoded with every character', [...token].map(one => `%${hex(one).toUpperCase()}`).join('')],
])('a token is redacted that is written %s', (_, spelled) => {
  const text = redactor.redact(`{"see ${spelled} there":1}`)
  expect(piecesIn(text)).toEqual([])
  expect(text).toMatch(/^\{"see .*\[REDACTED\].* there":1\}$/)
})

test('bytes beside a token stay as they were, also if they are no UTF-8', () => {
  const around = (secret: string) => Buffer.concat([Buffer.from(`é ${secret} `), Buffer.of(0xff)])
  expect(redactor.redactBytes(around(token))).toEqual(around('[REDACTED]'))
})

test('a text that is too long for a token is not searched for, and every token is', () => {
  const many = createRedactor()
  const tokens = ['x', '/', '\u20AC', '\u201C'].map(character => character.repeat(4_096))
  for (const secret of [...tokens, 'y'.repeat(4_097)]) many.hide(secret)
  expect(many.redact(`${tokens.join(' ')} ${'y'.repeat(4_097)}`)).toBe(
    `${tokens.map(() => '[REDACTED]').join(' ')} ${'y'.repeat(4_097)}`,
  )
})

test.each(['\\\\', '\\\\\\\\', '\\n', '\\"', '\\\\\\"'])('JSON stays valid after %s', before => {
  const { title } = JSON.parse(redactor.redact(`{"title":"${before}${token}\\\\"}`))
  expect(title).toMatch(/\[REDACTED\]\\$/)
})

test.each([
  '\\',
  '%25',
  '&amp;',
  token.slice(0, -1),
  `t${'\u200B'.repeat(40)}`,
  't\u001B]',
  't\u009D',
  '\\u200b',
  // Control strings and sequences that do not end, or almost.
  '\u0090',
  `${'\u0090'.repeat(1_000)}\u001Bx`,
  '\u009B0',
])('a megabyte of %j is searched in time that is proportional to it', piece => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
  const began = performance.now()
  redactor.redact(text)
  sanitizeLine(text)
  forTerminal(text)
  expect(performance.now() - began).toBeLessThan(10_000)
})
