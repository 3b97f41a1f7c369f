import { operationOf, type Row } from '../api/operation.ts'
import { nameOfWord, type Word } from '../cli/inputs.ts'
import { usage } from '../errors.ts'
import { globalWords } from '../cli/global-options.ts'

/** One option of a method: a word of the prompt, under its name in camel case. */
export interface Property {
  readonly key: string
  /** The word's own name: `--priority`, `pr`. */
  readonly name: string
  readonly word: Word
  /** The flag that says the opposite, where there is one: it is what `false` means. */
  readonly opposite: string | undefined
}

const camelCase = (name: string): string =>
  name.replace(/^--/, '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** The name of the method for an operation: of `flaky-tests/get-test-details`, `getTestDetails`. */
export const methodNameOf = ({ route }: Row): string => camelCase(operationOf(route).replace(/^.*\//, ''))

/** What says how to print, how to ask, or where to read: a program has its own ways. */
const forThePrompt =
  /^--(output|json|fields|dry-run|quiet|verbose|color|no-input|yes|exit-status|stop-on-error|from|from-json)$/

/** The options that these words are; a flag and its `--no-` form are one. */
export function propertiesOf(words: readonly Word[]): readonly Property[] {
  const names = words.map(({ spell }) => nameOfWord(spell))
  return words.flatMap((word, index) => {
    const name = names[index] ?? ''
    const isOpposite = name.startsWith('--no-') && names.includes(`--${name.slice('--no-'.length)}`)
    if (isOpposite || forThePrompt.test(name)) return []
    const opposite = names.find(one => one === `--no-${name.slice('--'.length)}`)
    return [{ key: camelCase(name), name, word, opposite }]
  })
}

/** The options of every method, which are those of the client, too. */
export const settings = propertiesOf(globalWords)

/** The options of one method. */
export const optionsOf = ({ fields }: Row): readonly Property[] =>
  propertiesOf(Object.values(fields).flatMap(({ words }) => words))

const takesValue = ({ spell }: Word): boolean => /[<[]/.test(spell)

/** Whether the option is a list. A call is about one pull request. */
const isList = ({ name, word }: Property): boolean =>
  name !== 'pr' && (word.repeats === true || word.spell.includes('...'))

/** The type of an option, as a declaration writes it. */
export function typeOf(property: Property): string {
  const { word, opposite } = property
  if (!takesValue(word)) return 'boolean'
  if (isList(property)) return 'readonly string[]'
  const one = word.choices?.map(choice => `'${choice}'`).join(' | ') ?? 'string | number | Date'
  return opposite === undefined ? one : `${one} | false`
}

/** What would have been typed for a value of an option: nothing, or a word's name and its values; undefined refuses. */
function wordFor(
  property: Property,
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
export function typed(
  method: string,
  options: object,
  properties: readonly Property[],
): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, readonly string[]>()
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue
    const property = properties.find(one => one.key === key)
    if (property === undefined)
      throw usage(
        `${method}: there is no option ${key}.`,
        `It takes ${properties.map(one => one.key).join(', ')}.`,
      )
    const word = wordFor(property, value)
    if (word === undefined)
      throw usage(
        `${method}: ${key} is not of the type ${typeOf(property)}.`,
        `It is: ${property.word.summary}.`,
      )
    if (word !== 'nothing') given.set(...word)
  }
  return given
}
