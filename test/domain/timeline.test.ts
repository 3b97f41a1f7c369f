import { expect, test } from 'vitest'
import { eventsOfAttempt } from '../../src/domain/timeline.ts'

const statesOf = (...states: readonly string[]) =>
  eventsOfAttempt({ timeline: states.map(state => ({ state })) }).map(({ state }) => state)

test('the last attempt begins with the newest NOT_READY, also where nothing has happened since', () => {
  expect(statesOf('not_ready', 'testing', 'not_ready')).toEqual(['not_ready'])
  expect(statesOf('testing', 'not_ready', 'failure')).toEqual(['testing', 'not_ready'])
})

test('without a NOT_READY, an end before an event that is no end belongs to an older attempt', () =>
  expect(statesOf('testing', 'pending', 'failure')).toEqual(['testing', 'pending']))
