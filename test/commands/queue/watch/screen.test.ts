import { describe, expect, test } from 'vitest'
import { addDepartures, departureLines, scrollWith } from '../../../../src/commands/queue/watch/live.ts'
import { describeQueueChange } from '../../../../src/commands/queue/watch/stream.ts'
import { plainText } from '../../../../src/output/styled-text.ts'
import type { QueueChange } from '../../../../src/wait/queue-changes.ts'
import { noon } from '../../../support/harness.ts'

test('a change in words', () => {
  const change = { pr: 7, from: 'TESTING', to: null, at: new Date(noon).toISOString(), position: null }
  expect(describeQueueChange(change)).toBe('#7 TESTING -> left the queue')
  expect(describeQueueChange({ ...change, position: 2 })).toBe('#7 TESTING -> unknown state, position 2')
  expect(describeQueueChange({ ...change, pr: null, from: 'RUNNING' })).toBe(
    'The queue: RUNNING -> unknown state',
  )
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
