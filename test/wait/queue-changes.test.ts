import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { describeQueueChange } from '../../src/commands/queue/watch/stream.ts'
import { departedEntries, departureChange, queueChanges, snapshotOf } from '../../src/wait/queue-changes.ts'
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
})
