import type { JsonObject } from '../../json.ts'
import {
  booleanReader,
  choiceReader,
  integerReader,
  type Reader,
  readField,
  stringListReader,
  textReader,
} from '../field-types.ts'
import { statusError } from '../status-error.ts'

/** The settings of a queue under the service's own names (service-observed.md section 3.1). */
export interface QueueSettings {
  readonly mode: 'single' | 'parallel'
  readonly concurrency: number
  /** Undefined follows `concurrency`. */
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
  /** What updateQueue was sent and nobody here knows: kept, shown, without effect. */
  readonly others: JsonObject
}

/** What a new queue has. The two batching numbers and `directMergeMode` are the sandbox's own: no source shows them. */
export const defaults: QueueSettings = {
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

const states = choiceReader('running', 'paused', 'draining')

/** The fields of a request that are no settings (service-api.md section 2.2). */
const notSettings = ['repo', 'targetBranch', 'pr']
/** Those that are, and are read back as something else or not at all. */
const notKept = ['state', 'deleteRequiredStatuses']

/** Whether updateQueue knows a setting of this name. */
export const isSetting = (key: string): boolean =>
  key !== 'others' && (notKept.includes(key) || Object.hasOwn(defaults, key))

/** The state that a request sets, which is never SWITCHING_MODES (service-observed.md section 3.3). */
export function stateIn(document: JsonObject): 'RUNNING' | 'PAUSED' | 'DRAINING' | undefined {
  const state = readField(document, 'state', states, undefined)
  return state === undefined
    ? undefined
    : ({ running: 'RUNNING', paused: 'PAUSED', draining: 'DRAINING' } as const)[state]
}

/** The settings with those that a request names changed; a known one with a bad value is refused with 400. */
export function withChanges(settings: QueueSettings, document: JsonObject): QueueSettings {
  const set = <T>(key: string, reader: Reader<T>, before: T): T => readField(document, key, reader, before)
  const clears = set('deleteRequiredStatuses', booleanReader, false)
  const required = set('requiredStatuses', stringListReader, [])
  // The sandbox's own: the service is told never to be sent both, and what it makes of them is not known.
  if (clears && required.length > 0)
    throw statusError(400, 'requiredStatuses and deleteRequiredStatuses exclude each other.')
  const unknown = Object.entries(document).filter(([key]) => !isSetting(key) && !notSettings.includes(key))
  return {
    mode: set('mode', choiceReader('single', 'parallel'), settings.mode),
    concurrency: set('concurrency', integerReader(1), settings.concurrency),
    bisectionConcurrency: set<number | undefined>(
      'bisectionConcurrency',
      integerReader(1),
      settings.bisectionConcurrency,
    ),
    testingTimeoutMinutes: set('testingTimeoutMinutes', integerReader(0), settings.testingTimeoutMinutes),
    pendingFailureDepth: set('pendingFailureDepth', integerReader(0), settings.pendingFailureDepth),
    canOptimisticallyMerge: set('canOptimisticallyMerge', booleanReader, settings.canOptimisticallyMerge),
    batch: set('batch', booleanReader, settings.batch),
    batchingMinSize: set('batchingMinSize', integerReader(1), settings.batchingMinSize),
    batchingMaxWaitTimeMinutes: set(
      'batchingMaxWaitTimeMinutes',
      integerReader(0),
      settings.batchingMaxWaitTimeMinutes,
    ),
    createPrsForTestingBranches: set(
      'createPrsForTestingBranches',
      booleanReader,
      settings.createPrsForTestingBranches,
    ),
    commentsEnabled: set('commentsEnabled', booleanReader, settings.commentsEnabled),
    commandsEnabled: set('commandsEnabled', booleanReader, settings.commandsEnabled),
    statusCheckEnabled: set('statusCheckEnabled', booleanReader, settings.statusCheckEnabled),
    directMergeMode: set('directMergeMode', choiceReader('off', 'always'), settings.directMergeMode),
    optimizationMode: set(
      'optimizationMode',
      choiceReader('off', 'bisection_skip_redundant_tests'),
      settings.optimizationMode,
    ),
    mergeMethod: set('mergeMethod', choiceReader('merge_commit', 'squash', 'rebase'), settings.mergeMethod),
    // An empty list is ignored; only deleteRequiredStatuses clears it (service-observed.md section 3.3).
    requiredStatuses: clears ? [] : required.length > 0 ? required : settings.requiredStatuses,
    extensionEnabled: set('extensionEnabled', booleanReader, settings.extensionEnabled),
    labelCommandsEnabled: set('labelCommandsEnabled', booleanReader, settings.labelCommandsEnabled),
    stateLabelsEnabled: set('stateLabelsEnabled', booleanReader, settings.stateLabelsEnabled),
    enqueueingLabel: set('enqueueingLabel', textReader, settings.enqueueingLabel),
    notReadyTimeoutHours: set('notReadyTimeoutHours', integerReader(0), settings.notReadyTimeoutHours),
    testBranchConstructionMode: set(
      'testBranchConstructionMode',
      choiceReader('rename_temp_branch', 'push_new_branch_from_temp'),
      settings.testBranchConstructionMode,
    ),
    others: { ...settings.others, ...Object.fromEntries(unknown) },
  }
}
