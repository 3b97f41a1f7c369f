import { withNormalizedState } from '../../domain/states.ts'
import type { Repository } from '../../domain/values/repository.ts'
import { getString, type JsonObject } from '../../json.ts'
import { emptyDecoder, recordDecoder } from '../decode.ts'
import { defineOperation, type OperationErrors } from '../operation.ts'
import { param } from '../param.ts'
import { recoveryRule } from '../recovery-rule.ts'
import { pullRequestFields } from './service-fields.ts'

/** The queue of a request: a branch of a repository (docs/reference/service.md, "Common fields"). */
export const queueParams = {
  repo: param<Repository>('body.repo', {
    required: true,
    encode: ({ host, owner, name }) => ({ host, owner, name }),
  }),
  targetBranch: param<string>('body.targetBranch', { required: true }),
}

const pullRequestParams = { ...queueParams, pr: param<number>('body.pr.number', { required: true }) }

const hasState = (record: JsonObject): boolean => (getString(record, 'state') ?? '') !== ''

const informativeFields = [
  'isCurrentlySubmittedToQueue',
  'readiness',
  'priorityValue',
  'priorityName',
  'timeline',
]

/** For records that may lack a state: their other fields may say why the pull request is not merging. */
export const partialPullRequestDecoder = recordDecoder(withNormalizedState, {
  name: 'state',
  isPresent: record => hasState(record) || informativeFields.some(key => (record[key] ?? null) !== null),
})

export const getSubmittedPullRequest = defineOperation({
  route: 'POST /getSubmittedPullRequest',
  effect: false,
  fields: pullRequestFields,
  params: {
    ...queueParams,
    pr: param<number | undefined>('body.pr.number'),
    head: param<string | undefined>('body.pr.branch'),
  },
  decoder: recordDecoder(withNormalizedState, { name: 'state', isPresent: hasState }),
  errors: {
    hint: (status, resource, commandLine) =>
      status === 404 && resource.pr !== undefined
        ? `Check --repo and --target-branch. To submit the pull request, run: ${commandLine(['pr', 'submit', resource.pr], resource)}`
        : undefined,
  },
})

export const inspectOnError: OperationErrors = {
  hint: (status, resource, commandLine) =>
    (status === 404 || status === 409) && resource.pr !== undefined
      ? `To check the state of the pull request, run: ${commandLine(['pr', 'get', resource.pr], resource)}`
      : undefined,
}

const recoveredByRecord = {
  readBack: { operation: getSubmittedPullRequest, params: ['repo', 'targetBranch', 'pr'] },
  inspectCommand: 'pr get',
} as const

export const submitPullRequest = defineOperation({
  route: 'POST /submitPullRequest',
  effect: {
    ...recoveredByRecord,
    replay: 'if-not-applied',
    repeated: 409,
    inspect: recoveryRule('inspectSubmit'),
  },
  params: {
    ...pullRequestParams,
    priority: param<number | string | undefined>('body.priority'),
    noBatch: param<boolean | undefined>('body.noBatch'),
  },
  decoder: emptyDecoder,
  errors: {
    hint: (status, resource, commandLine) =>
      status === 404
        ? 'Check the pull request number, --repo and --target-branch.'
        : inspectOnError.hint?.(status, resource, commandLine),
  },
})

export const cancelPullRequest = defineOperation({
  route: 'POST /cancelPullRequest',
  effect: {
    ...recoveredByRecord,
    replay: 'if-not-applied',
    repeated: 404,
    inspect: recoveryRule('inspectCancel'),
  },
  params: pullRequestParams,
  decoder: emptyDecoder,
  errors: inspectOnError,
})

export const restartTestsOnPullRequest = defineOperation({
  route: 'POST /restartTestsOnPullRequest',
  // A second restart would discard the tests that the first one started.
  effect: {
    ...recoveredByRecord,
    replay: 'never',
    inspect: recoveryRule('inspectRestart'),
  },
  params: pullRequestParams,
  decoder: emptyDecoder,
  errors: inspectOnError,
})
