import { updateQueue } from '../../api/operations/queues.ts'
import { queueSettingFields } from '../../api/operations/service-fields.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { receiptRecord } from '../../cli/fields/record-fields.ts'
import type { InputValues } from '../../cli/inputs.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { usageError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'
import { keyValueTable, message, type View } from '../../output/view.ts'
import { describeUpdate, overriddenSettings, readQueue } from './settings/describe-update.ts'
import { queueSettings } from './settings/queue-setting-options.ts'

const settingsTable = (queue: JsonObject): View =>
  keyValueTable(
    queue,
    Object.keys(queue)
      .filter(key => key !== 'enqueuedPullRequests')
      .map(key => [key, key]),
  )

/** The settings that were typed; a removal of the required statuses is the empty list. */
const settingsOf = ({ deleteRequiredStatuses, ...settings }: InputValues<typeof queueSettings>) => ({
  ...settings,
  ...(deleteRequiredStatuses ? { requiredStatuses: [] } : {}),
})

export const queueUpdateCommand = defineOperationCommand({
  command: 'queue update',
  summary: 'Change queue settings; settings that are not given stay unchanged',
  operation: updateQueue,
  inputs: { ...queueInputs, ...queueSettings },
  fields: { ...receiptRecord, names: [...queueSettingFields, ...receiptRecord.names] },
  output: {
    table:
      'one sentence; on a pipe, a row for each setting that the service returns, or else a row with pr, ok, delivery, message',
    json: 'the document from the service, or else a receipt: {"operation","repo","targetBranch","pr","ok","delivery"}',
    ndjson: 'the same, on one line',
  },
  readBefore: readQueue,
  view: ({ records: [queue] }, { repo, targetBranch, ...sent }, before, overrides = []) => ({
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
  check({ repo, targetBranch, ...settings }, overrides) {
    const { requiredStatuses, deleteRequiredStatuses, ...others } = settings
    if (requiredStatuses !== undefined && deleteRequiredStatuses)
      throw usageError('--required-status and --delete-required-statuses cannot be used together.')
    const changes = [requiredStatuses, deleteRequiredStatuses || undefined, ...Object.values(others)]
    if (overrides.length === 0 && changes.every(value => value === undefined))
      throw usageError('No setting was given.', 'Specify at least one setting, for example: --concurrency 5')
  },
  examples: ['mergeq queue update --concurrency 5 --batch', 'mergeq queue update --set newSetting=true'],
})
