import { milestones } from '../domain/states.ts'
import { parseCommit } from '../values/commit.ts'
import { parseInterval } from '../values/time.ts'
import { choice, duration, durational, integer, interval, textual } from '../values/types.ts'

const intervalOrAuto = durational({
  expected: 'auto, or a duration from 1s to 1d',
  placeholder: 'duration|auto',
  rangeText: '1s to 1d',
  suggestions: ['auto'],
  parse: (text): number | 'auto' => (text === 'auto' ? text : parseInterval(text)),
})

/** The head commit that a pull request must have; HEAD is that of the checkout. */
export const headCommit = textual({
  expected: 'a commit',
  placeholder: 'sha|HEAD',
  suggestions: ['HEAD'],
  parse: text => (text === 'HEAD' ? text : parseCommit(text)),
})

/** What the command line and the library call the same in a wait; `--timeout` itself is a global option. */
export const waitOptions = {
  until: {
    type: choice(milestones, 'state'),
    summary: 'Wait until it is: merged, tests-passed, testing, or left (no longer in the queue)',
    default: 'merged',
  },
  interval: { type: intervalOrAuto, summary: 'Time between polls', default: 'auto' },
  grace: { type: duration, summary: 'How long to wait for a new submission to appear', default: '90s' },
  giveUpAfter: {
    type: duration,
    summary: 'Stop if the service could not be read for this long',
    default: '30m',
  },
  timeout: { type: duration, summary: 'Time limit for the whole wait', default: '1h' },
} as const

/** The options of a wait that submits again. */
export const landOptions = {
  attempts: { type: integer(1, 10), summary: 'Maximum submissions of the same head commit', default: '3' },
  resubmit: {
    type: choice(['safe', 'any'], 'safe|any'),
    summary: 'Submit again after failures that the pull request did not cause (safe), or after any',
    default: 'safe',
  },
  timeout: { ...waitOptions.timeout, default: '2h' },
} as const

/** The time between two readings of a queue that is watched. */
export const watchInterval = { type: interval, summary: 'Time between polls', default: '10s' } as const
