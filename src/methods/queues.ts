import * as operations from '../api/operations/queues.ts'
import { usageError } from '../errors.ts'
import { defineMethod } from './method.ts'

export const updateQueue = defineMethod(operations.updateQueue, {
  params: operations.updateQueue.params,
  check({ repo, targetBranch, ...settings }, hasOverrides, nameOf) {
    if (!hasOverrides && Object.values(settings).every(value => value === undefined))
      throw usageError(
        'No setting was given.',
        `Specify at least one setting, for example: ${nameOf('concurrency')} 5`,
      )
  },
})
