import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { bodiesOf, where } from '../../support/queue-files.ts'

test('`queue create` creates the queue with one request, and says so on a terminal', async () => {
  const setting = { answer: () => ({ body: 'OK' }), terminal: true }
  const { code, out, err, requests } = await mergeq(`queue create ${where} --mode parallel`, setting)
  expect({ code, out, err }).toEqual({ code: 0, out: 'Created the queue for main of acme/web.\n', err: '' })
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  expect(requests).toHaveLength(1)
  expect(bodiesOf(requests, 'createQueue')).toEqual([{ repo, targetBranch: 'main', mode: 'parallel' }])
})
