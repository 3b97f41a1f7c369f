import { expect, test } from 'vitest'
import { getSubmittedPullRequests, numbersNotFound } from '../../src/api/operations/several-pull-requests.ts'
import type { JsonObject } from '../../src/base/json.ts'

const read = (document: JsonObject) => {
  const text = JSON.stringify(document)
  const bytes = new TextEncoder().encode(text)
  return getSubmittedPullRequests.decoder.read({ status: 200, headers: new Map(), bytes, text, document })
}

const records = [{ prNumber: 7, state: 'merged' }]

test.each<[string, JsonObject, readonly number[]]>([
  ['pullRequests and numbers', { pullRequests: records, notFound: [998] }, [998]],
  ['prs and objects', { prs: records, notFound: [{ number: 998 }] }, [998]],
  ['nobody who was never submitted', { notFound: [], warnings: [], data: records }, []],
])('several pull requests are read in each form that is likely: %s', (_, document, missing) => {
  const { records: found, envelope } = read(document)
  expect(found).toEqual([{ prNumber: 7, state: 'MERGED' }])
  expect(numbersNotFound(envelope)).toEqual(missing)
})

test('an answer without a list of pull requests says nothing', () => {
  for (const document of [{}, { pullRequests: [{}] }, { notFound: [7] }, { pullRequests: null }])
    expect(() => read(document)).toThrow('it has no list of pull requests')
})
