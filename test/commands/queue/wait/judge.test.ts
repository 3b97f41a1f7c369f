import { expect, test } from 'vitest'
import { type QueueCondition, queueOutcome } from '../../../../src/commands/queue/wait/judge.ts'
import { entry, queue } from '../../../support/queue-watch.ts'

test.each([
  ['RUNNING', [], 'reached', 'reached'],
  ['RUNNING', ['TESTING', 'PENDING'], undefined, undefined],
  ['RUNNING', ['TESTS_PASSED'], undefined, undefined],
  ['RUNNING', ['PENDING'], 'reached', undefined],
  ['RUNNING', ['PENDING_FAILURE'], 'reached', undefined],
  ['RUNNING', ['PUZZLED'], undefined, undefined],
  ['PAUSED', ['TESTING'], undefined, undefined],
  ['PAUSED', ['TESTS_PASSED'], 'reached', 'pending'],
  ['PAUSED', ['TESTING', 'PENDING'], undefined, 'pending'],
  ['DRAINING', ['TESTS_PASSED'], undefined, undefined],
  ['draining', ['tests_passed', 'pending'], undefined, 'pending'],
  ['SWITCHING_MODES', ['PENDING'], 'reached', undefined],
])('a queue that is %s with %j: idle %s, empty %s', (state, states, idle, empty) => {
  const document = queue(state, ...states.map((each, index) => entry(index + 1, each)))
  const outcome = (until: QueueCondition) => queueOutcome(document, until)
  expect([outcome('idle'), outcome('empty')]).toEqual([idle, empty])
})
