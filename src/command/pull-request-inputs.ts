// The pull requests of a command, as they are typed or as records on standard input name them.

import { usageError } from '../base/errors.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { type PullRequest, parsePullRequest, pullRequestKey, readReference } from '../values/pull-request.ts'
import type { Queue } from '../values/repository.ts'
import { branchName } from '../values/text.ts'
import { choice, textual } from '../values/types.ts'
import type { PullRequestItem } from './input-items.ts'
import { flagName, type Input, type InputContext, option, optionInput } from './inputs.ts'
import { queueOfSettings } from './shared-inputs.ts'

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

/** The pull requests that were typed, or the current one; each once: a restart sent twice would begin twice. */
export const pullRequests: Input<readonly PullRequest[]> = {
  ...pullRequestArguments,
  async read(args, context) {
    const typed = args.get('pr')
    if (typed === undefined) return [await context.currentPullRequest(args)]
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
    const found = new Map<string, PullRequest>()
    for (const each of all) {
      const pullRequest = await pullRequestOf(each, context)
      const key = pullRequestKey(pullRequest)
      if (!found.has(key)) found.set(key, pullRequest)
    }
    return [...found.values()]
  },
}
