import { expect, test } from 'vitest'
import { compareClocks, createServiceTime } from '../../src/api/service-time.ts'

const second = 1_000

// The request was sent at second 1000, and its response arrived at second 1010, by the clock of this machine.
test.each([
  [1005, 0, false],
  [1070, 60, false],
  [1071, 61, true],
  [940, -60, false],
  [939, -61, true],
])('a response of second %d: the service is %d seconds ahead', (date, difference, isFar) => {
  const [at, sentAt, receivedAt] = [date * second, 1_000 * second, 1_010 * second]
  expect(compareClocks(at, sentAt, receivedAt)).toEqual({ difference: difference * second, isFar })
  const time = createServiceTime({
    clock: { now: () => receivedAt, monotonic: () => 0, sleep: async () => {} },
  })
  time.observe(new Date(at).toUTCString(), sentAt)
  expect(time.difference()).toBe(isFar ? difference * second : 0)
})
