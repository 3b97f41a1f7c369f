import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const declarations = readdirSync('dist', { recursive: true, encoding: 'utf8' })
  .filter(name => /\.d\.[cm]?ts$/.test(name))
  .map(name => ({ name, text: readFileSync(`dist/${name}`, 'utf8') }))

test('type declarations are shipped', () => {
  expect(declarations).not.toEqual([])
})

test.each(declarations)('$name cites only what ships', ({ text }) => {
  expect(text).not.toMatch(/\bdocs\//)
  const files = [...text.matchAll(/[\w./-]+\.md\b/g)].map(([file]) => file)
  expect(files.filter(file => !['README.md', 'CHANGELOG.md'].includes(file))).toEqual([])
})
