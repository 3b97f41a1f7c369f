import { isEmptySetting, queueSettings } from '../../../api/operations/queue-settings.ts'
import { type Json, type JsonObject, stringifyJson } from '../../../base/json.ts'
import type { Cli } from '../../../command/command.ts'
import { flagName, kebabCase } from '../../../command/inputs.ts'
import { stateOf } from '../../../domain/states.ts'
import type { Queue } from '../../../values/repository.ts'
import type { CommandWords } from '../../../values/suggested-command.ts'
import { formatSetting, isOnlyRead } from './files/queue-file.ts'

const formatValue = (value: Json | undefined): string => formatSetting(value ?? null)

/** Whether two values of a setting are the same; the words of states and modes in any case. */
const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  formatValue(one).toLowerCase() === formatValue(other).toLowerCase()

/**
 * Returns what a change of settings changed, a text for each: `concurrency 5 -> 4`. A setting that had the value already
 * is `concurrency 4 (unchanged)`, and one that was not sent is `batch no -> yes (changed by the service)`.
 *
 * @param sent the settings that were sent, by their keys
 * @param after the queue in the response; empty where the service returns none
 */
export function describeUpdate(sent: JsonObject, before: JsonObject, after: JsonObject): readonly string[] {
  const keys = Object.keys(sent).filter(key => sent[key] !== undefined)
  const others = Object.keys(after).filter(
    key =>
      key !== 'enqueuedPullRequests' &&
      !keys.includes(key) &&
      Object.hasOwn(before, key) &&
      !isSame(before[key], after[key]),
  )
  return [...keys, ...others].map(key => {
    const value = after[key] ?? sent[key]
    const text = `${kebabCase(key)} ${formatValue(value)}`
    if (!Object.hasOwn(before, key)) return text
    if (isSame(before[key], value)) return `${text} (unchanged)`
    const note = keys.includes(key) ? '' : ' (changed by the service)'
    return `${kebabCase(key)} ${formatValue(before[key])} -> ${formatValue(value)}${note}`
  })
}

/** Names the command that sets what changed to its earlier values, as far as these can be set. */
export async function suggestUndo(
  queue: Queue,
  sent: JsonObject,
  before: JsonObject,
  { logger, settings }: Cli,
): Promise<void> {
  const words = Object.entries(sent).flatMap(([key, value]): CommandWords => {
    const old = key === 'state' ? stateOf(before).toLowerCase() : before[key]
    if (value === undefined || old === undefined || isSame(old, value) || isOnlyRead(key, old)) return []
    if (key === 'requiredStatuses' && isEmptySetting(old)) return [flagName('deleteRequiredStatuses')]
    if (!Object.hasOwn(queueSettings, key)) return ['--set', `${key}=${stringifyJson(old)}`]
    if (old === null) return []
    if (typeof old === 'boolean') return [flagName(key, old)]
    return (Array.isArray(old) ? old : [old]).flatMap(value => [flagName(key), String(value)])
  })
  if (words.length > 0)
    await logger.info(`To undo this, run: ${settings.commandLine(['queue', 'update', ...words], queue)}`)
}
