import { expect, test } from 'vitest'
import { breakLongWords, wrapLines } from '../../src/output/text-width.ts'

test.each([
  ['a word', 10, 'a word'],
  ['exactly', 7, 'exactly'],
  ['/a/long/path is here', 5, '/a/lo\nng/pa\nth is here'],
  ['測試測試', 5, '測試\n測試'],
  ['👩‍👩‍👧x', 1, '👩‍👩‍👧\nx'],
])('breakLongWords(%j, %i)', (text, width, broken) => {
  expect(breakLongWords(text, width)).toBe(broken)
})

test.each([
  ['one two three', 7, 'one two\nthree'],
  ['  one two three', 7, '  one\n  two\n  three'],
  ['abcdefghij kl', 4, 'abcdefghij\nkl'],
  ['  To see it, run: mergeq pr get 7', 24, '  To see it, run:\n  mergeq pr get 7'],
  ['run: mergeq pr get 7 -R acme/web', 12, 'run:\nmergeq pr get 7 -R acme/web'],
  ['  \u001B[1mmergeq pr get 7\u001B[22m', 12, '\u001B[1m  mergeq pr get 7\u001B[22m'],
  ['a\n\nb', 3, 'a\n\nb'],
  [`  go on  ${'word '.repeat(6)}end`, 33, `  go on  word word word word word\n         word end`],
  [`✓ #7 ${'word '.repeat(6)}end`, 33, `✓ #7 word word word word word\n  word end`],
  [
    '\u001B[32m✓\u001B[39m #7 is a pull request that merged',
    30,
    '\u001B[32m✓\u001B[39m #7 is a pull request that\n  merged',
  ],
  // A word that does not fit beside the first text has the whole width.
  [`  page  https://example.com/a/long/path`, 32, `  page\n  https://example.com/a/long/path`],
  [`  page  some words`, 14, `  page  some\n  words`],
])('%j in %i columns', (text, columns, expected) => {
  expect(wrapLines(text, columns)).toBe(expected)
})
