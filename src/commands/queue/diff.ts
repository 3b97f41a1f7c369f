import { callOperation } from '../../api/call.ts'
import { list, optional, outline, ownRecord, queueNameFields } from '../../api/operations/fields.ts'
import { getMergeQueueMetrics } from '../../api/operations/metrics.ts'
import { getQueue } from '../../api/operations/queues.ts'
import { differences, settingsDigest } from '../../domain/queue-file.ts'
import {
  type Queue,
  queueKey,
  queueName,
  repositoryName,
  shortRepositoryName,
} from '../../domain/values/repository.ts'
import { branch } from '../../domain/values/types.ts'
import { exitCodeOf, mostSevere, usageError } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { type Column, columns } from '../../output/view.ts'
import { type Cli, command } from '../../run/command.ts'
import { printRequests } from '../../run/dry-run.ts'
import { fieldsOfRecords } from '../../run/fields.ts'
import { type FlagInput, flag, option } from '../../run/inputs.ts'
import { type NamedQueue, namedQueues } from './all-queues.ts'
import { formatSetting, formatValue } from './format-setting.ts'
import { reportFailures, requireLive } from './live-queue.ts'
import {
  combineDigests,
  createPlans,
  describePlan,
  hasDifferences,
  type Plan,
  type PlanResults,
} from './plan.ts'
import {
  type FileOptions,
  fileInput,
  includeStateInput,
  type QueueFileItem,
  queueOfFile,
  readItems,
  settingsOf,
} from './queue-files.ts'

export const differenceRecord = ownRecord({
  ...queueNameFields,
  setting: 'string',
  live: optional('Json'),
  file: optional('Json'),
})

const differenceColumns = columns(
  ['REPOSITORY', 'repo', 'id'],
  ['BRANCH', 'targetBranch', 'id'],
  ['SETTING', 'setting', 'id'],
  ['LIVE', 'live', 'prose'],
  ['FILE', 'file', 'prose'],
)

const comparedRecord = ownRecord({
  ...queueNameFields,
  file: 'string',
  exists: optional('boolean'),
  digest: optional('string | null'),
  exit: optional('number'),
  message: optional('string'),
})

const diffRecord = ownRecord({
  same: 'boolean | null',
  digest: 'string | null',
  queues: list(comparedRecord),
  changes: list(differenceRecord),
})

const recordOfPlan = ({ queue: values }: { readonly queue: Queue }, nameRepository = repositoryName) => ({
  repo: nameRepository(values.repo),
  targetBranch: values.targetBranch,
})

interface PlansOptions {
  /** Queues that the metrics name and no file describes. */
  readonly undescribed?: readonly NamedQueue[]
  readonly screenColumns?: readonly Column[]
}

/**
 * Prints the differences between queues and their files, and logs the digest of the live settings and the errors of
 * the queues that could not be read. Returns the exit code of the errors.
 */
export async function printPlans(
  reading: PlanResults,
  cli: Cli,
  { undescribed = [], screenColumns = differenceColumns }: PlansOptions = {},
): Promise<number> {
  const { printer, logger } = cli
  const { plans, failed } = reading
  const digest = await combineDigests(reading)
  const isSame = failed.length === 0 && !plans.some(hasDifferences) && undescribed.length === 0
  const recordsWith = (nameRepository: typeof repositoryName): readonly JsonObject[] => [
    ...plans.flatMap(plan =>
      plan.differences.map(difference => ({ ...recordOfPlan(plan, nameRepository), ...difference })),
    ),
    ...undescribed.map(queue => ({
      ...recordOfPlan(queue, nameRepository),
      setting: null,
      live: 'exists',
      file: null,
    })),
  ]
  const records = recordsWith(repositoryName)
  const queues = [
    ...plans.map(plan => ({
      ...recordOfPlan(plan),
      file: plan.path,
      exists: plan.live !== undefined,
      digest: plan.digest,
    })),
    ...failed.map(({ failure: { exit, message }, ...item }) => ({
      ...recordOfPlan(item),
      file: item.path,
      exit,
      message,
    })),
    ...undescribed.map(queue => ({ ...recordOfPlan(queue), file: null, exists: true })),
  ]
  const rowsOf = (changes: readonly JsonObject[], format: (value: Json | undefined) => string) =>
    changes.map(change => ({ ...change, live: format(change.live), file: format(change.file) }))
  if (plans.length > 0 || undescribed.length > 0)
    await printer.print({
      records,
      document: changes => ({ same: isSame, digest: digest ?? null, queues, changes }),
      columns: differenceColumns,
      rows: rowsOf(records, formatValue),
      screen: () => ({
        columns: screenColumns,
        rows: rowsOf(recordsWith(shortRepositoryName), formatSetting),
      }),
    })
  for (const plan of plans) await logger.info(describePlan(plan)[0] ?? '')
  for (const { name } of undescribed) await logger.info(`The queue for ${name} has no file.`)
  if (digest !== undefined) await logger.debug(`The digest of the live settings is ${digest}.`)
  return reportFailures(failed, cli)
}

