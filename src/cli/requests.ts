import { type BodyOverride, checkOverrides, isAlwaysSent, type Params } from '../api/operation.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import type { Config, ParseContext, ParsedArgs } from '../config/settings.ts'
import type { Method } from '../methods/method.ts'
import { type Caller, resolveRequest, type ServiceRequest } from '../methods/resolve.ts'
import type { Cli } from './cli.ts'
import { operationOf, type RequestSource, type RequestValues, requestInputs, setOption } from './command.ts'
import { type Inputs, type InputValues, type Options, type OptionValues, typedName } from './inputs.ts'

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

/**
 * Reads the requests of a command, one for each pull request, from what was typed or from other `args`.
 * Throws a usage error if any of them is wrong.
 *
 * @param options the values of the options of the command, if they were read already: an option may read
 * standard input or a pipe, which has its content only once
 */
export async function readRequests<
  P extends Params,
  I extends Inputs = Record<never, never>,
  X extends Options = Record<never, never>,
>(
  source: RequestSource<P, I, X>,
  context: Cli,
  args: ParsedArgs = context.args,
  options?: OptionValues<X>,
): Promise<readonly ServiceRequest<RequestValues<P, I, X>>[]> {
  const { settings } = context
  const operation: Method = operationOf(source)
  const inputs = requestInputs(source)
  const overrides = readOverrides(args, inputs, operation.params)
  const unread = options === undefined ? inputs : requestInputs({ ...source, options: {} })
  const contextFor = (split: ParsedArgs) => ({ ...context, settings: settings.withArgs(split) })
  const splitter = Object.values(inputs).find(input => input.split !== undefined)
  const allArgs = (await splitter?.split?.(args, {
    ...contextFor(args),
    currentPullRequest: () => findPullRequest(source.command, settings.withArgs(args), context),
  })) ?? [args]
  const requests: ServiceRequest<RequestValues<P, I, X>>[] = []
  for (const split of allArgs) {
    const splitContext = contextFor(split)
    const given = new Map(
      Object.entries(operation.params).map(([name]) => [name, () => inputs[name]?.read(split, splitContext)]),
    )
    const request = await resolveRequest(
      operation,
      { values: given, overrides },
      callerOf(splitContext.settings),
    )
    // The inputs are those of the params, options and replacements, each under its name.
    const others = Object.fromEntries(Object.entries(unread).filter(([name]) => !given.has(name)))
    const read = await readInputs(others, split, splitContext)
    const values = { ...request.values, ...read, ...options } as RequestValues<P, I, X>
    requests.push({ ...request, values })
  }
  return requests
}

/** The command line as the caller of a method: errors name options. */
export const callerOf = (settings: Config): Caller => ({ settings, nameOf: typedName, prefix: '' })

async function findPullRequest(
  command = 'pr get',
  settings: Config,
  { client, options }: Cli,
): Promise<string> {
  const { findCurrentPullRequest } = await import('../api/current-pull-request.ts')
  return findCurrentPullRequest(settings, client(), {
    advice: `Specify a pull request: mergeq ${command} 123`,
    whyOffline: options.dryRun ? '--dry-run sends no request' : undefined,
  })
}

/** Returns the option that was typed: `api` has its own options for the fields of a body. */
const typedOption = (args: ParsedArgs): string =>
  ['--field', '--raw-field'].find(name => args.has(name)) ?? '--set'

/**
 * Reads every `--set`. Throws a usage error when a path is given twice, or when an option that was typed or the
 * repository, branch or pull request already sets it.
 */
export function readOverrides(args: ParsedArgs, inputs: Inputs, params: Params): readonly BodyOverride[] {
  const overrides = setOption.read(args) ?? []
  const setters = Object.entries(inputs).flatMap(([key, { setting, definitions }]) => {
    const param = params[key]
    if (param === undefined) return []
    const names = [...definitions.map(({ name }) => name), setting && settingDefinition(setting).flag]
    const typed = names.find(name => name !== undefined && args.has(name))
    const name = typed ?? (isAlwaysSent(key, param) ? names.find(name => name !== undefined) : undefined)
    // A constant is what the command implies: `queue pause` and its state.
    const isFixed = definitions.length === 0 && setting === undefined
    if (isFixed) return [{ name: 'the command', param }]
    return name === undefined ? [] : [{ name: name.startsWith('-') ? name : `<${name}>`, param }]
  })
  checkOverrides(typedOption(args), overrides, setters)
  return overrides
}
