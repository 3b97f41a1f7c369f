import { tryRead } from '../../api/extra-reads.ts'
import type { BodyOverride, ParamValues } from '../../api/operation.ts'
import { fieldNames } from '../../api/operations/fields.ts'
import { getQueue, queueSettingsRecord } from '../../api/operations/queues.ts'
import { runRequests } from '../../cli/calls.ts'
import { command } from '../../cli/command.ts'
import { receiptRecord } from '../../cli/fields.ts'
import { kebabCase } from '../../cli/inputs.ts'
import type { Presentation, Received } from '../../cli/presentation.ts'
import { requestOf } from '../../cli/requests.ts'
import { queueName } from '../../domain/values/repository.ts'
import type { Json, JsonObject } from '../../json.ts'
import { updateQueue } from '../../methods/queues.ts'
import { columns, keyValueTable } from '../../output/view.ts'
import { formatSetting } from './plan.ts'

type Settings = Readonly<Record<string, Json | undefined>>

/** The settings that were sent: those of options, and those of `--set`, as `{ 'a.b': 1 }` for `a.b=1`. */
function sentSettings(
  { deleteRequiredStatuses, ...options }: Settings,
  overrides: readonly BodyOverride[],
): Settings {
  const overridden = overrides.map(({ path, value }) => [path.join('.'), value])
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
 * Returns what a change of settings changed: `concurrency 5 -> 4, batch no -> yes`. A setting that had the
 * value already is `concurrency 4 (unchanged)`.
 *
 * @param sent the settings that were sent, by their keys
 * @param after the queue in the response; empty where the service returns none
 */
export function describeUpdate(sent: Settings, before: JsonObject, after: JsonObject): string {
  const keys = Object.keys(sent).filter(key => sent[key] !== undefined)
  const others = Object.keys(after).filter(
    key =>
      key !== 'enqueuedPullRequests' &&
      !keys.includes(key) &&
      Object.hasOwn(before, key) &&
      !isSame(before[key], after[key]),
  )
  const texts = [...keys, ...others].map(key => {
    const value = after[key] ?? sent[key]
    const text = `${kebabCase(key)} ${formatValue(value)}`
    if (!Object.hasOwn(before, key)) return text
    return isSame(before[key], value)
      ? `${text} (unchanged)`
      : `${kebabCase(key)} ${formatValue(before[key])} -> ${formatValue(value)}`
  })
  return texts.join(', ') || 'no setting changed'
}

export const queueUpdateCommand = command({
  name: 'queue update',
  summary: 'Change queue settings; other settings stay as they are',
  operation: updateQueue,
  alsoSends: [getQueue],
  options: { request: requestOf(updateQueue) },
  fields: { ...receiptRecord, names: [...fieldNames(queueSettingsRecord), ...receiptRecord.names] },
  prints: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery, message',
    json: 'the document from the service, or else a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same, on one line',
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
  run: ({ request }, cli) =>
    runRequests(cli, [request], {
      before: async ({ repo, targetBranch }) =>
        (await tryRead(cli.client(), getQueue, { repo, targetBranch }, { once: true })).record,
      present: presentUpdate,
    }),
})

/** Shows what changed or, where the settings from before are not known, the settings that the service returned. */
function presentUpdate({
  response,
  values: { repo, targetBranch, ...options },
  before,
  overrides,
}: Received<ParamValues<typeof updateQueue.params>>): Presentation {
  const [queue] = response.records
  const sentence = `Updated the queue for ${queueName({ repo, targetBranch })}`
  const changes =
    before && `${targetBranch}: ${describeUpdate(sentSettings(options, overrides), before, queue ?? {})}`
  if (queue === undefined) return { sentence: changes ?? `${sentence}.` }
  const settings = Object.keys(queue).filter(key => key !== 'enqueuedPullRequests')
  const table = keyValueTable(queue, columns(...settings.map(key => [key, key] as const)))
  return {
    ...table,
    ...(changes === undefined
      ? { screen: () => ({ heading: [`${sentence}:`], ...table }) }
      : { sentence: changes }),
  }
}
