import { operationName } from '../api/operation.ts'
import type { OperationCommand } from '../cli/command.ts'
import { globalOptions } from '../cli/global-options.ts'
import { isOption, type OptionDefinition } from '../cli/inputs.ts'
import { usageError } from '../errors.ts'

/** An option of a method, which is an argument or option of the command line under a name in camel case. */
export interface MethodOption {
  /** The name in camel case: `targetBranch`. */
  readonly key: string
  /** The name on the command line: `--priority`, `pr`. */
  readonly name: string
  readonly definition: OptionDefinition
  /** The option with the opposite meaning, if there is one: the value `false` stands for it. */
  readonly opposite: string | undefined
}

const toCamelCase = (name: string): string =>
  name.replace(/^--/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the name of the method for an operation: `getTestDetails` for `flaky-tests/get-test-details`. */
export const methodName = ({ operation }: Pick<OperationCommand, 'operation'>): string =>
  toCamelCase(operationName(operation.route).replace(/^.*\//, ''))

/** The options for output, prompts and input files, which a program has no use for. */
const commandLineOnly =
  /^--(output|json|fields|dry-run|quiet|verbose|color|no-input|yes|exit-status|stop-on-error|from|from-json)$/

/**
 * Returns the method options for definitions of the command line. An option and its `--no-` form become one
 * method option; options that only the command line needs are left out.
 */
export function toMethodOptions(definitions: readonly OptionDefinition[]): readonly MethodOption[] {
  const names = definitions.map(({ name }) => name)
  return definitions.flatMap((definition, index) => {
    const name = names[index] ?? ''
    const isOpposite = name.startsWith('--no-') && names.includes(`--${name.slice('--no-'.length)}`)
    if (isOpposite || commandLineOnly.test(name)) return []
    const opposite = names.find(other => other === `--no-${name.slice('--'.length)}`)
    return [{ key: toCamelCase(name), name, definition, opposite }]
  })
}

/** The options that every method and `createClient` accept. */
export const commonMethodOptions = toMethodOptions(globalOptions)

/** Returns the options that only the method of this operation accepts. */
export const getMethodOptions = ({ inputs }: OperationCommand): readonly MethodOption[] =>
  toMethodOptions(Object.values(inputs).flatMap(({ definitions }) => definitions))

const takesValue = (definition: OptionDefinition): boolean =>
  !isOption(definition) || definition.value !== undefined

/** Whether the value is a list. `pr` is not, because a call concerns a single pull request. */
const isList = ({ name, definition }: MethodOption): boolean => name !== 'pr' && definition.variadic === true

/** Returns the TypeScript type of an option as source text. */
export function renderOptionType(option: MethodOption): string {
  const { definition, opposite } = option
  if (!takesValue(definition)) return 'boolean'
  if (isList(option)) return 'readonly string[]'
  const type = definition.choices?.map(choice => `'${choice}'`).join(' | ') ?? 'string | number | Date'
  return opposite === undefined ? type : `${type} | false`
}

/** Returns the argument for a value; `nothing` if none is needed, undefined if the type is wrong. */
function toArg(
  option: MethodOption,
  value: unknown,
): readonly [string, readonly string[]] | 'nothing' | undefined {
  const { name, definition, opposite } = option
  if (value === false && (opposite !== undefined || !takesValue(definition)))
    return opposite === undefined ? 'nothing' : [opposite, ['true']]
  if (!takesValue(definition)) return value === true ? [name, ['true']] : undefined
  if (isList(option))
    return Array.isArray(value) && value.every(item => typeof item === 'string') ? [name, value] : undefined
  if (value instanceof Date) return [name, [value.toISOString()]]
  return typeof value === 'string' || typeof value === 'number' ? [name, [String(value)]] : undefined
}

/**
 * Returns the arguments of the command line for the options of a method call. Throws a usage error for an
 * unknown option and for a value of the wrong type.
 */
export function toArgs(
  method: string,
  options: object,
  methodOptions: readonly MethodOption[],
): ReadonlyMap<string, readonly string[]> {
  const args = new Map<string, readonly string[]>()
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue
    const option = methodOptions.find(candidate => candidate.key === key)
    if (option === undefined)
      throw usageError(
        `${method}: there is no option ${key}.`,
        `It takes ${methodOptions.map(candidate => candidate.key).join(', ')}.`,
      )
    const arg = toArg(option, value)
    if (arg === undefined)
      throw usageError(
        `${method}: ${key} is not of the type ${renderOptionType(option)}.`,
        `It is: ${option.definition.summary}.`,
      )
    if (arg !== 'nothing') args.set(...arg)
  }
  return args
}
