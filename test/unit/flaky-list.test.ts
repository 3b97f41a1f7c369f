import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PageCursor } from '../../src/api/pages.ts'
import { windows } from '../../src/domain/time-range.ts'
import { parseMoment } from '../../src/domain/values/time.ts'
import { day } from '../support/flaky-list.ts'
import { noon } from '../support/harness.ts'

describe('windows of a range', () => {
  /** The offset of a zone at an instant, as RFC 3339 writes it. */
  const offsetOf = (zone: string, time: number): string => {
    const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(
      time,
    )
    const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
    return name === 'GMT' ? '+00:00' : name.replace('GMT', '').slice(0, 6)
  }
  const spelledIn = (zone: string, time: number): string => {
    const offset = offsetOf(zone, time)
    const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
    const shift = (hours * 60 + minutes) * 60_000 * (offset.startsWith('-') ? -1 : 1)
    return new Date(time + shift).toISOString().replace('Z', offset)
  }
  const zone = fc.constantFrom(
    'UTC',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Kiritimati',
    'Pacific/Chatham',
    'Africa/Casablanca',
  )
  // Whole seconds: far apart, about a week, or around the change of a clock.
  const times = fc.tuple(
    fc.integer({ min: 0, max: 2_000_000_000 }),
    fc.integer({ min: 1, max: 100 * 86_400 }),
  )

  test('in any time zone they cover the range without gaps or overlaps, each at most 168 hours', () => {
    fc.assert(
      fc.property(zone, times, (zone, [from, length]) => {
        const [start, end] = [from * 1_000, (from + length) * 1_000]
        const read = {
          start: parseMoment(spelledIn(zone, start), 0),
          end: parseMoment(spelledIn(zone, end), 0),
        }
        expect(read).toEqual({ start, end })
        const cut = windows(read)
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
    ['the clock that goes forward', '2026-03-01T12:00:00-05:00', '2026-03-08T12:00:00-04:00', 1, 167],
    ['the clock that goes back', '2026-10-25T12:00:00-04:00', '2026-11-01T12:00:00-05:00', 2, 168],
  ])('seven days by the wall across %s', (_, start, end, number, hours) => {
    const cut = windows({ start: parseMoment(start, 0), end: parseMoment(end, 0) })
    expect(cut).toHaveLength(number)
    expect(((cut[0]?.end ?? 0) - (cut[0]?.start ?? 0)) / 3_600_000).toBe(hours)
  })
})

describe('the order of windows and pages', () => {
  const range = { start: noon - 20 * day, end: noon }

  test('each window begins without a token, and ends at a page without one', () => {
    const steps = new PageCursor(windows(range), { maxPages: 100, noun: 'test' })
    const seen: string[] = []
    for (let step = steps.next(); step !== undefined; step = steps.next()) {
      seen.push(`${(noon - step.segment.end) / day}-${(noon - step.segment.start) / day} ${step.token}`)
      steps.advance(step.token === '' ? 'p2' : '', true)
    }
    expect(seen).toEqual(['0-7 ', '0-7 p2', '7-14 ', '7-14 p2', '14-20 ', '14-20 p2'])
    expect({ over: steps.isOver, pages: steps.pages, trouble: steps.problem }).toEqual({
      over: true,
      pages: 6,
      trouble: undefined,
    })
  })

  test('any chain of page tokens ends: at its end, or at the first repeated token', () => {
    const chain = fc.array(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 30 })
    fc.assert(
      fc.property(chain, tokens => {
        const steps = new PageCursor(windows({ start: noon - day, end: noon }), {
          maxPages: 1_000,
          noun: 'test',
        })
        const asked: string[] = []
        for (let step = steps.next(); step !== undefined; step = steps.next()) {
          asked.push(step.token)
          steps.advance(tokens[asked.length - 1] ?? '', true)
        }
        expect(new Set(asked).size).toBe(asked.length)
        expect(steps.isOver).toBe(steps.problem === undefined)
      }),
    )
  })

  test('endless empty pages stop the list; as many pages of another window do not', () => {
    const steps = new PageCursor(windows(range), { maxPages: 10_000, noun: 'test' })
    let pages = 0
    for (; steps.next() !== undefined; pages++) steps.advance(`p${pages}`, false)
    expect([pages, steps.problem]).toEqual([100, '100 pages in a row contained no new tests'])
  })
})
