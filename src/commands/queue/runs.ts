import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { listTestRuns } from '../../api/operations/testing-results.ts'
import { getNumber, getString, type JsonObject } from '../../base/json.ts'
import { command } from '../../command/command.ts'
import { runList } from '../../command/lists.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { pullRequestOption, queueOrPullRequest } from '../../command/pull-request-inputs.ts'
import { setOf } from '../../command/set-option.ts'
import { cutListSentence, limitInput } from '../../command/shared-inputs.ts'
import { withAges, withLinks } from '../../output/pull-request-columns.ts'
import { columns, placeColumns, withPlaceColumns } from '../../output/view.ts'
import { formatDuration, pluralize } from '../../values/format.ts'
import { urlOfPullRequest } from '../../values/pull-request.ts'
import { type Queue, queueName } from '../../values/repository.ts'
import { forSelectedQueues, printSelection, severalQueues, unlessSeveral } from './shared/all-queues.ts'

const runColumns = columns(
  'endedAt',
  'prNumber',
  'testRunId',
  ['outcome', { format: 'state' }],
  'cycleConclusion',
  'bisection',
  'testingDurationMs',
)

/** The columns on a terminal: what happened, how long it took, and the run last, because it is long. */
const screenColumns = withAges(
  columns(
    'endedAt',
    'prNumber',
    ['outcome', { format: 'state' }],
    'cycleConclusion',
    ['testingDurationMs', { title: 'TESTED', show: timeTested }],
    ['bisection', { priority: 2, show: record => getString(record, 'bisection')?.replaceAll('_', ' ') }],
    ['testRunId', { priority: 1 }],
  ),
)

function timeTested(record: JsonObject): string | undefined {
  const duration = getNumber(record, 'testingDurationMs')
  return duration === undefined ? undefined : formatDuration(duration)
}

export const definition = command({
  name: 'queue runs',
  summary: 'List finished test runs, a row for each pull request',
  operation: listTestRuns,
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['incomplete'],
  options: {
    queue: unlessSeveral(queueOrPullRequest),
    ...severalQueues('List test runs of'),
    ...paramsOf(listTestRuns, 'repo', 'targetBranch', 'pr'),
    pr: pullRequestOption(listTestRuns.params.pr.summary),
    limit: limitInput(listTestRuns.params.limit),
  },
  set: setOf(listTestRuns),
  prints: { columns: [...runColumns, ...placeColumns] },
  examples: [
    'mergeq queue runs',
    'mergeq queue runs --since 7d --outcome failed',
    'mergeq queue runs --pr 123 --since 45d --json',
    'mergeq queue runs --all -o ndjson',
  ],
  run({ queue, file, all: _, ...values }, cli) {
    if (queue === undefined && cli.options.dryRun) return printSelection({ queue, file }, cli)
    const listRuns = (place: Queue) =>
      runList(
        cli,
        listTestRuns,
        { ...values, ...place },
        {
          columns: withPlaceColumns(runColumns, cli.options.format),
          screenColumns: withLinks(screenColumns, pr => urlOfPullRequest(place.repo, pr)),
          ending({ shown, complete, isBroken }) {
            if (isBroken) return undefined
            const name = queueName(place)
            if (shown === 0) return { sentence: `No finished test runs for ${name} in this range.` }
            const count = pluralize(shown, 'result')
            return { footer: [complete ? `${count} of test runs for ${name}.` : cutListSentence(count)] }
          },
        },
      )
    // The list of each queue is printed while it is read.
    return forSelectedQueues(cli, { queue, file, atOnce: 1, work: listRuns })
  },
})
