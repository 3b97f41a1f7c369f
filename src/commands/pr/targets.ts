import { setImpactedTargets } from '../../api/operations/pull-requests.ts'
import { defineCommand } from '../../cli/command.ts'
import type { Input } from '../../cli/inputs.ts'
import { argsForPullRequest, pullRequestArguments } from '../../cli/pull-request-arguments.ts'
import { targetArguments } from '../../cli/target-arguments.ts'
import { formatBytes, formatInteger, pluralize } from '../../domain/format.ts'
import { isPullRequestReference } from '../../domain/values/pull-request.ts'
import type { ImpactedTargets } from '../../domain/values/target-list.ts'
import { usageError, withName } from '../../errors.ts'
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
    const [typed] = args.get('--sha') ?? []
    if (typed !== undefined) withName('--sha', () => setImpactedTargets.params.sha.type.parse(typed))
    if (!args.has('--no-sha')) return context.require('sha')
    if (args.has('--sha')) throw usageError('--sha and --no-sha cannot be used together.')
    return undefined
  },
}

/** `mergeq pr targets`: sets the impacted targets of a pull request. */
export const prTargetsCommand = defineCommand({
  command: 'pr targets',
  summary: 'Set the impacted targets of a pull request',
  operation: setImpactedTargets,
  inputs: { pr: onePullRequest, sha: commit, targets: targetArguments },
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
