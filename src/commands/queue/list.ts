import { extended, type Infer, list, optional, outline } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics, queueSummary, readSamplesIn } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { queueSummaryRecord } from '../../api/operations/records.ts'
import { getString } from '../../base/json.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { flag } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { read } from '../../command/send.ts'
import {
  type NamedQueue,
  namedQueues,
  placeOf,
  queueNameColumns,
  readQueues,
  reportUnread,
} from '../../command/several-queues.ts'
import { repositoryOrAll } from '../../command/shared-inputs.ts'
import { findQueue, summarizeMetrics } from '../../domain/metrics/last-hour.ts'
import { type Column, columns } from '../../output/view.ts'
import { type Repository, shortRepositoryName } from '../../values/repository.ts'
import { queuesFile, selectQueues } from './shared/all-queues.ts'

/** A queue; its state and mode only if each queue is read. */
const listedQueueRecord = extended(queueSummaryRecord, {
  state: optional('QueueState | null'),
  mode: optional('string | null'),
})

const placeColumns = columns('repo', 'branch')

const queueColumns = (includeState: boolean, place: readonly Column[] = placeColumns): readonly Column[] => [
  ...place,
  ...(includeState ? columns('state', ['mode', { priority: 4 }]) : []),
  ...columns(
    'depth',
    ['testing', { priority: 3 }],
    ['merged', { priority: 2 }],
    ['failed', { priority: 1 }],
    ['notReady', { priority: 2 }],
  ),
]

const recordOf = ({ queue: { repo, targetBranch }, metrics }: NamedQueue) =>
  queueSummary(
    { repo: `${repo.owner}/${repo.name}`, branch: targetBranch, numbers: metrics?.numbers ?? {} },
    repo,
  )

async function readStates(queues: readonly NamedQueue[], cli: Cli) {
  const { outcomes, failures } = await readQueues(queues, cli)
  const records = outcomes.map(({ item, result }): Infer<typeof listedQueueRecord> => {
    const { repo, branch, ...numbers } = recordOf(item)
    const [state = null, mode = null] = ['state', 'mode'].map(name => getString(result?.queue, name))
    return { repo, branch, state, mode, ...numbers }
  })
  return { records, failures }
}

/** Returns the records of the queues that the files name or, without files, the metrics. */
async function readList(
  bytes: Uint8Array,
  selected: readonly NamedQueue[] | undefined,
  { repo }: { readonly repo: Repository | undefined },
  includeState: boolean,
  cli: Cli,
) {
  const summary = summarizeMetrics(readSamplesIn(bytes))
  const queues = selected?.map(each => ({
    ...each,
    metrics: findQueue(summary, each.queue.repo, each.queue.targetBranch),
  }))
  if (includeState) return readStates(queues ?? (await namedQueues(bytes, repo, cli)), cli)
  if (queues !== undefined) return { records: queues.map(recordOf), failures: [] }
  const place = await placeOf(repo, cli)
  return { records: summary.queues.map(metrics => queueSummary(metrics, place)), failures: [] }
}

function emptySentence(repo: Repository | undefined, branch: string | undefined): string {
  const queue = ['No queue', branch && `for ${branch}`, repo && `of ${shortRepositoryName(repo)}`]
  const advice =
    repo === undefined
      ? 'To look up a queue, use queue get with --repo and --target-branch.'
      : 'To list all queues, add --all-repos.'
  return `${queue.filter(Boolean).join(' ')} has metrics. ${advice}`
}

export const definition = command({
  name: 'queue list',
  summary: 'List queues and their activity in the last hour',
  alsoSends: [getMergeQueueMetrics, getQueue],
  exits: ['incomplete'],
  options: {
    ...paramsOf(getMergeQueueMetrics),
    repo: repositoryOrAll(getMergeQueueMetrics.params.repo),
    file: queuesFile('List'),
    includeState: flag('Read each queue for its state and mode, which the metrics do not say'),
  },
  prints: {
    table: 'one row per queue; merged and failed count the pull requests of the last hour',
    json: `a list of ${outline(queueSummaryRecord)}; with --include-state also "state" and "mode", null for a queue that cannot be read`,
    ndjson: 'one queue per line',
    documents: [list(listedQueueRecord)],
    records: [queueSummaryRecord],
    columns: queueColumns(false),
    with: { options: ['--include-state'], records: [listedQueueRecord], columns: queueColumns(true) },
  },
  examples: [
    'mergeq queue list',
    'mergeq queue list --repo acme/web',
    'mergeq queue list --include-state',
    'mergeq queue list -f queues/',
    "mergeq queue list --json | jq '.[] | select(.depth > 20)'",
  ],
  async run({ repo, branch, file, includeState }, cli) {
    const selected = file === undefined ? undefined : await selectQueues(file, cli)
    const values = { repo, branch }
    if (cli.options.dryRun) return printRequests(cli, getMergeQueueMetrics, [values])
    const { response } = await read(cli, getMergeQueueMetrics, values)
    const { records, failures } = await readList(response.bytes, selected, values, includeState, cli)
    const footer = includeState ? [] : ['To read the state of each queue, add --include-state.']
    await cli.printer.print({
      records,
      columns: queueColumns(includeState),
      screen: () =>
        records.length === 0
          ? { sentence: emptySentence(repo, branch) }
          : { columns: queueColumns(includeState, queueNameColumns('branch')), rows: records, footer },
    })
    return reportUnread(failures, cli)
  },
})
