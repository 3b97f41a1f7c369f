import type { BodyOverride } from '../api/body-overrides.ts'
import type { Operation } from '../api/operation.ts'
import type { Params } from '../api/param.ts'
import { resourceOfRequest } from '../api/request.ts'
import type { ParsedArgs } from '../config/args.ts'
import { type Config, createParseContext } from '../config/config.ts'
import type { ParseContext } from '../config/parse-context.ts'
import type { CommandContext } from './context.ts'
import type { Inputs, InputValues } from './inputs.ts'
import { readOverrides } from './read-overrides.ts'

/** A request of an operation whose params are read from the command line. */
export interface RequestDefinition<P extends Params = Params, F extends Inputs = Inputs> {
  /** The command in whose name the request is sent. */
  readonly command: string
  readonly operation: Operation<P>
  /** The inputs, by the names of the params. Inputs with other names are not passed to the operation. */
  readonly inputs: F
  /**
   * Throws a usage error for values that exclude each other, before anything is sent. `overrides` are the
   * paths that `--set` names.
   */
  check?(values: InputValues<F>, overrides: readonly string[]): void
}

export interface Invocation<F extends Inputs = Inputs> {
  readonly values: InputValues<F>
  readonly overrides: readonly BodyOverride[]
}

/** Reads inputs one after another, in their order. Throws the usage error of the first that is wrong. */
export async function readInputs<F extends Inputs>(
  inputs: F,
  args: ParsedArgs,
  context: ParseContext,
): Promise<InputValues<F>> {
  const entries: [string, unknown][] = []
  for (const [name, input] of Object.entries(inputs)) entries.push([name, await input.read(args, context)])
  return Object.fromEntries(entries) as InputValues<F>
}

/** Reads one invocation for each pull request. Throws a usage error if any of them is wrong. */
export async function readInvocations<F extends Inputs>(
  request: Pick<RequestDefinition, 'operation'> & {
    readonly command?: string
    readonly inputs: F
    check?(values: InputValues<F>, overrides: readonly string[]): void
  },
  context: CommandContext,
  args: ParsedArgs = context.args,
): Promise<readonly Invocation<F>[]> {
  const { settings } = context
  const { operation, inputs } = request
  const overrides = readOverrides(args, inputs, operation.params)
  const contextFor = (split: ParsedArgs) => createParseContext(settings.withArgs(split), context)
  const splitter = Object.values(inputs).find(input => input.split !== undefined)
  const allArgs = (await splitter?.split?.(args, {
    ...contextFor(args),
    currentPullRequest: () => findPullRequest(request.command, settings.withArgs(args), context),
  })) ?? [args]
  const invocations: Invocation<F>[] = []
  for (const split of allArgs) {
    const values = await readInputs(inputs, split, contextFor(split))
    request.check?.(
      values,
      overrides.map(({ path }) => path.join('.')),
    )
    invocations.push({
      values: overrides.length === 0 ? values : withOverriddenResource(request, values, overrides),
      overrides,
    })
  }
  return invocations
}

async function findPullRequest(
  command = 'pr get',
  settings: Config,
  { client, options }: CommandContext,
): Promise<string> {
  const { findCurrentPullRequest } = await import('../api/current-pull-request.ts')
  return findCurrentPullRequest(settings, client(), { command, dryRun: options.dryRun })
}

/** Confirmations, readings and messages must name what the request is really about after the overrides. */
function withOverriddenResource<F extends Inputs>(
  { operation, inputs }: Pick<RequestDefinition, 'operation'> & { readonly inputs: F },
  values: InputValues<F>,
  overrides: readonly BodyOverride[],
): InputValues<F> {
  const { repo, targetBranch, pr } = resourceOfRequest(operation, values, { overrides })
  const overridden = Object.entries({ repo, targetBranch, pr }).filter(
    ([name, value]) => value !== undefined && Object.hasOwn(inputs, name),
  )
  return { ...values, ...Object.fromEntries(overridden) }
}
