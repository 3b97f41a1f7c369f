import { type CallResult, readIfFound } from '../../api/call.ts'
import type { BodyOverride } from '../../api/operation.ts'
import { outline } from '../../api/operations/fields.ts'
import { getQueue, queueSettingsRecord, updateQueue } from '../../api/operations/queues.ts'
import { receiptRecord } from '../../api/operations/receipts.ts'
import { isEmptySetting, isOnlyRead } from '../../domain/queue-file.ts'
import { queueSettings } from '../../domain/queue-settings.ts'
import { stateOf } from '../../domain/states.ts'
import type { CommandWords } from '../../domain/suggested-command.ts'
import { type Queue, queueName } from '../../domain/values/repository.ts'
import { type Json, type JsonObject, stringifyJson } from '../../json.ts'
import { columns, keyValueTable, type Result, receiptColumns } from '../../output/view.ts'
import { type Cli, command } from '../../run/command.ts'
import { withoutDryRun } from '../../run/dry-run.ts'
import { fieldsOfRecords } from '../../run/fields.ts'
import { flagName, kebabCase } from '../../run/inputs.ts'
import { forOne, readForPerson, send, show } from '../../run/send.ts'
import { paramsOf, setOf } from '../../run/values.ts'
import { formatSetting } from './format-setting.ts'

type Settings = Readonly<Record<string, Json | undefined>>

/** The settings that were sent: those of options, and those of `--set`, as `{ 'a.b': 1 }` for `a.b=1`. */
function sentSettings(
  { deleteRequiredStatuses, ...options }: Settings,
  added: readonly BodyOverride[] = [],
): Settings {
  const overridden = added.map(({ path, value }) => [path.join('.'), value])
  return {
    ...options,
    ...(deleteRequiredStatuses ? { requiredStatuses: [] } : {}),
    ...Object.fromEntries(overridden),
  }
}

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
export function describeUpdate(sent: Settings, before: JsonObject, after: JsonObject): readonly string[] {
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

export const queueUpdateCommand = command({
  name: 'queue update',
  summary: 'Change queue settings; other settings stay as they are',
  operation: updateQueue,
  alsoSends: [getQueue],
  options: { ...paramsOf(updateQueue) },
  set: setOf(updateQueue),
  fields: fieldsOfRecords([queueSettingsRecord, receiptRecord], receiptColumns),
  prints: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery (how sure the result is), message',
    json: `the document from the service, or else the result of the change (a receipt): ${outline(receiptRecord)}`,
    ndjson: 'the same, on one line',
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
  async run(values, cli) {
    const { repo, targetBranch, ...options } = values
    const queue = { repo, targetBranch }
    const settings = sentSettings(options, cli.client().added?.fields)
    if (cli.options.dryRun && cli.results === 'screen') await showChanges(queue, settings, withoutDryRun(cli))
    const before = await readForPerson(cli, getQueue, queue)
    const code = await forOne(cli, updateQueue, values, async () => {
      const sent = await send(cli, updateQueue, values)
      return sent === 'printed' ? sent : showUpdate(queue, settings, before, sent)
    })
    if (code === 0 && before !== undefined) await suggestUndo(queue, settings, before, cli)
    return code
  },
})

/** Says what a dry run would change, if the queue can be read. */
async function showChanges(queue: Queue, settings: Settings, cli: Cli): Promise<void> {
  const limits = { maxRetries: 0 }
  const before = await readIfFound(cli.client(), getQueue, queue, { limits }).catch(() => undefined)
  cli.host.interrupted.throwIfAborted()
  if (before === undefined) return
  const changes = describeUpdate(settings, before, {})
  await cli.logger.info(`${queue.targetBranch}: ${changes.join(', ') || 'no setting changed'}`)
}

/**
 * Tells how to undo a change of settings: the command that sets those that changed to their earlier values, as far as
 * these can be set.
 */
export async function suggestUndo(
  queue: Queue,
  sent: Settings,
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

/** Shows what changed or, where the settings from before are not known, the settings that the service returned. */
function showUpdate(
  { repo, targetBranch }: Queue,
  sentSettings: Settings,
  before: JsonObject | undefined,
  sent: CallResult,
): Result {
  const [queue] = sent.response.records
  const sentence = `Updated the queue for ${queueName({ repo, targetBranch })}`
  const texts = before && describeUpdate(sentSettings, before, queue ?? {})
  const changes = texts && `${targetBranch}: ${texts.join(', ') || 'no setting changed'}`
  if (queue === undefined) return show(sent, changes ?? `${sentence}.`)
  const settings = Object.keys(queue).filter(key => key !== 'enqueuedPullRequests')
  const table = keyValueTable(queue, columns(...settings.map(key => [key, key] as const)))
  if (texts !== undefined && texts.length > 1)
    return show(sent, {
      ...table,
      screen: () => ({ heading: [`${targetBranch}:`, ...texts.map(text => `  ${text}`)] }),
    })
  const screen = () =>
    changes === undefined ? { heading: [`${sentence}:`], ...table } : { sentence: changes }
  return show(sent, { ...table, screen })
}
