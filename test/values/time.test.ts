import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { elapsedSince } from '../../src/values/format.ts'
import { describeInWords, parseTimeRange, windows } from '../../src/values/time-range.ts'

test('the windows of a range cover it without gaps or overlaps, each at most 168 hours', () => {
  // Whole seconds, up to 100 days apart.
  const [from, length] = [fc.nat(2_000_000_000), fc.integer({ min: 1, max: 100 * 86_400 })]
  fc.assert(
    fc.property(from, length, (from, length) => {
      const [start, end] = [from * 1_000, (from + length) * 1_000]
      const cut = windows({ start, end })
      expect([cut[0]?.end, cut.at(-1)?.start]).toEqual([end, start])
      for (const [index, window] of cut.entries()) {
        const hours = (window.end - window.start) / 3_600_000
        expect(hours > 0 && hours <= 168).toBe(true)
        expect(cut[index + 1]?.end ?? start).toBe(window.start)
      }
    }),
  )
})

test.each([
  ['today', 0],
  ['Yesterday', 1],
  ['monday', 0],
  ['tuesday', 6],
])('%s begins at midnight in the time zone of the machine, which is said', (since, daysAgo) => {
  // A Monday in every time zone.
  const range = parseTimeRange(since, undefined, new Date(2026, 0, 5, 12).getTime(), name => name)
  expect(range.start).toBe(new Date(2026, 0, 5 - daysAgo).getTime())
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  expect(describeInWords(range, true, since)).toBe(`since ${since.toLowerCase()}, 00:00 ${timeZone}`)
})

const now = Date.UTC(2026, 0, 5, 12, 0, 10)

describe('the time since a date of the service', () => {
  test.each([
    ['2026-01-05T12:00:00Z', 10_000],
    ['2026-01-05T12:00:00.250z', 9_750],
    ['2026-01-05T14:00:00+02:00', 10_000],
    ['2026-01-05T07:30:00-0430', 10_000],
    ['2026-01-05T12:00:10.999Z', 0],
  ])('of %s is %i ms', (date, expected) => {
    expect(elapsedSince(date, now)).toBe(expected)
  })

  test.each([
    ['missing', undefined],
    ['without a time zone', '2026-01-05T12:00:00'],
    ['a second ahead', '2026-01-05T12:00:11Z'],
    ['of no calendar', '2026-13-05T12:00:00Z'],
    ['not a date', 'soon'],
  ])('is unknown for a date that is %s', (_, date) => {
    expect(elapsedSince(date, now)).toBeUndefined()
  })
})
