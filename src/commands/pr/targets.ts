import { changeSentence } from '../../api/change-sentence.ts'
import { getSubmittedPullRequest, isEncoded, setImpactedTargets } from '../../api/operations/pull-requests.ts'
import type { ServiceClient } from '../../api/service-client.ts'
import { encodeTargets, type ImpactedTargets } from '../../api/target-list.ts'
import { usageError } from '../../base/errors.ts'
import { command } from '../../command/command.ts'
import { type Definition, type Input, option, optionInput } from '../../command/inputs.ts'
import { paramsOf } from '../../command/param-inputs.ts'
import { argsForPullRequest, pullRequestOf } from '../../command/pull-request-inputs.ts'
import { forOne, send, show } from '../../command/send.ts'
import { setOf } from '../../command/set-option.ts'
import type { ParsedArgs } from '../../config/settings.ts'
import { formatBytes, formatInteger, pluralize } from '../../values/format.ts'
import type { PullRequest } from '../../values/pull-request.ts'
import { isPullRequestReference, urlOfPullRequest } from '../../values/pull-request.ts'
import { choice } from '../../values/types.ts'

/** Returns the arguments without the words of the program that --exec runs. */
function withoutProgram(args: ParsedArgs): ParsedArgs {
  if (!args.has('--exec')) return args
  const words = [...(args.get('pr') ?? []), ...(args.get('target') ?? [])]
  const [pr, ...targets] = words.slice(0, words.length - (args.get('--')?.length ?? 0))
  const others = [...args].filter(([name]) => name !== 'pr' && name !== 'target')
  const own = [
    ['pr', pr === undefined ? [] : [pr]],
    ['target', targets],
  ] as const
  return new Map([...others, ...own.filter(([, values]) => values.length > 0)])
}

const pullRequestArgument: Definition = {
  name: 'pr',
  summary: "Pull request: 123, '#123' or a URL",
  values: 'pull-requests',
}

const commitOptions: readonly Definition[] = [
  {
    name: '--sha',
    value: 'sha',
    summary: 'Head commit that the targets belong to',
    defaultText: 'the head that the CI job states, or HEAD if it is the head',
  },
  {
    name: '--no-sha',
    summary: 'Send no head commit: right where the service takes none (the hosted service rejects it)',
    advanced: true,
  },
]

const ifEmptyInput = optionInput(
  'ifEmpty',
  option(
    choice(['fail', 'none', 'all'], 'fail|none|all'),
    'If the list is empty: fail exits 2, none marks no target as impacted, all marks every target',
    { default: 'fail' },
  ),
)

/** The argument and options that give targets; exactly one of them must be typed. */
const sources = ['target', '--from', '--from-json', '--exec', '--all', '--none']

const shown = (name: string): string => (name === 'target' ? 'Targets as arguments' : name)

/** Returns the argument or option that gives targets. Throws a usage error for none and for several. */
function requireOneSource(args: ParsedArgs): string {
  const [source, ...others] = sources.filter(name => args.has(name))
  if (source === undefined || others.length > 0)
    throw usageError(
      source === undefined
        ? 'No targets were given.'
        : `${[source, ...others].map(shown).join(' and ')} cannot be used together.`,
      'Specify targets as arguments, or use one of --from, --from-json, --exec, --all and --none.',
    )
  if (args.has('--if-empty') && (source === '--all' || source === '--none'))
    throw usageError(`${source} and --if-empty cannot be used together.`, 'Use only one of them.')
  return source
}

const targetSources: readonly Definition[] = [
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
    summary: 'Read targets from a JSON array of strings, or "ALL" (- for standard input)',
    file: true,
  },
  {
    name: '--exec',
    summary: 'Run the program after -- and read targets from its output, one per line',
  },
  ...ifEmptyInput.definitions,
  { name: '--all', summary: 'Mark every target as impacted' },
  { name: '--none', summary: 'Mark no target as impacted' },
]

