import { headCommit, waitOptions } from '../wait/options.ts'
import { flag, option } from './inputs.ts'

/** The default of `--timeout` of a wait. */
export const waitTimeLimit = waitOptions.timeout

/** The options of a wait (docs/reference/cli.md, "Waiting"), except `--timeout`, which is a global option. */
export const waitInputs = {
  until: waitOptions.until,
  interval: waitOptions.interval,
  grace: { ...waitOptions.grace, advanced: true },
  matchHead: option(headCommit, 'Exit 14 if another commit is or becomes the head of the pull request'),
  giveUpAfter: { ...waitOptions.giveUpAfter, advanced: true },
  failOnPaused: flag('Exit 8 if the queue is paused'),
  noBell: { ...flag('Do not ring the terminal bell when a wait of more than 10s ends'), advanced: true },
}
