import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sentSeconds } from '../../src/api/service-clock.ts'

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
