import type { JsonObject } from '../../json.ts'
import {
  booleanField,
  choiceField,
  type FieldType,
  integerField,
  nonEmptyTextField,
  readField,
  stringListField,
} from '../field-types.ts'
import { statusError } from '../status-error.ts'

export interface QueueSettings {
  readonly mode: 'single' | 'parallel'
  readonly concurrency: number
  /** Undefined means the value of `concurrency`. */
  readonly bisectionConcurrency: number | undefined
  readonly testingTimeoutMinutes: number
  readonly pendingFailureDepth: number
  readonly canOptimisticallyMerge: boolean
  readonly batch: boolean
  readonly batchingMinSize: number
  readonly batchingMaxWaitTimeMinutes: number
  readonly createPrsForTestingBranches: boolean
  readonly commentsEnabled: boolean
  readonly commandsEnabled: boolean
  readonly statusCheckEnabled: boolean
  readonly directMergeMode: 'off' | 'always'
  readonly optimizationMode: 'off' | 'bisection_skip_redundant_tests'
  readonly mergeMethod: 'merge_commit' | 'squash' | 'rebase'
  readonly requiredStatuses: readonly string[]
  readonly extensionEnabled: boolean
  readonly labelCommandsEnabled: boolean
  readonly stateLabelsEnabled: boolean
  readonly enqueueingLabel: string
  readonly notReadyTimeoutHours: number
  readonly testBranchConstructionMode: 'rename_temp_branch' | 'push_new_branch_from_temp'
  /**
   * Settings from updateQueue that the sandbox does not know: it stores and reports these settings, without
   * effect.
   */
  readonly others: JsonObject
}

/**
 * The settings of a new queue. The values of `batchingMinSize`, `batchingMaxWaitTimeMinutes` and
 * `directMergeMode` are the sandbox's own, because no source documents them.
 */
export const defaultSettings: QueueSettings = {
  mode: 'single',
  concurrency: 1,
  bisectionConcurrency: undefined,
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

const stateField = choiceField('running', 'paused', 'draining')

const otherFields = ['repo', 'targetBranch', 'pr']
/** Settings of an updateQueue body that are not stored in QueueSettings under their own name. */
const separateSettings = ['state', 'deleteRequiredStatuses']

export const isSetting = (name: string): boolean =>
  name !== 'others' && (separateSettings.includes(name) || Object.hasOwn(defaultSettings, name))

/**
 * Reads the queue state that an updateQueue body sets; undefined if the body sets none. A request cannot set
 * SWITCHING_MODES (docs/reference/service.md, "updateQueue"). Throws 400 for any other value.
 */
export function readQueueState(body: JsonObject): 'RUNNING' | 'PAUSED' | 'DRAINING' | undefined {
  const state = readField(body, 'state', stateField, undefined)
  return state === undefined
    ? undefined
    : ({ running: 'RUNNING', paused: 'PAUSED', draining: 'DRAINING' } as const)[state]
}

/** Throws 400 if a known setting has a bad value. */
export function mergeSettings(settings: QueueSettings, body: JsonObject): QueueSettings {
  const read = <T>(name: string, type: FieldType<T>, current: T): T => readField(body, name, type, current)
  const isCleared = read('deleteRequiredStatuses', booleanField, false)
  const required = read('requiredStatuses', stringListField, [])
  // The sandbox's own: the API document says not to send both, and how the service treats both is unknown.
  if (isCleared && required.length > 0)
    throw statusError(400, 'requiredStatuses and deleteRequiredStatuses cannot be used together.')
  const unknown = Object.entries(body).filter(([name]) => !isSetting(name) && !otherFields.includes(name))
  return {
    mode: read('mode', choiceField('single', 'parallel'), settings.mode),
    concurrency: read('concurrency', integerField(1), settings.concurrency),
    bisectionConcurrency: read<number | undefined>(
      'bisectionConcurrency',
      integerField(1),
      settings.bisectionConcurrency,
    ),
    testingTimeoutMinutes: read('testingTimeoutMinutes', integerField(0), settings.testingTimeoutMinutes),
    pendingFailureDepth: read('pendingFailureDepth', integerField(0), settings.pendingFailureDepth),
    canOptimisticallyMerge: read('canOptimisticallyMerge', booleanField, settings.canOptimisticallyMerge),
    batch: read('batch', booleanField, settings.batch),
    batchingMinSize: read('batchingMinSize', integerField(1), settings.batchingMinSize),
    batchingMaxWaitTimeMinutes: read(
      'batchingMaxWaitTimeMinutes',
      integerField(0),
      settings.batchingMaxWaitTimeMinutes,
    ),
    createPrsForTestingBranches: read(
      'createPrsForTestingBranches',
      booleanField,
      settings.createPrsForTestingBranches,
    ),
    commentsEnabled: read('commentsEnabled', booleanField, settings.commentsEnabled),
    commandsEnabled: read('commandsEnabled', booleanField, settings.commandsEnabled),
    statusCheckEnabled: read('statusCheckEnabled', booleanField, settings.statusCheckEnabled),
    directMergeMode: read('directMergeMode', choiceField('off', 'always'), settings.directMergeMode),
    optimizationMode: read(
      'optimizationMode',
      choiceField('off', 'bisection_skip_redundant_tests'),
      settings.optimizationMode,
    ),
    mergeMethod: read('mergeMethod', choiceField('merge_commit', 'squash', 'rebase'), settings.mergeMethod),
    // An empty list changes nothing: only deleteRequiredStatuses clears it
    // (docs/reference/service.md, "updateQueue").
    requiredStatuses: isCleared ? [] : required.length > 0 ? required : settings.requiredStatuses,
    extensionEnabled: read('extensionEnabled', booleanField, settings.extensionEnabled),
    labelCommandsEnabled: read('labelCommandsEnabled', booleanField, settings.labelCommandsEnabled),
    stateLabelsEnabled: read('stateLabelsEnabled', booleanField, settings.stateLabelsEnabled),
    enqueueingLabel: read('enqueueingLabel', nonEmptyTextField, settings.enqueueingLabel),
    notReadyTimeoutHours: read('notReadyTimeoutHours', integerField(0), settings.notReadyTimeoutHours),
    testBranchConstructionMode: read(
      'testBranchConstructionMode',
      choiceField('rename_temp_branch', 'push_new_branch_from_temp'),
      settings.testBranchConstructionMode,
    ),
    others: { ...settings.others, ...Object.fromEntries(unknown) },
  }
}