/** Returns the queues that no file describes: of the repositories of the files, or of all. */
async function undescribedQueues(
  items: readonly QueueFileItem[],
  allRepos: boolean,
  cli: Cli,
): Promise<readonly NamedQueue[]> {
  const { response } = await callOperation(cli.client(), getMergeQueueMetrics, {
    repo: undefined,
    branch: undefined,
  })
  const described = items.map(({ queue }) => queue)
  const repositories = described.map(({ repo }) => queueKey({ repo, targetBranch: '' }))
  const queues = await namedQueues(response.bytes, described[0]?.repo, cli)
  return queues.filter(
    ({ queue: values }) =>
      (allRepos || repositories.includes(queueKey({ ...values, targetBranch: '' }))) &&
      !described.some(other => queueKey(other) === queueKey(values)),
  )
}

/** Compares two live queues of a repository. Returns the exit code. */
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
  const screenColumns = differenceColumns
    .filter(({ path }) => path !== 'targetBranch')
    .map(column => ({ ...column, title: titles.get(column.path) ?? column.title }))
  const code = await printPlans({ plans: [plan], failed: [] }, cli, { screenColumns })
  return mostSevere([code, hasDifferences(plan) ? exitCodeOf('differs') : 0])
}

/** The file of a comparison; not required where another branch takes its place. */
const fileUnlessBranch: FlagInput<string | undefined> = {
  ...fileInput,
  definitions: fileInput.definitions.map(definition => ({
    ...definition,
    summary: `${definition.summary} without --with-branch`,
  })),
  read: args => (args.has('--with-branch') && !args.has('--file') ? undefined : fileInput.read(args)),
}

export const queueDiffCommand = command({
  name: 'queue diff',
  summary: 'Compare queue settings with files, or with those of another queue',
  alsoSends: [getQueue, getMergeQueueMetrics],
  documents: [diffRecord],
  fields: fieldsOfRecords([differenceRecord], differenceColumns),
  exits: ['differs'],
  prints: {
    table: 'one row per setting that differs, with the live value and the value in the file',
    json: `${outline(diffRecord)}; a queue that could not be read has "exit" and "message"`,
    ndjson: 'one difference per line',
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
    for (const [one, other, isWrong] of [
      ['--with-branch', '--file', withBranch !== undefined && file !== undefined],
      ['--with-branch', '--strict', withBranch !== undefined && strict],
      ['--offline', '--with-branch', offline && withBranch !== undefined],
      ['--offline', '--strict', offline && strict],
      ['--all-repos', '--repo', allRepos && cli.args.has('--repo')],
    ] as const)
      if (isWrong) throw usageError(`${one} and ${other} cannot be used together.`, 'Use only one of them.')
    if (allRepos && !strict) throw usageError('--all-repos requires --strict.', 'Add --strict.')
    if (file === undefined) return compareBranches(withBranch ?? '', { includeState, set }, cli)
    const items = await readItems(file, { includeState, set }, cli)
    if (offline) return (await import('./diff-offline.ts')).checkOffline(items, differenceColumns, cli)
    const [first] = items
    if (cli.options.dryRun && first !== undefined) return printRequests(cli, getQueue, [first.queue])
    const reading = await createPlans(items, includeState, cli)
    const undescribed = strict ? await undescribedQueues(items, allRepos, cli) : []
    const code = await printPlans(reading, cli, { undescribed })
    const differs = reading.plans.some(hasDifferences) || undescribed.length > 0
    return mostSevere([code, differs ? exitCodeOf('differs') : 0])
  },
})
