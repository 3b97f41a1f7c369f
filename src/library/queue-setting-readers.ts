import { queueSettingTypes } from '../domain/queue-settings.ts'
import { listReader, numberReader, readBoolean, textReader } from './option-readers.ts'

const types = queueSettingTypes

export const createQueueReaders = {
  mode: textReader(types.mode.parse),
  concurrency: numberReader(types.concurrency.parse),
}

export const updateQueueReaders = {
  ...createQueueReaders,
  state: textReader(types.state.parse),
  bisectionConcurrency: numberReader(types.bisectionConcurrency.parse),
  testingTimeoutMinutes: numberReader(types.testingTimeoutMinutes.parse),
  pendingFailureDepth: numberReader(types.pendingFailureDepth.parse),
  canOptimisticallyMerge: readBoolean,
  batch: readBoolean,
  batchingMinSize: numberReader(types.batchingMinSize.parse),
  batchingMaxWaitTimeMinutes: numberReader(types.batchingMaxWaitTimeMinutes.parse),
  createPrsForTestingBranches: readBoolean,
  commentsEnabled: readBoolean,
  commandsEnabled: readBoolean,
  statusCheckEnabled: readBoolean,
  directMergeMode: textReader(types.directMergeMode.parse),
  optimizationMode: textReader(types.optimizationMode.parse),
  mergeMethod: textReader(types.mergeMethod.parse),
  requiredStatuses: listReader(types.requiredStatuses.parse),
  requiredStatus: listReader(types.requiredStatuses.parse),
  deleteRequiredStatuses: readBoolean,
  extensionEnabled: readBoolean,
  labelCommandsEnabled: readBoolean,
  stateLabelsEnabled: readBoolean,
  enqueueingLabel: textReader(types.enqueueingLabel.parse),
  notReadyTimeoutHours: numberReader(types.notReadyTimeoutHours.parse),
  testBranchConstructionMode: textReader(types.testBranchConstructionMode.parse),
}
