import { getMergeQueueMetrics, queueSummary, readSamplesIn } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { type Repository, shortRepositoryName } from '../../domain/values/repository.ts'
import { columns } from '../../output/view.ts'
import type { Cli } from '../../run/cli.ts'
import { command } from '../../run/command.ts'
import { repositoryOrAll } from '../../run/common-inputs.ts'
import { printRequests } from '../../run/dry-run.ts'
import type { RecordFields } from '../../run/fields.ts'
import { flag } from '../../run/inputs.ts'
import { read } from '../../run/send.ts'
import { paramsOf } from '../../run/values.ts'
import { namedQueues, readQueues, reportUnread } from './all-queues.ts'

/** The fields of a queue; its state and mode only if each queue is read. */
const queueFields = (includeState: boolean): RecordFields => ({
  names: [
    'repo',
    'branch',
    ...(includeState ? ['state', 'mode'] : []),
    'depth',
    'testing',
    'merged',
    'failed',
  ],
  columns: [
    ...columns(['REPOSITORY', 'repo', 'id'], ['BRANCH', 'branch', 'id']),
    ...(includeState ? columns(['STATE', 'state', 'state'], ['MODE', 'mode', 'plain', { priority: 4 }]) : []),
    ...columns(
      ['DEPTH', 'depth', 'number'],
      ['TESTING', 'testing', 'number', { priority: 3 }],
      ['MERGED 1H', 'merged', 'number', { priority: 2 }],
      ['FAILED 1H', 'failed', 'number', { priority: 1 }],
    ),
  ],
})

/** Reads the state and the mode of each queue that the metrics name. */
async function readStates(bytes: Uint8Array, repo: Repository | undefined, cli: Cli) {
  const { outcomes, failed } = await readQueues(await namedQueues(bytes, repo, cli), cli)
  const records = outcomes.map(({ item: { metrics }, result }) => {
    const { repo, branch, ...numbers } = queueSummary(metrics)
    const { state = null, mode = null } = result?.queue ?? {}
    return { repo, branch, state, mode, ...numbers }
  })
  return { records, failed }
}

function emptySentence(repo: Repository | undefined): string {
  return repo === undefined
    ? 'No queue has metrics. To look up a queue, run: mergeq queue get --repo owner/name --target-branch main'
    : `No queue of ${shortRepositoryName(repo)} has metrics. To list all queues, run: mergeq queue list --all-repos`
}

export const queueListCommand = command({
  name: 'queue list',
  summary: 'List queues and their activity in the last hour',
  alsoSends: [getMergeQueueMetrics, getQueue],
  exits: ['incomplete'],
  options: {
    ...paramsOf(getMergeQueueMetrics),
    repo: repositoryOrAll(getMergeQueueMetrics.params.repo),
    includeState: flag('Read each queue for its state and mode, which the metrics do not say'),
  },
  fields: typed => queueFields(typed.has('--include-state')),
  prints: {
    table: 'one row per queue; merged and failed count the pull requests of the last hour',
    json: 'a list of {"repo","branch","depth","testing","merged","failed"}; with --include-state also "state" and "mode", null for a queue that cannot be read',
    ndjson: 'one queue per line',
  },
  examples: [
    'mergeq queue list',
    'mergeq queue list --repo acme/web',
    'mergeq queue list --include-state',
    "mergeq queue list --json | jq '.[] | select(.depth > 20)'",
  ],
  async run({ repo, branch, includeState }, cli) {
    const values = { repo, branch }
    if (cli.options.dryRun) return printRequests(cli, getMergeQueueMetrics, [values])
    const { response } = await read(cli, getMergeQueueMetrics, values)
    const { records, failed } = includeState
      ? await readStates(response.bytes, repo, cli)
      : { records: summarizeMetrics(readSamplesIn(response.bytes)).queues.map(queueSummary), failed: [] }
    const { columns } = queueFields(includeState)
    const footer = includeState ? [] : ['To read the state of each queue, add --include-state.']
    await cli.printer.print({
      records,
      columns,
      screen: () =>
        records.length === 0 ? { sentence: emptySentence(repo) } : { columns, rows: records, footer },
    })
    return reportUnread(failed, cli)
  },
})
