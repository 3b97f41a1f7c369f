import {
  type BodyOverride,
  type Operation,
  operationMethod,
  type Params,
  type ParamValues,
} from '../api/operation.ts'
import type { Repository } from '../domain/values/repository.ts'
import { call, forEach, type Sent, type Shown } from './calls.ts'
import type { Cli } from './cli.ts'
import { pullRequestArguments, pullRequestNumber } from './common-inputs.ts'
import type { Printed } from './dry-run.ts'
import { type Input, paramInput } from './inputs.ts'
import { readOverrides, setOption } from './requests.ts'

/** A pull request, and the queue that it is in. */
export interface Target {
  readonly repo: Repository
  readonly targetBranch: string
  readonly pr: number
}

/** The pull requests of a command; an address also names the repository. */
export const pullRequests: Input<readonly Target[]> = {
  ...pullRequestArguments,
  isLast: true,
  async read(args, context) {
    const targets: Target[] = []
    for (const each of (await pullRequestArguments.split?.(args, context)) ?? []) {
      const settings = context.settings.withArgs(each)
      const [repo, targetBranch] = [await settings.require('repo'), await settings.require('targetBranch')]
      targets.push({ repo, targetBranch, pr: pullRequestNumber(each) })
    }
    return targets
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
      .filter(([name]) => !own.some(each => each === name))
      .map(([name, param]) => [name, paramInput(name, param)]),
  ) as OptionsOf<P, K>

/** What `--set` adds to the body. */
export const setOf = <P extends Params>({ params, route }: Operation<P>): Input<readonly BodyOverride[]> => ({
  definitions: operationMethod(route) === 'POST' ? setOption.definitions : [],
  read: args =>
    readOverrides(
      args,
      Object.fromEntries(
        Object.entries(params).map(([name, param]) => [
          name,
          name === 'pr' ? pullRequestArguments : paramInput(name, param),
        ]),
      ),
      params,
    ),
})

/** Sends an operation, and prints nothing. */
export const send = <P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
  overrides: readonly BodyOverride[] = [],
): Promise<Sent | Printed> => call(cli, { operation: operation as unknown as Operation, values, overrides })

/** Does the work of several pull requests at a time, and prints in their order. Returns the exit code. */
export const forEachTarget = (
  cli: Cli,
  operation: Operation,
  targets: readonly Target[],
  work: (target: Target) => Promise<Shown | Printed>,
): Promise<number> =>
  forEach(
    cli,
    targets.map(target => ({ operation, values: { ...target }, overrides: [] })),
    ({ values: { repo, targetBranch, pr } }) => work({ repo, targetBranch, pr }),
  )

/** Does the work of one change, and prints its result, or its receipt if it failed. Returns the exit code. */
export const change = <P extends Params>(
  cli: Cli,
  operation: Operation<P>,
  values: ParamValues<P>,
  work: () => Promise<Shown | Printed>,
): Promise<number> =>
  forEach(cli, [{ operation: operation as unknown as Operation, values, overrides: [] }], work)
