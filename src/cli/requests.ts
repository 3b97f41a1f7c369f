import type { Operation } from '../api/operation.ts'
import {
  anyOperation,
  type BodyOverride,
  checkOverrides,
  isAlwaysSent,
  isChange,
  operationMethod,
  type Params,
  type ParamValues,
  parseOverride,
} from '../api/operation.ts'
import { type Caller, resolveRequest, type ServiceRequest } from '../api/resolve.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import { memoize } from '../domain/memoize.ts'
import { listOf, textual } from '../domain/values/types.ts'
import type { Cli } from './cli.ts'
import {
  type Input,
  type InputContext,
  type Inputs,
  type InputValues,
  option,
  paramInput,
  typedInput,
  typedName,
} from './inputs.ts'

/** The option `--set`, for a command that sends a body. */
export const setOption = typedInput(
  'set',
  option(
    listOf(textual({ expected: 'a field', placeholder: 'path=value', parse: parseOverride })),
    'Add a field to the request body; dots in the path separate nested keys; a value that is not JSON is sent as text',
  ),
)

/**
 * Reads inputs one after another, in their order, requests last: the pull request of a command that names none may
 * have to be looked up. Throws the usage error of the first that is wrong.
 */
export async function readInputs<F extends Inputs>(
  inputs: F,
  args: ParsedArgs,
  context: InputContext,
): Promise<InputValues<F>> {
  const entries: [string, unknown][] = []
  const all = Object.entries(inputs)
  for (const [name, input] of [
    ...all.filter(([, { isLast }]) => isLast !== true),
    ...all.filter(([, { isLast }]) => isLast === true),
  ])
    entries.push([name, await input.read(args, context)])
  return Object.fromEntries(entries) as InputValues<F>
}

/** An input that reads requests: its own options are those of the params and `--set`. */
interface RequestsInput<T> extends Input<T> {
  readonly isLast: true
  read(args: ParsedArgs, context: InputContext): Promise<T>
}

type Replaced<P extends Params, I extends Inputs> = Omit<ParamValues<P>, keyof I> & InputValues<I>

/**
 * The requests of an operation that are typed, one for each pull request. Their options and arguments are made from
 * its params.
 *
 * @param replaced inputs that replace the option of a param, by the name of the param
 */
export function requestsOf<P extends Params, const I extends Inputs = Record<never, never>>(
  operation: Operation<P>,
  replaced?: I,
): RequestsInput<readonly ServiceRequest<Replaced<P, I>>[]> {
  const method = anyOperation(operation)
  const inputs = memoize((): Inputs => inputsOf(method.params, replaced))
  return {
    isLast: true,
    get definitions() {
      const ofParams = Object.values(inputs()).flatMap(({ definitions }) => definitions)
      return operationMethod(method.route) === 'POST'
        ? [...ofParams, ...setDefinitions(isChange(method))]
        : ofParams
    },
    async read(args, context) {
      const requests = await readAll(method, inputs(), args, context)
      return requests as readonly ServiceRequest<Replaced<P, I>>[]
    },
  }
}

/** The only request of an operation that is typed. */
export function requestOf<P extends Params, const I extends Inputs = Record<never, never>>(
  operation: Operation<P>,
  replaced?: I,
): RequestsInput<ServiceRequest<Replaced<P, I>>> {
  const requests = requestsOf(operation, replaced)
  return {
    isLast: true,
    get definitions() {
      return requests.definitions
    },
    async read(args, context) {
      const [request] = await requests.read(args, context)
      if (request === undefined) throw new Error(`${operation.route} has no request`)
      return request
    },
  }
}

/** What `--set` replaces in the body of an operation, for a command that reads the rest of its requests from files. */
export const overridesOf = (operation: Operation): Input<readonly BodyOverride[]> => ({
  definitions: setDefinitions(isChange(operation)),
  read: args => readOverrides(args, inputsOf(operation.params), operation.params),
})

function inputsOf(params: Params, replaced: Inputs = {}): Inputs {
  const ofParams = Object.entries(params).map(([name, param]) => [
    name,
    replaced[name] ?? paramInput(name, param),
  ])
  return { ...Object.fromEntries(ofParams), ...replaced }
}

/** `--set` of a read is for few. */
export const setDefinitions = (isChange: boolean) =>
  setOption.definitions.map(each => ({ ...each, advanced: !isChange }))

/** What inputs are read with: the settings, and the pull request of a command that names none. */
export const inputContext = (cli: Cli): InputContext => ({
  ...cli,
  currentPullRequest: args => findPullRequest(cli.command, cli.settings.withArgs(args), cli),
})

/** Reads requests of an operation, one for each pull request. Throws a usage error if any of them is wrong. */
async function readAll(
  operation: Operation,
  inputs: Inputs,
  args: ParsedArgs,
  context: InputContext,
): Promise<readonly ServiceRequest[]> {
  const overrides = readOverrides(args, inputs, operation.params)
  const contextFor = (split: ParsedArgs) => ({ ...context, settings: context.settings.withArgs(split) })
  const splitter = Object.values(inputs).find(input => input.split !== undefined)
  const allArgs = (await splitter?.split?.(args, contextFor(args))) ?? [args]
  const requests: ServiceRequest[] = []
  for (const split of allArgs) {
    const splitContext = contextFor(split)
    const given = new Map(
      Object.keys(operation.params).map(name => [name, () => inputs[name]?.read(split, splitContext)]),
    )
    const request = await resolveRequest(
      operation,
      { values: given, overrides },
      callerOf(splitContext.settings),
    )
    const unread = Object.fromEntries(Object.entries(inputs).filter(([name]) => !given.has(name)))
    requests.push({
      ...request,
      values: { ...request.values, ...(await readInputs(unread, split, splitContext)) },
    })
  }
  return requests
}

/** The command line as the caller of an operation: errors name options. */
export const callerOf = (settings: Config): Caller => ({ settings, nameOf: typedName, prefix: '' })

async function findPullRequest(command: string, settings: Config, { client, options }: Cli): Promise<string> {
  const { findCurrentPullRequest } = await import('../api/current-pull-request.ts')
  return findCurrentPullRequest(settings, client(), {
    advice: `Specify a pull request: mergeq ${command} 123`,
    whyOffline: options.dryRun ? '--dry-run sends no request' : undefined,
  })
}

/** Returns the option that was typed: `api` has its own options for the fields of a body. */
const typedOption = (args: ParsedArgs): string =>
  ['--field', '--raw-field'].find(name => args.has(name)) ?? '--set'

/** How the value of a param is typed, for errors about `--set` beside it. */
export type TypedParam = Pick<Input<unknown>, 'definitions' | 'setting'>

/**
 * Reads every `--set`. Throws a usage error when a path is given twice, or when an option that was typed or the
 * repository, branch or pull request already sets it.
 */
export function readOverrides(
  args: ParsedArgs,
  inputs: Readonly<Record<string, TypedParam>>,
  params: Params,
): readonly BodyOverride[] {
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
