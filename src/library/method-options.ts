import { operationName } from '../api/operation.ts'
import type { OperationCommand } from '../cli/command.ts'
import { globalOptions } from '../cli/global-options.ts'
import { type OptionDefinition, optionName } from '../cli/inputs.ts'
import { usageError } from '../errors.ts'

/** One option of a method: a word of the prompt, under its name in camel case. */
export interface MethodOption {
  readonly key: string
  /** The word's own name: `--priority`, `pr`. */
  readonly name: string
  readonly word: OptionDefinition
  /** The flag that says the opposite, where there is one: it is what `false` means. */
  readonly opposite: string | undefined
}

const camelCase = (name: string): string =>
  name.replace(/^--/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** The name of the method for an operation: of `flaky-tests/get-test-details`, `getTestDetails`. */
export const methodName = ({ operation }: Pick<OperationCommand, 'operation'>): string =>
  camelCase(operationName(operation.route).replace(/^.*\//, ''))

/** What says how to print, how to ask, or where to read: a program has its own ways. */
const forThePrompt =
  /^--(output|json|fields|dry-run|quiet|verbose|color|no-input|yes|exit-status|stop-on-error|from|from-json)$/

/** The options that these words are; a flag and its `--no-` form are one. */
export function methodOptions(words: readonly OptionDefinition[]): readonly MethodOption[] {
  const names = words.map(({ syntax }) => optionName(syntax))
  return words.flatMap((word, index) => {
    const name = names[index] ?? ''
    const isOpposite = name.startsWith('--no-') && names.includes(`--${name.slice('--no-'.length)}`)
    if (isOpposite || forThePrompt.test(name)) return []
    const opposite = names.find(one => one === `--no-${name.slice('--'.length)}`)
    return [{ key: camelCase(name), name, word, opposite }]
  })
}

/** The options of every method, which are those of the client, too. */
export const commonMethodOptions = methodOptions(globalOptions)

/** The options of one method. */
export const ownMethodOptions = ({ inputs }: OperationCommand): readonly MethodOption[] =>
  methodOptions(Object.values(inputs).flatMap(({ definitions }) => definitions))

const takesValue = ({ syntax }: OptionDefinition): boolean => /[<[]/.test(syntax)

/** Whether the option is a list. A call is about one pull request. */
const isList = ({ name, word }: MethodOption): boolean =>
  name !== 'pr' && (word.variadic === true || word.syntax.includes('...'))

/** The type of an option, as a declaration writes it. */
export function typeScriptType(property: MethodOption): string {
  const { word, opposite } = property
  if (!takesValue(word)) return 'boolean'
  if (isList(property)) return 'readonly string[]'
  const one = word.choices?.map(choice => `'${choice}'`).join(' | ') ?? 'string | number | Date'
  return opposite === undefined ? one : `${one} | false`
}

/** What would have been typed for a value of an option: nothing, or a word's name and its values; undefined refuses. */
function argFor(
  property: MethodOption,
  value: unknown,
): readonly [string, readonly string[]] | 'nothing' | undefined {
  const { name, word, opposite } = property
  if (value === false && (opposite !== undefined || !takesValue(word)))
    return opposite === undefined ? 'nothing' : [opposite, ['true']]
  if (!takesValue(word)) return value === true ? [name, ['true']] : undefined
  if (isList(property))
    return Array.isArray(value) && value.every(one => typeof one === 'string') ? [name, value] : undefined
  if (value instanceof Date) return [name, [value.toISOString()]]
  return typeof value === 'string' || typeof value === 'number' ? [name, [String(value)]] : undefined
}

/** What would have been typed for these options. What no option takes is a usage failure. */
export function toArgs(
  method: string,
  options: object,
  properties: readonly MethodOption[],
): ReadonlyMap<string, readonly string[]> {
  const args = new Map<string, readonly string[]>()
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue
    const property = properties.find(one => one.key === key)
    if (property === undefined)
      throw usageError(
        `${method}: there is no option ${key}.`,
        `It takes ${properties.map(one => one.key).join(', ')}.`,
      )
    const word = argFor(property, value)
    if (word === undefined)
      throw usageError(
        `${method}: ${key} is not of the type ${typeScriptType(property)}.`,
        `It is: ${property.word.summary}.`,
      )
    if (word !== 'nothing') args.set(...word)
  }
  return args
}
