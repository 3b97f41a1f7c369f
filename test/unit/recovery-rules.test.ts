import { expect, test } from 'vitest'
import { inspectSubmit } from '../../src/api/recovery.ts'

const record = {
  state: 'NOT_READY',
  stateChangedAt: '2026-01-05T12:00:01.000Z',
  isCurrentlySubmittedToQueue: true,
}
const sentAt = Date.parse('2026-01-05T12:00:00.000Z') / 1_000

test('a submission that is dated after the change counts at once', () => {
  expect(inspectSubmit({ record, sent: {}, sentFrom: sentAt, sentTo: sentAt })).toBe('done')
})

test.each([
  ['dated before the change', { sentFrom: sentAt + 60, sentTo: sentAt + 60 }],
  ['of a service without a clock', { sentFrom: Number.NEGATIVE_INFINITY, sentTo: Number.POSITIVE_INFINITY }],
])('a submission %s must be seen several times, because it may have ended since', (_, times) => {
  expect(inspectSubmit({ record, sent: {}, ...times })).toBe('seems-done')
})
