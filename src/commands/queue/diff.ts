import { getQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import { printDryRun } from '../../cli/run-operation.ts'
import { repositoryName } from '../../domain/values/parsers.ts'
import { exitCodeOf } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import {
  describePlan,
  digestOfAll,
  formatValue,
  isDifferent,
  type Plan,
  planAll,
  readItems,
} from './file/plan.ts'
import { fileInput, queueFileInputs, requireFile, unknownFlag } from './file/read-files.ts'
import { queueGet } from './get.ts'

const placeOf = ({ run: { values } }: Plan) => ({
  repo: repositoryName(values.repo),
  targetBranch: values.targetBranch,
})

/**
 * Prints what is between queues and their files, and says the digest of the live settings on standard error. Returns
 * whether all queues are as their files say.
 */
export async function printPlans(
  plans: readonly Plan[],
  { printer, logger }: CommandContext,
): Promise<boolean> {
  const digest = await digestOfAll(plans)
  const same = !plans.some(isDifferent)
  const records: readonly JsonObject[] = plans.flatMap(plan =>
    plan.differences.map(difference => ({ ...placeOf(plan), ...difference })),
  )
  const queues = plans.map(plan => ({
    file: plan.path,
    ...placeOf(plan),
    exists: plan.live !== undefined,
    digest: plan.digest,
  }))
  await printer.print({
    records,
    document: changes => ({ same, digest, queues, changes }),
    shape: changes =>
      table(
        changes.map(one => ({ ...one, live: formatValue(one.live), file: formatValue(one.file) })),
        [
          ['BRANCH', 'targetBranch'],
          ['SETTING', 'setting'],
          ['LIVE', 'live'],
          ['FILE', 'file'],
        ],
      ),
  })
  if (records.length > 0) await printer.end()
  for (const plan of plans) await logger.info(describePlan(plan)[0] ?? '')
  await logger.info(`The digest of the live settings is ${digest}.`)
  return same
}

/** `queue diff`: what `queue apply` would change. */
export const diff = defineCommand({
  command: 'queue diff',
  summary: 'Compare queues with their files: 0 if they are the same, 20 if not',
  request: queueGet,
  exitKinds: ['differs'],
  output: {
    table: 'a plan: a row for each setting that differs, live and in the file',
    json: '{"same","digest","queues","changes"}',
    ndjson: 'one difference a line',
  },
  inputs: { file: fileInput, ...queueFileInputs, ...unknownFlag },
  examples: ['mergeq queue diff -f queue.yaml', 'mergeq queue diff -f queues/ --json | jq -r .digest'],
  async run({ file, includeState, allowUnknown }, context) {
    const items = await readItems(requireFile(file), includeState, context)
    if (context.options.dryRun) return printDryRun(getQueue, items.map(({ run }) => run).slice(0, 1), context)
    const same = await printPlans(await planAll(items, includeState, allowUnknown, context), context)
    return same ? 0 : exitCodeOf('differs')
  },
})
