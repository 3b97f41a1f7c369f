import { describe, expect, test } from 'vitest'
import { elapsedSince } from '../../src/values/format.ts'

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
