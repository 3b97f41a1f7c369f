import fc from 'fast-check'
import width from 'string-width'
import { describe, expect, test } from 'vitest'
import {
  departedEntries,
  departureChange,
  describeChange,
  type QueueChange,
  queueChanges,
  snapshotOf,
} from '../../src/domain/queue-changes.ts'
import type { JsonObject } from '../../src/json.ts'
import { createLiveBlock } from '../../src/output/live-block.ts'
import { drawFrame } from '../../src/output/table.ts'
import { truncateLine } from '../../src/output/text-width.ts'
import { table, type View } from '../../src/output/view.ts'
import { noon } from '../support/harness.ts'
import { entry, queue } from '../support/queue-watch.ts'

const now = '2026-01-05T12:00:00.000Z'

describe('what changed between two looks', () => {
  const rows: readonly (readonly [
    string,
    JsonObject,
    JsonObject,
    readonly QueueChange[],
    readonly number[],
  ])[] = [
    ['nothing', queue('RUNNING', entry(7, 'TESTING')), queue('running', entry(7, 'testing')), [], []],
    [
      'a place alone is no change',
      queue('RUNNING', entry(7, 'TESTING'), entry(8, 'PENDING')),
      queue('RUNNING', entry(8, 'PENDING'), entry(7, 'TESTING')),
      [],
      [],
    ],
    [
      'a state, at the moment that the service tells',
      queue('RUNNING', entry(7, 'PENDING')),
      queue('RUNNING', entry(7, 'TESTING', { stateChangedAt: '2026-01-05T11:59:58Z' })),
      [{ pr: 7, from: 'PENDING', to: 'TESTING', at: '2026-01-05T11:59:58Z', position: 1 }],
      [],
    ],
    [
      'one more, its moment unreadable',
      queue('RUNNING'),
      queue('RUNNING', entry(7, 'PENDING', { stateChangedAt: 'yesterday' })),
      [{ pr: 7, from: null, to: 'PENDING', at: now, position: 1 }],
      [],
    ],
    [
      'one that comes back from NOT_READY',
      queue('RUNNING'),
      queue('RUNNING', entry(5, 'PENDING')),
      [{ pr: 5, from: 'NOT_READY', to: 'PENDING', at: now, position: 1 }],
      [],
    ],
    ['one less', queue('RUNNING', entry(7, 'TESTING')), queue('RUNNING'), [], [7]],
    [
      'the queue itself',
      queue('RUNNING'),
      queue('PAUSED'),
      [{ pr: null, from: 'RUNNING', to: 'PAUSED', at: now, position: null }],
      [],
    ],
    [
      'nothing that can be read',
      { enqueuedPullRequests: [null, { prNumber: null }, { prNumber: '7' }] },
      { state: null, enqueuedPullRequests: null },
      [],
      [],
    ],
  ]
  test.each(rows)('%s', (_, one, two, changes, gone) => {
    const [before, after] = [snapshotOf(one), snapshotOf(two)]
    expect(queueChanges(before, after, new Map([[5, 'NOT_READY']]), noon)).toEqual(changes)
    expect(departedEntries(before, after).map(({ pr }) => pr)).toEqual(gone)
  })

  test.each([
    ['merged', { state: 'merged', stateChangedAt: now }, 'MERGED'],
    ['not ready any more', { state: 'NOT_READY' }, 'NOT_READY'],
    ['not shown yet', { state: 'TESTING' }, null],
    ['not to be read', undefined, null],
    ['in a state that nobody knows', { state: 'Hovering' }, 'Hovering'],
  ] as const)('how one left: %s', (_, record, to) => {
    const [left] = snapshotOf(queue('RUNNING', entry(7, 'TESTING'))).entries.values()
    if (left === undefined) throw new Error('it is not there')
    expect(departureChange(left, record, noon)).toEqual({
      pr: 7,
      from: 'TESTING',
      to,
      at: now,
      position: null,
    })
  })

  test('in words', () => {
    const change = { pr: 7, from: 'TESTING', to: null, at: now, position: null }
    expect(describeChange(change)).toBe('#7 TESTING -> left the queue')
    expect(describeChange({ ...change, from: null, to: 'PENDING', position: 2 })).toBe(
      '#7 PENDING, position 2',
    )
    expect(describeChange({ ...change, pr: null, from: 'RUNNING', to: 'PAUSED' })).toBe(
      'The queue: RUNNING -> PAUSED',
    )
  })
})

