import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'
import { namesOf, queueThat, where } from '../../support/queue-files.ts'

test('`queue drain` reads the queue only on a terminal, and says there what becomes of its pull requests', async () => {
  const drain = (terminal: boolean) =>
    mergeq(`queue drain ${where}`, { answer: queueThat(), terminal, columns: 120 })
  const { requests, ...shown } = await drain(true)
  const out = 'Draining main of acme/web: no pull requests are queued.\n'
  expect(shown).toMatchObject({ code: 0, out, err: '' })
  expect(namesOf(requests)).toEqual(['getQueue', 'updateQueue'])
  expect(namesOf((await drain(false)).requests)).toEqual(['updateQueue'])
})
