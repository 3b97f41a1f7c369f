import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { printDryRun } from '../../cli/dry-run.ts'
import type { RecordFields } from '../../cli/fields.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { exitCodeOf } from '../../errors.ts'
import type { Json, JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
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
  readItems,
} from './plan.ts'

export const differenceRecord: RecordFields = {
  names: ['repo', 'targetBranch', 'setting', 'live', 'file'],
  columns: [
    ['BRANCH', 'targetBranch'],
    ['SETTING', 'setting'],
    ['LIVE', 'live'],
    ['FILE', 'file'],
  ],
}

const queueRecord = ({ request: { values } }: Plan) => ({
  repo: repositoryName(values.repo),
  targetBranch: values.targetBranch,
})

/**
 * Prints the differences between queues and their files, and logs the digest of the live settings. Returns
 * whether all queues match their files.
 */
export async function printPlans(
  plans: readonly Plan[],
  { printer, logger }: CommandContext,
): Promise<boolean> {
  const digest = await combineDigests(plans)
  const isSame = !plans.some(hasDifferences)
  const records: readonly JsonObject[] = plans.flatMap(plan =>
    plan.differences.map(difference => ({ ...queueRecord(plan), ...difference })),
  )
  const queues = plans.map(plan => ({
    file: plan.path,
    ...queueRecord(plan),
    exists: plan.live !== undefined,
    digest: plan.digest,
  }))
  const rowsOf = (changes: readonly JsonObject[], format: (value: Json | undefined) => string) =>
    changes.map(change => ({ ...change, live: format(change.live), file: format(change.file) }))
  await printer.print({
    records,
    document: changes => ({ same: isSame, digest, queues, changes }),
    view: changes => ({
      ...table(rowsOf(changes, formatValue), differenceRecord.columns),
      terminalView: () =>
        table(rowsOf(records, formatSetting), [
          ...(plans.length > 1 ? [['BRANCH', 'targetBranch', 'prose'] as const] : []),
          ['SETTING', 'setting', 'id'],
          ['LIVE', 'live', 'prose'],
          ['FILE', 'file', 'prose'],
        ]),
    }),
  })
  if (records.length > 0) await printer.end()
  for (const plan of plans) await logger.info(describePlan(plan)[0] ?? '')
  await logger.info(`The digest of the live settings is ${digest}.`)
  return isSame
}

export const queueDiffCommand = defineCommand({
  command: 'queue diff',
  summary: 'Compare queue settings with files',
  operation: getQueue,
  isComposition: true,
  fields: differenceRecord,
  exitKinds: ['differs'],
  output: {
    table: 'one row per setting that differs, with the live value and the value in the file',
    json: '{"same","digest","queues","changes"}',
    ndjson: 'one difference per line',
  },
  options: { file: fileInput, includeState: includeStateInput },
  examples: ['mergeq queue diff -f queue.yaml', 'mergeq queue diff -f queues/ --json | jq -r .digest'],
  async dryRun({ file, includeState }, context) {
    const items = await readItems(file, includeState, context)
    const requests = items.map(({ request }) => request)
    return printDryRun(getQueue, requests.slice(0, 1), context)
  },
  async run({ file, includeState }, context) {
    const items = await readItems(file, includeState, context)
    const isSame = await printPlans(await createPlans(items, includeState, context), context)
    return isSame ? 0 : exitCodeOf('differs')
  },
})
