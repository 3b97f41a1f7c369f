import fc from 'fast-check'
import width from 'string-width'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { createAlternateScreen, drawFrame } from '../../src/output/frame.ts'
import { forTerminal } from '../../src/output/sanitize.ts'
import { truncateLine } from '../../src/output/text-width.ts'
import { columns, type Screen } from '../../src/output/view.ts'
import { anyCharacter } from '../support/any-character.ts'
import { noon } from '../support/harness.ts'

describe('a frame', () => {
  const page = (columns: number, rows: number) => ({
    columns,
    rows,
    color: true,
    now: noon,
    offset: 0,
  })
  const entryColumns = columns('position', 'prNumber', 'state', 'name')
  const shapeOf = (records: readonly JsonObject[], heading: readonly string[]): Screen => ({
    columns: entryColumns,
    rows: records,
    heading,
  })

  test('property: no line is wider than the terminal, and there are never more than it has rows', () => {
    const parts = [
      '漢字',
      '👩‍👩‍👧‍👦',
      'e\u0301',
      '\u001B[31m',
      '\u001B]0;x\u0007',
      '\u202e',
      '\t',
      'ﷺ',
      'a\u200d',
    ]
    const title = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom(...parts, '\n', 'x') }),
      fc.constant('x'.repeat(3_000)),
    )
    const record = fc.record({
      prNumber: fc.integer(),
      state: fc.constantFrom('TESTING', 'odd'),
      name: title,
      position: fc.nat(),
    })
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 10 }),
        fc.array(title, { maxLength: 3 }),
        fc.array(title, { maxLength: 4 }),
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 20 }),
        (records, heading, foot, most, rows, offset) => {
          const { lines } = drawFrame(shapeOf(records, heading), foot, { ...page(most, rows), offset })
          expect(lines.length).toBeLessThanOrEqual(rows)
          for (const line of lines) {
            expect(width(line)).toBeLessThan(Math.max(1, most))
            expect(line.replaceAll(/\u001B\[\d+m/g, '')).not.toMatch(/\p{Cc}/u)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  test.each([40, 48, 80, 120])('no part of a command is shown at %i columns', columns => {
    const command = 'mergeq queue resume --target-branch release/2.4'
    for (const label of ['', 'To resume it, run: ', 'If you manage the queue: ']) {
      const { lines } = drawFrame({ heading: [`${label}${command}`] }, [], {
        ...page(columns, 12),
        color: false,
      })
      const found = lines.filter(line => line.includes('mergeq'))
      expect(found.map(line => line.replace(label, '').trim())).toEqual(
        columns > command.length ? [command] : [],
      )
    }
  })

  const thirty = Array.from({ length: 30 }, (_, index) => ({ prNumber: index + 1, position: index + 1 }))
  const scrolled = (offset: number, view = shapeOf(thirty, ['head'])) =>
    drawFrame(view, ['', 'foot'], { ...page(60, 12), color: false, offset, scrollHint: 'j, k' })
  const numbers = (lines: readonly string[]) => lines.flatMap(line => /#(\d+)/.exec(line)?.slice(1) ?? [])

  test('rows that do not fit are counted and scrolled, below the heading and the titles', () => {
    const [top, middle, end] = [scrolled(0), scrolled(9), scrolled(99)]
    for (const { lines, pageSize } of [top, middle, end]) {
      expect({ count: lines.length, pageSize }).toEqual({ count: 12, pageSize: 7 })
      expect([lines[0], lines[1]?.trim().slice(0, 8)]).toEqual(['head', 'POSITION'])
      expect(lines.slice(-2)).toEqual(['', 'foot'])
    }
    expect(top.lines.at(-3)).toBe('23 more below (j, k)')
    expect(middle.lines.at(-3)).toBe('9 more above, 14 more below (j, k)')
    expect(end.lines.at(-3)).toBe('23 more above (j, k)')
    expect(numbers(middle.lines)).toEqual(['10', '11', '12', '13', '14', '15', '16'])
    expect(numbers(end.lines).at(-1)).toBe('30')
    expect(end.offset).toBe(23)
  })

  test('columns keep their places if their values become shorter or disappear', () => {
    const optional = columns('state', ['prAuthor', { priority: 1 }], 'prTitle')
    const draw = (row: JsonObject, minWidths: readonly number[]) =>
      drawFrame({ columns: optional, rows: [row] }, [], { ...page(90, 12), color: false, minWidths })
    const first = draw({ state: 'PENDING_FAILURE', prAuthor: 'barbara', prTitle: 'Title' }, [])
    const second = draw({ state: 'TESTING', prAuthor: null, prTitle: 'Title' }, first.widths ?? [])
    expect(first.lines).toEqual(['STATE              AUTHOR   TITLE', '! pending failure  barbara  Title'])
    expect(second.lines).toEqual(['STATE              AUTHOR   TITLE', '◐ testing          -        Title'])
  })

  test('a cut keeps the colours whole', () => {
    expect(truncateLine('\u001B[32m漢字漢字\u001B[39m end', 5)).toBe('\u001B[32m漢字…\u001B[39m')
    expect(truncateLine('\u001B[32mok\u001B[39m end', 20)).toBe('\u001B[32mok\u001B[39m end')
  })

  test('each is one write on the alternate screen; the end restores the normal screen, once', async () => {
    const writes: string[] = []
    const screen = createAlternateScreen({ write: async text => void writes.push(String(text)) })
    await screen.leave()
    await screen.draw(['a', 'b'])
    await screen.draw(['c'])
    await screen.leave()
    await screen.leave()
    await screen.draw(['d'])
    expect(writes).toEqual([
      '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[Ha\u001B[K\r\nb\u001B[K\u001B[J',
      '\u001B[?7l\u001B[Hc\u001B[K\u001B[J',
      '\u001B[?7h\u001B[?25h\u001B[?1049l',
      '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[Hd\u001B[K\u001B[J',
    ])
    expect(writes.map(forTerminal)).toEqual(writes)
  })
})