/** What is set: the targets of a pull request at a commit; undefined with --no-sha. */
interface Upload extends PullRequest {
  readonly sha: string | undefined
  readonly targets: ImpactedTargets
}

/**
 * The pull request, which is the first argument if that is a reference, its head commit and its targets, in this order: a
 * long input is read last (docs/reference/cli.md, "Pull requests").
 */
const upload: Input<Upload> = {
  definitions: [pullRequestArgument, ...commitOptions, ...targetSources],
  setting: 'pr',
  async read(typed, context) {
    const args = withoutProgram(typed)
    const [first] = args.get('pr') ?? []
    const isReference = first !== undefined && isPullRequestReference(first)
    const given =
      isReference || first === undefined
        ? args
        : new Map(args).set('target', [first, ...(args.get('target') ?? [])])
    // Before the pull request and its head are looked up.
    const source = requireOneSource(given)
    const ifEmpty = ifEmptyInput.read(given)
    const current = isReference ? undefined : await context.currentPullRequest(args)
    const own = argsForPullRequest(
      given,
      current ? urlOfPullRequest(current.repo, current.pr) : (first ?? ''),
    )
    const settings = context.settings.withArgs(own)
    const pullRequest = current ?? (await pullRequestOf(own, context))
    const sha = await readCommit(own, pullRequest, { ...context.client(), settings })
    const words = source === '--exec' ? (own.get('--') ?? []) : (own.get(source) ?? [])
    const { readTargets } = await import('./targets/read-targets.ts')
    const targets = await readTargets(source, words, ifEmpty, { ...context, settings })
    return { ...pullRequest, sha, targets }
  },
}

async function readCommit(
  args: ParsedArgs,
  pullRequest: PullRequest,
  client: ServiceClient,
): Promise<string | undefined> {
  if (args.has('--sha') && args.has('--no-sha'))
    throw usageError('--sha and --no-sha cannot be used together.')
  if (args.has('--no-sha')) return undefined
  const { findTargetsCommit } = await import('../../api/reads/head-commit.ts')
  return findTargetsCommit(pullRequest, client)
}

export const definition = command({
  name: 'pr targets',
  summary: 'Set the impacted targets of a pull request',
  operation: setImpactedTargets,
  alsoSends: [getSubmittedPullRequest],
  options: {
    upload,
    ...paramsOf(setImpactedTargets, 'repo', 'targetBranch', 'pr', 'sha', 'targets'),
  },
  set: setOf(setImpactedTargets, {
    pr: { definitions: [pullRequestArgument] },
    sha: { definitions: commitOptions, setting: 'sha' },
    targets: { definitions: targetSources },
  }),
  examples: [
    'mergeq pr targets 123 //cart:lib //web:app',
    'mergeq pr targets 123 --exec -- npx nx show projects --affected',
    'mergeq pr targets 123 --all',
  ],
  run: ({ upload, tooLarge, forkedRun }, cli) =>
    forOne(cli, setImpactedTargets, upload, async () => {
      const { sha } = upload
      const sent = await send(cli, setImpactedTargets, { ...upload, tooLarge, forkedRun })
      if (sent === 'printed') return sent
      const commit = sha === undefined ? '' : ` at ${sha.slice(0, 7)}`
      const { targets } = sent.params
      const described = describe(isEncoded(targets) ? targets : encodeTargets(targets))
      return show(sent, `${changeSentence(setImpactedTargets, upload)}${commit}: ${described}.`)
    }),
})

function describe({ list, number, dropped }: ImpactedTargets): string {
  if (list === 'ALL') return 'all targets'
  if (number === 0) return 'no targets'
  const repeats =
    dropped === 0 ? '' : `, ${formatInteger(dropped)} duplicate${dropped === 1 ? '' : 's'} dropped`
  return `${pluralize(number, 'target')} (${formatBytes(list.bytes)}${repeats})`
}
