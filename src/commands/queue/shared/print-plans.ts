// What a person and a program see of plans: sentences, records and columns.

import { type Infer, list, optional, ownRecord, queueNameFields } from '../../../api/operations/fields.ts'
import type { Json, JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { reportErrors } from '../../../command/each.ts'
import { kebabCase } from '../../../command/inputs.ts'
import { type NamedQueue, queueNameColumns } from '../../../command/several-queues.ts'
import { type Column, columns } from '../../../output/view.ts'
import { pluralize } from '../../../values/format.ts'
import { queueFieldsOf } from '../../../values/repository.ts'
import { type Difference, formatSetting, formatValue } from './files/queue-file.ts'
import { combineDigests, hasDifferences, type Plan, type PlanResults } from './plan.ts'

/** Says how a queue differs from its file; `missing` is what is said of one that does not exist. */
export function describePlan({ name, live, differences: { length } }: Plan, missing: string): string {
  if (live === undefined) return `The queue for ${name} ${missing}.`
  if (length === 0) return `The queue for ${name} is up to date.`
  return `The queue for ${name}: ${pluralize(length, 'setting')} ${length === 1 ? 'differs' : 'differ'}.`
}

/** `concurrency 1 -> 2`; without the live value where there is no queue. */
export const describeDifference = ({ setting, live, file }: Difference, queue: Plan['live']): string =>
  `${kebabCase(setting)} ${queue === undefined ? '' : `${formatSetting(live)} -> `}${formatSetting(file)}`

export const differenceRecord = ownRecord({
  ...queueNameFields,
  setting: 'string',
  live: optional('Json'),
  file: optional('Json'),
})

const valueColumns = columns('live', ['file', { format: 'prose' }])

const comparedRecord = ownRecord({
  ...queueNameFields,
  file: 'string | null',
  exists: optional('boolean'),
  digest: optional('string | null'),
  exit: optional('number'),
  message: optional('string'),
})

export const diffRecord = ownRecord({
  same: 'boolean | null',
  digest: 'string | null',
  queues: list(comparedRecord),
  changes: list(differenceRecord),
})

export const differenceColumns = [...columns('repo', 'targetBranch', 'setting'), ...valueColumns]

/** On a terminal, a setting is written as its flag is. */
export const differenceScreenColumns: readonly Column[] = [
  ...queueNameColumns(),
  ...columns(['setting', { show: ({ setting }) => setting && kebabCase(String(setting)) }]),
  ...valueColumns,
]

interface PlansOptions {
  /** Queues that the metrics name and no file describes. */
  readonly undescribed?: readonly NamedQueue[]
  readonly screenColumns?: readonly Column[]
}

/** Also logs the errors of queues that could not be read, and returns their exit code. */
export async function printPlans(
  reading: PlanResults,
  cli: Cli,
  { undescribed = [], screenColumns = differenceScreenColumns }: PlansOptions = {},
): Promise<number> {
  const { printer, logger } = cli
  const { plans, failed, failures } = reading
  const digest = await combineDigests(reading)
  const isSame = failures.length === 0 && !plans.some(hasDifferences) && undescribed.length === 0
  const records: readonly JsonObject[] = [
    ...plans.flatMap(plan =>
      plan.differences.map(difference => ({ ...queueFieldsOf(plan.queue), ...difference })),
    ),
    ...undescribed.map(queue => ({
      ...queueFieldsOf(queue.queue),
      setting: null,
      live: 'exists',
      file: null,
    })),
  ]
  const queues: readonly Infer<typeof comparedRecord>[] = [
    ...plans.map(plan => ({
      ...queueFieldsOf(plan.queue),
      file: plan.path,
      exists: plan.live !== undefined,
      digest: plan.digest,
    })),
    ...failed.map(({ item, failure }) => ({
      ...queueFieldsOf(item.queue),
      file: item.path,
      ...(failure && { exit: failure.exit, message: failure.message }),
    })),
    ...undescribed.map(queue => ({ ...queueFieldsOf(queue.queue), file: null, exists: true })),
  ]
  const rowsWith = (format: (value: Json | undefined) => string) =>
    records.map(change => ({ ...change, live: format(change.live), file: format(change.file) }))
  if (plans.length > 0 || undescribed.length > 0)
    await printer.print({
      records,
      document: changes => ({ same: isSame, digest: digest ?? null, queues, changes }),
      columns: differenceColumns,
      rows: rowsWith(formatValue),
      screen: () => ({
        columns: screenColumns,
        rows: rowsWith(formatSetting),
      }),
    })
  const missing = 'does not exist; queue apply --create creates it'
  for (const plan of plans) await logger.info(describePlan(plan, missing))
  for (const { name } of undescribed) await logger.info(`The queue for ${name} has no file.`)
  if (digest !== undefined) await logger.debug(`The digest of the live settings is ${digest}.`)
  return reportErrors(failures, cli)
}
