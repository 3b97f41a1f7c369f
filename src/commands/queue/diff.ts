import { getQueue } from '../../api/operations/queues.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { repositoryName, shortRepositoryName } from '../../domain/values/repository.ts'
import { exitCodeOf, mostSevere } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { columns } from '../../output/view.ts'
import {
  combineDigests,
  createPlans,
  describePlan,
  fileInput,
  formatSetting,
  formatValue,
  hasDifferences,
  includeStateInput,
  type Plan,
  type PlanResults,
  readItems,
  reportFailures,
  settingsOf,
} from './plan.ts'

export const differenceRecord: RecordFields = {
  names: ['repo', 'targetBranch', 'setting', 'live', 'file'],
  columns: columns(
    ['REPOSITORY', 'repo', 'id'],
    ['BRANCH', 'targetBranch', 'id'],
    ['SETTING', 'setting', 'id'],
    ['LIVE', 'live', 'prose'],
    ['FILE', 'file', 'prose'],
  ),
}

const recordOfPlan = ({ request: { values } }: Pick<Plan, 'request'>, nameRepository = repositoryName) => ({
  repo: nameRepository(values.repo),
  targetBranch: values.targetBranch,
})

/**
 * Prints the differences between queues and their files, and logs the digest of the live settings and the errors of
 * the queues that could not be read. Returns the exit code of the errors.
 */
export async function printPlans(reading: PlanResults, cli: Cli): Promise<number> {
  const { printer, logger } = cli
  const { plans, failed } = reading
  const digest = await combineDigests(reading)
  const isSame = failed.length === 0 && !plans.some(hasDifferences)
  const recordsWith = (nameRepository: typeof repositoryName): readonly JsonObject[] =>
    plans.flatMap(plan =>
      plan.differences.map(difference => ({ ...recordOfPlan(plan, nameRepository), ...difference })),
    )
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
  ]
  const rowsOf = (changes: readonly JsonObject[], format: (value: Json | undefined) => string) =>
    changes.map(change => ({ ...change, live: format(change.live), file: format(change.file) }))
  if (plans.length > 0)
    await printer.print({
      records,
      document: changes => ({ same: isSame, digest: digest ?? null, queues, changes }),
      columns: differenceRecord.columns,
      rows: rowsOf(records, formatValue),
      screen: () => ({
        columns: differenceRecord.columns,
        rows: rowsOf(recordsWith(shortRepositoryName), formatSetting),
      }),
    })
  for (const plan of plans) await logger.info(describePlan(plan)[0] ?? '')
  if (digest !== undefined) await logger.info(`The digest of the live settings is ${digest}.`)
  return reportFailures(failed, cli)
}

export const queueDiffCommand = command({
  name: 'queue diff',
  summary: 'Compare queue settings with files',
  alsoSends: [getQueue],
  fields: differenceRecord,
  exits: ['differs'],
  prints: {
    table: 'one row per setting that differs, with the live value and the value in the file',
    json: '{"same","digest","queues","changes"}; a queue that could not be read has "exit" and "message"',
    ndjson: 'one difference per line',
  },
  options: { file: fileInput, includeState: includeStateInput, set: settingsOf(getQueue) },
  examples: ['mergeq queue diff -f queue.yaml', 'mergeq queue diff -f queues/ --json | jq -r .digest'],
  async run({ file, includeState, set }, cli) {
    const items = await readItems(file, { includeState, set }, cli)
    // A dry run prints the first request of the command.
    const compared = cli.options.dryRun ? items.slice(0, 1) : items
    const reading = await createPlans(compared, includeState, cli)
    const code = await printPlans(reading, cli)
    return mostSevere([code, reading.plans.some(hasDifferences) ? exitCodeOf('differs') : 0])
  },
})
