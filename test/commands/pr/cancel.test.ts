import { expect, test } from 'vitest'
import { mergeq } from '../../support/harness.ts'

// What it sends and says of one and of several: test/every-command, test/golden/screens/pr-cancel.txt.
test('a question about nothing is not asked', async () => {
  const states: Readonly<Record<number, string>> = { 12: 'failed', 13: 'merged', 14: 'cancelled' }
  const { code, err, requests } = await mergeq('pr cancel 12 13 14 15 -R acme/web -b main', {
    terminal: true,
    inputTerminal: true,
    columns: 120,
    answer: ({ body }) => {
      const { number } = JSON.parse(body).pr
      const state = states[number]
      return state === undefined
        ? { status: 404 }
        : { body: JSON.stringify({ prNumber: number, state, isCurrentlySubmittedToQueue: false }) }
    },
  })
  expect({ code, err }).toEqual({
    code: 5,
    err: expect.stringMatching(
      /Nothing to cancel: #12 failed, #13 merged, #14 was cancelled, #15 is not in the queue\.\n$/,
    ),
  })
  expect(requests.some(({ path }) => path.endsWith('cancelPullRequest'))).toBe(false)
})
