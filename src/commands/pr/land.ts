import { cancelPullRequest, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { kindOfOutcome } from '../../domain/states.ts'
import { choice, integer } from '../../domain/values/types.ts'
import { command } from '../../run/command.ts'
import { option } from '../../run/inputs.ts'
import { paramsOf, pullRequests, setOf } from '../../run/values.ts'
import { readWaitOptions, submitRecord, waitInputs, waitReads } from './wait-options.ts'

export const prLandCommand = command({
  name: 'pr land',
  summary: 'Like pr submit --wait, but submit again after failures that others caused',
  operation: submitPullRequest,
  alsoSends: [...waitReads, cancelPullRequest],
  options: {
    pullRequests,
    ...paramsOf(submitPullRequest, 'repo', 'targetBranch', 'pr'),
    attempts: option(integer(1, 10), 'Maximum submissions of the same head commit', { default: '3' }),
    resubmit: option(
      choice(['safe', 'any'], 'safe|any'),
      'Submit again after failures that the pull request did not cause (safe), or after any',
      { default: 'safe' },
    ),
    ...waitInputs,
    until: { ...waitInputs.until, advanced: true },
    set: setOf(submitPullRequest),
  },
  timeLimit: () => '2h',
  exits: Object.values(kindOfOutcome),
  prints: {
    table: 'the result of each pull request, as `mergeq pr wait` prints it',
    json: 'one result per pull request, that of `mergeq pr wait` with "submitted" and "attempts"',
    ndjson:
      'the lines of `mergeq pr wait`, and one line per submission, {"type":"attempt","pr","attempt","reason"}',
  },
  fields: { ...submitRecord, names: [...submitRecord.names, 'attempts', 'attempt'] },
  examples: [
    'mergeq pr land 123',
    'mergeq pr land 123 --attempts 5 --timeout 4h',
    'mergeq pr land 123 124 -o ndjson',
  ],
  async run({ pullRequests, priority, noBatch, set, attempts, resubmit, ...values }, cli) {
    const options = await readWaitOptions(values, pullRequests.length, cli)
    const submission = { priority, noBatch, overrides: set, attempts, resubmit }
    const { submitAndWait } = await import('./wait-report.ts')
    return submitAndWait(pullRequests, submission, options, cli)
  },
})
