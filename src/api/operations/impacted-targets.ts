import { type Input, option } from '../../cli/inputs.ts'
import { argsForPullRequest, pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { type Targets, targetArguments } from '../../cli/target-arguments.ts'
import { formatBytes, formatInteger, pluralize } from '../../domain/format.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import { choiceParser } from '../../domain/values/text.ts'
import { MergeqError, usageError } from '../../errors.ts'
import { table } from '../../output/view.ts'
import { emptyDecoder } from '../decode.ts'
import { defineOperation } from '../operation.ts'
import { queueInputs } from './pull-requests.ts'

/** The pull request: the first argument if it has that form; everything else is a target (CLI.md section 1). */
const onePullRequest: Input<number> = {
  ...pullRequestArguments,
  definitions: [{ syntax: '[pr]', summary: 'Pull request: 123, #123 or its address' }],
  async split(args, context) {
    const [first] = args.get('pr') ?? []
    if (first !== undefined && isPullRequestReference(first)) return [argsForPullRequest(args, first)]
    const one = argsForPullRequest(args, await context.require('pr'))
    return [first === undefined ? one : new Map(one).set('target', [first, ...(args.get('target') ?? [])])]
  },
}

const commit: Input<string | undefined> = {
  definitions: [
    { syntax: '--sha <sha>', summary: 'Head commit of the pull request that the targets belong to' },
    { syntax: '--no-sha', summary: 'Send no head commit' },
  ],
  setting: 'sha',
  location: 'body.pr.sha',
  async read(args, context) {
    if (args.get('--sha')?.[0] === 'HEAD')
      throw usageError(
        '--sha: HEAD is no commit by itself.',
        'Leave --sha out in a checkout, where HEAD is taken; or name the commit.',
      )
    if (!args.has('--no-sha')) return context.require('sha')
    if (args.has('--sha')) throw usageError('--sha and --no-sha contradict each other.')
    return undefined
  },
}

/** In the run of a pull request from a fork, which gets no token, its id opens this one operation (service-observed.md section 2.4). */
const forkedRun: Input<string | undefined> = {
  definitions: [
    {
      syntax: '--forked-run <id>',
      summary: 'GitHub run id of a pull request from a fork, sent in place of the token',
    },
  ],
  setting: 'forkedRun',
  location: 'credential.x-forked-workflow-run-id',
  read: (_, context) => context.setting('forkedRun'),
}

export const setImpactedTargets = defineOperation({
  command: 'pr targets',
  route: 'POST /setImpactedTargets',
  summary: 'Set the targets that a pull request impacts',
  // Nothing that can be read tells; the last upload for a commit wins (service-observed.md section 2.4).
  effect: { replay: 'unread', inspectCommand: 'mergeq pr get', inspect: () => 'unclear' },
  inputs: {
    ...queueInputs,
    pr: onePullRequest,
    sha: commit,
    tooLarge: option(
      '--too-large <all|fail>',
      'What to do with a list over 20 MiB: send "ALL" (the default), or fail',
      choiceParser(['all', 'fail']),
      { choices: ['all', 'fail'] },
    ),
    forkedRun,
    // Read last: whatever else is wrong is said before a long input is read.
    targets: targetArguments,
  },
  decoder: emptyDecoder,
  view: (_, { pr, sha, targets }) => ({
    ...table([], []),
    sentence: `#${pr} impacts ${describe(targets)}${sha === undefined ? '' : ` for ${sha.slice(0, 7)}`}.`,
  }),
  fallback(values, why) {
    const { targets, tooLarge } = values
    if (targets.list === 'ALL' || targets.list.bytes === 2) return undefined
    const { number, bytesRead } = targets
    const wasRead = `(${pluralize(number, 'target')}, ${formatBytes(bytesRead)} read)`
    if (tooLarge === 'fail' && why === 'limit')
      throw new MergeqError(
        'refused',
        `setImpactedTargets: the list is over 20 MiB ${wasRead}; nothing was sent.`,
        { operation: 'setImpactedTargets', hint: 'Send every target instead with --all.' },
      )
    if (tooLarge === 'fail') return undefined
    const large = why === 'limit' ? 'the list is over 20 MiB' : 'the list is too large for the service (413)'
    return {
      values: { ...values, targets: { ...targets, list: 'ALL' } },
      warning: `${large} ${wasRead}: sending "ALL" instead.`,
    }
  },
  examples: [
    'mergeq pr targets 123 //cart:lib //web:app --sha 4f2a9c1',
    'git diff --name-only origin/main | mergeq pr targets 123 --from -',
    'mergeq pr targets 123 --all',
  ],
})

function describe({ list, number, dropped }: Targets): string {
  if (list === 'ALL') return 'every target'
  const repeats =
    dropped === 0 ? '' : `, ${formatInteger(dropped)} duplicate${dropped === 1 ? '' : 's'} dropped`
  return `${pluralize(number, 'target')} (${formatBytes(list.bytes)}${repeats})`
}
