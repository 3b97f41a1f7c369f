import { readIfFound } from '../../../api/call.ts'
import { type Infer, list, optional, ownRecord, queueNameFields } from '../../../api/operations/fields.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { MergeqError, usageError } from '../../../base/errors.ts'
import type { Json, JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { type Outcome, reportErrors } from '../../../command/each.ts'
import { kebabCase } from '../../../command/inputs.ts'
import { forEachQueue, type NamedQueue, queueNameColumns } from '../../../command/several-queues.ts'
import { type Column, columns } from '../../../output/view.ts'
import { pluralize } from '../../../values/format.ts'
import { type Queue, queueFieldsOf, queueName } from '../../../values/repository.ts'
import { suggestName } from '../../../values/similar-name.ts'
import type { QueueFileItem } from './files/described-queues.ts'
import {
  type Difference,
  differences,
  formatSetting,
  formatValue,
  isOnlyRead,
  type LiveSettings,
  liveSettings,
  settingNames,
  settingsDigest,
  showKey,
  unknownKeys,
} from './files/queue-file.ts'

export async function readLive(
  queue: Queue,
  includesState: boolean,
  cli: Cli,
): Promise<LiveSettings | undefined> {
  const record = await readIfFound(cli.client(), getQueue, queue)
  return record && liveSettings(record, includesState)
}

export async function requireLive(queue: Queue, includesState: boolean, cli: Cli): Promise<LiveSettings> {
  const live = await readLive(queue, includesState, cli)
  if (live !== undefined) return live
  throw new MergeqError('not-found', `The queue for ${queueName(queue)} does not exist.`, {
    hint: 'To use another queue, name it with --repo and --target-branch.',
    status: 404,
  })
}

export interface Plan extends QueueFileItem {
  /** Undefined if the branch has no queue. */
  readonly live: LiveSettings | undefined
  readonly digest: string
  readonly differences: readonly Difference[]
}

export interface PlanResults {
  readonly plans: readonly Plan[]
  readonly failed: readonly Outcome<QueueFileItem, Plan>[]
  readonly failures: readonly MergeqError[]
}

/** A setting that neither mergeq nor the live queue knows is the usage error of its queue. */
export async function createPlans(
  items: readonly QueueFileItem[],
  includesState: boolean,
  cli: Cli,
): Promise<PlanResults> {
  const { outcomes, results, failures } = await forEachQueue(cli, items, async (item): Promise<Plan> => {
    const live = await readLive(item.queue, includesState, cli)
    const liveValues = live?.settings ?? {}
    const [unknown] = unknownKeys(item.content.settings, liveValues)
    if (unknown !== undefined) throw unknownSettingError(unknown, item, liveValues)
    const digest = await settingsDigest(live?.settings ?? null)
    const changes = differences(liveValues, item.content.settings)
    const onlyRead = changes.find(({ setting, file }) => isOnlyRead(setting, file))
    if (onlyRead !== undefined)
      throw usageError(
        `${item.sourceOf(onlyRead.setting)}: ${onlyRead.setting} is 0, which cannot be set for ${item.name}.`,
        'A file may have it only if the live queue has it. Set 1 or more, or remove the setting.',
      )
    return { ...item, live, digest, differences: changes }
  })
  return { plans: results, failed: outcomes.filter(({ failure }) => failure !== undefined), failures }
}

export function unknownSettingError(
  name: string,
  { sourceOf }: QueueFileItem,
  live: JsonObject,
): MergeqError {
  const source = sourceOf(name)
  return usageError(
    `${source}: unknown queue setting${source === '--set' ? ` '${name}'` : showKey(name, " '", "'")}.`,
    suggestName(name, [...settingNames, ...Object.keys(live)]) ??
      'To see the settings of the queue, use queue export.',
  )
}

/** Of several plans, the digest of their digests; undefined if a queue could not be read. */
export const combineDigests = async ({ plans, failures }: PlanResults): Promise<string | undefined> => {
  if (failures.length > 0) return undefined
  const [first, ...rest] = plans.map(({ digest }) => digest)
  return first !== undefined && rest.length === 0 ? first : settingsDigest([first ?? null, ...rest])
}

export const hasDifferences = ({ live, differences }: Plan): boolean =>
  live === undefined || differences.length > 0

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
