import { getQueue } from '../../api/operations/queues.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { serviceRecord } from '../../cli/fields/record-fields.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { repositoryName } from '../../domain/values/repository.ts'
import { get, getArray, getString, isObject } from '../../json.ts'
import { type ColumnSpec, table } from '../../output/view.ts'

const columns: readonly ColumnSpec[] = [
  ['POSITION', 'position', 'number'],
  ['PR', 'prNumber', 'pr'],
  ['STATE', 'state', 'state'],
  ['PRIORITY', 'priorityName'],
  ['SINCE', 'stateChangedAt', 'time'],
  ['AUTHOR', 'prAuthor'],
  ['TITLE', 'prTitle'],
]

/** The fields of a queue; the rows of the table are its pull requests. */
export const queueRecord = serviceRecord(getQueue, columns, 'enqueuedPullRequests')

/** `mergeq queue get`: a queue and the pull requests in it. */
export const queueGetCommand = defineOperationCommand({
  command: 'queue get',
  summary: 'Show a queue: its state, settings and pull requests',
  operation: getQueue,
  inputs: queueInputs,
  fields: queueRecord,
  view({ records: [queue = {}] }, { repo, targetBranch }) {
    const entries = getArray(queue, 'enqueuedPullRequests')
    const positions = entries.map((entry, index) =>
      isObject(entry) ? { ...entry, position: index + 1 } : entry,
    )
    const setting = (key: string) =>
      (get(queue, key) ?? undefined) === undefined ? [] : [`${key} ${get(queue, key)}`]
    const facts = [getString(queue, 'state') ?? '-', ...['mode', 'concurrency', 'batch'].flatMap(setting)]
    return {
      ...table(positions, columns),
      heading: [
        `Queue for ${targetBranch} in ${repositoryName(repo)}: ${facts.join(', ')}`,
        ...(entries.length === 0
          ? ['No pull requests are queued. Pull requests that are not ready are not listed.']
          : []),
      ],
    }
  },
  examples: [
    'mergeq queue get',
    'mergeq queue get --json | jq -r .state',
    'mergeq queue get --fields state,mode',
  ],
})
