import { recordDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { param } from '../param.ts'
import { queueParams } from './pull-requests.ts'
import { testRunFields } from './service-fields.ts'

export const getMergeQueueTestingDetails = defineOperation({
  route: 'POST /getMergeQueueTestingDetails',
  effect: false,
  fields: testRunFields,
  params: {
    ...queueParams,
    testRun: param<string | undefined>('body.testRunId'),
    pr: param<number | undefined>('body.pr.number'),
  },
  decoder: recordDecoder(document => document),
  errors: {
    subject: 'the test run',
    hint: (status, resource, commandLine) => {
      if (status !== 404) return undefined
      return resource.pr === undefined
        ? 'Check the test run ID, --repo and --target-branch.'
        : `To check the state of the pull request, run: ${commandLine(['pr', 'get', resource.pr], resource)}`
    },
  },
})
