import { expect, test } from 'vitest'
import { describeSplit, nameBatch, wasSplit } from '../../src/domain/batches.ts'

const testing = (...numbers: readonly number[]) => ({
  state: 'TESTING',
  testRun: { testedPullRequests: numbers.map(prNumber => ({ prNumber })) },
})
const pending = (reason: string) => ({ state: 'PENDING', pending: { reason } })
const submitted = { state: 'NOT_READY', notReady: { reason: 'api_requested' } }

test.each([
  [[31, 32, 33, 34], '#31 to #34'],
  [[34, 31], '#31, #34'],
  [[7], '#7'],
])('a batch of %j is named %s', (numbers, name) => {
  expect(nameBatch(numbers)).toBe(name)
})

test('a pull request that waits again, or is tested again, says which batch failed', () => {
  const events = [pending('bisection_required'), testing(31, 32, 33, 34), submitted]
  const sentence = 'its batch #31 to #34 failed and is being split'
  expect(describeSplit({ timeline: events })).toBe(sentence)
  expect(describeSplit({ timeline: [testing(31, 32), ...events] })).toBe(sentence)
  expect(describeSplit({ timeline: [pending('bisection_required'), submitted] })).toBe(
    'its batch failed and is being split',
  )
})

test('a split that is over, and that of an older attempt, are not told', () => {
  const split = [pending('bisection_required'), testing(31, 32), submitted]
  expect(describeSplit({ timeline: [{ state: 'MERGED' }, ...split] })).toBe(undefined)
  expect(wasSplit({ timeline: [{ state: 'MERGED' }, ...split] })).toBe(true)
  const again = { timeline: [pending('merge_item_now_ready'), submitted, { state: 'FAILED' }, ...split] }
  expect({ said: describeSplit(again), was: wasSplit(again) }).toEqual({ said: undefined, was: false })
})
