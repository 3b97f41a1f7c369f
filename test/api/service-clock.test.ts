import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sentSeconds } from '../../src/api/service-clock.ts'
import { compareClocks, createServiceTime } from '../../src/api/service-time.ts'

test('the second of the sending by the clock of the service is within the bounds, whatever the clocks and delays', () => {
  const times = fc.record({
    sent: fc.integer({ min: 1e12, max: 2e12 }),
    skew: fc.integer({ min: -1e8, max: 1e8 }),
    until: fc.nat(1e5),
    onTheWay: fc.nat(1e4),
    back: fc.nat(1e4),
  })
  fc.assert(
    fc.property(times, ({ sent, skew, until, onTheWay, back }) => {
      const askedAt = sent + until
      const at = askedAt + onTheWay + back
      // The Date of a response has whole seconds.
      const date = Math.floor((askedAt + onTheWay + skew) / 1_000) * 1_000
      const { sentFrom, sentTo } = sentSeconds({ from: sent, to: sent }, { askedAt, at, date })
      const second = Math.floor((sent + skew) / 1_000)
      expect(sentFrom).toBeLessThanOrEqual(second)
      expect(sentTo).toBeGreaterThanOrEqual(second)
      expect((sentTo - sentFrom) * 1_000).toBeLessThan(onTheWay + back + 2_000)
    }),
  )
})

test('without a time of sending or a clock of the service every second is possible', () => {
  const every = { sentFrom: Number.NEGATIVE_INFINITY, sentTo: Number.POSITIVE_INFINITY }
  const reading = { askedAt: 1_000, at: 2_000 }
  expect(sentSeconds({ from: 0, to: 0 }, { ...reading, date: undefined })).toEqual(every)
  expect(sentSeconds(undefined, { ...reading, date: 1_000 })).toEqual(every)
})

// The request was sent at second 1000, and its response arrived at second 1010, by the clock of this machine.
test.each([
  [1005, 0, false],
  [1070, 60, false],
  [1071, 61, true],
  [940, -60, false],
  [939, -61, true],
])('a response of second %d: the service is %d seconds ahead', (date, difference, isFar) => {
  const [at, sentAt, receivedAt] = [date * 1_000, 1_000_000, 1_010_000]
  expect(compareClocks(at, sentAt, receivedAt)).toEqual({ difference: difference * 1_000, isFar })
  const time = createServiceTime({
    clock: { now: () => receivedAt, monotonic: () => 0, sleep: async () => {} },
  })
  time.observe(new Date(at).toUTCString(), sentAt)
  expect(time.difference()).toBe(isFar ? difference * 1_000 : 0)
})
