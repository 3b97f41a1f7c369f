import { recordDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { param } from '../param.ts'
import { queueParams } from './pull-requests.ts'

/** Reads a test run, by its id or, where the service supports it, by a pull request in it. */
export const getMergeQueueTestingDetails = defineOperation({
  route: 'POST /getMergeQueueTestingDetails',
  effect: false,
  params: {
    ...queueParams,
    testRun: param<string | undefined>('body.testRunId'),
    pr: param<number | undefined>('body.pr.number'),
  },
  decoder: recordDecoder(document => document),
})
