import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

const where = '-R acme/web --org acme --retries 0'
const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
const junit = '<testsuite><testcase name="cart"><failure/></testcase></testsuite>'

const withoutList = [
  '{"error":"maintenance"}',
  '{}',
  '{"tests":null,"page":{}}',
  '{"tests":{},"page":{}}',
  '{"tests":[1,2],"page":{}}',
  '[]',
  'null',
  '12345678901234567890',
]

describe.each([
  `flaky list ${where}`,
  `flaky list ${where} --json`,
  `flaky list ${where} -o ndjson`,
  `flaky list ${where} --sort name`,
  `flaky gate ${where} --max 0`,
  `flaky gate ${where} --max 0 --on-unavailable pass`,
  `flaky report ${where}`,
  `flaky match ${where} junit.xml`,
])('%s', line => {
  test.each(withoutList)('a response without a list of tests is not an empty list: %s', async body => {
    const { code, out, err, requests } = await mergeq(line, {
      answer: () => ({ body }),
      files: { 'junit.xml': junit },
    })
    expect({ code, out, requests: requests.length }).toEqual({ code: 15, out: '', requests: 1 })
    expect(err).toMatch(/Invalid response from 127\.0\.0\.1:\d+: /)
  })
})

test('a later page without a list of tests leaves the list incomplete', async () => {
  const { code, out, err } = await mergeq(`flaky list ${where} --fields id`, {
    answer: (_, index) => ({
      body: index === 0 ? '{"tests":[{"id":"a"}],"page":{"next_page_token":"2"}}' : '{"message":"busy"}',
    }),
  })
  expect({ code, out }).toEqual({ code: 17, out: 'a\n' })
  expect(err).toContain('it has no list of tests. The list is incomplete.')
})

test.each(['', '--json', '-o ndjson', '-o csv'])(
  'flaky get %s refuses an answer without a test',
  async format => {
    for (const body of [
      '{"error":"maintenance"}',
      '{}',
      '{"test":null}',
      '{"test":[]}',
      '{"tests":null}',
      '12345678901234567890',
    ]) {
      const { code, out, err } = await mergeq(`flaky get ${id} ${where} ${format}`, {
        answer: () => ({ body }),
      })
      expect({ body, code, out }).toEqual({ body, code: 15, out: '' })
      expect(err).toMatch(/Invalid response from 127\.0\.0\.1:\d+: /)
    }
  },
)
