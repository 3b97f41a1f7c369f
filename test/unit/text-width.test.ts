import { expect, test } from 'vitest'
import { breakLongWords } from '../../src/output/text-width.ts'

test.each([
  ['a word', 10, 'a word'],
  ['exactly', 7, 'exactly'],
  ['/a/long/path is here', 5, '/a/lo\nng/pa\nth is here'],
  ['測試測試', 5, '測試\n測試'],
  ['👩‍👩‍👧x', 1, '👩‍👩‍👧\nx'],
])('breakLongWords(%j, %i)', (text, width, broken) => {
  expect(breakLongWords(text, width)).toBe(broken)
})
