import { fieldNames, queueSettingsRecord } from '../../api/operations/fields.ts'
import { updateQueue } from '../../api/operations/queues.ts'
import { defineCommand } from '../../cli/command.ts'
import { receiptRecord } from '../../cli/fields.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import type { Json, JsonObject } from '../../json.ts'
import { keyValueTable, message, type View } from '../../output/view.ts'
import { describeUpdate, overriddenSettings, readQueue } from './settings/describe-update.ts'

const settingsTable = (queue: JsonObject): View =>
  keyValueTable(
    queue,
    Object.keys(queue)
      .filter(key => key !== 'enqueuedPullRequests')
      .map(key => [key, key]),
  )

/** The settings that were typed; a removal of the required statuses is the empty list. */
const settingsOf = ({
  deleteRequiredStatuses,
  ...settings
}: Readonly<Record<string, Json | undefined>>): Readonly<Record<string, Json | undefined>> => ({
  ...settings,
  ...(deleteRequiredStatuses ? { requiredStatuses: [] } : {}),
})

/** `mergeq queue update`: changes settings of a queue. */
export const queueUpdateCommand = defineCommand({
  command: 'queue update',
  summary: 'Change queue settings; settings that are not given stay unchanged',
  operation: updateQueue,
  fields: { ...receiptRecord, names: [...fieldNames(queueSettingsRecord), ...receiptRecord.names] },
  output: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery, message',
    json: 'the document from the service, or else a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same, on one line',
  },
  readBefore: (values, context) => readQueue(values, context),
  view: ({ records: [queue] }, { repo, targetBranch, ...sent }, { before, overrides }) => ({
    ...(queue === undefined ? message('') : settingsTable(queue)),
    ...(queue === undefined
      ? { sentence: `Updated the queue for ${targetBranch} in ${repositoryName(repo)}.` }
      : { heading: [`Updated the queue for ${targetBranch} in ${repositoryName(repo)}:`] }),
    ...(before === undefined
      ? {}
      : {
          sentence: `${targetBranch}: ${describeUpdate({ ...settingsOf(sent), ...overriddenSettings(overrides) }, before, queue ?? {})}`,
        }),
  }),
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
})
