// Plans: how live queues differ from what files describe. `queue diff` prints them, `queue apply` carries them out.

import { readIfFound } from '../../../api/call.ts'
import { getQueue } from '../../../api/operations/queues.ts'
import { MergeqError, usageError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import type { Outcome } from '../../../command/each.ts'
import { forEachQueue } from '../../../command/several-queues.ts'
import { type Queue, queueName } from '../../../values/repository.ts'
import { suggestName } from '../../../values/similar-name.ts'
import type { QueueFileItem } from './files/described-queues.ts'
import {
  type Difference,
  differences,
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
