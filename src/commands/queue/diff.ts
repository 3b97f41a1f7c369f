import { read } from '../../api/operations/queues.ts'
import { nameOf } from '../../domain/values/parsers.ts'
import { exitOf } from '../../errors.ts'
import type { Desk } from '../../cli/context.ts'
import { rehearse } from '../../cli/run-operation.ts'
import { type JsonObject } from '../../json.ts'
import { table } from '../../output/view.ts'
import { command } from '../../cli/command.ts'
import { codeFlags, fromFile, needed, unknownFlag } from './file/read-files.ts'
import { digestOfAll, isDifferent, type Plan, planAll, planLines, readItems, shown } from './file/plan.ts'

const placeOf = ({ run: { values } }: Plan) => ({
  repo: nameOf(values.repo),
  targetBranch: values.targetBranch,
})

/**
 * Prints what is between queues and their files, and says the digest of the live settings on standard error. Returns
 * whether all queues are as their files say.
 */
export async function printPlans(plans: readonly Plan[], { printer, voice }: Desk): Promise<boolean> {
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
        changes.map(one => ({ ...one, live: shown(one.live), file: shown(one.file) })),
        [
          ['BRANCH', 'targetBranch'],
          ['SETTING', 'setting'],
          ['LIVE', 'live'],
          ['FILE', 'file'],
        ],
      ),
  })
  if (records.length > 0) await printer.end()
  for (const plan of plans) await voice.note(planLines(plan)[0] ?? '')
  await voice.note(`The digest of the live settings is ${digest}.`)
  return same
}

/** `queue diff`: what `queue apply` would change. */
export const diff = command({
  command: 'queue diff',
  summary: 'Compare queues with their files: 0 if they are the same, 20 if not',
  on: read,
  ends: ['differs'],
  prints: {
    table: 'a plan: a row for each setting that differs, live and in the file',
    json: '{"same","digest","queues","changes"}',
    ndjson: 'one difference a line',
  },
  fields: { file: fromFile, ...codeFlags, ...unknownFlag },
  examples: ['mergeq queue diff -f queue.yaml', 'mergeq queue diff -f queues/ --json | jq -r .digest'],
  async run({ file, includeState, allowUnknown }, desk) {
    const items = await readItems(needed(file), includeState, desk)
    if (desk.options.dryRun) return rehearse(read, items.map(({ run }) => run).slice(0, 1), desk)
    const same = await printPlans(await planAll(items, includeState, allowUnknown, desk), desk)
    return same ? 0 : exitOf('differs')
  },
})
