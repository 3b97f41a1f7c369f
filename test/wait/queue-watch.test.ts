import fc from 'fast-check'
import width from 'string-width'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { addDepartures, departureLines, scrollWith } from '../../src/commands/queue/watch/live.ts'
import { describeQueueChange } from '../../src/commands/queue/watch/stream.ts'
import { createAlternateScreen, drawFrame } from '../../src/output/frame.ts'
import { forTerminal } from '../../src/output/sanitize.ts'
import { plainText } from '../../src/output/styled-text.ts'
import { truncateLine } from '../../src/output/text-width.ts'
import { columns, type Screen } from '../../src/output/view.ts'
import {
  departedEntries,
  departureChange,
  type QueueChange,
  queueChanges,
  snapshotOf,
} from '../../src/wait/queue-changes.ts'
import { anyCharacter } from '../support/any-character.ts'
import { noon } from '../support/harness.ts'
import { entry, queue } from '../support/queue-watch.ts'

const now = '2026-01-05T12:00:00.000Z'

describe('the changes between two reads', () => {
  /** The queue of a text: its state, and each pull request with its own. */
  const read = (text: string) => {
    const [state = '', ...entries] = text.split(' ')
    return queue(state, ...entries.map(one => entry(Number.parseInt(one, 10), one.replace(/^\d+:/, ''))))
  }
  const changesOf = (one: JsonObject, two: JsonObject) => {
    const [before, after] = [snapshotOf(one), snapshotOf(two)]
    const gone = departedEntries(before, after).map(({ pr }) => pr)
    return { changes: queueChanges(before, after, new Map([[5, 'NOT_READY']]), noon), gone }
  }

  test.each<readonly [string, string, readonly string[], readonly number[]]>([
    ['RUNNING 7:TESTING', 'running 7:testing', [], []],
    // A place alone is no change.
    ['RUNNING 7:TESTING 8:PENDING', 'RUNNING 8:PENDING 7:TESTING', [], []],
    ['RUNNING 7:PENDING', 'RUNNING 7:TESTING', ['#7 PENDING -> TESTING, position 1'], []],
    ['RUNNING', 'RUNNING 7:PENDING', ['#7 PENDING, position 1'], []],
    // It was NOT_READY when it left.
    ['RUNNING', 'RUNNING 5:PENDING', ['#5 NOT_READY -> PENDING, position 1'], []],
    ['RUNNING 7:TESTING', 'RUNNING', [], [7]],
    ['RUNNING', 'PAUSED', ['The queue: RUNNING -> PAUSED'], []],
  ])('from %s to %s are %j, and %j left', (one, two, described, gone) => {
    const found = changesOf(read(one), read(two))
    expect({ changes: found.changes.map(describeQueueChange), gone: found.gone }).toEqual({
      changes: described,
      gone,
    })
  })

  test.each([
    ['2026-01-05T11:59:58Z', '2026-01-05T11:59:58Z'],
    ['yesterday', now],
  ])('one at %s is one at %s', (stateChangedAt, at) => {
    const { changes } = changesOf(read('RUNNING'), queue('RUNNING', entry(7, 'PENDING', { stateChangedAt })))
    expect(changes).toEqual([{ pr: 7, from: null, to: 'PENDING', at, position: 1 }])
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
      ...(to === 'MERGED' && {
        reason: null,
        serviceReason: null,
        by: null,
        actor: null,
        again: 'done',
        mayBeMerged: false,
      }),
    })
  })

  test('in words', () => {
    const change = { pr: 7, from: 'TESTING', to: null, at: now, position: null }
    expect(describeQueueChange(change)).toBe('#7 TESTING -> left the queue')
    expect(describeQueueChange({ ...change, position: 2 })).toBe('#7 TESTING -> unknown state, position 2')
    expect(describeQueueChange({ ...change, pr: null, from: 'RUNNING' })).toBe(
      'The queue: RUNNING -> unknown state',
    )
  })
})

describe('a frame', () => {
  const page = (columns: number, rows: number) => ({
    columns,
    rows,
    color: true,
    now: noon,
    offset: 0,
  })
  const entryColumns = columns('position', 'prNumber', 'state', 'title')
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
      title,
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
    const optional = columns('state', ['author', { priority: 1 }], ['title', { format: 'text' }])
    const draw = (row: JsonObject, minWidths: readonly number[]) =>
      drawFrame({ columns: optional, rows: [row] }, [], { ...page(90, 12), color: false, minWidths })
    const first = draw({ state: 'PENDING_FAILURE', author: 'barbara', title: 'Title' }, [])
    const second = draw({ state: 'TESTING', author: null, title: 'Title' }, first.widths ?? [])
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

test.each([
  ['j', 6],
  ['\u001B[B', 6],
  ['k', 4],
  ['\u001BOA', 4],
  [' ', 15],
  ['\u001B[6~', 15],
  ['\u001B[5~', 0],
  ['x', 5],
])('the key %j scrolls from 5 to %s', (key, expected) => {
  expect(scrollWith(key, 5, 10)).toBe(expected)
})

describe('the screen of a queue', () => {
  const repo = { host: 'github.com', owner: 'acme', name: 'web' }
  const left = (pr: number, to: string | null, minutes: number): QueueChange => ({
    pr,
    from: 'TESTING',
    to,
    at: new Date(noon - minutes * 60_000).toISOString(),
    position: null,
  })
  const screenOf = (...updates: readonly (readonly QueueChange[])[]) => {
    const departures = updates.reduce(
      (earlier, changes) => addDepartures(earlier, changes, noon),
      addDepartures([], [], noon),
    )
    return (columns: number, rows = 1) =>
      departureLines(departures, { repo, targetBranch: 'main' }, noon, { columns, rows })
        .map(plainText)
        .join('\n')
  }
  const testing = { ...left(5, 'TESTING', 0), from: 'PENDING', position: 1 }
  const paused = { ...left(1, 'PAUSED', 0), pr: null }

  test('names the pull requests that left, newest first, and counts the others', () => {
    const foot = screenOf(
      [left(2, 'MERGED', 5)],
      [left(3, 'MERGED', 3), testing, paused],
      [left(4, 'FAILED', 2)],
    )
    expect(foot(90)).toBe('Left the queue  ✗ #4 failed 2m ago   ✓ #3 merged 3m ago   ✓ #2 merged 5m ago')
    expect(foot(20)).toBe('Left the queue  ✗ #4 failed 2m ago   2 others are not shown')
    expect(foot(40, 3)).toBe('Left the queue  ✗ #4 failed 2m ago\n  ✓ #3 merged 3m ago\n  ✓ #2 merged 5m ago')
  })

  test('names those whose state is unknown, or that are not ready', () => {
    expect(screenOf([left(2, null, 1), left(3, 'NOT_READY', 2), left(6, 'Hovering', 3)])(90)).toBe(
      'Left the queue  #2 left 1m ago   ○ #3 not ready 2m ago   #6 Hovering 3m ago',
    )
  })

  test.each(['2026-01-05T11:00:00', '2026-01-05T13:00:00Z'])(
    'counts from the reading if it left at %s',
    at => {
      expect(screenOf([{ ...left(2, 'MERGED', 0), at }])(80)).toBe('Left the queue  ✓ #2 merged just now')
    },
  )
})
