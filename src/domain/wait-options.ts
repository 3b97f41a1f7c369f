import { milestones } from './states.ts'
import { parseCommit } from './values/commit.ts'
import { parseInterval } from './values/time.ts'
import { choice, duration, interval, type Type, textual } from './values/types.ts'

const intervalOrAuto = textual({
  expected: 'auto, or a duration from 1s to 1d',
  placeholder: 'duration|auto',
  rangeText: '1s to 1d',
  suggestions: ['auto'],
  parse: (text): number | 'auto' => (text === 'auto' ? text : parseInterval(text)),
})

const definition = <T>(type: Type<T>, summary: string, text: string) => ({ type, summary, default: text })

/** The head commit that a pull request must have; HEAD is that of the checkout. */
export const headCommit = textual({
  expected: 'a commit',
  placeholder: 'sha|HEAD',
  suggestions: ['HEAD'],
  parse: text => (text === 'HEAD' ? text : parseCommit(text)),
})

/** What the command line and the library call the same in a wait; `--timeout` itself is a global option. */
export const waitOptions = {
  until: definition(
    choice(milestones, 'state'),
    'Wait until it is: merged, tests-passed, testing, or left (no longer in the queue)',
    'merged',
  ),
  interval: definition(intervalOrAuto, 'Time between polls', 'auto'),
  grace: definition(duration, 'How long to wait for a new submission to appear', '90s'),
  giveUpAfter: definition(duration, 'Give up when polling has failed for this long', '30m'),
  timeout: definition(duration, 'Time limit for the whole wait', '1h'),
}

/** The time between two readings of a queue that is watched. */
export const watchInterval = definition(interval, 'Time between polls', '10s')
