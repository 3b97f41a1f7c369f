import { outline } from '../../api/operations/fields.ts'
import { cancelPullRequest, submissionParams, submitPullRequest } from '../../api/operations/pull-requests.ts'
import { command } from '../../command/command.ts'
import { paramsTogether } from '../../command/param-inputs.ts'
import { pullRequests } from '../../command/pull-request-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { waitInputs } from '../../command/wait-inputs.ts'
import { kindOfOutcome } from '../../domain/states.ts'
import { landOptions } from '../../wait/options.ts'
import { attemptRecord, changeRecord, landResultRecord } from '../../wait/records.ts'
import { readWaitOptions, waitColumns, waitReads } from './shared/wait/options.ts'

export const definition = command({
  name: 'pr land',
  summary: 'Like pr submit --wait, but submit again after failures that others caused',
  operation: submitPullRequest,
  alsoSends: [...waitReads, cancelPullRequest],
  options: {
    pullRequests,
    params: paramsTogether(submissionParams),
    attempts: landOptions.attempts,
    resubmit: landOptions.resubmit,
    ...waitInputs,
    until: { ...waitInputs.until, advanced: true },
  },
  set: setOf(submitPullRequest),
  timeLimit: () => landOptions.timeout,
  exits: Object.values(kindOfOutcome),
  prints: {
    table: 'the result of each pull request, as `mergeq pr wait` prints it',
    json: 'one result per pull request, that of `mergeq pr wait` with "submitted" and "attempts"',
    ndjson: `the lines of \`mergeq pr wait\`, and one line per submission, ${outline(attemptRecord)}`,
    documents: [landResultRecord],
    records: [landResultRecord, changeRecord, attemptRecord],
    columns: waitColumns,
  },
  examples: [
    'mergeq pr land 123',
    'mergeq pr land 123 --attempts 5 --timeout 4h',
    'mergeq pr land 123 124 -o ndjson',
  ],
  async run({ pullRequests, params, attempts, resubmit, ...values }, cli) {
    const options = await readWaitOptions(values, pullRequests.length, cli)
    const { waitAndReport } = await import('./shared/wait/report.ts')
    return waitAndReport(pullRequests, options, cli, { params, attempts, resubmit })
  },
})
