import { getSubmittedPullRequest } from '../../api/operations/pull-requests.ts'
import { runRequests } from '../../cli/calls.ts'
import type { Cli } from '../../cli/cli.ts'
import { command } from '../../cli/command.ts'
import { argsForPullRequest, pullRequestArguments } from '../../cli/common-inputs.ts'
import { openInput } from '../../cli/input-files.ts'
import { type Input, typedName } from '../../cli/inputs.ts'
import { requestOf } from '../../cli/requests.ts'
import type { ParseContext } from '../../config/settings.ts'
import { formatBytes, formatInteger, pluralize } from '../../domain/format.ts'
import { isPullRequestReference, type RequestedPullRequest } from '../../domain/values/pull-request.ts'
import { encodeTargets, type ImpactedTargets, TargetList } from '../../domain/values/target-list.ts'
import { usageError, withName } from '../../errors.ts'
import { getString, type JsonObject } from '../../json.ts'
import { setImpactedTargets } from '../../methods/pull-requests.ts'
import { sanitizeLine } from '../../output/sanitize.ts'
import { readRecordOnce } from './reads.ts'

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
    const single = argsForPullRequest(args, await context.currentPullRequest(args))
    return [
      first === undefined ? single : new Map(single).set('target', [first, ...(args.get('target') ?? [])]),
    ]
  },
}

/** The head commit that the targets belong to; undefined with --no-sha. */
const commit: Input<string | undefined> = {
  definitions: [
    {
      name: '--sha',
      value: 'sha',
      summary: 'Head commit that the targets belong to',
      defaultText: 'in CI, the head of the pull request, otherwise HEAD',
    },
    {
      name: '--no-sha',
      summary: 'Send the targets without a head commit (rejected by the hosted service)',
      advanced: true,
    },
  ],
  setting: 'sha',
  async read(args, context) {
    const [typed] = args.get('--sha') ?? []
    if (typed === 'HEAD')
      throw usageError(
        '--sha: HEAD is not a commit hash.',
        'In a git checkout, omit --sha to use the HEAD commit. Elsewhere, specify the commit hash.',
      )
    if (typed !== undefined) withName('--sha', () => setImpactedTargets.params.sha.type.parse(typed))
    if (!args.has('--no-sha')) return context.settings.require('sha')
    if (args.has('--sha')) throw usageError('--sha and --no-sha cannot be used together.')
    return undefined
  },
}

/** The argument and options that give targets; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--all', '--none']

const shown = (name: string): string => (name === 'target' ? 'Targets as arguments' : name)

/** The targets, from arguments, a file or standard input; an empty list needs --none. */
const targetArguments: Input<ImpactedTargets> = {
  definitions: [
    { name: 'target', variadic: true, summary: 'Names of the impacted targets' },
    {
      name: '--from',
      value: 'file',
      summary: 'Read targets from a file, one per line (- for standard input)',
      file: true,
    },
    {
      name: '--from-json',
      value: 'file',
      summary: 'Read targets from a JSON array of strings (- for standard input)',
      file: true,
    },
    { name: '--all', summary: 'Mark every target as impacted' },
    { name: '--none', summary: 'Mark no target as impacted' },
  ],
  async read(args, context) {
    const typed = sources.filter(name => args.has(name))
    if (typed.length !== 1)
      throw usageError(
        typed.length === 0
          ? 'No targets were given.'
          : `${typed.map(shown).join(' and ')} cannot be used together.`,
        'Specify targets as arguments, or use one of --from, --from-json, --all and --none.',
      )
    const [source = ''] = typed
    const words = args.get(source) ?? []
    switch (source) {
      case '--all':
        return encodeTargets('ALL')
      case '--none':
        return encodeTargets([])
      case '--from':
      case '--from-json': {
        const list = new TargetList(source === '--from' ? 'lines' : 'json', typedName)
        const [path = ''] = words
        return context.logger.withSpinner(
          () => `Reading targets: ${pluralize(list.number, 'target')}, ${formatBytes(list.bytesRead)} so far`,
          () => list.read(openInput(path, context)),
        )
      }
      default:
        await noteRewrittenTarget(words, context)
        return encodeTargets(words)
    }
  },
}

/** Matches what Git Bash makes of `//a:one` and of `/a:one`. */
const rewrittenPath = /^(?:\/(?!\/)|[A-Za-z]:[\\/])/

async function noteRewrittenTarget(
  words: readonly string[],
  { host: { env, runtime }, logger }: ParseContext,
): Promise<void> {
  const rewritten = words.find(word => rewrittenPath.test(word))
  if (rewritten !== undefined && runtime.platform === 'win32' && env.MSYSTEM)
    await logger.info(
      `Git Bash may have rewritten the target ${sanitizeLine(rewritten)}. To send targets unchanged, set MSYS_NO_PATHCONV=1 or use --from.`,
    )
}

export const prTargetsCommand = command({
  name: 'pr targets',
  summary: 'Set the impacted targets of a pull request',
  operation: setImpactedTargets,
  alsoSends: [getSubmittedPullRequest],
  options: {
    request: requestOf(setImpactedTargets, { pr: onePullRequest, sha: commit, targets: targetArguments }),
  },
  examples: [
    'mergeq pr targets 123 //cart:lib //web:app --sha 4f2a9c1',
    'git diff --name-only origin/main | mergeq pr targets 123 --from -',
    'mergeq pr targets 123 --all',
  ],
  run: ({ request }, cli) =>
    runRequests(cli, [request], {
      before: values => warnOfOtherHead(values, cli),
      present: ({ values: { pr, sha, targets } }) => ({
        sentence: `Set the impacted targets of #${pr}${sha === undefined ? '' : ` at ${sha.slice(0, 7)}`}: ${describe(targets)}.`,
      }),
    }),
})

/** Warns if the targets are set at another commit than the head. Returns the record of the pull request. */
async function warnOfOtherHead(
  pullRequest: RequestedPullRequest & { readonly sha: string | undefined },
  cli: Cli,
): Promise<JsonObject | undefined> {
  const { pr, sha } = pullRequest
  const record = await readRecordOnce(pullRequest, cli)
  const head = getString(record ?? {}, 'prSha')
  if (sha !== undefined && head !== undefined && !head.startsWith(sha))
    await cli.logger.warn(
      `The head of #${pr} is ${head.slice(0, 7)}, but the targets are set at ${sha.slice(0, 7)}. To set them at its head, add --sha ${head}.`,
    )
  return record
}

function describe({ list, number, dropped }: ImpactedTargets): string {
  if (list === 'ALL') return 'all targets'
  if (number === 0) return 'no targets'
  const repeats =
    dropped === 0 ? '' : `, ${formatInteger(dropped)} duplicate${dropped === 1 ? '' : 's'} dropped`
  return `${pluralize(number, 'target')} (${formatBytes(list.bytes)}${repeats})`
}
