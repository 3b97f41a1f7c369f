import { queueSettings } from '../../api/operations/queue-settings.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ValueOf } from '../../values/types.ts'
import { checkValue } from '../requests.ts'

type RequestedSettings = {
  readonly [Name in keyof typeof queueSettings]?: NonNullable<ValueOf<(typeof queueSettings)[Name]['type']>>
}

export interface QueueSettings extends Required<Omit<RequestedSettings, 'deleteRequiredStatuses'>> {
  /** Members of updateQueue bodies that are no known settings: they are stored and reported, and have no effect. */
  readonly others: JsonObject
}

/** `batchingMinSize`, `batchingMaxWaitTimeMinutes` and `directMergeMode` are the sandbox's own: no source has them. */
export const defaultSettings: QueueSettings = {
  state: 'RUNNING',
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

/**
 * Changes the settings that an updateQueue body names; throws 400 for a bad value and then changes nothing. An empty list
 * of required statuses changes nothing: only `deleteRequiredStatuses` clears it (docs/reference/service.md, "updateQueue").
 * The sandbox's own: a new mode counts for the tests that start from then on, without the state SWITCHING_MODES.
 */
export function configure(queue: { settings: QueueSettings }, body: JsonObject): void {
  const { settings } = queue
  const named = Object.entries(queueSettings).filter(([name]) => body[name] !== undefined)
  const { repo: _repo, targetBranch: _branch, ...members } = body
  const unknown = Object.entries(members).filter(([name]) => !Object.hasOwn(queueSettings, name))
  const {
    deleteRequiredStatuses,
    requiredStatuses = [],
    ...given
  }: RequestedSettings = Object.fromEntries(
    named.map(([name, { type }]) => [name, checkValue<unknown>(body[name], name, type)]),
  )
  const keptStatuses = requiredStatuses.length > 0 ? requiredStatuses : settings.requiredStatuses
  queue.settings = {
    ...settings,
    ...given,
    requiredStatuses: deleteRequiredStatuses ? [] : keptStatuses,
    others: { ...settings.others, ...Object.fromEntries(unknown) },
  }
}
