import { type ImpactedTargets, setImpactedTargets } from '../../api/operations/impacted-targets.ts'
import { defineOperationCommand } from '../../cli/command.ts'
import { choiceOption, type Input } from '../../cli/inputs.ts'
import { argsForPullRequest, pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { queueInputs } from '../../cli/queue-inputs.ts'
import { targetArguments } from '../../cli/target-arguments.ts'
import { formatBytes, formatInteger, pluralize } from '../../domain/format.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import { usageError } from '../../errors.ts'
import { table } from '../../output/view.ts'

/**
 * The pull request: the first argument if it is a reference; all other arguments are targets
 * (docs/reference/cli.md, "Pull requests").
 */
const onePullRequest: Input<number> = {
  ...pullRequestArguments,
  definitions: [{ name: 'pr', summary: 'Pull request: 123, #123 or a URL', values: 'pull-requests' }],
  async split(args, context) {
    const [first] = args.get('pr') ?? []
    if (first !== undefined && isPullRequestReference(first)) return [argsForPullRequest(args, first)]
    const single = argsForPullRequest(args, await context.currentPullRequest())
    return [
      first === undefined ? single : new Map(single).set('target', [first, ...(args.get('target') ?? [])]),
    ]
  },
}

/** The head commit that the targets belong to; undefined with --no-sha. */
const commit: Input<string | undefined> = {
  definitions: [
    { name: '--sha', value: 'sha', summary: 'Head commit that the targets belong to' },
    { name: '--no-sha', summary: 'Send the targets without a head commit (rejected by the hosted service)' },
  ],
  setting: 'sha',
  async read(args, context) {
    if (args.get('--sha')?.[0] === 'HEAD')
      throw usageError(
        '--sha: HEAD is not a commit hash.',
        'In a git checkout, omit --sha to use the HEAD commit. Elsewhere, specify the commit hash.',
      )
    if (!args.has('--no-sha')) return context.require('sha')
    if (args.has('--sha')) throw usageError('--sha and --no-sha cannot be used together.')
    return undefined
  },
}

/**
 * The run of a pull request from a fork has no token: its id replaces the token
 * (docs/reference/service.md, "setImpactedTargets").
 */
const forkedRun: Input<string | undefined> = {
  definitions: [
    {
      name: '--forked-run',
      value: 'id',
      summary: 'GitHub run ID to send instead of a token, for pull requests from forks',
    },
  ],
  setting: 'forkedRun',
  read: (_, context) => context.setting('forkedRun'),
}

export const prTargetsCommand = defineOperationCommand({
  command: 'pr targets',
  summary: 'Set the impacted targets of a pull request',
  operation: setImpactedTargets,
  inputs: {
    ...queueInputs,
    pr: onePullRequest,
    sha: commit,
    tooLarge: choiceOption({
      name: 'too-large',
      value: 'all|fail',
      default: 'all',
      summary: 'If the list is over 20 MiB: all sends "ALL" instead, fail sends nothing',
      choices: ['all', 'fail'],
    }),
    forkedRun,
    // Read last: other usage errors are found before a long input is read.
    targets: targetArguments,
  },
  view: (_, { pr, sha, targets }) => ({
    ...table([], []),
    sentence: `Set the impacted targets of #${pr}${sha === undefined ? '' : ` at ${sha.slice(0, 7)}`}: ${describe(targets)}.`,
  }),
  examples: [
    'mergeq pr targets 123 //cart:lib //web:app --sha 4f2a9c1',
    'git diff --name-only origin/main | mergeq pr targets 123 --from -',
    'mergeq pr targets 123 --all',
  ],
})

function describe({ list, number, dropped }: ImpactedTargets): string {
  if (list === 'ALL') return 'all targets'
  if (number === 0) return 'no targets'
  const repeats =
    dropped === 0 ? '' : `, ${formatInteger(dropped)} duplicate${dropped === 1 ? '' : 's'} dropped`
  return `${pluralize(number, 'target')} (${formatBytes(list.bytes)}${repeats})`
}
