import { getQueue } from '../../../api/operations/queues.ts'
import { queueInputs } from '../../../cli/common-inputs.ts'

/** The request of `mergeq queue get`, and of every command that reads a queue. */
export const queueRequest = { command: 'queue get', operation: getQueue, inputs: queueInputs } as const
