import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  anyField,
  pullRequestFields,
  quarantinedTestFields,
  queueFields,
  sampleFields,
  testDocumentFields,
  testFields,
  testListFields,
  testRunFields,
} from '../../src/api/operations/service-fields.ts'

const types = readFileSync(new URL('../../src/library/types.ts', import.meta.url), 'utf8')

/** Returns the dotted names of the fields of a type of the library, and of the types in it. */
function fieldsOf(typeName: string): readonly string[] {
  const [, parent, body = ''] =
    new RegExp(`^export interface ${typeName}(?: extends (\\w+))? \\{\\n(.*?)^\\}`, 'ms').exec(types) ?? []
  const own = [...body.matchAll(/^ {2}readonly (\w+)\??:((?:.|\n {4})*)/gm)].flatMap(
    ([, name = '', type = '']) => {
      const inner = type.replace(/\bJsonObject &/g, '')
      const field = [...inner.matchAll(/readonly (\w+)\?:/g)].map(([, inside]) => inside ?? '')[0]
      const named = [...inner.matchAll(/\b[A-Z]\w+/g)].map(([word]) => word)
      const isOpen = /\bJson(Object)?\b|\[label: string\]/.test(inner)
      const nested = isOpen
        ? [anyField.slice(1)]
        : named.filter(word => types.includes(`export interface ${word} `)).flatMap(fieldsOf)
      const below = field === undefined ? nested : [field, ...nested.map(name => `${field}.${name}`)]
      return [name, ...below.map(child => `${name}.${child}`)]
    },
  )
  return [...new Set([...(parent === undefined || parent === 'JsonObject' ? [] : fieldsOf(parent)), ...own])]
}

test.each([
  ['PullRequest', pullRequestFields],
  ['Queue', queueFields],
  ['TestRun', testRunFields],
  ['TestCase', testFields],
  ['QuarantinedTest', quarantinedTestFields],
  ['TestDetails', testDocumentFields],
])('the names for --fields are the fields of %s in the types of the library', (type, names) => {
  expect([...names].sort()).toEqual([...fieldsOf(type)].sort())
})

test('a sample has the type of its metric too', () => {
  expect([...sampleFields].sort()).toEqual([...fieldsOf('Sample'), 'type'].sort())
})

test('a list of tests has the fields of its tests, and a page', () => {
  expect([...testListFields].sort()).toEqual(
    ['tests', ...testFields.map(name => `tests.${name}`), 'page', `page${anyField}`].sort(),
  )
})
