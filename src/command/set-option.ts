// The option `--set`: fields that a person adds to the body of a request.

import {
  type AddedFields,
  type BodyOverride,
  checkOverrides,
  isAlwaysSent,
  parseOverride,
} from '../api/added-fields.ts'
import { type Operation, operationMethod } from '../api/operation.ts'
import { type Params, pullRequestNumber } from '../api/params.ts'
import { settingDefinition } from '../config/setting-definitions.ts'
import type { ParsedArgs } from '../config/settings.ts'
import { listOf, textual } from '../values/types.ts'
import type { Cli } from './command.ts'
import { type Input, option, optionInput, paramInput, wordOf } from './inputs.ts'
import { pullRequestArguments } from './pull-request-inputs.ts'

/** Returns what a command runs with: its client adds the fields of `--set` to the requests of their operation. */
export const withAddedFields = (cli: Cli, added: AddedFields | undefined): Cli =>
  added === undefined || added.fields.length === 0
    ? cli
    : { ...cli, client: () => ({ ...cli.client(), added }) }

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
