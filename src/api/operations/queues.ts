import { withNormalizedState } from '../../domain/states.ts'
import { getArray, isObject, type JsonObject } from '../../json.ts'
import { emptyDecoder, recordDecoder, recordOrEmptyDecoder } from '../decode.ts'
import { defineOperation, type OperationErrors } from '../operation.ts'
import { param, switchParam } from '../param.ts'
import { recoveryRule } from '../recovery-rule.ts'
import { queueParams } from './pull-requests.ts'
import { queueFields, queueSettingFields } from './service-fields.ts'

/** Normalizes the states of a queue and of its pull requests; an unchanged queue is returned itself. */
function withNormalizedStates(document: JsonObject): JsonObject {
  const queue = withNormalizedState(document)
  const entries = getArray(queue, 'enqueuedPullRequests')
  const normalized = entries.map(entry => (isObject(entry) ? withNormalizedState(entry) : entry))
  return normalized.every((entry, index) => entry === entries[index])
    ? queue
    : { ...queue, enqueuedPullRequests: normalized }
}

const createOnNotFound: OperationErrors = {
  hint: (status, resource, commandLine) =>
    status === 404
      ? `Check --repo and --target-branch. To create the queue, run: ${commandLine(['queue', 'create'], resource)}`
      : undefined,
}

export const getQueue = defineOperation({
  route: 'POST /getQueue',
  effect: false,
  fields: queueFields,
  params: queueParams,
  decoder: recordDecoder(withNormalizedStates, {
    name: 'list of enqueued pull requests (enqueuedPullRequests)',
    isPresent: ({ enqueuedPullRequests }) => Array.isArray(enqueuedPullRequests),
  }),
  errors: createOnNotFound,
})

const recoveredByQueue = {
  readBack: { operation: getQueue, params: ['repo', 'targetBranch'] },
  replay: 'if-not-applied',
  inspectCommand: 'queue get',
} as const

const text = (name: string) => param<string | undefined>(`body.${name}`)
const integer = (name: string) => param<number | undefined>(`body.${name}`)
const boolean = (name: string) => param<boolean | undefined>(`body.${name}`)

export const createQueue = defineOperation({
  route: 'POST /createQueue',
  effect: {
    ...recoveredByQueue,
    repeated: 409,
    inspect: recoveryRule('inspectCreate'),
  },
  params: { ...queueParams, mode: text('mode'), concurrency: integer('concurrency') },
  decoder: emptyDecoder,
  errors: {
    hint(status, resource, commandLine) {
      if (status === 404) return 'Check --repo and the permissions of the token.'
      return status === 409
        ? `To change the settings of an existing queue, run: ${commandLine(['queue', 'update'], resource)}`
        : undefined
    },
  },
})

/** A param that is left out stays unchanged (docs/reference/service.md, "Queue settings"). */
export const updateQueue = defineOperation({
  route: 'POST /updateQueue',
  stateFields: ['state'],
  effect: {
    ...recoveredByQueue,
    inspect: recoveryRule('inspectUpdate'),
  },
  fields: queueSettingFields,
  params: {
    ...queueParams,
    state: text('state'),
    mode: text('mode'),
    concurrency: integer('concurrency'),
    bisectionConcurrency: integer('bisectionConcurrency'),
    testingTimeoutMinutes: integer('testingTimeoutMinutes'),
    pendingFailureDepth: integer('pendingFailureDepth'),
    canOptimisticallyMerge: boolean('canOptimisticallyMerge'),
    batch: boolean('batch'),
    batchingMinSize: integer('batchingMinSize'),
    batchingMaxWaitTimeMinutes: integer('batchingMaxWaitTimeMinutes'),
    createPrsForTestingBranches: boolean('createPrsForTestingBranches'),
    commentsEnabled: boolean('commentsEnabled'),
    commandsEnabled: boolean('commandsEnabled'),
    statusCheckEnabled: boolean('statusCheckEnabled'),
    directMergeMode: text('directMergeMode'),
    optimizationMode: text('optimizationMode'),
    mergeMethod: text('mergeMethod'),
    requiredStatuses: param<readonly string[] | undefined>('body.requiredStatuses'),
    deleteRequiredStatuses: switchParam('body.deleteRequiredStatuses'),
    extensionEnabled: boolean('extensionEnabled'),
    labelCommandsEnabled: boolean('labelCommandsEnabled'),
    stateLabelsEnabled: boolean('stateLabelsEnabled'),
    enqueueingLabel: text('enqueueingLabel'),
    notReadyTimeoutHours: integer('notReadyTimeoutHours'),
    testBranchConstructionMode: text('testBranchConstructionMode'),
  },
  decoder: recordOrEmptyDecoder(withNormalizedStates),
  errors: createOnNotFound,
})

export const deleteQueue = defineOperation({
  route: 'POST /deleteQueue',
  effect: {
    ...recoveredByQueue,
    repeated: 404,
    inspect: recoveryRule('inspectDelete'),
  },
  params: queueParams,
  decoder: emptyDecoder,
})
