import { usageError } from '../../base/errors.ts'
import { getArray, isObject, type JsonObject } from '../../base/json.ts'
import { withNormalizedState } from '../../domain/states.ts'
import { type Change, defineOperation, type RecoveryRule } from '../operation.ts'
import { type Param, queueParams } from '../params.ts'
import { emptyDecoder, recordDecoder, recordOrEmptyDecoder } from '../response.ts'
import {
  entryRecord,
  type Field,
  field,
  list,
  open,
  type RecordType,
  required,
  sentRecord,
  words,
} from './fields.ts'
import { queueSettings } from './queue-settings.ts'

const { deleteRequiredStatuses: _, ...reportedSettings } = queueSettings

/** The field in which the service reports a setting. */
function settingField(key: string, { type, summary }: Param<unknown>): Field {
  if (key === 'state') return field('QueueState')
  if (type.choices !== undefined) return field(words(...type.choices), summary)
  return field(key === 'requiredStatuses' ? 'readonly string[] | null' : type.declaration, summary)
}

/** The settings of a queue (docs/reference/service.md, "Queue settings"). */
export const queueSettingsRecord: RecordType = {
  name: 'QueueSettings',
  summary: 'The settings of a queue, as the service reports them.',
  // Few runs ask for them.
  get fields() {
    return {
      branch: field('string', 'The target branch.'),
      ...Object.fromEntries(
        Object.entries(reportedSettings).map(([key, setting]) => [key, settingField(key, setting)]),
      ),
      allowedBotSubmitters: open('readonly Json[]'),
      batchingRules: open('readonly Json[]'),
    }
  },
}

/** A queue (docs/reference/service.md, "getQueue"). */
export const queueRecord = sentRecord(
  'Queue',
  'A queue: its state, its settings, and its pull requests in queue order.',
  { enqueuedPullRequests: required(list(entryRecord)) },
  queueSettingsRecord,
)

/** Normalizes the states of a queue and of its pull requests; an unchanged queue is returned itself. */
export function withNormalizedStates(document: JsonObject): JsonObject {
  const queue = withNormalizedState(document)
  const entries = getArray(queue, 'enqueuedPullRequests')
  const normalized = entries.map(entry => (isObject(entry) ? withNormalizedState(entry) : entry))
  return normalized.every((entry, index) => entry === entries[index])
    ? queue
    : { ...queue, enqueuedPullRequests: normalized }
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
})

/** A change of a queue; its verb ends with an `e`. */
const changeOfQueue = (
  rule: RecoveryRule,
  verb: string,
  noun: string,
  alreadyAppliedStatus?: number,
): Change => ({
  noun,
  done: `${verb.toLowerCase()}d`,
  sentence: { before: `${verb} {queue}`, after: `${verb}d {queue}` },
  isOfQueue: true,
  recovery: { readBack: { operation: getQueue, rule }, replay: 'if-not-applied', alreadyAppliedStatus },
})

const { mode, concurrency } = queueSettings

export const createQueue = defineOperation({
  route: 'POST /createQueue',
  summary: 'Creates a merge queue for a branch.',
  change: changeOfQueue('create', 'Create', 'creation', 409),
  params: { ...queueParams, mode, concurrency },
  decoder: emptyDecoder,
  errors: { check: ['repo', 'the permissions of the token'], makesSubject: true },
})

export const queueUpdate = changeOfQueue('update', 'Update', 'update')

export const updateQueue = defineOperation({
  route: 'POST /updateQueue',
  summary: 'Changes settings of a queue. Resolves to its settings, or to a receipt if the service sent none.',
  change: queueUpdate,
  params: { ...queueParams, ...queueSettings },
  exclusive: [['requiredStatuses', 'deleteRequiredStatuses']],
  check({ repo, targetBranch, ...settings }, hasOverrides, nameOf) {
    if (!hasOverrides && Object.values(settings).every(value => value === undefined))
      throw usageError(
        'No setting was given.',
        `Specify at least one setting, for example: ${nameOf('concurrency')} 5`,
      )
  },
  response: queueSettingsRecord,
  decoder: recordOrEmptyDecoder(withNormalizedStates),
})

export const deleteQueue = defineOperation({
  route: 'POST /deleteQueue',
  summary: 'Deletes a queue, which must be empty.',
  change: changeOfQueue('delete', 'Delete', 'deletion', 404),
  params: queueParams,
  decoder: emptyDecoder,
})

export const queueOperations = { createQueue, getQueue, updateQueue, deleteQueue }
