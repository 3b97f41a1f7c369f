import { queueSettings } from '../../domain/queue-settings.ts'
import { withNormalizedState } from '../../domain/states.ts'
import { usageError } from '../../errors.ts'
import { getArray, isObject, type JsonObject } from '../../json.ts'
import {
  defineOperation,
  inBody,
  type OperationErrors,
  queueParams,
  type RecoveryRule,
} from '../operation.ts'
import { emptyDecoder, recordDecoder, recordOrEmptyDecoder } from '../response.ts'
import { queueRecord, queueSettingsRecord } from './fields.ts'

/** Normalizes the states of a queue and of its pull requests; an unchanged queue is returned itself. */
function withNormalizedStates(document: JsonObject): JsonObject {
  const queue = withNormalizedState(document)
  const entries = getArray(queue, 'enqueuedPullRequests')
  const normalized = entries.map(entry => (isObject(entry) ? withNormalizedState(entry) : entry))
  return normalized.every((entry, index) => entry === entries[index])
    ? queue
    : { ...queue, enqueuedPullRequests: normalized }
}

const listOnNotFound: OperationErrors = {
  hint: (status, resource, commandLine) =>
    status === 404
      ? `To list the queues, run: ${commandLine(['queue', 'list'], { repo: null, targetBranch: null })}\nTo create this queue, run: ${commandLine(['queue', 'create'], resource)}`
      : undefined,
}

export const getQueue = defineOperation({
  route: 'POST /getQueue',
  summary: 'Reads a queue: its state, settings and pull requests.',
  params: queueParams,
  response: queueRecord,
  decoder: recordDecoder(withNormalizedStates, {
    name: 'list of enqueued pull requests (enqueuedPullRequests)',
    isPresent: ({ enqueuedPullRequests }) => Array.isArray(enqueuedPullRequests),
  }),
  errors: listOnNotFound,
})

const recoveredByQueue = (rule: RecoveryRule, change: string, done: string) =>
  ({
    change,
    done,
    readBack: { operation: getQueue, params: ['repo', 'targetBranch'], rule },
    replay: 'if-not-applied',
    inspectCommand: 'queue get',
  }) as const

const { mode, concurrency } = queueSettings

export const createQueue = defineOperation({
  route: 'POST /createQueue',
  summary: 'Creates a merge queue for a branch.',
  recovery: { ...recoveredByQueue('create', 'creation', 'created'), alreadyAppliedStatus: 409 },
  params: { ...queueParams, ...inBody({ mode, concurrency }) },
  decoder: emptyDecoder,
  errors: {
    hint(status, resource, commandLine) {
      if (status === 404) return 'Check --repo and the permissions of the token.'
      return status === 409
        ? `To see the existing queue, run: ${commandLine(['queue', 'get'], resource)}\nTo change its settings, see: mergeq queue update --help`
        : undefined
    },
  },
})

export const updateQueue = defineOperation({
  route: 'POST /updateQueue',
  summary: 'Changes settings of a queue. Resolves to its settings, or to a receipt if the service sent none.',
  hasState: true,
  recovery: recoveredByQueue('update', 'update', 'updated'),
  params: { ...queueParams, ...inBody(queueSettings) },
  exclusive: [['requiredStatuses', 'deleteRequiredStatuses']],
  check({ repo, targetBranch, ...settings }, hasOverrides) {
    if (!hasOverrides && Object.values(settings).every(value => value === undefined))
      throw usageError('No setting was given.', 'Specify at least one setting, for example: --concurrency 5')
  },
  response: queueSettingsRecord,
  decoder: recordOrEmptyDecoder(withNormalizedStates),
  errors: listOnNotFound,
})

export const deleteQueue = defineOperation({
  route: 'POST /deleteQueue',
  summary: 'Deletes a queue, which must be empty.',
  recovery: { ...recoveredByQueue('delete', 'deletion', 'deleted'), alreadyAppliedStatus: 404 },
  params: queueParams,
  decoder: emptyDecoder,
})
