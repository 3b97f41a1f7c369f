import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

test('the tour runs from a new queue to a merge, failing tests and metrics', async () => {
  const { code, out } = await mergeq('sandbox tour')
  expect(code).toBe(0)
  for (const said of ['Created the queue for release', 'MERGED', 'mq_pr_conclusions_1h_total', '@acme/'])
    expect(out).toContain(said)
})

test.each(['1', '8', '1000'])('at --speed %s the tour shows a full queue', async speed => {
  const { out } = await mergeq(`sandbox tour --speed ${speed}`)
  const [, shown = ''] = /\$ mergeq queue get.*\n([\s\S]*?)\n\n/.exec(out) ?? []
  expect(shown.split('\n').map(row => row.split('\t').slice(0, 3))).toEqual([
    ['1', '97', 'TESTING'],
    ['2', '98', 'PENDING'],
    ['3', '99', 'PENDING'],
  ])
})
