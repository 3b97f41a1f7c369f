import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

test('the tour runs from a new queue to a merge, failing tests and metrics', async () => {
  const { code, out } = await mergeq('sandbox tour')
  expect(code).toBe(0)
  for (const said of ['Created the queue for release', 'MERGED', 'mq_pr_conclusions_1h_total', '@acme/'])
    expect(out).toContain(said)
})