describe('the block', () => {
  const page = (columns: number, rows: number) => ({ columns, rows, color: true, now: noon })
  const columns = [
    ['POSITION', 'position', 'number'],
    ['PR', 'prNumber', 'pr'],
    ['STATE', 'state', 'state'],
    ['TITLE', 'title'],
  ] as const
  const shapeOf = (records: readonly JsonObject[], heading: readonly string[]): View => ({
    ...table(records, columns),
    heading,
  })

  test('property: no line is wider than the terminal, and there are never more than it has rows', () => {
    const part = fc.constantFrom(
      '漢字',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      'e\u0301',
      '\u001B[31m',
      '\u001B]0;x\u0007',
      '\u202e',
      '\t',
      '\n',
      '１',
      '🧑🏽‍💻',
      'ﷺ',
      'a\u200d',
    )
    const title = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.oneof(part, fc.string()), { maxLength: 20 }).map(parts => parts.join('')),
      fc.integer({ min: 0, max: 100_000 }).map(length => 'x'.repeat(length)),
    )
    const record = fc.record({
      prNumber: fc.integer(),
      state: fc.constantFrom('TESTING', 'odd'),
      title,
      position: fc.nat(),
    })
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 30 }),
        fc.array(title, { maxLength: 3 }),
        fc.array(title, { maxLength: 4 }),
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 1, max: 40 }),
        (records, heading, foot, most, rows) => {
          const lines = drawFrame(shapeOf(records, heading), foot, page(most, rows))
          expect(lines.length).toBeLessThanOrEqual(Math.max(0, rows - 1))
          for (const line of lines) {
            expect(width(line)).toBeLessThan(Math.max(1, most))
            expect(line.replaceAll(/\u001B\[\d+m/g, '')).not.toMatch(/\p{Cc}/u)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('rows that do not fit are counted', () => {
    const records = Array.from({ length: 30 }, (_, index) => ({ prNumber: index, position: index + 1 }))
    const lines = drawFrame(shapeOf(records, ['head']), ['', 'foot'], { ...page(60, 12), color: false })
    expect(lines).toHaveLength(11)
    expect(lines.slice(-3)).toEqual(['… and 24 more', '', 'foot'])
  })

  test('a cut keeps the colours whole', () => {
    expect(truncateLine('\u001B[32m漢字漢字\u001B[39m end', 5)).toBe('\u001B[32m漢字…\u001B[39m')
    expect(truncateLine('\u001B[32mok\u001B[39m end', 20)).toBe('\u001B[32mok\u001B[39m end')
  })

  test('each drawing is one write, over the lines that are there: those that a narrower one broke, and a lower one scrolled away', async () => {
    const writes: string[] = []
    const block = await createLiveBlock({ write: async text => void writes.push(String(text)) })
    await block.draw(['a'.repeat(70), 'b'], { columns: 80, rows: 24 })
    await block.draw(['c', 'd', 'e'], { columns: 40, rows: 24 })
    await block.draw(['f'], { columns: 40, rows: 3 })
    await block.draw(['g'], { columns: 40, rows: 20 })
    await block.close()
    await block.close()
    expect(writes).toEqual([
      `\u001B[?25l\r\u001B[?7l${'a'.repeat(70)}\u001B[K\r\nb\u001B[K\r\n\u001B[J\u001B[?7h`,
      '\u001B[3A\r\u001B[?7lc\u001B[K\r\nd\u001B[K\r\ne\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[2A\r\u001B[?7lf\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[2A\r\u001B[?7lg\u001B[K\r\n\u001B[J\u001B[?7h',
      '\u001B[?25h',
    ])
  })
})
