import { getMergeQueueMetrics } from '../api/operations/queue-metrics.ts'
import { createQueue, deleteQueue, getQueue, updateQueue } from '../api/operations/queues.ts'
import { getServiceStatus } from '../api/operations/service-status.ts'
import { usageError } from '../errors.ts'
import { defineMethod } from './define-method.ts'
import { exclude, queueOf } from './method-inputs.ts'
import { readBoolean } from './option-readers.ts'
import { createQueueReaders, updateQueueReaders } from './queue-setting-readers.ts'

export const create = defineMethod(
  'createQueue',
  createQueue,
  createQueueReaders,
  async (options, inputs) => ({
    ...(await queueOf(inputs)),
    mode: options.mode,
    concurrency: options.concurrency,
  }),
)

export const get = defineMethod('getQueue', getQueue, {}, (_, inputs) => queueOf(inputs))

export const update = defineMethod(
  'updateQueue',
  updateQueue,
  updateQueueReaders,
  async (options, inputs) => {
    const { requiredStatus, requiredStatuses, deleteRequiredStatuses } = options
    exclude({ requiredStatus, requiredStatuses, deleteRequiredStatuses })
    const names = Object.keys(updateQueueReaders) as (keyof typeof updateQueueReaders)[]
    const changes = names.filter(
      name => options[name] !== undefined && (name !== 'deleteRequiredStatuses' || options[name] === true),
    )
    if (changes.length === 0 && !inputs.hasOverrides)
      throw usageError('No setting was given.', 'Pass at least one setting, for example concurrency: 5.')
    return {
      ...options,
      requiredStatuses: requiredStatuses ?? requiredStatus,
      ...(await queueOf(inputs)),
    }
  },
  { requiredStatus: 'requiredStatuses' },
)

export const remove = defineMethod('deleteQueue', deleteQueue, {}, (_, inputs) => queueOf(inputs))

export const getMetrics = defineMethod(
  'getMergeQueueMetrics',
  getMergeQueueMetrics,
  { allRepos: readBoolean },
  async ({ allRepos }, { settings, given }) => {
    exclude({ allRepos, repo: given.repo })
    return {
      repo: allRepos === true ? undefined : await settings.readExplicit('repo'),
      branch: given.targetBranch === undefined ? undefined : await settings.require('targetBranch'),
    }
  },
)

export const getStatus = defineMethod('status', getServiceStatus, {}, async () => ({}))
