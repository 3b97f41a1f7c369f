import type { Param } from '../api/operation.ts'
import { exclusiveError } from '../api/resolve.ts'
import { usageError } from '../base/errors.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import { type PullRequest, parsePullRequest, readReference } from '../values/pull-request.ts'
import type { Queue, Repository } from '../values/repository.ts'
import { branchName } from '../values/text.ts'
import { choice, textual } from '../values/types.ts'
import type { PullRequestItem } from './input-items.ts'
import { flag, flagName, type Input, type InputContext, option, optionInput, paramInput } from './inputs.ts'

export const yesOption = flag('Skip the confirmation prompt', { short: 'y' })

/** The repository of a param, or all of the organization with `--all-repos`. */
export function repositoryOrAll(param: Param<Repository | undefined>): Input<Repository | undefined> {
  const repo = paramInput('repo', param)
  return {
    ...repo,
    definitions: [
      {
        name: '--all-repos',
        summary: 'Include all repositories of the organization (the default without --repo)',
      },
    ],
    read(args, context) {
      if (!args.has('--all-repos')) return repo.read(args, context)
      if (args.has('--repo')) throw exclusiveError(['--all-repos', '--repo'])
      return undefined
    },
  }
}

const terminalLimit = 30

/** The limit of a list: by default 30 records on a terminal, otherwise undefined for all. */
export function limitInput(param: Param<number | undefined>): Input<number | undefined> {
  const typed = paramInput('limit', {
    ...param,
    defaultText: `${terminalLimit} on a terminal, otherwise all`,
  })
  return {
    ...typed,
    read: async (args, context) =>
      (await typed.read(args, context)) ?? (context.host.out.terminal ? terminalLimit : undefined),
  }
}

/**
 * Returns the line below a list on a terminal that a limit cut.
 *
 * @param count the records that are shown, such as `30 flaky tests`
 */
export const cutListSentence = (count: string): string =>
  `Showing ${count}; there are more. To list more, add --limit 1000.`

export const webOption = flag('Open the page in the browser instead of printing', { short: 'w' })

/** Returns the arguments of a pull request in the queue that its record names; `-b` may not name another one. */
function argsInQueue(args: ParsedArgs, { word, targetBranch }: PullRequestItem): ParsedArgs {
  const own = argsForPullRequest(args, word)
  if (targetBranch === undefined) return own
  const typed = args.get('--target-branch')?.[0]
  if (typed !== undefined && branchName(typed) !== targetBranch)
    throw usageError(
      `The record of #${own.get('pr')?.[0]} on standard input and --target-branch name different branches: ${targetBranch}, ${branchName(typed)}.`,
      'Omit --target-branch, or the records of other branches.',
    )
  // A ref means exactly that branch.
  return new Map(own).set('--target-branch', [`refs/heads/${targetBranch}`])
}

export function argsForPullRequest(args: ParsedArgs, word: string): ParsedArgs {
  const { number, repo } = readReference(word, args.get('--repo')?.[0], flagName)
  const requestArgs = new Map(args).set('pr', [String(number)])
  // The repository that was typed stays as it was typed.
  return repo === undefined || args.has('--repo') ? requestArgs : requestArgs.set('--repo', [repo])
}

/** The option `--pr`: a pull request, whose address also names the repository. */
export const pullRequestOption = (summary: string): Input<number | undefined> =>
  optionInput(
    'pr',
    option(
      textual({
        expected: 'a pull request',
        placeholder: 'pr',
        parse: word => parsePullRequest(word).number,
      }),
      summary,
      { values: 'pull-requests' },
    ),
  )

/** Returns the queue that the settings name. */
export const queueOfSettings = async (settings: Config): Promise<Queue> => ({
  repo: await settings.require('repo'),
  targetBranch: await settings.require('targetBranch'),
})

/** The queue of a command: the pull request in its option `--pr` may name the repository. */
export const queueOrPullRequest: Input<Queue> = {
  definitions: [],
  setting: 'targetBranch',
  async read(args, { settings }) {
    const [asked] = args.get('--pr') ?? []
    return queueOfSettings(settings.withArgs(asked === undefined ? args : argsForPullRequest(args, asked)))
  },
}

/** Returns the pull request of arguments that name one, in the queue of the settings or of its address. */
export async function pullRequestOf(
  args: ParsedArgs,
  { settings }: Pick<InputContext, 'settings'>,
): Promise<PullRequest> {
  const { number } = parsePullRequest(args.get('pr')?.[0] ?? '')
  return { ...(await queueOfSettings(settings.withArgs(args))), pr: number }
}

const ifEmptyInput = optionInput(
  'ifEmpty',
  option(
    choice(['fail', 'ok'], 'fail|ok'),
    'If standard input (-) names no pull request: fail exits 2, ok exits 0',
    {
      default: 'fail',
      advanced: true,
    },
  ),
)

/** How the pull requests of a command are typed. */
export const pullRequestArguments = {
  definitions: [
    {
      name: 'pr',
      variadic: true,
      summary: "Pull requests: 123, '#123' or a URL; use - to read them from standard input",
      defaultText: 'that of the current branch',
      values: 'pull-requests',
    },
    { name: '--stop-on-error', summary: 'Stop at the first failure', advanced: true },
    ...ifEmptyInput.definitions,
  ],
  setting: 'pr',
} as const satisfies Pick<Input<unknown>, 'definitions' | 'setting'>

/** Returns the arguments of each pull request that was typed. */
export async function readPullRequestArgs(
  typed: readonly string[],
  args: ParsedArgs,
  context: InputContext,
): Promise<readonly ParsedArgs[]> {
  const mayBeEmpty = ifEmptyInput.read(args) === 'ok'
  const all: ParsedArgs[] = []
  for (const word of typed) {
    if (word !== '-') all.push(argsForPullRequest(args, word))
    else {
      const { readPullRequestItems } = await import('./input-items.ts')
      const items = await readPullRequestItems(mayBeEmpty, context)
      all.push(...items.map(item => argsInQueue(args, item)))
    }
  }
  return all
}
