import { type BodyOverride, type Operation, operationMethod, type Params } from '../api/operation.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import type { PullRequest } from '../domain/values/pull-request.ts'
import type { QueuePlace } from '../domain/values/repository.ts'
import { pullRequestArguments, pullRequestNumber, readPullRequests } from './common-inputs.ts'
import { type Input, type InputContext, paramInput } from './inputs.ts'
import { readOverrides, setDefinitions, type TypedParam } from './requests.ts'

/** A queue: the branch of a repository that it merges into. */
export type Queue = Pick<QueuePlace, 'repo' | 'targetBranch'>

/** Returns the queue that the settings name. */
export const queueOfSettings = async (settings: Config): Promise<Queue> => ({
  repo: await settings.require('repo'),
  targetBranch: await settings.require('targetBranch'),
})

/** The queue of a command, which options and settings name. */
export const queueInput: Input<Queue> = {
  definitions: [],
  setting: 'targetBranch',
  read: (_, { settings }) => queueOfSettings(settings),
}

/** Returns the pull request of arguments that name one, in the queue of the settings or of its address. */
export async function pullRequestOf(args: ParsedArgs, context: InputContext): Promise<PullRequest> {
  return { ...(await queueOfSettings(context.settings.withArgs(args))), pr: pullRequestNumber(args) }
}

/** The pull requests of a command, those that were typed or the current one; an address also names the repository. */
export const pullRequests: Input<readonly PullRequest[]> = {
  ...pullRequestArguments,
  async read(args, context) {
    const found: PullRequest[] = []
    for (const each of await readPullRequests(args, context)) found.push(await pullRequestOf(each, context))
    return found
  },
}

type OptionsOf<P extends Params, K extends keyof P> = {
  readonly [N in Exclude<keyof P, K>]: Input<
    P[N] extends { type: { check(value: unknown): infer T } } ? T : never
  >
}

/** The options of the params of an operation, except of those that a command reads itself. */
export const paramsOf = <P extends Params, const K extends keyof P = never>(
  { params }: Operation<P>,
  ...own: readonly K[]
): OptionsOf<P, K> =>
  Object.fromEntries(
    Object.entries(params)
      .filter(([name]) => !own.some(key => key === name))
      .map(([name, param]) => [name, paramInput(name, param)]),
  ) as OptionsOf<P, K>

/**
 * What `--set` adds to the body of an operation.
 *
 * @param own the inputs that a command reads for params itself, by the names of the params
 */
export function setOf<P extends Params>(
  { params, route, recovery }: Operation<P>,
  own: Readonly<Record<string, TypedParam>> = {},
): Input<readonly BodyOverride[]> {
  const inputs = () =>
    Object.fromEntries(
      Object.entries(params).map(([name, param]) => [
        name,
        own[name] ?? (name === 'pr' ? pullRequestArguments : paramInput(name, param)),
      ]),
    )
  return {
    definitions: operationMethod(route) === 'POST' ? setDefinitions(recovery !== undefined) : [],
    read: args => readOverrides(args, inputs(), params),
  }
}
