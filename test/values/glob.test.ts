import fc from 'fast-check'
import { expect, test } from 'vitest'
import { globMatcher } from '../../src/values/glob.ts'
import { glob } from '../../src/values/types.ts'

/** A glob as a regular expression. */
const expressionOf = (glob: string, isPath: boolean) =>
  new RegExp(
    `^${glob.replace(/\*\*\/?|\*|\?/g, piece =>
      piece.startsWith('**') ? '[^]*' : `${isPath ? '[^/]' : '[^]'}${piece === '*' ? '*' : ''}`,
    )}$`,
  )

test('a glob matches what its regular expression matches', () => {
  const text = (unit: readonly string[]) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 8 })
  fc.assert(
    fc.property(
      text(['a', 'b', '/', '*', '?', '**']),
      text(['a', 'b', '/']),
      fc.boolean(),
      (glob, name, isPath) => {
        expect(globMatcher(glob, isPath).test(name)).toBe(expressionOf(glob, isPath).test(name))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('a glob with many stars takes time that is proportional to the text', () => {
  const began = performance.now()
  expect(globMatcher(`${'*a'.repeat(100)}b`, false).test('a'.repeat(4_096))).toBe(false)
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('a glob has at most 500 characters', () => {
  expect(() => glob(false).parse('*'.repeat(500))).not.toThrow()
  expect(() => glob(false).parse('*'.repeat(501))).toThrow('The pattern is longer than 500 characters.')
})
