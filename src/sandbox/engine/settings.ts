import { queueSettings } from '../../domain/queue-settings.ts'
import type { ValueOf } from '../../domain/values/types.ts'
import type { JsonObject } from '../../json.ts'
import { checkValue, statusError } from '../requests.ts'

/** The settings that a request may name. */
type RequestedSettings = {
  readonly [Name in keyof typeof queueSettings]?: NonNullable<ValueOf<(typeof queueSettings)[Name]['type']>>
}

/** The settings of a queue, without its state. */
export interface QueueSettings extends Required<Omit<RequestedSettings, 'state' | 'deleteRequiredStatuses'>> {
  /** Settings of updateQueue that are not known: they are stored and reported, and have no effect. */
  readonly others: JsonObject
}

/**
 * The settings of a new queue. The values of `batchingMinSize`, `batchingMaxWaitTimeMinutes` and
 * `directMergeMode` are the sandbox's own, because no source documents them.
 */
export const defaultSettings: QueueSettings = {
  mode: 'single',
  concurrency: 1,
  // The value of `concurrency`.
  bisectionConcurrency: 0,
  testingTimeoutMinutes: 300,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  batch: false,
  batchingMinSize: 4,
  batchingMaxWaitTimeMinutes: 5,
  createPrsForTestingBranches: true,
  commentsEnabled: true,
  commandsEnabled: true,
  statusCheckEnabled: true,
  directMergeMode: 'off',
  optimizationMode: 'off',
  mergeMethod: 'squash',
  requiredStatuses: [],
  extensionEnabled: true,
  labelCommandsEnabled: true,
  stateLabelsEnabled: false,
  enqueueingLabel: 'trunk-merge-queue-submit',
  notReadyTimeoutHours: 24,
  testBranchConstructionMode: 'rename_temp_branch',
  others: {},
}

/** The members of an updateQueue body that are not settings. */
const otherMembers = ['repo', 'targetBranch', 'pr']

export const isSetting = (name: string): boolean => Object.hasOwn(queueSettings, name)

/** Throws 400 if a known setting has a bad value. */
const readSettings = (body: JsonObject): RequestedSettings =>
  Object.fromEntries(
    Object.entries(queueSettings).flatMap(([name, { type }]) =>
      body[name] === undefined ? [] : [[name, checkValue<unknown>(body[name], name, type)]],
    ),
  )

/** The states that a request can set (docs/reference/service.md, "updateQueue"). */
const settableStates = ['RUNNING', 'PAUSED', 'DRAINING'] as const

/** Reads the state that an updateQueue body sets; undefined if it sets none. Throws 400 for another value. */
export function readQueueState(body: JsonObject): (typeof settableStates)[number] | undefined {
  const { state } = readSettings(body)
  return settableStates.find(settable => settable === state)
}

/** Throws 400 if a known setting has a bad value. */
export function mergeSettings(settings: QueueSettings, body: JsonObject): QueueSettings {
  const { state: _, deleteRequiredStatuses, requiredStatuses = [], ...given } = readSettings(body)
  const isCleared = deleteRequiredStatuses === true
  // The sandbox's own: the API document says not to send both, and how the service treats both is unknown.
  if (isCleared && requiredStatuses.length > 0)
    throw statusError(400, 'requiredStatuses and deleteRequiredStatuses cannot be used together.')
  const unknown = Object.entries(body).filter(([name]) => !isSetting(name) && !otherMembers.includes(name))
  // An empty list changes nothing: only deleteRequiredStatuses clears it
  // (docs/reference/service.md, "updateQueue").
  const keptStatuses = requiredStatuses.length > 0 ? requiredStatuses : settings.requiredStatuses
  return {
    ...settings,
    ...given,
    requiredStatuses: isCleared ? [] : keptStatuses,
    others: { ...settings.others, ...Object.fromEntries(unknown) },
  }
}
