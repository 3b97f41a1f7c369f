import {
  type AddedFields,
  type BodyOverride,
  checkOverrides,
  isAlwaysSent,
  parseOverride,
} from '../api/added-fields.ts'
import { type Operation, operationMethod } from '../api/operation.ts'
import { type Param, type Params, type ParamValues, pullRequestNumber } from '../api/params.ts'
import { exclusiveError } from '../api/resolve.ts'
import { usageError } from '../base/errors.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import type { Config, ParsedArgs } from '../config/settings.ts'
import { type PullRequest, parsePullRequest, pullRequestKey, readReference } from '../values/pull-request.ts'
import type { Queue, Repository } from '../values/repository.ts'
import { branchName } from '../values/text.ts'
import { choice, listOf, textual } from '../values/types.ts'
import type { Cli, RegisteredCommand } from './command.ts'
import type { PullRequestItem } from './input-items.ts'
import {
  flag,
  flagName,
  type Input,
  type InputContext,
  type Inputs,
  isOption,
  option,
  optionInput,
  paramInput,
} from './inputs.ts'

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

/** The queue of a command, which options and settings name. */
export const queueInput: Input<Queue> = {
  definitions: [],
  setting: 'targetBranch',
  read: (_, { settings }) => queueOfSettings(settings),
}

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
const pullRequestArguments = {
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

/** Reads inputs in their order, those that a setting can give last: the pull request may have to be looked up. */
export async function readInputs(inputs: Inputs, args: ParsedArgs, context: InputContext): Promise<Values> {
  const entries: [string, unknown][] = []
  const all = Object.entries(inputs)
  for (const [name, input] of [
    ...all.filter(([, { setting }]) => setting === undefined),
    ...all.filter(([, { setting }]) => setting !== undefined),
  ])
    entries.push([name, await input.read(args, context)])
  return Object.fromEntries(entries)
}

/** Throws a usage error for an argument that is an empty word: the value of a variable that is not set. */
export function checkEmptyWords({ definitions }: RegisteredCommand, args: ParsedArgs): void {
  const empty = definitions.find(
    definition =>
      !isOption(definition) && definition.program !== true && args.get(definition.name)?.includes(''),
  )
  if (empty !== undefined)
    throw usageError(
      `The argument <${empty.name}> is an empty word.`,
      'Omit it, or check the variable that should have given it.',
    )
}

/** Throws a usage error for a typed branch that is none. The target branch is checked where it is read. */
export async function checkBranches({ definitions }: RegisteredCommand, args: ParsedArgs, settings: Config) {
  for (const { name, values } of definitions)
    if (values === 'branches' && name !== '--target-branch')
      for (const branch of args.get(name) ?? []) await settings.checkBranch(name, branch)
}

/** Throws a usage error for typed words that an operation takes only one of. A value of a setting does not count. */
export function checkExclusive({ operation, definitions }: RegisteredCommand, args: ParsedArgs): void {
  for (const pair of operation?.exclusive ?? []) {
    const typed = pair.flatMap(
      param =>
        definitions.find(({ name }) => (name === param || name === flagName(param)) && args.has(name)) ?? [],
    )
    if (typed.length === pair.length) throw exclusiveError(typed.map(({ name }) => wordOf(name)))
  }
}

/** Throws a usage error if both options of a pair were typed. */
export function rejectTogether(args: ParsedArgs, ...pairs: readonly (readonly [string, string])[]): void {
  const typed = pairs.find(pair => pair.every(name => args.has(name)))
  if (typed !== undefined) throw exclusiveError(typed)
}

/** An option as it is typed, an argument as usage shows it: `<pr>`. */
const wordOf = (name: string): string => (name.startsWith('-') ? name : `<${name}>`)

/** Throws a usage error for values of a command that are not enough for its operation. */
export function checkEnough(
  { operation, command }: RegisteredCommand,
  values: Values,
  added: AddedFields | undefined,
): void {
  if (operation?.check === undefined) return
  const names = Object.keys(operation.params)
  const missing = names.find(name => !Object.hasOwn(values, name))
  if (missing !== undefined)
    throw new Error(`${command} has no option for ${missing}, which is to be checked`)
  const params = Object.fromEntries(names.map(name => [name, values[name]]))
  operation.check(params, added !== undefined && added.fields.length > 0, flagName)
}

type Values = Readonly<Record<string, unknown>>

/** Returns what a command runs with: its client adds the fields of `--set` to the requests of their operation. */
export const withAddedFields = (cli: Cli, added: AddedFields | undefined): Cli =>
  added === undefined || added.fields.length === 0
    ? cli
    : { ...cli, client: () => ({ ...cli.client(), added }) }

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

/** Options of params that a command passes on whole: their value is a record. */
export function paramsTogether<P extends Params>(params: P): Input<ParamValues<P>> {
  const inputs = Object.fromEntries(
    Object.entries<Param<unknown>>(params).map(([name, param]) => [name, paramInput(name, param)]),
  )
  return {
    definitions: Object.values(inputs).flatMap(({ definitions }) => definitions),
    read: async (args, context) => (await readInputs(inputs, args, context)) as ParamValues<P>,
  }
}

/**
 * What `--set` adds to the body of an operation.
 *
 * @param own the inputs that a command reads for params itself, by the names of the params
 */
export function setOf<P extends Params>(
  { params, route, change }: Operation<P>,
  own: Readonly<Record<string, Pick<Input<unknown>, 'definitions' | 'setting'>>> = {},
): Input<AddedFields> {
  const inputs = () =>
    Object.fromEntries(
      Object.entries(params).map(([name, param]) => [
        name,
        own[name] ?? (param.type === pullRequestNumber ? pullRequestArguments : paramInput(name, param)),
      ]),
    )
  return {
    definitions: operationMethod(route) === 'POST' ? setDefinitions(change !== undefined) : [],
    read: args => ({ route, fields: args.has('--set') ? readOverrides(args, inputs(), params) : [] }),
  }
}

/** The option `--set`, for a command that sends a body. */
export const setOption = optionInput(
  'set',
  option(
    listOf(textual({ expected: 'a field', placeholder: 'path=value', parse: parseOverride })),
    'Add a field, see mergeq help formatting',
  ),
)

/** `--set` of a read is for few. */
const setDefinitions = (isChange: boolean) =>
  setOption.definitions.map(definition => ({ ...definition, advanced: !isChange }))

/** Returns the option that was typed: `api` has its own options for the fields of a body. */
const flagOption = (args: ParsedArgs): string =>
  ['--field', '--raw-field'].find(name => args.has(name)) ?? '--set'

/** Reads every `--set`. Throws a usage error for a path that is given twice, or that something else sets already. */
export function readOverrides(
  args: ParsedArgs,
  inputs: Readonly<Record<string, Pick<Input<unknown>, 'definitions' | 'setting'>>>,
  params: Params,
): readonly BodyOverride[] {
  const overrides = setOption.read(args) ?? []
  const setters = Object.entries(inputs).flatMap(([key, { setting, definitions }]) => {
    const param = params[key]
    if (param === undefined) return []
    const names = [...definitions.map(({ name }) => name), setting && settingDefinition(setting).flag]
    const typed = names.find(name => name !== undefined && args.has(name))
    const name = typed ?? (isAlwaysSent(param) ? names.find(name => name !== undefined) : undefined)
    // A constant is what the command implies: `queue pause` and its state.
    const isFixed = definitions.length === 0 && setting === undefined
    if (isFixed) return [{ name: 'the command', param }]
    return name === undefined ? [] : [{ name: wordOf(name), param }]
  })
  checkOverrides(flagOption(args), overrides, setters)
  return overrides
}
