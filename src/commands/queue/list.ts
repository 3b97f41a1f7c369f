import { readSamplesIn } from '../../api/operations/metrics.ts'
import { call } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import { repositoryOrAll } from '../../cli/common-inputs.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { requestOf } from '../../cli/requests.ts'
import { type QueueMetrics, summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { type Repository, shortRepositoryName } from '../../domain/values/repository.ts'
import type { JsonObject } from '../../json.ts'
import { getMergeQueueMetrics } from '../../methods/metrics.ts'
import { columns } from '../../output/view.ts'

/** Returns a queue as `--json` lists it; what the metrics do not say is null. */
function toRecord({ repo, branch, numbers }: QueueMetrics): JsonObject {
  const { depth = null, testing = null, merged = null, failed = null } = numbers
  return { repo: repo ?? null, branch, depth, testing, merged, failed }
}

const queueSummaryRecord: RecordFields = {
  names: ['repo', 'branch', 'depth', 'testing', 'merged', 'failed'],
  columns: columns(
    ['REPOSITORY', 'repo', 'id'],
    ['BRANCH', 'branch', 'id'],
    ['DEPTH', 'depth', 'number'],
    ['TESTING', 'testing', 'number', { priority: 3 }],
    ['MERGED 1H', 'merged', 'number', { priority: 2 }],
    ['FAILED 1H', 'failed', 'number', { priority: 1 }],
  ),
}

function emptySentence(repo: Repository | undefined): string {
  return repo === undefined
    ? 'No queue has metrics. To look up a queue, run: mergeq queue get --repo owner/name --target-branch main'
    : `No queue of ${shortRepositoryName(repo)} has metrics. To list all queues, run: mergeq queue list --all-repos`
}

export const queueListCommand = command({
  name: 'queue list',
  summary: 'List queues and their activity in the last hour',
  alsoSends: [getMergeQueueMetrics],
  options: {
    request: requestOf(getMergeQueueMetrics, { repo: repositoryOrAll(getMergeQueueMetrics.params.repo) }),
  },
  fields: queueSummaryRecord,
  prints: {
    table: 'one row per queue; merged and failed count the pull requests of the last hour',
    json: 'a list of {"repo","branch","depth","testing","merged","failed"}',
    ndjson: 'one queue per line',
  },
  examples: [
    'mergeq queue list',
    'mergeq queue list --repo acme/web',
    "mergeq queue list --json | jq '.[] | select(.depth > 20)'",
  ],
  async run({ request }, cli) {
    const { response } = await call(cli, request)
    const { queues } = summarizeMetrics(readSamplesIn(response.bytes))
    await cli.printer.print({
      records: queues.map(toRecord),
      columns: queueSummaryRecord.columns,
      ...(queues.length === 0 ? { screen: () => ({ sentence: emptySentence(request.values.repo) }) } : {}),
    })
    return 0
  },
})
