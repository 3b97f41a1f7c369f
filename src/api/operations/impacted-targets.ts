import { formatBytes, pluralize } from '../../domain/format.ts'
import { MergeqError } from '../../errors.ts'
import type { EncodedJson } from '../../json.ts'
import { emptyDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { localParam, param } from '../param.ts'
import { inspectOnError, queueParams } from './pull-requests.ts'

export interface ImpactedTargets {
  readonly list: 'ALL' | EncodedJson
  readonly number: number
  readonly dropped: number
  /** How much of the input was read, in bytes. */
  readonly bytesRead: number
}

export const setImpactedTargets = defineOperation({
  route: 'POST /setImpactedTargets',
  // No operation shows the targets; the last upload for a commit wins
  // (docs/reference/service.md, "setImpactedTargets").
  effect: { replay: 'unread', inspectCommand: 'pr get', inspect: () => 'unclear' },
  params: {
    ...queueParams,
    pr: param<number>('body.pr.number', { required: true }),
    sha: param<string | undefined>('body.pr.sha'),
    /** What to do with a list over 20 MiB: send `ALL` (the default), or fail. */
    tooLarge: localParam<'all' | 'fail' | undefined>(),
    // A run of a pull request from a fork has no token: its id replaces it
    // (docs/reference/service.md, "setImpactedTargets").
    forkedRun: param<string | undefined>('credential.x-forked-workflow-run-id'),
    targets: param<ImpactedTargets>('body.impactedTargets', { required: true, encode: ({ list }) => list }),
  },
  decoder: emptyDecoder,
  errors: inspectOnError,
  fallback(params, source) {
    const { targets, tooLarge } = params
    if (targets.list === 'ALL' || targets.list.bytes === 2) return undefined
    const { number, bytesRead } = targets
    const input = `(${pluralize(number, 'target')}, ${formatBytes(bytesRead)} read)`
    if (tooLarge === 'fail' && source === 'limit')
      throw new MergeqError('refused', `The list of targets is over 20 MiB ${input}. Nothing was sent.`, {
        operation: 'setImpactedTargets',
        hint: 'To send "ALL" instead of the list, use --all.',
      })
    if (tooLarge === 'fail') return undefined
    const large =
      source === 'limit'
        ? 'The list of targets is over 20 MiB'
        : 'The list of targets is too large for the service (413)'
    return {
      params: { ...params, targets: { ...targets, list: 'ALL' as const } },
      warning: `${large} ${input}. Sending "ALL" instead.`,
    }
  },
})
