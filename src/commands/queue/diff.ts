import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { exitCodeOf, mostSevere, usageError } from '../../base/errors.ts'
import { rejectTogether } from '../../command/check-inputs.ts'
import { type Cli, command } from '../../command/command.ts'
import { printRequests } from '../../command/dry-run.ts'
import { flag, type Input, option } from '../../command/inputs.ts'
import { type NamedQueue, queuesOfMetrics } from '../../command/several-queues.ts'
import { pluralize } from '../../values/format.ts'
import { queueFieldsOf, queueKey, queueName } from '../../values/repository.ts'
import { findSimilarName } from '../../values/similar-name.ts'
import { branch } from '../../values/types.ts'
import { type QueueFileItem, queueOfFile, readItems } from './shared/files/described-queues.ts'
import { type FileOptions, fileInput, includeStateInput, settingsOf } from './shared/files/file-inputs.ts'
import { differences, settingNames, settingsDigest, unknownKeys } from './shared/files/queue-file.ts'
import { createPlans, hasDifferences, type Plan, requireLive, unknownSettingError } from './shared/plan.ts'
import {
  differenceColumns,
  differenceRecord,
  differenceScreenColumns,
  diffRecord,
  printPlans,
} from './shared/print-plans.ts'

async function undescribedQueues(
  items: readonly QueueFileItem[],
  allRepos: boolean,
  cli: Cli,
): Promise<readonly NamedQueue[]> {
  const described = items.map(({ queue }) => queue)
  const repositories = described.map(({ repo }) => queueKey({ repo, targetBranch: '' }))
  const queues = await queuesOfMetrics({ repo: undefined, branch: undefined }, described[0]?.repo, cli)
  return queues.filter(
    ({ queue: values }) =>
      (allRepos || repositories.includes(queueKey({ ...values, targetBranch: '' }))) &&
      !described.some(other => queueKey(other) === queueKey(values)),
  )
}

async function compareBranches(
  branch: string,
  { includeState, set }: FileOptions,
  cli: Cli,
): Promise<number> {
  const queue = await queueOfFile('', {}, cli)
  const { repo, targetBranch } = queue
  if (cli.options.dryRun) return printRequests(cli, getQueue, [queue])
  const live = await requireLive(queue, includeState, cli)
  const other = await requireLive({ repo, targetBranch: branch }, includeState, cli)
  const missing = Object.keys(live.settings).map(key => [key, null] as const)
  const settings = { ...Object.fromEntries(missing), ...other.settings, ...set }
  const plan: Plan = {
    path: branch,
    name: queueName(queue),
    content: { settings },
    sourceOf: () => branch,
    queue,
    live,
    digest: await settingsDigest(live.settings),
    differences: differences(live.settings, settings),
  }
  const titles = new Map([
    ['live', targetBranch],
    ['file', branch],
  ])
  const screenColumns = differenceScreenColumns
    .filter(({ path }) => path !== 'targetBranch')
    .map(column => ({ ...column, title: titles.get(column.path) ?? column.title }))
  const code = await printPlans({ plans: [plan], failed: [], failures: [] }, cli, { screenColumns })
  return mostSevere([code, hasDifferences(plan) ? exitCodeOf('differs') : 0])
}

/** A name that is almost a known one is a usage error, any other is warned of. */
async function checkNames(items: readonly QueueFileItem[], cli: Cli): Promise<void> {
  for (const item of items)
    for (const name of unknownKeys(item.content.settings, {})) {
      const error = unknownSettingError(name, item, {})
      if (findSimilarName(name, settingNames) !== undefined) throw error
      await cli.logger.warn(`${error.message} Only the live queue says whether the service knows it.`)
    }
}

async function checkOffline(items: readonly QueueFileItem[], cli: Cli): Promise<number> {
  await checkNames(items, cli)
  const files = new Set(items.map(({ path }) => path)).size
  const sentence = `${pluralize(files, 'queue file')} ${files === 1 ? 'is' : 'are'} valid. No queue was read.`
  const queues = items.map(item => ({ ...queueFieldsOf(item.queue), file: item.path }))
  await cli.printer.print({
    records: [],
    document: changes => ({ same: null, digest: null, queues, changes }),
    columns: differenceColumns,
    screen: () => ({ sentence }),
  })
  if (cli.results !== 'screen') await cli.logger.info(sentence)
  return 0
}

const fileUnlessBranch: Input<string | undefined> = {
  ...fileInput,
  definitions: fileInput.definitions.map(definition => ({
    ...definition,
    summary: `${definition.summary} without --with-branch`,
  })),
  read: (args, context) =>
    args.has('--with-branch') && !args.has('--file') ? undefined : fileInput.read(args, context),
}

export const definition = command({
  name: 'queue diff',
  summary: 'Compare queue settings with files, or with those of another queue',
  alsoSends: [getQueue, getMergeQueueMetrics],
  exits: ['differs'],
  prints: {
    table: 'one row per setting that differs, with the live value and the value in the file',
    note: 'a queue that could not be read has "exit" and "message"',
    ndjson: 'one difference per line',
    documents: [diffRecord],
    records: [differenceRecord],
    columns: differenceColumns,
  },
  options: {
    file: fileUnlessBranch,
    withBranch: option(branch, 'Compare with the queue for this branch instead of files', {
      values: 'branches',
    }),
    strict: flag('Also report the queues that have no file, of the repositories of the files'),
    offline: flag('Only check the files: without a token, and without a request'),
    allRepos: flag('With --strict: the queues of all repositories of the organization'),
    includeState: includeStateInput,
    set: settingsOf(getQueue),
  },
  examples: [
    'mergeq queue diff -f queue.yaml',
    'mergeq queue diff -f queues/ --json | jq -r .digest',
    'mergeq queue diff -f queues/ --strict',
    'mergeq queue diff -f queues/ --offline',
    'mergeq queue diff -b main --with-branch release',
  ],
  async run({ file, withBranch, strict, offline, allRepos, includeState, set }, cli) {
    rejectTogether(
      cli.args,
      ['--with-branch', '--file'],
      ['--with-branch', '--strict'],
      ['--offline', '--with-branch'],
      ['--offline', '--strict'],
      ['--all-repos', '--repo'],
    )
    if (allRepos && !strict) throw usageError('--all-repos requires --strict.', 'Add --strict.')
    if (file === undefined) return compareBranches(withBranch ?? '', { includeState, set }, cli)
    const items = await readItems(file, { includeState, set }, cli)
    if (offline) return checkOffline(items, cli)
    const [first] = items
    if (cli.options.dryRun && first !== undefined) return printRequests(cli, getQueue, [first.queue])
    const reading = await createPlans(items, includeState, cli)
    const undescribed = strict ? await undescribedQueues(items, allRepos, cli) : []
    const code = await printPlans(reading, cli, { undescribed })
    const differs = reading.plans.some(hasDifferences) || undescribed.length > 0
    return mostSevere([code, differs ? exitCodeOf('differs') : 0])
  },
})
