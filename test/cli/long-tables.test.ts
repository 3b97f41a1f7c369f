import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

describe('an answer with very many records', () => {
  const many = Array.from({ length: 140_000 }, (_, index) => ({ id: `t${index}`, quarantined: true }))
  const answer = () => ({ body: JSON.stringify({ tests: many, page: { next_page_token: '' } }) })
  const where = '-R acme/web --org acme --retries 0'

  test.each([
    'flaky list --sort name --fields id',
    'flaky report --limit 1',
    'flaky report --format github',
    'flaky gate --max 1000000',
  ])('%s reads it to its end', { timeout: 60_000 }, async line => {
    const { code, err } = await mergeq(`${line} ${where}`, { answer })
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('140,000 tests failed') })
  })
})
